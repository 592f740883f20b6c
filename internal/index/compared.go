package index

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/search"
)

// The words say in which events a phrase may be; whether it is, only their texts say. What was once read of them is
// kept, since those who page through a list ask again and again.

// maxCompared is how many phrases are kept, each with up to two bits for each slot.
const maxCompared = 64

// phrase is a term of a search in a language.
type phrase struct {
	language calendar.Language
	text     string
}

// comparison is in which slots a phrase was looked for, and in which it was found.
type comparison struct {
	known, found slotSet
	used         uint64
}

// comparisons are those of one state.
type comparisons struct {
	of   map[phrase]*comparison
	uses uint64
}

// unread adds to slots those of a set in which a term was not looked for yet.
func (c *comparisons) unread(b slotSet, t search.Term, language calendar.Language, slots []uint32, pool *scratchSets) []uint32 {
	rest := pool.take(uint32(len(b) * 64))
	defer pool.give(rest)
	rest.or(b)
	if have := c.of[phrase{language, t.Text}]; have != nil {
		rest.without(have.known)
	}
	rest.each(0, uint32(len(b)*64), func(slot uint32) bool {
		slots = append(slots, slot)
		return true
	})
	return slots
}

// restrict leaves what a term allows. It was looked for in all of the set.
func (c *comparisons) restrict(b slotSet, t search.Term, language calendar.Language) {
	have := c.of[phrase{language, t.Text}]
	switch {
	case have == nil: // the set is empty
	case t.Exclude:
		b.without(have.found)
	default:
		b.and(have.found)
	}
}

// note keeps in which slots a term is.
func (c *comparisons) note(t search.Term, language calendar.Language, slots []uint32, found func(i int) bool) {
	if c.of == nil {
		c.of = make(map[phrase]*comparison)
	}
	key := phrase{language, t.Text}
	have := c.of[key]
	if have == nil {
		if len(c.of) >= maxCompared {
			var oldest phrase
			for k, v := range c.of {
				if oldest.text == "" || v.used < c.of[oldest].used {
					oldest = k
				}
			}
			delete(c.of, oldest)
		}
		have = &comparison{}
		c.of[key] = have
	}
	c.uses++
	have.used = c.uses
	for i, slot := range slots {
		have.known.add(slot)
		if found(i) {
			have.found.add(slot)
		}
	}
}
