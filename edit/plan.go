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

// plan is the set of records that an event will be linked to. Planning looks up all names and ids, so that
// their faults precede permission errors. The write then creates missing records.
type plan struct {
	categories, tags   *termLookup
	terms              termIDs
	venues, organizers []int64
}

// planEvent looks up all records that an event names. Row is nil for a new event; span and schedule are the
// faults of its dates, if any. It returns faults in the order of the parameters.
func (e *Editor) planEvent(
	ctx context.Context, tx *ent.Tx, old *record, row *ent.Event, s *recordInput, in *EventInput, span, schedule *param.Fault,
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
	for _, l := range []struct {
		kind calendar.Kind
		ids  []int64
	}{{calendar.Venue, idsOf(in.Venues)}, {calendar.Organizer, idsOf(in.Organizers)}} {
		fault, err := e.lockedLinkFault(ctx, tx, l.kind, l.ids)
		if err != nil {
			return nil, err
		}
		faults = append(faults, faultOf(string(l.kind), fault))
	}
	// The stored parent may be sent back, even if it is in the trash by now.
	if in.ParentID != nil && (row == nil || !equalsID(row.ParentID, *in.ParentID)) {
		fault, err := e.ParentFault(ctx, tx.Client(), *in.ParentID)
		if err != nil {
			return nil, err
		}
		faults = append(faults, faultOf("post_parent", fault))
	}
	return p, invalidInput(append(faults, schedule)...)
}

// idsOf returns the ids among references.
func idsOf[I any](refs *[]LinkRef[I]) (ids []int64) {
	if refs == nil {
		return nil
	}
	for _, r := range *refs {
		if r.New == nil {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// refuseEventLoop refuses to place an event below itself.
func (e *Editor) refuseEventLoop(ctx context.Context, tx *ent.Tx, row *ent.Event, parent *int64) error {
	if parent == nil || *parent == 0 || equalsID(row.ParentID, *parent) {
		return nil
	}
	isEvent := func(id int64) bool { return id == row.ID }
	return refuseLoop(ctx, tx, calendar.Event, isEvent, *parent, "post_parent", parentOf(tx))
}

// parentOf returns a function that loads the parent of an event.
func parentOf(tx *ent.Tx) func(ctx context.Context, id int64) (*int64, error) {
	return func(ctx context.Context, id int64) (*int64, error) {
		found, err := tx.Event.Query().Where(event.ID(id)).Select(event.FieldID, event.FieldParentID).Only(ctx)
		if err != nil {
			return nil, err
		}
		return found.ParentID, nil
	}
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
	p.venues, err = createLinked(calendar.Venue, in.Venues, func(in *VenueInput) (int64, calendar.Status, error) {
		s := in.record()
		s.author, s.linked = author, true
		row, _, err := e.createVenue(ctx, tx, in, s)
		if err != nil {
			return 0, "", err
		}
		return row.ID, row.Status, nil
	})
	if err != nil {
		return err
	}
	p.organizers, err = createLinked(calendar.Organizer, in.Organizers, func(in *OrganizerInput) (int64, calendar.Status, error) {
		s := in.record()
		s.author, s.linked = author, true
		row, _, err := e.createOrganizer(ctx, tx, in, s)
		if err != nil {
			return 0, "", err
		}
		return row.ID, row.Status, nil
	})
	return err
}

// createLinked creates the new records among references, and returns the ids of all, each once. It leaves out a record
// that was sent to the trash.
func createLinked[I any](
	kind calendar.Kind, refs *[]LinkRef[I], create func(*I) (int64, calendar.Status, error),
) ([]int64, error) {
	if refs == nil {
		return nil, nil
	}
	var ids []int64
	for i, r := range *refs {
		id := r.ID
		if r.New != nil {
			created, status, err := create(r.New)
			if err != nil {
				return nil, linkedError(string(kind), i, err)
			}
			if status == calendar.Trash {
				continue
			}
			id = created
		}
		ids = append(ids, id)
	}
	return uniqueIDs(ids), nil
}

// linkedError turns what is wrong with a record sent with an event into a fault of the event's parameter.
func linkedError(name string, index int, err error) error {
	var inner param.Invalid
	if errors.As(err, &inner) {
		return invalidInput(InvalidLinked(name, index, inner.Faults))
	}
	return err
}

// list notes a list of ids that changed, whatever its order.
func (d *diff) list(name string, old, value []int64) {
	if !slices.Equal(slices.Sorted(slices.Values(old)), slices.Sorted(slices.Values(value))) {
		d.note(name)
	}
}
