package scenario

import (
	"math/bits"
	"math/rand"

	"github.com/brianvoe/gofakeit/v6"
)

// randomSource is a small pseudo-random generator, splitmix64. Its numbers depend only on its initial state, so
// each event can be generated without the others.
type randomSource uint64

// chanceOf returns a generator of random numbers whose sequence depends only on parts. The first parts are the seed
// and a constant such as chanceVenues.
func chanceOf(parts ...uint64) randomSource {
	var c randomSource
	for _, p := range parts {
		c = randomSource(mixBits(uint64(c) ^ mixBits(p+0x9e3779b97f4a7c15)))
	}
	return c
}

func mixBits(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (c *randomSource) next() uint64 {
	*c += 0x9e3779b97f4a7c15
	return mixBits(uint64(*c))
}

// below returns a random number from 0 to n-1. n must be above 0.
func (c *randomSource) below(n int) int {
	high, _ := bits.Mul64(c.next(), uint64(n))
	return int(high)
}

// between returns a random number from low to high, both included.
func (c *randomSource) between(low, high int) int { return low + c.below(high-low+1) }

// percent returns true with a probability of p per cent.
func (c *randomSource) percent(p int) bool { return c.below(100) < p }

// lowBiased returns a random number from 0 to n-1. Small numbers are most frequent: about six of ten are in the
// first tenth.
func (c *randomSource) lowBiased(n int) int {
	u := float64(c.next()>>11) / (1 << 53)
	u2 := u * u
	return min(int(float64(n)*u2*u2*u), n-1)
}

// permutation is a pseudo-random order of the numbers from 0 to size-1. It maps neighbours to distant numbers.
type permutation struct{ size, step, offset uint64 }

func newScatter(size uint64, c randomSource) permutation {
	s := permutation{size: size, step: 1}
	if size < 2 {
		return s
	}
	// A step of the golden section spreads every initial part of the sequence evenly.
	s.step = max(1, uint64(float64(size)*0.6180339887498949))
	for gcd(s.step, size) != 1 {
		s.step++
	}
	s.offset = c.next() % size
	return s
}

// at returns the number at position k of the permutation. Positions repeat after size.
func (s permutation) at(k uint64) uint64 {
	if s.size < 2 {
		return 0
	}
	high, low := bits.Mul64(k%s.size, s.step)
	return (bits.Rem64(high, low, s.size) + s.offset) % s.size
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// chanceNames and the other constants are the second argument of chanceOf, after the seed. Each purpose has its own,
// so that random numbers are independent.
const (
	chanceNames uint64 = iota + 1
	chanceCities
	chanceVenues
	chanceOrganizers
	chancePictures
	chanceTitles
	chanceFests
	chanceCourses
	chanceEvents
	chanceSpread
	chanceStates
	chanceSeries
	chanceAuthors
	chanceLeads
)

// fake returns a generator of names and words. Each purpose passes another value of what, and so gets other names.
// The package's own gofakeit.New is unsuitable, because it treats seed 0 as random.
func (c *Calendar) fake(what uint64) *gofakeit.Faker {
	source := chanceOf(c.o.Seed, what)
	return gofakeit.NewCustom(rand.NewSource(int64(source.next() >> 1)).(rand.Source64))
}
