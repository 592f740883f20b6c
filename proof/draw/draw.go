// Package draw draws elements of lists at random.
package draw

import (
	"math/rand/v2"
	"slices"
)

// Item returns a random element of a list. It panics for an empty list.
func Item[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// Percent returns true with a probability of percent per cent.
func Percent(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// Items returns up to count elements of a list at different indexes, in random order.
func Items[T any](r *rand.Rand, list []T, count int) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(count, len(list))]
}
