package edit

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/param"
)

// plan has the ids of the records to which a write links an event. First, planEvent looks up all names and ids,
// because errors in the input are reported before missing permissions. Then carryOut creates the missing records.
type plan struct {
	categories, tags   *termLookup
	terms              termIDs
	venues, organizers []int64
}

// planEvent looks up all records that the input of an event names. The row is nil for a new event. The parameters
// span and schedule are errors in the sent dates and schedule, which the caller found. Nil means none. The error is
// param.Invalid with all parameter errors, in the order of the parameters.
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
	// A client may send back the stored parent, even if that is in the trash by now.
	if in.ParentID != nil && (row == nil || !equalsID(row.ParentID, *in.ParentID)) {
		fault, err := e.ParentFault(ctx, tx.Client(), *in.ParentID)
		if err != nil {
			return nil, err
		}
		faults = append(faults, faultOf("post_parent", fault))
	}
	return p, InvalidInput(append(faults, schedule)...)
}

// idsOf returns the ids of references to existing records. It leaves out references to new records.
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

// refuseEventLoop returns an error if the new parent of an event is the event itself or one of its descendants.
func (e *Editor) refuseEventLoop(ctx context.Context, tx *ent.Tx, row *ent.Event, parent *int64) error {
	if parent == nil || *parent == 0 || equalsID(row.ParentID, *parent) {
		return nil
	}
	isEvent := func(id int64) bool { return id == row.ID }
	return refuseLoop(ctx, tx, calendar.Event, isEvent, *parent, "post_parent", parentOf(tx))
}

// parentOf returns a function that loads the id of an event's parent. The function returns nil if the event has
// none.
func parentOf(tx *ent.Tx) func(ctx context.Context, id int64) (*int64, error) {
	return func(ctx context.Context, id int64) (*int64, error) {
		found, err := tx.Event.Query().Where(event.ID(id)).Select(event.FieldID, event.FieldParentID).Only(ctx)
		if err != nil {
			return nil, err
		}
		return found.ParentID, nil
	}
}

// RefuseEventLoops returns an error if the new parents would make an event its own ancestor. The map has the new
// parent of each changed event. 0 means no parent.
func RefuseEventLoops(ctx context.Context, tx *ent.Tx, parents map[int64]int64) error {
	stored := parentOf(tx)
	above := func(ctx context.Context, id int64) (*int64, error) {
		switch parent, changes := parents[id]; {
		case !changes:
			return stored(ctx, id)
		case parent == 0:
			return nil, nil
		default:
			return &parent, nil
		}
	}
	all := slices.Sorted(maps.Values(parents))
	for _, parent := range slices.Compact(all) {
		if parent == 0 {
			continue
		}
		gets := func(id int64) bool { return parents[id] == parent }
		if err := refuseLoop(ctx, tx, calendar.Event, gets, parent, "post_parent", above); err != nil {
			return err
		}
	}
	return nil
}

// carryOut creates the new terms, venues and organizers that a request sends inside an event, and sets their ids
// in p. New venues and organizers get the given author.
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
	p.venues, err = createLinked(calendar.Venue, in.Venues, func(in *VenueInput) (*ent.Venue, error) {
		return Venues.createLinked(ctx, tx, e, in, author)
	})
	if err != nil {
		return err
	}
	p.organizers, err = createLinked(calendar.Organizer, in.Organizers, func(in *OrganizerInput) (*ent.Organizer, error) {
		return Organizers.createLinked(ctx, tx, e, in, author)
	})
	return err
}

// createLinked creates the new records among refs, and returns the ids of all records without repeats. It leaves
// out a record that the request itself moves to the trash.
func createLinked[I any, R ent.Row](kind calendar.Kind, refs *[]LinkRef[I], create func(*I) (R, error)) ([]int64, error) {
	if refs == nil {
		return nil, nil
	}
	var ids []int64
	for i, r := range *refs {
		id := r.ID
		if r.New != nil {
			created, err := create(r.New)
			if err != nil {
				return nil, linkedError(string(kind), i, err)
			}
			if created.Core().Status == calendar.Trash {
				continue
			}
			id = created.Core().ID
		}
		ids = append(ids, id)
	}
	return uniqueIDs(ids), nil
}

// linkedError wraps the errors in a new venue or organizer inside an event into one error of the event's parameter.
// It returns other errors unchanged.
func linkedError(name string, index int, err error) error {
	var inner param.Invalid
	if errors.As(err, &inner) {
		return InvalidInput(InvalidLinked(name, index, inner.Faults))
	}
	return err
}

// noteIDs records in d that the named field changed. It records nothing if both lists have the same ids in any
// order.
func (d *diff) noteIDs(name string, old, value []int64) {
	if !slices.Equal(slices.Sorted(slices.Values(old)), slices.Sorted(slices.Values(value))) {
		d.note(name)
	}
}
