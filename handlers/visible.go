package handlers

import (
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
)

// The tables of events, venues and organizers share the columns this file asks about, and Ent's predicates of
// all three are functions of a selector.
type predicateOf interface{ ~func(*sql.Selector) }

// hasStatus selects records whose effective status at now is one of the given: a future record whose date has come is
// published everywhere. due is whether there are any such; mostly there are none, and then an index on the status does.
func hasStatus[P predicateOf](now time.Time, due bool, statuses ...calendar.Status) P {
	var any []func(*sql.Selector)
	for _, s := range statuses {
		switch {
		case s == calendar.Publish && due:
			any = append(any, sql.FieldEQ("status", calendar.Publish), sql.AndPredicates(
				sql.FieldEQ("status", calendar.Future), sql.FieldLTE("published_at", now)))
		case s == calendar.Future && due:
			any = append(any, sql.AndPredicates(
				sql.FieldEQ("status", calendar.Future), sql.FieldGT("published_at", now)))
		default:
			any = append(any, sql.FieldEQ("status", s))
		}
	}
	return P(sql.OrPredicates(any...))
}

// lookDue finds out whether records of some kinds are due: scheduled, with a date that has come, and not published yet.
func (r *request) lookDue(kinds ...calendar.Kind) (err error) {
	r.due = make(map[calendar.Kind]bool, len(kinds))
	for _, kind := range kinds {
		due := sql.AndPredicates(sql.FieldEQ("status", calendar.Future), sql.FieldLTE("published_at", r.now))
		switch kind {
		case calendar.Event:
			r.due[kind], err = r.db.Event.Query().Where(due).Exist(r.ctx)
		case calendar.Venue:
			r.due[kind], err = r.db.Venue.Query().Where(due).Exist(r.ctx)
		default:
			r.due[kind], err = r.db.Organizer.Query().Where(due).Exist(r.ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// seenBy returns what a caller sees in a list, whether a status was sent or not (contract, section 9.1).
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

// inList selects the records of a kind that the caller sees in a list. lookDue comes first.
func inList[P predicateOf](r *request, kind calendar.Kind, sent []calendar.Status) P {
	seen, due := seenBy(r.caller, sent), r.due[kind]
	var any []func(*sql.Selector)
	if seen.Anyone != nil {
		any = append(any, hasStatus[func(*sql.Selector)](r.now, due, seen.Anyone...))
	}
	if seen.Own != nil {
		any = append(any, sql.AndPredicates(
			sql.FieldEQ("author_id", seen.Author), hasStatus[func(*sql.Selector)](r.now, due, seen.Own...)))
	}
	return P(sql.OrPredicates(any...))
}
