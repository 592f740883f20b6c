package edit

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/store"
)

// CreateEvent stores a new event and links it. The row is the one stored; its edges are not loaded.
func (e *Editor) CreateEvent(ctx context.Context, tx *ent.Tx, in *EventInput) (*ent.Event, error) {
	none := &record{textOwner: textOwner{kind: calendar.Event}}
	s := in.sent()
	span := respan(calendar.Span{Zone: e.Site.Zone}, in)
	p, err := e.planEvent(ctx, tx, none, nil, s, in, spanFault(span, in))
	if err != nil {
		return nil, err
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
	r, err := e.begin(ctx, tx, calendar.Event, s)
	if err != nil {
		return nil, err
	}
	d := &diff{fresh: true}
	c := tx.Event.Create()
	if err := e.fillEvent(c.Mutation(), r, none, s, &ent.Event{}, in, span, d); err != nil {
		return nil, err
	}
	row, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create event: %w", store.AsConflict(err))
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
	e.log(calendar.Event, r.id, calendar.Created, nil)
	if e.fresh == nil {
		e.fresh = make(map[int64]*ent.Event)
	}
	e.fresh[row.ID] = row
	return row, nil
}

// UpdateEvent changes what is sent of an event that was loaded in the same transaction, best with LockEvent.
// The row is the one stored; its edges are not loaded.
func (e *Editor) UpdateEvent(ctx context.Context, tx *ent.Tx, row *ent.Event, in *EventInput) (*ent.Event, error) {
	old := eventRecord(row)
	s := in.sent()
	span, err := storedSpan(row)
	if err != nil {
		return nil, err
	}
	var early *param.Fault
	var late error
	if in.Start != nil || in.End != nil || in.Zone != nil || in.AllDay != nil {
		span = respan(span, in)
		if fault := spanFault(span, in); in.Start != nil && in.End != nil {
			early = fault
		} else {
			// It takes the stored dates to see it, so a missing permission comes first.
			late = invalid(fault)
		}
	}
	p, err := e.planEvent(ctx, tx, old, row, s, in, early)
	if err != nil {
		return nil, err
	}
	if err := e.permit(old, s); err != nil {
		return nil, err
	}
	if err := e.expect(row.Version); err != nil {
		return nil, err
	}
	if late != nil {
		return nil, late
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
			// A venue or organizer sent with the event went to the trash, and the event lost it.
			old.version++
		}
	}
	return e.changeEvent(ctx, tx, row, old, s, in, span, p)
}

// TrashEvent moves an event to the trash. One that is there already is *calendar.Error event-is-in-trash.
func (e *Editor) TrashEvent(ctx context.Context, tx *ent.Tx, row *ent.Event) (*ent.Event, error) {
	old := eventRecord(row)
	if err := e.permitTrash(old); err != nil {
		return nil, err
	}
	if err := e.expect(row.Version); err != nil {
		return nil, err
	}
	span, err := storedSpan(row)
	if err != nil {
		return nil, err
	}
	return e.changeEvent(ctx, tx, row, old, &recordInput{status: new(calendar.Trash)}, &EventInput{}, span, &plan{})
}

