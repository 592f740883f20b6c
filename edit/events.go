package edit

import (
	"context"
	"errors"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// errSchedule is the error of CreateEvent and UpdateEvent for an input that only package series can write.
var errSchedule = errors.New("package series writes events with a schedule or a scope")

// CreateEvent stores a new event and its links. The input has no rule, no rdate and no exdate: series.CreateEvent accepts
// these. The edges of the returned row are not loaded.
func (e *Editor) CreateEvent(ctx context.Context, tx *ent.Tx, in *EventInput) (*ent.Event, error) {
	if in.HasSchedule() {
		return nil, errSchedule
	}
	w := e.NewEvent(tx, in)
	if err := w.Prepare(ctx, nil); err != nil {
		return nil, err
	}
	row, err := w.Insert(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.Link(ctx); err != nil {
		return nil, err
	}
	return row, nil
}

// UpdateEvent changes the sent fields of an event that the same transaction loaded, best with LockEvent. The other
// occurrences of its series do not change. The input has no rule, no rdate, no exdate and no scope of several occurrences:
// series.UpdateEvent accepts these. The edges of the returned row are not loaded.
func (e *Editor) UpdateEvent(ctx context.Context, tx *ent.Tx, row *ent.Event, in *EventInput) (*ent.Event, error) {
	if in.HasSchedule() || in.Scope.IsSeries() {
		return nil, errSchedule
	}
	w, err := e.ChangeEvent(tx, row, in)
	if err != nil {
		return nil, err
	}
	if err := w.Prepare(ctx, nil); err != nil {
		return nil, err
	}
	return w.finish(ctx)
}

// TrashEvent moves an event to the trash. If it is there already, TrashEvent returns *calendar.Error
// event-is-in-trash.
func (e *Editor) TrashEvent(ctx context.Context, tx *ent.Tx, row *ent.Event) (*ent.Event, error) {
	old := eventRecord(row)
	if err := e.permitTrash(old); err != nil {
		return nil, err
	}
	if err := e.CheckPrecondition(old.version); err != nil {
		return nil, err
	}
	w, err := e.ChangeEvent(tx, row, &EventInput{Status: new(calendar.Trash)})
	if err != nil {
		return nil, err
	}
	w.plan = &plan{}
	return w.finish(ctx)
}

func eventRecord(row *ent.Event) *record {
	r := recordOf(row)
	r.nominal = row.OriginalStart
	return r
}

func (in *EventInput) record() *recordInput {
	return &recordInput{
		author: in.AuthorID, published: in.Published, status: in.Status,
		sentText: sentText{in.Title, in.Description, in.Excerpt, in.Slug, in.EventStatusReason},
		image:    in.ImageID, source: in.SourceID, modified: in.ModifiedAt,
	}
}

// newEvent returns an event with the default values of the fields that a request may leave out.
func newEvent() *ent.Event {
	return &ent.Event{EventStatus: calendar.Scheduled, Attendance: calendar.Offline}
}

// ApplyFields sets the sent fields in the row of an event. It leaves out texts, dates and password, and the fields
// that all records share.
func (in *EventInput) ApplyFields(row *ent.Event) {
	in.Apply(row)
	row.Cost = ValueOr(row.Cost, in.Cost)
	if in.Website != nil {
		row.Website = nil
		if in.Website.Set {
			row.Website = &in.Website.URL
		}
	}
	row.ParentID = applyID(row.ParentID, in.ParentID)
}

// eventAfter returns a copy of row with the fields that a write of in changes. Texts and image are those of r. The
// copy keeps the dates and the status of row.
func (e *Editor) eventAfter(row *ent.Event, r *record, in *EventInput) (*ent.Event, error) {
	next := new(*row)
	in.ApplyFields(next)
	next.Title, next.Description, next.Excerpt, next.EventStatusReason = r.title, r.description, r.excerpt, r.reason
	next.ImageID = r.image
	switch {
	case in.Password == nil || *in.Password == "" && !HasPassword(row):
		return next, nil
	case *in.Password == "":
		next.PasswordHash = nil
	case len(e.PasswordKey) == 0:
		return nil, errNoKey
	case PasswordMatches(e.PasswordKey, row, *in.Password):
		return next, nil
	default:
		next.PasswordHash = new(HashPassword(e.PasswordKey, r.id, *in.Password))
	}
	next.PasswordID = nil
	return next, nil
}

// fillEvent sets the changed fields of an event in the mutation m and notes them in d. It returns the row after
// the write (eventAfter).
func (e *Editor) fillEvent(
	m *ent.EventMutation, r, old *record, s *recordInput, row *ent.Event, in *EventInput, span calendar.Span, d *diff,
) (*ent.Event, error) {
	next, err := e.eventAfter(row, r, in)
	if err != nil {
		return nil, err
	}
	e.fill(m, r, old, s, d)
	putValue(d, "timezone", row.Timezone, span.Zone.String(), m.SetTimezone)
	putValue(d, "all_day", row.AllDay, span.AllDay, m.SetAllDay)
	putValue(d, "start_date", row.StartWall, span.Start, m.SetStartWall)
	putValue(d, "end_date", row.EndWall, span.End, m.SetEndWall)
	putTime(d, "", row.StartsAt, span.StartsAt(), m.SetStartsAt)
	putTime(d, "", row.EndsAt, span.EndsAt(), m.SetEndsAt)
	putFields(d, ent.EventFields, m, row, next)
	putValue(d, "", row.Sequence,
		NextSequence(row, e.Now, r.Status, r.Published, span, next.EventStatus, HasPassword(next)), m.SetSequence)
	if d.isNew {
		m.SetOffSchedule(false)
	}
	return next, nil
}
