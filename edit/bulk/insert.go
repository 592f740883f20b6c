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

// Records has new events, venues or organizers that are inserted together. They are occurrences of a series, sample
// records, or records of an import. Each SQL statement inserts many rows.
type Records struct {
	kind      calendar.Kind
	records   store.Rows // one row for each record, with all columns
	others    store.Rows // translations
	found     store.Rows // search texts
	languages []calendar.Language
	slugs     []translatedSlug
}

// translatedSlug is the slug of a record in a language other than its original. The field record is the index in
// Records.
type translatedSlug struct {
	record   int
	language calendar.Language
	slug     string
}

// Links has the ids of the records that new events are linked to. The index in each list is that of the event in
// Records.
type Links struct {
	Terms, Venues, Organizers [][]int64
	// Counted has the number of new events to add to the event count of a term, by term id.
	Counted map[int64]int
}

// NewRecords returns an empty Records for records of one kind.
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

// Column returns the index of a column in the rows that Add receives. It is -1 for an unknown name.
func (b *Records) Column(name string) int { return slices.Index(b.records.Columns, name) }

// Columns returns the names of the columns of the rows that Add receives, in order.
func (b *Records) Columns() []string { return b.records.Columns }

// Len returns the number of records.
func (b *Records) Len() int { return len(b.languages) }

// Set replaces the value of one column of a record. Both are given by their index.
func (b *Records) Set(record, column int, value any) { b.records.Set(record, column, value) }

// Add adds a record. The row has a value for each column, in the order of Columns. The parameter others has the
// translations with their slugs, and found has the search texts.
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
			b.slugs = append(b.slugs, translatedSlug{i, t.Language, t.Slug})
		}
	}
	for _, f := range found {
		b.found.Add(i, string(b.kind), nil, int64(f.Languages), f.Text)
	}
}

// Insert inserts all records with the given ids and slugs, which are in the order of the records. The slug ""
// means none. If the transaction is retried, Insert can be called again.
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
