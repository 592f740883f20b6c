package handlers

import (
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/auth"
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/index"
)

// The tables of events, venues and organizers share the columns this file asks about, and Ent's predicates of
// all three are functions of a selector.
type predicateOf interface{ ~func(*sql.Selector) }

// hasStatus selects records whose effective status at now is one of the given: a future record whose date has
// come is published everywhere.
func hasStatus[P predicateOf](now time.Time, statuses ...calendar.Status) P {
	var any []func(*sql.Selector)
	for _, s := range statuses {
		switch s {
		case calendar.Publish:
			any = append(any, sql.FieldEQ("status", calendar.Publish), sql.AndPredicates(
				sql.FieldEQ("status", calendar.Future), sql.FieldLTE("published_at", now)))
		case calendar.Future:
			any = append(any, sql.AndPredicates(
				sql.FieldEQ("status", calendar.Future), sql.FieldGT("published_at", now)))
		default:
			any = append(any, sql.FieldEQ("status", s))
		}
	}
	return P(sql.OrPredicates(any...))
}

// seenBy is what a caller sees in a list: the contract's rule for status, whether it was sent or not (section 9.1).
func seenBy(caller auth.Principal, sent []calendar.Status) index.Visible {
	published := []calendar.Status{calendar.Publish}
	everything := auth.MaySeeAllUnpublished(caller)
	asked := sent
	if asked == nil {
		if !auth.MaySeeOwnUnpublished(caller) && !everything {
			return index.Visible{Anyone: published}
		}
		asked = slices.DeleteFunc(slices.Clone(calendar.Statuses), func(s calendar.Status) bool {
			return s == calendar.Trash
		})
	}
	if everything {
		return index.Visible{Anyone: asked}
	}
	mine := index.Visible{Author: caller.UserID, Own: asked}
	if slices.Contains(asked, calendar.Publish) {
		mine.Anyone = published
	}
	return mine
}

// inList selects the records a caller sees in a list.
func inList[P predicateOf](caller auth.Principal, now time.Time, sent []calendar.Status) P {
	seen := seenBy(caller, sent)
	var any []func(*sql.Selector)
	if seen.Anyone != nil {
		any = append(any, hasStatus[func(*sql.Selector)](now, seen.Anyone...))
	}
	if seen.Own != nil {
		any = append(any, sql.AndPredicates(
			sql.FieldEQ("author_id", seen.Author), hasStatus[func(*sql.Selector)](now, seen.Own...)))
	}
	return P(sql.OrPredicates(any...))
}
