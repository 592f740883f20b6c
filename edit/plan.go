package edit

import (
	"context"
	"errors"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/param"
)

// plan is what an event is to be linked to. Planning looks up what is named, for the faults that come before
// the permission; carrying out creates the rest.
type plan struct {
	categories, tags   *termLookup
	terms              terms
	venues, organizers []int64
}

// planEvent looks up all that an event names. Row is nil for a new one; span is the fault of its dates, if it
// has any. Faults come in the order of the parameters.
func (e *Editor) planEvent(
	ctx context.Context, tx *ent.Tx, old *record, row *ent.Event, s *sent, in *EventInput, span *param.Fault,
) (*plan, error) {
	author, picture, err := e.referenceFaults(ctx, tx, old, s)
	if err != nil {
		return nil, err
	}
	faults := []*param.Fault{author, span, picture}
	p := &plan{}
	for _, t := range []struct {
		taxonomy calendar.Kind
		name     string
		refs     *[]TermRef
		found    **termLookup
	}{
		{calendar.Category, "categories", in.Categories, &p.categories},
		{calendar.Tag, "tags", in.Tags, &p.tags},
	} {
		if t.refs == nil || len(*t.refs) == 0 {
			continue
		}
		found, fault, err := e.lookUpTerms(ctx, tx, t.taxonomy, t.name, *t.refs)
		if err != nil {
			return nil, err
		}
		*t.found = found
		faults = append(faults, fault)
	}
	for kind, ids := range in.linkedIDs() {
		fault, err := e.lockedLinkFault(ctx, tx, kind, ids)
		if err != nil {
			return nil, err
		}
		faults = append(faults, faultOf(string(kind), fault))
	}
	// The stored parent may be sent back, even if it is in the trash by now.
	if in.ParentID != nil && (row == nil || !same(row.ParentID, *in.ParentID)) {
		fault, err := e.ParentFault(ctx, tx.Client(), *in.ParentID)
		if err != nil {
			return nil, err
		}
		faults = append(faults, faultOf("post_parent", fault))
	}
	return p, invalid(faults...)
}

// linkedIDs yields the ids of the venues sent, then those of the organizers.
func (in *EventInput) linkedIDs() func(yield func(calendar.Kind, []int64) bool) {
	return func(yield func(calendar.Kind, []int64) bool) {
		var ids []int64
		if in.Venues != nil {
			for _, r := range *in.Venues {
				if r.New == nil {
					ids = append(ids, r.ID)
				}
			}
		}
		if !yield(calendar.Venue, ids) {
			return
		}
		ids = nil
		if in.Organizers != nil {
			for _, r := range *in.Organizers {
				if r.New == nil {
					ids = append(ids, r.ID)
				}
			}
		}
		yield(calendar.Organizer, ids)
	}
}

// refuseEventLoop refuses to place an event below itself.
func (e *Editor) refuseEventLoop(ctx context.Context, tx *ent.Tx, row *ent.Event, parent *int64) error {
	if parent == nil || *parent == 0 || same(row.ParentID, *parent) {
		return nil
	}
	above := func(ctx context.Context, id int64) (*int64, error) {
		found, err := tx.Event.Query().Where(event.ID(id)).Select(event.FieldID, event.FieldParentID).Only(ctx)
		if err != nil {
			return nil, err
		}
		return found.ParentID, nil
	}
	return refuseLoop(ctx, tx, calendar.Event, row.ID, *parent, "post_parent", above)
}

// carryOut creates the terms, venues and organizers that are sent with an event. These take its author.
func (e *Editor) carryOut(ctx context.Context, tx *ent.Tx, p *plan, in *EventInput, author *int64) (err error) {
	if p.categories != nil {
		if p.terms.categories, err = e.createTerms(ctx, tx, p.categories); err != nil {
			return err
		}
	}
	if p.tags != nil {
		if p.terms.tags, err = e.createTerms(ctx, tx, p.tags); err != nil {
			return err
		}
	}
	if in.Venues != nil {
		for i, r := range *in.Venues {
			if r.New != nil {
				s := r.New.sent()
				s.author, s.linked = author, true
				row, _, err := e.createVenue(ctx, tx, r.New, s)
				if err != nil {
					return linkedError("venue", i, err)
				}
				if row.Status == calendar.Trash {
					continue // its status was sent as well
				}
				r.ID = row.ID
			}
			p.venues = append(p.venues, r.ID)
		}
	}
	if in.Organizers != nil {
		for i, r := range *in.Organizers {
			if r.New != nil {
				s := r.New.sent()
				s.author, s.linked = author, true
				row, _, err := e.createOrganizer(ctx, tx, r.New, s)
				if err != nil {
					return linkedError("organizer", i, err)
				}
				if row.Status == calendar.Trash {
					continue
				}
				r.ID = row.ID
			}
			p.organizers = append(p.organizers, r.ID)
		}
	}
	p.venues, p.organizers = uniqueIDs(p.venues), uniqueIDs(p.organizers)
	return nil
}

// linkedError turns what is wrong with a record sent with an event into a fault of the event's parameter.
func linkedError(name string, index int, err error) error {
	var inner param.Invalid
	if errors.As(err, &inner) {
		return invalid(InvalidLinked(name, index, inner.Faults))
	}
	return err
}

// list notes a list of ids that changed, whatever its order.
func (d *diff) list(name string, old, value []int64) {
	if !slices.Equal(slices.Sorted(slices.Values(old)), slices.Sorted(slices.Values(value))) {
		d.note(name)
	}
}

func equalCost(a, b calendar.Cost) bool {
	return a.Symbol == b.Symbol && a.Position == b.Position &&
		slices.Equal(a.Prices, b.Prices) && slices.Equal(a.Texts, b.Texts)
}
