package fill

import "math"

// randomSource generates random numbers (SplitMix64). Equal seeds give equal numbers on every machine.
type randomSource uint64

// chanceOf returns the random source for one thing, such as the n-th event. Draws for other things do not affect it.
func chanceOf(what string, n int) randomSource {
	c := randomSource(0x9E3779B97F4A7C15)
	for i := range len(what) {
		c = c*31 + randomSource(what[i])
	}
	c += randomSource(n) * 0xD1B54A32D192ED03
	c.next()
	return c
}

func (c *randomSource) next() uint64 {
	*c += 0x9E3779B97F4A7C15
	z := uint64(*c)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below returns a random number from 0 to n-1.
func (c *randomSource) below(n int) int { return int(c.next() % uint64(n)) }

// real returns a random number from 0, inclusive, to 1, exclusive.
func (c *randomSource) real() float64 { return float64(c.next()>>11) / (1 << 53) }

// percent returns true with a probability of p per cent.
func (c *randomSource) percent(p float64) bool { return c.real()*100 < p }

// rank returns a random number from 0 to n-1, small ones more often. A number is about half as likely as one half as
// large, like words in a text (Zipf's law).
func (c *randomSource) rank(n int) int {
	return min(int(math.Exp(c.real()*math.Log(float64(n)+1)))-1, n-1)
}
