package scenario

import (
	"fmt"
)

// cycle is a repeating sequence of kinds of events. In each round a kind occurs as often as its weight says, evenly
// spread.
type cycle struct {
	order []*eventKind
	turn  []int // number of earlier occurrences of the kind in order
}

func newCycle(kinds []*eventKind) cycle {
	var cy cycle
	total := 0
	for _, k := range kinds {
		k.Weight = max(k.Weight, 1)
		total += k.Weight
	}
	credit := make([]int, len(kinds))
	seen := make([]int, len(kinds))
	for range total {
		best := 0
		for i, k := range kinds {
			if credit[i] += k.Weight; credit[i] > credit[best] {
				best = i
			}
		}
		credit[best] -= total
		cy.order = append(cy.order, kinds[best])
		cy.turn = append(cy.turn, seen[best])
		seen[best]++
	}
	return cy
}

// at returns the kind of event at position n of the sequence. The result rank is the number of earlier positions with
// that kind.
func (cy cycle) at(n int) (k *eventKind, rank int) {
	round, place := n/len(cy.order), n%len(cy.order)
	k = cy.order[place]
	return k, round*k.Weight + cy.turn[place]
}

// count returns how often kind k occurs in the first n positions.
func (cy cycle) count(k *eventKind, n int) int {
	all := n / len(cy.order) * k.Weight
	for _, other := range cy.order[:n%len(cy.order)] {
		if other == k {
			all++
		}
	}
	return all
}

// fillCycles creates for each role a repeating sequence of the kinds with that role. It leaves out kinds of
// standalone events, festivals and courses without a possible day and venue.
func (c *Calendar) fillCycles() error {
	c.kindsOf = map[role]cycle{}
	byRole, possible := map[role][]*eventKind{}, map[role][]*eventKind{}
	for _, k := range c.plan.Kinds {
		c.fillKindDays(k)
		byRole[k.Role] = append(byRole[k.Role], k)
		if c.hasDayAndVenue(k) {
			possible[k.Role] = append(possible[k.Role], k)
		}
	}
	for _, r := range []role{standaloneRole, currentRole, clockChangeRole} {
		if len(byRole[r]) == 0 {
			return fmt.Errorf("no kind with the role %q", r)
		}
	}
	if len(possible[standaloneRole]) == 0 {
		return fmt.Errorf("months: there is no event that takes place in %d from %s", c.o.Months, c.o.From)
	}
	for r := range byRole {
		switch r {
		case standaloneRole, festivalRole, courseRole:
			c.kindsOf[r] = newCycle(possible[r])
		default:
			c.kindsOf[r] = newCycle(byRole[r])
		}
	}
	return nil
}
