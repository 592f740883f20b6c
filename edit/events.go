package edit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// CreateEvent stores a new event and its links. If in has a rule or further dates, CreateEvent stores a series
// with its occurrences, and returns the first occurrence. The edges of the returned row are not loaded.
func (e *Editor) CreateEvent(ctx context.Context, tx *ent.Tx, in *EventInput) (*ent.Event, error) {
	none := &record{textOwner: textOwner{kind: calendar.Event}}
	s := in.record()
	span := changedSpan(calendar.Span{Zone: e.Site.Zone}, in)
	early, refused := spanFault(span, in), ruleFault(span.Zone, in)
	var made *newSeries
	if early == nil && refused == nil {
		var err error
		if made, err = e.planSeries(nil, in); err != nil {
			if refused = ScheduleFault(err); refused == nil {
				return nil, err
			}
		}
	}
	p, err := e.planEvent(ctx, tx, none, nil, s, in, early, refused)
	if err != nil {
		return nil, err
	}
	if made != nil {
		if err := refuseTrashedSeries(in, false); err != nil {
			return nil, err
		}
	}
	if err := e.permit(none, s); err != nil {
		return nil, err
	}
	author := e.author()
	if s.author != nil {
		author = s.author
	}
	if err := e.carryOut(ctx, tx, p, in, author); err != nil {
		return nil, err
	}
	if made != nil {
		if err := e.beginSeries(ctx, tx, made, s); err != nil {
			return nil, err
		}
		s.slug = made.slugOf(made.occurrences[0])
		span = made.occurrences[0].Span
	}
	r := e.newRecord(calendar.Event, s)
	id := e.Reserved.BySource[valueOr("", s.source)]
	if made != nil {
		id = e.Reserved.ByStart[made.occurrences[0].Nominal]
	}
	if err := r.register(ctx, tx, s.slug, id); err != nil {
		return nil, err
	}
	d := &diff{fresh: true}
	c := tx.Event.Create()
	row := newEvent()
	row.Sequence = e.Reserved.Sequences[id]
	if _, err := e.fillEvent(c.Mutation(), r, none, s, row, in, span, d); err != nil {
		return nil, err
	}
	if made != nil {
		c.SetSeriesID(made.id).SetOriginalStart(made.occurrences[0].Nominal)
	}
	row, err = c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create event: %w", store.AsConflict(err))
	}
	e.log(calendar.Event, r.id, calendar.Created, nil, e.impactOfCreated(r.status, r.published))
	if e.fresh == nil {
		e.fresh = make(map[int64]*ent.Event)
	}
	e.fresh[row.ID] = row
	if made != nil { // storeSeries takes slugs, which come before terms in the order of locks
		links := eventLinks{p.terms, p.venues, p.organizers}
		t := templateOf(row, nil, links)
		if err := e.storeSeries(ctx, tx, made, row, &t, made.occurrences[1:]); err != nil {
			return nil, err
		}
	}
	if err := linkTerms(ctx, tx, r.id, termIDs{}, p.terms, false, countsForTerms(r.status)); err != nil {
		return nil, err
	}
	if err := link(ctx, tx, calendar.Venue, r.id, p.venues); err != nil {
		return nil, err
	}
	if err := link(ctx, tx, calendar.Organizer, r.id, p.organizers); err != nil {
		return nil, err
	}
	return row, nil
}

// UpdateEvent changes the sent fields of an event that the same transaction loaded, best with LockEvent. Unless
// in.Scope is a scope of several occurrences, the other occurrences of the series do not change. A rule or
// further dates turn a single event into the first occurrence of a new series. The empty rule takes an
// occurrence out of its series. The edges of the returned row are not loaded.
func (e *Editor) UpdateEvent(ctx context.Context, tx *ent.Tx, row *ent.Event, in *EventInput) (*ent.Event, error) {
	if in.Scope.IsSeries() {
		return e.updateOccurrences(ctx, tx, row, in)
	}
	old := eventRecord(row)
	s := in.record()
	span, early, late, err := sentSpan(row, in)
	if err != nil {
		return nil, err
	}
	p, err := e.planEvent(ctx, tx, old, row, s, in, early, ruleFault(span.Zone, in))
	if err != nil {
		return nil, err
	}
	if err := e.permit(old, s); err != nil {
		return nil, err
	}
	if err := e.expect(old.version); err != nil {
		return nil, err
	}
	if late != nil {
		return nil, late
	}
	made, leaves, err := e.planRecurrence(ctx, tx, row, in)
	if err != nil {
		return nil, err
	}
	if made != nil {
		if err := refuseTrashedSeries(in, old.trashed); err != nil {
			return nil, err
		}
		span = made.first().Span
		if err := e.lockLinks(ctx, tx, row.ID); err != nil {
			return nil, err
		}
	}
	if err := e.refuseEventLoop(ctx, tx, row, in.ParentID); err != nil {
		return nil, err
	}
	author := row.AuthorID
	if s.author != nil {
		author = s.author
	}
	noted := len(e.changes)
	if err := e.carryOut(ctx, tx, p, in, author); err != nil {
		return nil, err
	}
	for _, c := range e.changes[noted:] {
		if c.kind == calendar.Event && c.id == row.ID {
			// The event lost a venue or organizer that the same request moved to the trash.
			old.version.All++
		}
	}
	if made != nil {
		if made.id, err = drawID(ctx, tx, calendar.Series); err != nil {
			return nil, err
		}
		made.sentSlug, s.slug = s.slug, nil // the event keeps its own slug
	}
	return e.changeEvent(ctx, tx, row, old, s, in, span, p, made, leaves)
}

