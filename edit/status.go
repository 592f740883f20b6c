package edit

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/auth"
)

// isAllowed reports whether the caller e.By has the permission for the operation on the record.
func (e *Editor) isAllowed(op auth.Operation, r *record) bool {
	rec := auth.Record{Kind: r.kind, Status: r.Status.Shown(e.Now, r.Published), BeforeTrash: r.BeforeTrash}
	if r.author != nil {
		rec.AuthorID = *r.author
	}
	return auth.May(e.By, op, rec)
}

// StatusToStore returns the status to store in a write at now. If the publication date is not after now, the
// status future becomes publish. If it is later, publish becomes future. Reads use calendar.Status.Shown instead.
func StatusToStore(s calendar.Status, published, now time.Time) calendar.Status {
	switch {
	case s == calendar.Future && !published.After(now):
		return calendar.Publish
	case s == calendar.Publish && published.After(now):
		return calendar.Future
	}
	return s
}

// StatusChanges reports whether a write at now with the new status and publication date stores a different status
// than a write with the old ones.
func StatusChanges(now time.Time, old, written calendar.Status, oldDate, date time.Time) bool {
	return StatusToStore(old, oldDate, now) != StatusToStore(written, date, now)
}

// PublicationState is the status and the publication date of a record.
type PublicationState struct {
	Status      calendar.Status
	BeforeTrash calendar.Status // status before the record went to the trash
	// Published is the publication date in UTC. Dated reports whether it is final: a client sent it, or the
	// record has left draft and pending once.
	Published time.Time
	Dated     bool
}

// NextPublicationState returns the state of a record after a write at now. The parameters sent and date are the
// sent status and publication date; nil means not sent. The zero old state means a new record. If mayPublish is
// false, a status that requires this right becomes pending.
//
// The trash keeps the previous status. A record that leaves the trash gets the sent status. Without a sent date,
// the publication date is the time at which the record first leaves draft and pending.
func NextPublicationState(old PublicationState, sent *calendar.Status, date *time.Time, now time.Time, mayPublish bool) PublicationState {
	s := old
	if old.Status == "" {
		s.Status, s.Published = calendar.Draft, now
		if mayPublish {
			s.Status = calendar.Publish
		}
	}
	if date != nil {
		s.Published, s.Dated = date.UTC().Truncate(time.Second), true
	}
	wasTrash := s.Status == calendar.Trash
	toTrash := sent != nil && *sent == calendar.Trash
	was := s.Status // status before this write, for a trashed record before the trash
	if wasTrash {
		was = s.BeforeTrash
	}
	want := was
	if sent != nil && !toTrash {
		want = *sent
		if !mayPublish && want.HasSlug() {
			want = calendar.Pending
		}
	}
	stays := wasTrash && (sent == nil || toTrash)
	if !toTrash && !stays && want.HasSlug() && !s.Dated {
		if !was.HasSlug() {
			s.Published = now
		}
		s.Dated = true
	}
	want = StatusToStore(want, s.Published, now)
	if toTrash || stays {
		s.Status, s.BeforeTrash = calendar.Trash, want
		return s
	}
	s.Status, s.BeforeTrash = want, ""
	return s
}