// changeEvent applies what is sent, without asking whether it may.
func (e *Editor) changeEvent(
	ctx context.Context, tx *ent.Tx, row *ent.Event, old *record, s *recordInput, in *EventInput, span calendar.Span, p *plan,
) (*ent.Event, error) {
	d := &diff{}
	r, action, err := e.revise(ctx, tx, old, s, d)
	if err != nil {
		return nil, err
	}
	var was termIDs
	if in.Categories != nil || in.Tags != nil || countsForTerms(old.status) != countsForTerms(r.status) {
		if was, err = termsOf(ctx, tx, row.ID); err != nil {
			return nil, err
		}
	}
	u := tx.Event.Update().Where(event.ID(row.ID), event.Version(old.version))
	if err := e.fillEvent(u.Mutation(), r, old, s, row, in, span, d); err != nil {
		return nil, err
	}
	if err := expectOneRow(u.Save(ctx)); err != nil {
		return nil, fmt.Errorf("event %d: %w", row.ID, err)
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
	if err := linkTerms(ctx, tx, row.ID, was, is, countsForTerms(old.status), countsForTerms(r.status)); err != nil {
		return nil, err
	}
	if in.Venues != nil {
		if err := relink(ctx, tx, calendar.Venue, row.ID, p.venues, d); err != nil {
			return nil, err
		}
	}
	if in.Organizers != nil {
		if err := relink(ctx, tx, calendar.Organizer, row.ID, p.organizers, d); err != nil {
			return nil, err
		}
	}
	e.log(calendar.Event, row.ID, action, d.fields)
	return tx.Event.Get(ctx, row.ID)
}

func eventRecord(row *ent.Event) *record {
	return &record{
		textOwner: textOwner{
			kind: calendar.Event, id: row.ID, language: row.Language, languages: row.Languages,
			trashed: row.Status == calendar.Trash,
			text:    text{row.Title, row.Description, row.Excerpt, row.Slug},
		},
		standing: standing{row.Status, row.StatusBeforeTrash, row.PublishedAt, row.Dated},
		author:   row.AuthorID, image: row.ImageID, source: row.SourceID,
		modified: row.ModifiedAt, version: row.Version,
	}
}

func (in *EventInput) sent() *recordInput {
	return &recordInput{
		author: in.AuthorID, published: in.Published, status: in.Status,
		sentText: sentText{in.Title, in.Description, in.Excerpt, in.Slug},
		image:    in.ImageID, source: in.SourceID, modified: in.ModifiedAt,
	}
}

// fillEvent writes an event over the one that is stored.
func (e *Editor) fillEvent(
	m *ent.EventMutation, r, old *record, s *recordInput, row *ent.Event, in *EventInput, span calendar.Span, d *diff,
) error {
	e.fill(m, r, old, s, d)
	put(d, "", old.title, r.title, m.SetTitle)
	put(d, "", old.excerpt, r.excerpt, m.SetExcerpt)
	put(d, "timezone", row.Timezone, span.Zone.String(), m.SetTimezone)
	put(d, "all_day", row.AllDay, span.AllDay, m.SetAllDay)
	put(d, "start_date", row.StartWall, span.Start, m.SetStartWall)
	put(d, "end_date", row.EndWall, span.End, m.SetEndWall)
	putTime(d, "", row.StartsAt, span.StartsAt(), m.SetStartsAt)
	putTime(d, "", row.EndsAt, span.EndsAt(), m.SetEndsAt)
	if in.Cost != nil {
		if in.Cost.IsZero() {
			m.ClearCost()
		} else {
			m.SetCost(*in.Cost)
		}
		if !equalCost(row.Cost, *in.Cost) {
			d.note("cost")
		}
	}
	website := row.Website
	if in.Website != nil {
		website = nil
		if in.Website.Set {
			website = &in.Website.URL
		}
	}
	putOptional(d, "website", row.Website, website, m.SetWebsite, m.ClearWebsite)
	put(d, "show_map", row.ShowMap, apply(row.ShowMap, in.ShowMap), m.SetShowMap)
	put(d, "show_map_link", row.ShowMapLink, apply(row.ShowMapLink, in.ShowMapLink), m.SetShowMapLink)
	put(d, "hide_from_listings", row.HideFromListings, apply(row.HideFromListings, in.Hide), m.SetHideFromListings)
	put(d, "sticky", row.Sticky, apply(row.Sticky, in.Sticky), m.SetSticky)
	put(d, "featured", row.Featured, apply(row.Featured, in.Featured), m.SetFeatured)
	put(d, "ticketed", row.Ticketed, apply(row.Ticketed, in.Ticketed), m.SetTicketed)
	putOptional(d, "post_parent", row.ParentID, applyID(row.ParentID, in.ParentID), m.SetParentID, m.ClearParentID)
	return e.fillPassword(m, r.id, in.Password, d)
}

// fillPassword writes the password of an event, if one is sent.
func (e *Editor) fillPassword(m *ent.EventMutation, id int64, password *string, d *diff) error {
	switch {
	case password == nil:
		return nil
	case *password == "":
		m.ClearPasswordHash()
	case len(e.PasswordKey) == 0:
		return errNoKey
	default:
		m.SetPasswordHash(HashPassword(e.PasswordKey, id, *password))
	}
	d.note("password")
	return nil
}