// TrashEvent moves an event to the trash. If it is there already, TrashEvent returns *calendar.Error
// event-is-in-trash.
func (e *Editor) TrashEvent(ctx context.Context, tx *ent.Tx, row *ent.Event) (*ent.Event, error) {
	old := eventRecord(row)
	if err := e.permitTrash(old); err != nil {
		return nil, err
	}
	if err := e.expect(old.version); err != nil {
		return nil, err
	}
	span, err := storedSpan(row)
	if err != nil {
		return nil, err
	}
	return e.changeEvent(ctx, tx, row, old, &recordInput{status: new(calendar.Trash)}, &EventInput{}, span, &plan{}, nil, false)
}

// changeEvent stores an input without checking permissions. If made is not nil, the event becomes the first
// occurrence of made. If leaves is true, the event leaves its series.
func (e *Editor) changeEvent(
	ctx context.Context, tx *ent.Tx, row *ent.Event, old *record, s *recordInput, in *EventInput, span calendar.Span, p *plan,
	made *newSeries, leaves bool,
) (*ent.Event, error) {
	next := nextPublicationState(old.publicationState, s.status, s.published, e.Now, e.isAllowed(auth.Publish, old))
	err := e.publicity(ctx, tx, []*ent.Event{row}, func(int) (calendar.Status, time.Time) { return next.status, next.published })
	if err != nil {
		return nil, err
	}
	d := &diff{}
	r, action, err := e.revise(ctx, tx, old, s, d)
	if err != nil {
		return nil, err
	}
	var was termIDs
	if in.Categories != nil || in.Tags != nil || made != nil || countsForTerms(old.status) != countsForTerms(r.status) {
		if was, err = termsOf(ctx, tx, row.ID); err != nil {
			return nil, err
		}
	}
	u := tx.Event.Update().Where(event.ID(row.ID), event.Version(old.version.All))
	if _, err := e.fillEvent(u.Mutation(), r, old, s, row, in, span, d); err != nil {
		return nil, err
	}
	is := was
	if in.Categories != nil {
		is.categories = p.terms.categories
		d.list("categories", was.categories, is.categories)
	}
	if in.Tags != nil {
		is.tags = p.terms.tags
		d.list("tags", was.tags, is.tags)
	}
	var links [2][]int64 // venues and organizers before the write
	relinked := [2]struct {
		kind calendar.Kind
		sent bool
		ids  []int64
	}{{calendar.Venue, in.Venues != nil, p.venues}, {calendar.Organizer, in.Organizers != nil, p.organizers}}
	for i, l := range relinked {
		if !l.sent && made == nil {
			continue
		}
		if links[i], err = loadLinks(ctx, tx, l.kind, row.ID); err != nil {
			return nil, err
		}
		switch {
		case !l.sent:
			relinked[i].ids = links[i]
		case !slices.Equal(links[i], l.ids):
			d.note(string(l.kind))
		}
	}
	switch {
	case made != nil:
		u.SetSeriesID(made.id).SetOriginalStart(made.schedule.Start)
		d.note("series")
	case leaves:
		u.ClearSeriesID().ClearOriginalStart().ClearOwnFields().SetOffSchedule(false)
		d.note("series")
	case row.SeriesID != nil:
		statusSent := in.Status != nil && !r.trashed && r.status != old.status && r.status != old.before
		if own := ownFields(row, in, d, statusSent); len(own) > len(row.OwnFields) {
			u.SetOwnFields(own)
		}
		if action == calendar.Restored {
			u.SetOffSchedule(false)
		}
		if in.ModifiedAt == nil && len(d.fields) == 0 && len(u.Mutation().Fields()) == 0 && len(u.Mutation().ClearedFields()) == 0 {
			s, err := tx.Series.Get(ctx, *row.SeriesID)
			if err != nil {
				return nil, fmt.Errorf("series %d: %w", *row.SeriesID, err)
			}
			if MayReadSeries(e.By, s, e.Now) {
				return row, nil
			}
			// Readers without access to the series see a single event, whose version changes with each write.
		}
	}
	i, err := e.eventImpact(ctx, tx, row, r, in, d, p, links)
	if err != nil {
		return nil, err
	}
	e.stamp(u.Mutation(), r.version.All, in.ModifiedAt, i)
	if err := expectOneRow(u.Save(ctx)); err != nil {
		return nil, fmt.Errorf("event %d: %w", row.ID, err)
	}
	changed, err := tx.Event.Get(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	e.log(calendar.Event, row.ID, action, d.fields, i)
	if made != nil { // storeSeriesOf takes slugs, which come before terms in the order of locks
		links := eventLinks{is, relinked[0].ids, relinked[1].ids}
		if err := e.storeSeriesOf(ctx, tx, made, changed, links, d.own); err != nil {
			return nil, err
		}
	}
	if err := linkTerms(ctx, tx, row.ID, was, is, countsForTerms(old.status), countsForTerms(r.status)); err != nil {
		return nil, err
	}
	for i, l := range relinked {
		if l.sent {
			if err := replaceLinks(ctx, tx, l.kind, row.ID, links[i], l.ids); err != nil {
				return nil, err
			}
		}
	}
	if leaves || row.SeriesID != nil && action != calendar.Updated {
		if err := e.excludeOccurrence(ctx, tx, row, leaves || r.trashed); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// isProtectedAfter reports whether an event has a password after a write of in.
func isProtectedAfter(row *ent.Event, in *EventInput) bool {
	return in.Password == nil && HasPassword(row) || valueOr("", in.Password) != ""
}

// eventImpact returns the impact of a write of an event. d has all changed fields, links the venues and organizers
// before the write, and p those after it.
func (e *Editor) eventImpact(
	ctx context.Context, tx *ent.Tx, row *ent.Event, r *record, in *EventInput, d *diff, p *plan, links [2][]int64,
) (impact, error) {
	c := &publicChange{
		was: publicationState{status: row.Status, published: row.PublishedAt}, is: r.publicationState, fields: d.fields,
		protected: HasPassword(row) && isProtectedAfter(row, in),
		languages: row.Languages != r.languages, dated: in.ModifiedAt != nil,
	}
	var err error
	if c.unseen, err = e.unseenLinks(ctx, tx, links, [2][]int64{p.venues, p.organizers}); err != nil {
		return impact{}, err
	}
	if row.SeriesID != nil && slices.Contains(d.fields, "series") {
		public, err := e.publicIDs(ctx, tx, calendar.Series, []int64{*row.SeriesID})
		if err != nil {
			return impact{}, err
		}
		if !public[*row.SeriesID] {
			c.unseen = append(c.unseen, "series")
		}
	}
	return e.impactOf(c), nil
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

// newEvent returns an event with the default values of fields that a create does not send.
func newEvent() *ent.Event {
	return &ent.Event{EventStatus: calendar.Scheduled, Attendance: calendar.Offline}
}

// apply sets the sent fields in the row of an event, except its texts, its dates, its password, and what it shares with
// other records.
func (in *EventInput) apply(row *ent.Event) {
	in.Apply(row)
	row.Cost = valueOr(row.Cost, in.Cost)
	if in.Website != nil {
		row.Website = nil
		if in.Website.Set {
			row.Website = &in.Website.URL
		}
	}
	row.ParentID = applyID(row.ParentID, in.ParentID)
}

// eventAfter returns the row of an event after a write of in. R has its texts and its image. Its dates and its state are
// those before the write.
func (e *Editor) eventAfter(row *ent.Event, r *record, in *EventInput) (*ent.Event, error) {
	next := new(*row)
	in.apply(next)
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

// fillEvent sets the fields of an event in m that differ from the stored row. It returns the row after the write
// (eventAfter).
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
		nextSequence(row, e.Now, r.status, r.published, span, next.EventStatus, HasPassword(next)), m.SetSequence)
	if d.fresh {
		m.SetOffSchedule(false)
	}
	return next, nil
}
