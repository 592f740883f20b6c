package scenario

import (
	"cmp"
	"fmt"
	"slices"
)

// leadChoice is an event for whose description drawLeads chooses a first paragraph.
type leadChoice struct {
	index int
	spot  roomSlot
	texts []*descriptionTexts // by language
	kind  []*descriptionTexts // those of the title, by language
	facts facts
}

// drawLeads chooses the first paragraph of each event's description, in the order of time and separately for each
// language. Within a month it repeats a paragraph only after all others that suit the event. It also sets moreShare.
func (c *Calendar) drawLeads(all []leadChoice) error {
	languages := len(c.o.Languages)
	c.leads = make([]uint16, len(all)*languages)
	order := slices.SortedFunc(slices.Values(all), func(a, b leadChoice) int {
		return cmp.Or(cmp.Compare(a.spot.day, b.spot.day), cmp.Compare(a.spot.start, b.spot.start), cmp.Compare(a.index, b.index))
	})
	counts := map[*descriptionTexts]int{}
	for _, d := range all {
		for language, of := range d.texts {
			counts[of]++
			if kind := d.kind[language]; kind != of {
				counts[kind]++
			}
		}
	}
	c.moreShare = map[*descriptionTexts]int{}
	for of, n := range counts {
		c.moreShare[of] = min(35, len(all)*len(of.more)/n)
	}
	for language := range languages {
		uses := map[*descriptionTexts]*leadUses{}
		for _, d := range order {
			of := d.texts[language]
			if uses[of] == nil {
				uses[of] = &leadUses{month: make([]int, len(of.leads)), all: make([]int, len(of.leads))}
			}
			year, month, _ := c.day(int(d.spot.day)).Date()
			f := d.facts.in(c.o.Languages[language], c.home)
			lead := uses[of].draw(of.leads, &f, year*12+int(month), c.o.Seed)
			if lead < 0 {
				return fmt.Errorf("kind %q: no text in %q suits event %d", d.facts.kind, c.o.Languages[language], d.index)
			}
			c.leads[d.index*languages+language] = uint16(lead)
		}
	}
	return nil
}

// leadUses counts how often each first paragraph was used, in the current month and overall. There is one for each
// list of paragraphs.
type leadUses struct {
	now        int // the month whose uses the field month counts
	month, all []int
}

// draw chooses a line that suits an event and returns its index. It prefers the line least used in the month, then
// the one least used overall. It returns -1 if no line suits.
func (u *leadUses) draw(leads []line, f *facts, month int, seed uint64) int {
	if u.now != month {
		u.now = month
		clear(u.month)
	}
	best, bestTie := -1, uint64(0)
	for i := range leads {
		if !f.allow(&leads[i]) {
			continue
		}
		source := chanceOf(seed, chanceLeads, uint64(month), uint64(i))
		tie := source.next()
		if best < 0 || cmp.Or(
			cmp.Compare(u.month[i], u.month[best]), cmp.Compare(u.all[i], u.all[best]), cmp.Compare(tie, bestTie),
		) < 0 {
			best, bestTie = i, tie
		}
	}
	if best >= 0 {
		u.month[best]++
		u.all[best]++
	}
	return best
}

// textsOf returns the descriptions for an event, by language. Those of an activity in its title take precedence over
// those of its kind.
func (c *Calendar) textsOf(p *eventOutline) []*descriptionTexts {
	of := slices.Clone(p.title.descriptions)
	for _, placeholder := range p.title.placeholders {
		for language, a := range c.activities[[2]int{placeholder, int(p.draft.values[placeholder])}] {
			if a != nil {
				of[language] = a
			}
		}
	}
	return of
}
