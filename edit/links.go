package edit

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// linkable finds what of the ids an event may be linked to, which are records that are not in the trash and
// that the caller may read. They stay out of the trash until the transaction ends.
func (e *Editor) linkable(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) ([]int64, error) {
	var found []*record
	for part := range slices.Chunk(once(ids), batch) {
		if kind == calendar.Venue {
			rows, err := tx.Venue.Query().Where(venue.IDIn(part...), venue.StatusNEQ(calendar.Trash)).
				Order(ent.Asc(venue.FieldID)).Modify(forShare).
				Select(venue.FieldID, venue.FieldAuthorID, venue.FieldStatus, venue.FieldPublishedAt).All(ctx)
			if err != nil {
				return nil, fmt.Errorf("venues to link: %w", err)
			}
			for _, r := range rows {
				found = append(found, venueRecord(r))
			}
			continue
		}
		rows, err := tx.Organizer.Query().Where(organizer.IDIn(part...), organizer.StatusNEQ(calendar.Trash)).
			Order(ent.Asc(organizer.FieldID)).Modify(forShare).
			Select(organizer.FieldID, organizer.FieldAuthorID, organizer.FieldStatus, organizer.FieldPublishedAt).
			All(ctx)
		if err != nil {
			return nil, fmt.Errorf("organizers to link: %w", err)
		}
		for _, r := range rows {
			found = append(found, organizerRecord(r))
		}
	}
	readable := make([]int64, 0, len(found))
	for _, r := range found {
		if e.may(auth.Read, r) {
			readable = append(readable, r.id)
		}
	}
	return readable, nil
}

// linkFault is the fault of ids among the references that an event may not be linked to.
func (e *Editor) linkFault(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) (*param.Fault, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := e.linkable(ctx, tx, kind, ids)
	if err != nil {
		return nil, err
	}
	return unknownIDs(string(kind), without(once(ids), found)), nil
}

// relink makes the venues or organizers of an event those with the ids, in their order.
func relink(ctx context.Context, tx *ent.Tx, kind calendar.Kind, id int64, ids []int64, d *diff) error {
	was, err := linked(ctx, tx, kind, id)
	if err != nil || slices.Equal(was, ids) {
		return err
	}
	if kind == calendar.Venue {
		_, err = tx.EventVenue.Delete().Where(eventvenue.EventID(id)).Exec(ctx)
	} else {
		_, err = tx.EventOrganizer.Delete().Where(eventorganizer.EventID(id)).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("unlink %s of event %d: %w", kind, id, err)
	}
	d.note(string(kind))
	return link(ctx, tx, kind, id, ids)
}

// link adds venues or organizers to an event that has none.
func link(ctx context.Context, tx *ent.Tx, kind calendar.Kind, id int64, ids []int64) (err error) {
	for from := 0; from < len(ids) && err == nil; from += batch {
		part := ids[from:min(from+batch, len(ids))]
		if kind == calendar.Venue {
			err = tx.EventVenue.MapCreateBulk(part, func(c *ent.EventVenueCreate, i int) {
				c.SetEventID(id).SetVenueID(part[i]).SetPosition(from + i)
			}).Exec(ctx)
		} else {
			err = tx.EventOrganizer.MapCreateBulk(part, func(c *ent.EventOrganizerCreate, i int) {
				c.SetEventID(id).SetOrganizerID(part[i]).SetPosition(from + i)
			}).Exec(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("link %s of event %d: %w", kind, id, raced(err))
	}
	return nil
}

// linked lists the venues or organizers of an event in their order.
func linked(ctx context.Context, tx *ent.Tx, kind calendar.Kind, id int64) (ids []int64, err error) {
	if kind == calendar.Venue {
		err = tx.EventVenue.Query().Where(eventvenue.EventID(id)).Order(ent.Asc(eventvenue.FieldPosition)).
			Select(eventvenue.FieldVenueID).Scan(ctx, &ids)
	} else {
		err = tx.EventOrganizer.Query().Where(eventorganizer.EventID(id)).Order(ent.Asc(eventorganizer.FieldPosition)).
			Select(eventorganizer.FieldOrganizerID).Scan(ctx, &ids)
	}
	if err != nil {
		return nil, fmt.Errorf("%s of event %d: %w", kind, id, err)
	}
	return ids, nil
}

// terms are the terms of an event, by taxonomy.
type terms struct{ categories, tags []int64 }

func (t terms) all() []int64 { return slices.Concat(t.categories, t.tags) }

// termsOf lists the terms of an event.
func termsOf(ctx context.Context, tx *ent.Tx, id int64) (terms, error) {
	var t terms
	rows, err := tx.Term.Query().Where(term.HasEventsWith(event.ID(id))).Order(ent.Asc(term.FieldID)).
		Select(term.FieldID, term.FieldTaxonomy).All(ctx)
	if err != nil {
		return t, fmt.Errorf("terms of event %d: %w", id, err)
	}
	for _, r := range rows {
		if r.Taxonomy == calendar.Category {
			t.categories = append(t.categories, r.ID)
		} else {
			t.tags = append(t.tags, r.ID)
		}
	}
	return t, nil
}

// linkTerms changes the terms of an event, and their numbers of published events as its status or terms
// change. The numbers come first: they lock the terms, so that the links find them still there.
func linkTerms(ctx context.Context, tx *ent.Tx, id int64, was, is terms, wasCounted, isCounted bool) error {
	by := make(map[int64]int)
	if wasCounted {
		for _, t := range was.all() {
			by[t]--
		}
	}
	if isCounted {
		for _, t := range is.all() {
			by[t]++
		}
	}
	if err := recount(ctx, tx, by); err != nil {
		return err
	}
	for part := range slices.Chunk(without(was.all(), is.all()), batch) {
		_, err := tx.EventTerm.Delete().Where(eventterm.EventID(id), eventterm.TermIDIn(part...)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("terms of event %d: %w", id, err)
		}
	}
	for part := range slices.Chunk(without(is.all(), was.all()), batch) {
		err := tx.EventTerm.MapCreateBulk(part, func(c *ent.EventTermCreate, i int) {
			c.SetEventID(id).SetTermID(part[i])
		}).Exec(ctx)
		if err != nil {
			return fmt.Errorf("terms of event %d: %w", id, raced(err))
		}
	}
	return nil
}
