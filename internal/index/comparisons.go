package index

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/search"
)

// The words of the index tell in which events a phrase may occur. Only the texts tell whether it does. Results
// of comparisons are kept, because a client that pages through a list repeats the search.

// maxCompared is the number of phrases whose results are kept. A phrase takes up to two bits for each slot.
const maxCompared = 64

// phrase is a search term in one language. It identifies a set of results in comparisons.
type phrase struct {
	language calendar.Language
	text     string
}

// comparison has the results of comparing texts with one phrase. The set known has the slots whose texts were
// compared. The set found has those of them that contain the phrase.
type comparison struct {
	known, found slotSet
	used         uint64
}

// comparisons caches results of comparing search texts with phrases. It is valid for one state. It has at most
// maxCompared phrases, and drops the least recently noted one before it adds another. The counter uses orders the
// phrases: it is the number of calls of note.
type comparisons struct {
	of   map[phrase]*comparison
	uses uint64
}

// unread appends to slots the slots of b whose texts have not been compared with the term yet. It returns the
// extended slice.
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

// restrict removes from b the slots that do not match a term. All slots of b must have been compared with it.
func (c *comparisons) restrict(b slotSet, t search.Term, language calendar.Language) {
	have := c.of[phrase{language, t.Text}]
	switch {
	case have == nil: // nothing was compared, because the set is empty
	case t.Exclude:
		b.without(have.found)
	default:
		b.and(have.found)
	}
}

// note stores results for a term. For each index i of slots, found(i) reports whether the text of slots[i] contains
// the term.
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
