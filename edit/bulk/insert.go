package bulk

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/store"
)

// Records is new events, venues or organizers that are inserted together: occurrences of a series, made-up records,
// records of an import. It takes some statements per table, whatever the number of records.
type Records struct {
	kind      calendar.Kind
	records   store.Rows // one for each record, with all columns
	others    store.Rows // translations
	found     store.Rows // search texts
	languages []calendar.Language
	slugs     []otherSlug
}

// otherSlug is the slug of a record in a language other than its original.
type otherSlug struct {
	record   int
	language calendar.Language
	slug     string
}

// Links has what the events of a Records are linked to, by the index of the event.
type Links struct {
	Terms, Venues, Organizers [][]int64
	// Counted is how many of the events each term counts.
	Counted map[int64]int
}

// NewRecords returns a Records without records.
func NewRecords(kind calendar.Kind) *Records {
	b := &Records{kind: kind, records: store.Rows{Table: ent.Tables[kind], Columns: ent.Columns[kind]}, found: searchTextRows()}
	if kind == calendar.Event {
		b.others = eventTranslationRows()
	} else {
		b.others = nameTranslationRows(kind)
	}
	b.records.Owner = b.Column(event.FieldID)
	return b
}

// Column returns the index of a column of the records.
func (b *Records) Column(name string) int { return slices.Index(b.records.Columns, name) }

// Columns returns the names of the columns of the records.
func (b *Records) Columns() []string { return b.records.Columns }

// Len returns the number of records.
func (b *Records) Len() int { return len(b.languages) }

// Set changes a value of a record.
func (b *Records) Set(record, column int, value any) { b.records.Set(record, column, value) }

// Add adds a record: its row, its original language, its translations with their slugs, and its search texts.
func (b *Records) Add(row []any, original calendar.Language, others []calendar.Text, found []edit.SearchText) {
	i := b.Len()
	b.records.Add(i, row...)
	b.languages = append(b.languages, original)
	for _, t := range others {
		if b.kind == calendar.Event {
			b.others.Add(i, nil, string(t.Language), t.Title, t.Description, t.Excerpt, t.Slug, t.EventStatusReason)
		} else {
			b.others.Add(i, nil, string(t.Language), t.Title, calendar.FoldName(t.Title), t.Description, t.Slug)
		}
		if t.Slug != "" {
			b.slugs = append(b.slugs, otherSlug{i, t.Language, t.Slug})
		}
	}
	for _, f := range found {
		b.found.Add(i, string(b.kind), nil, int64(f.Languages), f.Text)
	}
}

// Insert inserts the records, which get ids and slugs in their order; the slug "" means none. A transaction that is
// tried again may call it again.
func (b *Records) Insert(ctx context.Context, tx *ent.Tx, ids []int64, slugs []string, links Links) error {
	taken := slugRows()
	column := b.Column(event.FieldSlug)
	for i, s := range slugs {
		b.Set(i, column, s)
		if s != "" {
			taken.Add(i, string(b.kind), s, nil, string(b.languages[i]), edit.SlugScope(ids[i], false))
		}
	}
	for _, o := range b.slugs {
		taken.Add(o.record, string(b.kind), o.slug, nil, string(o.language), edit.SlugScope(ids[o.record], false))
	}
	if err := taken.Insert(ctx, tx, ids); err != nil {
		return fmt.Errorf("slugs: %w", store.AsConflict(err))
	}
	// Rows of links lock the terms for reading, so the counts come first.
	if err := edit.CountEvents(ctx, tx, links.Counted); err != nil {
		return err
	}
	terms, venues, organizers := linkRows(calendar.Category), linkRows(calendar.Venue), linkRows(calendar.Organizer)
	for i, ids := range links.Terms {
		addLinks(&terms, calendar.Category, i, ids)
	}
	for i, ids := range links.Venues {
		addLinks(&venues, calendar.Venue, i, ids)
	}
	for i, ids := range links.Organizers {
		addLinks(&organizers, calendar.Organizer, i, ids)
	}
	for _, r := range []*store.Rows{&b.records, &b.others, &b.found, &terms, &venues, &organizers} {
		if err := r.Insert(ctx, tx, ids); err != nil {
			return fmt.Errorf("%s: %w", r.Table, store.AsConflict(err))
		}
	}
	return nil
}
