package edit

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// Loader writes many new records at once, by the rules of Editor: what it leaves in the tables is what as many
// creates in the same order would have left, in a few statements for each table. Two things differ: a record is
// written in all its languages at version 1, and the change log has one entry for each kind and transaction,
// calendar.Loaded.
//
// Preparing, which is most of the work, touches no database and may go on in several goroutines while one other
// writes. A Loader writes one batch at a time.
type Loader struct {
	// Verify makes preparing refuse texts that are not as cleaning leaves them. It is for tests: what arrives
	// here is clean.
	Verify bool

	st     *store.Store
	editor Editor
	blank  *ent.Client // for mutations that are never executed
	slugs  slugMemo
}

// NewLoader is a loader that writes into st on behalf of e, which it copies.
func NewLoader(st *store.Store, e *Editor) *Loader {
	l := &Loader{st: st, editor: *e, blank: ent.NewClient()}
	l.editor.changes = nil
	return l
}

// NewEvent is an event to load, with ids of what it is linked to; names and new records are not. Password is in
// clear.
type NewEvent struct {
	EventInput
	// Texts are those in other languages than the original; they have no slugs.
	Texts []calendar.Text
	// Parent gives the id of the event that this is part of, 0 for none, when it is called with the ids of the
	// batch; the parent comes before it there. It replaces ParentID.
	Parent func(batch []int64) int64
}

// NewVenue is a venue to load. It has a source id: others could be duplicates, which CreateVenue recognises.
type NewVenue struct {
	VenueInput
	Texts []calendar.Text // in other languages
}

// NewOrganizer is NewVenue for an organizer.
type NewOrganizer struct {
	OrganizerInput
	Texts []calendar.Text // in other languages
}

// Prepared is a batch of records of one kind, ready to be written.
type Prepared struct {
	kind    calendar.Kind
	records rows // the rows of the records themselves, one for each
	slug    int  // the column of their slugs

	translations, texts rows

	languages []calendar.Language // of each record's slug
	wanted    []wantedSlug        // of each record

	// Only of events.
	password, parent   int            // columns
	passwords          map[int]string // in clear
	parents            map[int]func([]int64) int64
	venues, organizers [][]int64
	terms              [][]int64
	counted            map[int64]int // published events by term
}

// wantedSlug is a slug that is taken if it is free.
type wantedSlug struct {
	none bool
	base string // "": that of the kind and the id
}

// Len is the number of records.
func (p *Prepared) Len() int { return len(p.wanted) }

// Write stores a batch in one transaction and returns the ids in the order of the batch. A link to a venue or an
// organizer that is not there any more, or is in the trash, is left out.
func (l *Loader) Write(ctx context.Context, p *Prepared) ([]int64, error) {
	if p.Len() == 0 {
		return nil, nil
	}
	e := l.editor
	if !e.may(auth.Create, &record{written: written{kind: p.kind}}) {
		return nil, forbidden()
	}
	var ids []int64
	var memo map[string]int
	err := Write(ctx, l.st.Ent, &e, func(tx *ent.Tx) (err error) {
		ids, memo, err = l.write(ctx, tx, &e, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load %d records of kind %s: %w", p.Len(), p.kind, err)
	}
	l.slugs.learn(p.kind, memo)
	return ids, nil
}

func (l *Loader) write(ctx context.Context, tx *ent.Tx, e *Editor, p *Prepared) ([]int64, map[string]int, error) {
	ids, err := l.draw(ctx, tx, p.kind, p.Len())
	if err != nil {
		return nil, nil, fmt.Errorf("draw ids: %w", err)
	}
	venues, err := e.stillThere(ctx, tx, calendar.Venue, slices.Concat(p.venues...))
	if err != nil {
		return nil, nil, err
	}
	organizers, err := e.stillThere(ctx, tx, calendar.Organizer, slices.Concat(p.organizers...))
	if err != nil {
		return nil, nil, err
	}
	bases := make([]string, p.Len())
	for i, w := range p.wanted {
		if bases[i] = w.base; w.base == "" && !w.none {
			bases[i] = p.kind.Slug(ids[i])
		}
	}
	slugs, memo, err := l.takeSlugs(ctx, tx, p.kind, bases)
	if err != nil {
		return nil, nil, err
	}
	p.settle(e.PasswordKey, ids, slugs)
	slugRows := rows{table: slugTable, columns: slugColumns, owner: 2}
	for i, s := range slugs {
		if s != "" {
			slugRows.add(i, string(p.kind), s, nil, string(p.languages[i]), int64(0))
		}
	}
	if err := slugRows.insert(ctx, tx, ids); err != nil {
		if store.IsDuplicate(err) {
			// Somebody else has taken one since it was looked for, or since this loader remembers it.
			l.slugs.forget()
		}
		return nil, nil, fmt.Errorf("slugs: %w", raced(err))
	}
	// Before the rows of the links: these lock the terms as well, for reading.
	if err := recount(ctx, tx, p.counted); err != nil {
		return nil, nil, err
	}
	inserted := []*rows{&p.records, &p.translations, &p.texts}
	inserted = append(inserted, p.links(venues, organizers)...)
	for _, r := range inserted {
		if err := r.insert(ctx, tx, ids); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", r.table, raced(err))
		}
	}
	e.logLoaded(p.kind, ids)
	return ids, memo, nil
}

// settle fills in what depends on the ids that were drawn.
func (p *Prepared) settle(key []byte, ids []int64, slugs []string) {
	for i, s := range slugs {
		p.records.set(i, p.slug, s)
	}
	for i, password := range p.passwords {
		p.records.set(i, p.password, HashPassword(key, ids[i], password))
	}
	for i, parent := range p.parents {
		if id := parent(ids); id != 0 {
			p.records.set(i, p.parent, id)
		} else {
			p.records.set(i, p.parent, nil)
		}
	}
}

// links are the rows that link the events of the batch to what of the venues and organizers is still there, and
// to their terms.
func (p *Prepared) links(venues, organizers map[int64]bool) []*rows {
	if p.kind != calendar.Event {
		return nil
	}
	list := func(table string, lists [][]int64, there map[int64]bool) *rows {
		r := &rows{table: table, columns: []string{"event_id", table[len("event_"):len(table)-1] + "_id", "position"}}
		for i, ids := range lists {
			position := int64(0)
			for _, id := range ids {
				if there[id] {
					r.add(i, nil, id, position)
					position++
				}
			}
		}
		return r
	}
	terms := &rows{table: "event_terms", columns: []string{"event_id", "term_id"}}
	for i, ids := range p.terms {
		for _, id := range ids {
			terms.add(i, nil, id)
		}
	}
	return []*rows{list("event_venues", p.venues, venues), list("event_organizers", p.organizers, organizers), terms}
}

// stillThere tells which of the records may be linked to, and keeps them out of the trash until the transaction
// ends.
func (e *Editor) stillThere(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) (map[int64]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := e.linkable(ctx, tx.Client(), kind, ids, forShare)
	if err != nil {
		return nil, err
	}
	there := make(map[int64]bool, len(found))
	for _, id := range found {
		there[id] = true
	}
	return there, nil
}

// logLoaded notes new records, whose ids are in ascending order.
func (e *Editor) logLoaded(kind calendar.Kind, ids []int64) {
	if len(ids) > 0 {
		e.log(kind, ids[0], calendar.Loaded, []string{strconv.FormatInt(ids[len(ids)-1], 10)})
	}
}

// column is the place of a name among columns.
func column(columns []string, name string) int { return slices.Index(columns, name) }
