package edit

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/auth"
)

// isAllowed checks the permission matrix for a stored record.
func (e *Editor) isAllowed(op auth.Operation, r *record) bool {
	rec := auth.Record{Kind: r.kind, Status: r.status.Shown(e.Now, r.published), BeforeTrash: r.before}
	if r.author != nil {
		rec.AuthorID = *r.author
	}
	return auth.May(e.By, op, rec)
}

// statusToStore returns the status to store for a record that is written at now. A future record whose date has come becomes
// publish, and a published record with a later date becomes future. Reading has another rule: calendar.Status.Shown.
func statusToStore(s calendar.Status, published, now time.Time) calendar.Status {
	switch {
	case s == calendar.Future && !published.After(now):
		return calendar.Publish
	case s == calendar.Publish && published.After(now):
		return calendar.Future
	}
	return s
}

// StatusChanges reports whether writing a status and publication date at now would store another status than writing the
// old ones.
func StatusChanges(now time.Time, old, written calendar.Status, oldDate, date time.Time) bool {
	return statusToStore(old, oldDate, now) != statusToStore(written, date, now)
}

// publicationState is the status and the publication date of a record.
type publicationState struct {
	status calendar.Status
	before calendar.Status // the status a trashed record had
	// published is the publication date in UTC. Dated is whether it is settled: a client gave it, or the
	// record was public once.
	published time.Time
	dated     bool
}

// nextPublicationState applies the status and publication date of a request, at now. The zero old state means a
// new record. Without the right to publish, a status that needs it becomes pending.
//
// The trash keeps the previous status. A record that leaves the trash takes the status sent. Without a date
// sent, the publication date is the time at which the record first leaves draft and pending.
func nextPublicationState(old publicationState, sent *calendar.Status, date *time.Time, now time.Time, mayPublish bool) publicationState {
	s := old
	if old.status == "" {
		s.status, s.published = calendar.Draft, now
		if mayPublish {
			s.status = calendar.Publish
		}
	}
	if date != nil {
		s.published, s.dated = date.UTC().Truncate(time.Second), true
	}
	wasTrash := s.status == calendar.Trash
	toTrash := sent != nil && *sent == calendar.Trash
	was := s.status // before this write, not counting the trash
	if wasTrash {
		was = s.before
	}
	want := was
	if sent != nil && !toTrash {
		want = *sent
		if !mayPublish && want.HasSlug() {
			want = calendar.Pending
		}
	}
	stays := wasTrash && (sent == nil || toTrash)
	if !toTrash && !stays && want.HasSlug() && !s.dated {
		if !was.HasSlug() {
			s.published = now
		}
		s.dated = true
	}
	want = statusToStore(want, s.published, now)
	if toTrash || stays {
		s.status, s.before = calendar.Trash, want
		return s
	}
	s.status, s.before = want, ""
	return s
}
