package fill

import "math"

// chance is a stream of numbers that follows from its seed alone, on any machine (SplitMix64).
type chance uint64

// chanceOf is the stream of one thing, such as the event of a number.
func chanceOf(what string, n int) chance {
	c := chance(0x9E3779B97F4A7C15)
	for i := range len(what) {
		c = c*31 + chance(what[i])
	}
	c += chance(n) * 0xD1B54A32D192ED03
	c.next()
	return c
}

func (c *chance) next() uint64 {
	*c += 0x9E3779B97F4A7C15
	z := uint64(*c)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below is a number from 0 to n-1.
func (c *chance) below(n int) int { return int(c.next() % uint64(n)) }

// real is a number from 0 to 1, exclusive.
func (c *chance) real() float64 { return float64(c.next()>>11) / (1 << 53) }

// percent is true so often in a hundred times.
func (c *chance) percent(p float64) bool { return c.real()*100 < p }

// rank is a number from 0 to n-1, each about half as often as the one of half its rank: as words in a text and
// venues in a town are.
func (c *chance) rank(n int) int {
	return min(int(math.Exp(c.real()*math.Log(float64(n)+1)))-1, n-1)
}
