package read

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/query"
)

// VisibleTo returns which records a caller sees in a list, by their status and author. The parameter sent is the
// status filter of the request (contract, section 9.1). Nil means that none was sent.
func VisibleTo(caller auth.Principal, sent []calendar.Status) query.Visible {
	published := []calendar.Status{calendar.Publish}
	everything := auth.MaySeeAllUnpublished(caller)
	asked := sent
	if asked == nil {
		if !auth.MaySeeOwnUnpublished(caller) && !everything {
			return query.Visible{Anyone: published}
		}
		asked = slices.DeleteFunc(slices.Clone(calendar.Statuses), func(s calendar.Status) bool {
			return s == calendar.Trash
		})
	}
	if everything {
		return query.Visible{Anyone: asked}
	}
	mine := query.Visible{Author: caller.UserID, Own: asked}
	if slices.Contains(asked, calendar.Publish) {
		mine.Anyone = published
	}
	return mine
}

// ReadableEvents returns which protected events the caller sees in full. Those are events that the caller may edit
// (contract, section 12.3), and events whose ids are in unlocked.
func (r *Reader) ReadableEvents(unlocked []int64) query.Readable {
	out := query.Readable{IDs: unlocked}
	switch {
	case auth.MaySeeAllUnpublished(r.Caller):
		out.All = true
	case r.Caller.Role.AtLeast(calendar.Contributor):
		out.Author, out.DraftsOnly = r.Caller.UserID, r.Caller.Role == calendar.Contributor
	}
	return out
}
