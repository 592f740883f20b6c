// Package bulk writes many records at once: new records, changes of stored occurrences.
package bulk

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// Loader stores new records in batches, by the rules of package edit. The tables have the same content as after
// single creates in the same order, but it takes only some statements per table (decision 013). Two things
// differ: a record has all its languages at version 1, and the change log has one entry calendar.Loaded for a
// batch of events, venues or organizers.
//
// Preparing a batch takes most of the time and needs no database: several goroutines may prepare while another
// one writes. A Loader writes one batch at a time.
type Loader struct {
	// Verify makes the prepare methods refuse texts that differ from their sanitised form. Only tests set it.
	Verify bool

	st     *store.Store
	editor edit.Editor
	blank  *ent.Client // client of mutations that are never executed
	slugs  slugMemo
}

// NewLoader returns a Loader that writes to the database st with the rights and settings of e, which it copies.
func NewLoader(st *store.Store, e *edit.Editor) *Loader {
	return &Loader{st: st, editor: *e, blank: ent.NewClient()}
}

// Event is an event for Loader.Events. It refers to terms, venues and organizers only by id. The password is plain
// text.
type Event struct {
	edit.EventInput
	// Texts are the translations. They have no slugs.
	Texts []calendar.Text
	// Parent returns the id of the parent from the ids of the batch. 0 means no parent. A parent in the batch
	// precedes the event. Parent replaces ParentID.
	Parent func(batch []int64) int64
}

// Named is a venue or organizer for the Loader. It must have a source id, because the Loader does not recognise
// duplicates. Package edit does.
type Named[V any] struct {
	edit.NamedInput[V]
	Texts []calendar.Text // translations
}

// Venue is a venue for Loader.Venues.
type Venue = Named[edit.VenueValues]

// Organizer is an organizer for Loader.Organizers.
type Organizer = Named[ent.OrganizerValues]

// Batch has prepared records of one kind. Loader.Write stores them.
type Batch struct {
	kind    calendar.Kind
	records *Records
	public  bool         // whether one of the records is public
	wanted  []wantedSlug // wanted slug of each record

	// passwords, parents and links are only used for events.
	passwords map[int]string // plain text, by index of the event
	parents   map[int]func([]int64) int64
	links     Links
}

// wantedSlug is the slug that a record gets if it is free. If it is taken, the record gets it with a number. The
// field none means that the record gets no slug.
type wantedSlug struct {
	none bool
	base string // "" means a slug made of kind and id
}

// Len returns the number of records.
func (b *Batch) Len() int { return len(b.wanted) }

// Write stores a batch in one transaction and returns the ids in the order of the batch. It leaves out links to
// venues and organizers that are deleted, in the trash, or not readable for the caller. If the caller cannot create
// records, it returns edit.Forbidden.
func (l *Loader) Write(ctx context.Context, b *Batch) ([]int64, error) {
	if b.Len() == 0 {
		return nil, nil
	}
	e := l.editor
	if !auth.May(e.By, auth.Create, auth.Record{Kind: b.kind}) {
		return nil, edit.Forbidden()
	}
	var ids []int64
	var memo map[string]int
	err := edit.Write(ctx, l.st.Ent, &e, func(tx *ent.Tx) (err error) {
		ids, memo, err = l.write(ctx, tx, &e, b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load %d records of kind %s: %w", b.Len(), b.kind, err)
	}
	l.slugs.learn(b.kind, memo)
	return ids, nil
}

func (l *Loader) write(ctx context.Context, tx *ent.Tx, e *edit.Editor, b *Batch) ([]int64, map[string]int, error) {
	ids, err := store.DrawIDs(ctx, tx, b.kind, b.Len())
	if err != nil {
		return nil, nil, fmt.Errorf("draw ids: %w", err)
	}
	venues, err := e.LockLinkable(ctx, tx, calendar.Venue, slices.Concat(b.links.Venues...))
	if err != nil {
		return nil, nil, err
	}
	organizers, err := e.LockLinkable(ctx, tx, calendar.Organizer, slices.Concat(b.links.Organizers...))
	if err != nil {
		return nil, nil, err
	}
	bases := make([]string, b.Len())
	for i, w := range b.wanted {
		if bases[i] = w.base; w.base == "" && !w.none {
			bases[i] = b.kind.Slug(ids[i])
		}
	}
	slugs, memo, err := edit.ChooseSlugs(ctx, tx, b.kind, bases, func(base string) (int, bool) { return l.slugs.next(b.kind, base) })
	if err != nil {
		return nil, nil, err
	}
	b.setValuesByID(e.PasswordKey, ids)
	links := b.links
	links.Venues, links.Organizers = selectIDs(links.Venues, venues), selectIDs(links.Organizers, organizers)
	if err := b.records.Insert(ctx, tx, ids, slugs, links); err != nil {
		if store.IsDuplicate(err) {
			// Another transaction may have taken a slug after it was looked up, or after this Loader remembered it.
			l.slugs.forget()
		}
		return nil, nil, err
	}
	e.LogLoaded(b.kind, ids, b.public)
	return ids, memo, nil
}

// setValuesByID sets the columns whose values depend on the ids of the new records: password hashes and
// parents. The hashes are keyed with key.
func (b *Batch) setValuesByID(key []byte, ids []int64) {
	for i, password := range b.passwords {
		b.records.Set(i, b.records.Column(event.FieldPasswordHash), edit.HashPassword(key, ids[i], password))
	}
	for i, parent := range b.parents {
		var value any // null
		if id := parent(ids); id != 0 {
			value = id
		}
		b.records.Set(i, b.records.Column(event.FieldParentID), value)
	}
}

// selectIDs returns a copy of each list without the ids that are missing in existing.
func selectIDs(lists [][]int64, existing []int64) [][]int64 {
	may := make(map[int64]bool, len(existing))
	for _, id := range existing {
		may[id] = true
	}
	out := make([][]int64, len(lists))
	for i, ids := range lists {
		out[i] = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !may[id] })
	}
	return out
}
