package edit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/search"
)

// searchableFields are the names in the change log of the fields in search texts, by kind of record. Those of
// terms include the description, which is only in the sort keys. Updates of other fields change neither search
// texts nor sort keys.
var searchableFields = func() map[calendar.Kind][]string {
	all := map[calendar.Kind][]string{
		calendar.Event:    {"title", "description", "excerpt"},
		calendar.Series:   {"title", "description", "excerpt"},
		calendar.Category: {"name", "description", "slug"},
		calendar.Tag:      {"name", "description", "slug"},
	}
	for _, kind := range calendar.NamedKinds { // the name of the kind is that of the field with the name
		all[kind] = append([]string{string(kind), "description"}, ent.SearchedFields[kind]...)
	}
	return all
}()

// findable reports whether the change can affect the search texts of its record. If not, the transaction does not
// update them.
func (c change) findable() bool {
	names, ok := searchableFields[c.kind]
	if c.id == 0 || !ok {
		return false
	}
	if c.fields == nil || c.action == calendar.Deleted {
		return true
	}
	return slices.ContainsFunc(c.fields, func(f string) bool {
		field, _ := calendar.CutField(f)
		return slices.Contains(names, field)
	})
}

// SearchText is a folded text of a record in which searches look for words. Languages has the bits of the languages
// that show it.
type SearchText struct {
	Languages int
	Text      string // folded
}

// reindex updates the search texts of all records that the transaction changed. Write calls it before the commit.
func (e *Editor) reindex(ctx context.Context, tx *ent.Tx) error {
	// The ids are by kind, then by whether the record is new.
	stale := make(map[calendar.Kind]map[bool][]int64)
	for _, c := range e.changes {
		if !c.findable() {
			continue
		}
		if stale[c.kind] == nil {
			stale[c.kind] = make(map[bool][]int64, 2)
		}
		stale[c.kind][c.action == calendar.Created] = append(stale[c.kind][c.action == calendar.Created], c.id)
	}
	for kind, ids := range stale {
		// A record that the same transaction created and then changed is not new.
		fresh := idsWithout(ids[true], ids[false])
		for part := range slices.Chunk(fresh, BatchSize) {
			if err := e.insertFreshTexts(ctx, tx, kind, part); err != nil {
				return fmt.Errorf("search texts of %s: %w", kind, err)
			}
		}
		for part := range slices.Chunk(uniqueIDs(ids[false]), BatchSize) {
			if err := e.ReplaceSearchTexts(ctx, tx, kind, part); err != nil {
				return fmt.Errorf("search texts of %s: %w", kind, err)
			}
		}
	}
	return nil
}

// ReplaceSearchTexts computes and stores the search texts of the given records of a kind again. For terms it also
// stores the sort keys.
func (e *Editor) ReplaceSearchTexts(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) error {
	e.derived = true
	_, err := tx.SearchText.Delete().Where(searchtext.KindEQ(kind), searchtext.OwnerIDIn(ids...)).Exec(ctx)
	if err != nil {
		return err
	}
	if kind.IsTerm() { // insertTerm writes the sort keys of new terms
		if err := e.WriteSortKeys(ctx, tx, ids); err != nil {
			return err
		}
	}
	return e.insertSearchTexts(ctx, tx, kind, ids)
}

// insertSearchTexts stores the search texts of records of a kind that have none.
func (e *Editor) insertSearchTexts(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) error {
	texts, err := e.SearchTexts(ctx, tx.Client(), kind, ids)
	if err != nil {
		return err
	}
	return e.storeSearchTexts(ctx, tx, kind, ids, texts)
}

// insertFreshTexts stores the search texts of records that this transaction created and has not changed since. For
// events without translations it runs no query for their texts, because the rows are still in memory.
func (e *Editor) insertFreshTexts(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) error {
	if kind != calendar.Event {
		return e.insertSearchTexts(ctx, tx, kind, ids)
	}
	texts := make(map[int64][]SearchText, len(ids))
	var unknown []int64
	for _, id := range ids {
		row := e.created[id]
		if row == nil || row.Languages != calendar.LanguagesOf(row.Language) {
			unknown = append(unknown, id)
			continue
		}
		texts[id] = e.SearchTextsOf(kind, calendar.Text{
			Language: row.Language, Title: row.Title, Description: row.Description, Excerpt: row.Excerpt,
		}, nil)
	}
	if err := e.storeSearchTexts(ctx, tx, kind, ids, texts); err != nil || unknown == nil {
		return err
	}
	return e.insertSearchTexts(ctx, tx, kind, unknown)
}

// storeSearchTexts inserts the search texts of the records in ids. The map has them by the id of their record.
func (e *Editor) storeSearchTexts(
	ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64, texts map[int64][]SearchText,
) error {
	var rows []*ent.SearchTextCreate
	for _, id := range ids {
		for _, f := range texts[id] {
			rows = append(rows, tx.SearchText.Create().SetKind(kind).SetOwnerID(id).SetText(f.Text).
				SetLanguages(f.Languages))
		}
	}
	for part := range slices.Chunk(rows, BatchSize) {
		if err := tx.SearchText.CreateBulk(part...).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// maxSearchText is the size of the longest search text in bytes. Searches find nothing beyond it. TiDB refuses rows of 6 MiB,
// and search texts write some characters as many others.
const maxSearchText = 4 << 20

// cutSearchText returns the start of a search text, up to the length that the database stores.
func cutSearchText(text string) string {
	if len(text) <= maxSearchText {
		return text
	}
	end := maxSearchText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// SearchTextsOf returns the search texts of a record. The parameter common has the fields that are the same in
// all languages. An event or a series has one text for each language, with a line for each field, because the
// words of a search may be in different fields. Other records have one text for each field, because the words
// must be in the same field. Languages with equal texts share one SearchText.
func (e *Editor) SearchTextsOf(kind calendar.Kind, original calendar.Text, others []calendar.Text, common ...string) []SearchText {
	always := make([]string, len(common))
	for i, c := range common {
		always[i] = search.Fold(c)
	}
	var out []SearchText
	add := func(l calendar.Language, text string) {
		text = cutSearchText(text)
		for i := range out {
			if out[i].Text == text {
				out[i].Languages |= l.Bit()
				return
			}
		}
		out = append(out, SearchText{l.Bit(), text})
	}
	var last calendar.Text
	var fields []string
	for i, l := range calendar.Languages {
		t := calendar.Served(l, e.Site.IndexedIn(), original, others)
		if i == 0 || t != last {
			fields, last = foldedFields(kind, t), t
		}
		if kind.IsDated() {
			add(l, fields[0])
			continue
		}
		for _, list := range [2][]string{fields, always} {
			for _, f := range list {
				if f != "" {
					add(l, f)
				}
			}
		}
	}
	return out
}

// foldedFields returns the searchable fields of a text, folded for comparison. For an event or a series it
// returns one text with all of them.
func foldedFields(kind calendar.Kind, t calendar.Text) []string {
	if kind.IsTerm() {
		return []string{search.Fold(t.Title), t.Slug}
	}
	fields := []string{
		search.Fold(t.Title), search.Fold(markup.Plain(t.Excerpt)), search.Fold(markup.Plain(t.Description)),
	}
	if kind.IsDated() {
		return []string{strings.Join(fields, "\n")}
	}
	return fields
}

// SearchTexts loads records of a kind and returns their search texts, by the id of the record.
func (e *Editor) SearchTexts(ctx context.Context, db *ent.Client, kind calendar.Kind, ids []int64) (map[int64][]SearchText, error) {
	out := make(map[int64][]SearchText, len(ids))
	if kind == calendar.Series {
		phases, err := db.SeriesPhase.Query().Where(seriesphase.SeriesIDIn(ids...)).
			Order(seriesphase.BySeriesID(), seriesphase.ByPosition()).All(ctx)
		for _, p := range phases { // the last phase of each series remains
			t, err := ent.DecodeTemplate(p.Template)
			if err != nil {
				return nil, fmt.Errorf("template of series %d: %w", p.SeriesID, err)
			}
			out[p.SeriesID] = e.SearchTextsOf(kind, t.Text(), t.Translated())
		}
		return out, err
	}
	rows, err := db.LoadRows(ctx, kind, len(ids), false, sql.FieldIn(event.FieldID, ids...))
	if err != nil {
		return nil, err
	}
	if err := db.ReadTranslations(ctx, calendar.Languages, ent.PageOf(rows...)); err != nil {
		return nil, err
	}
	for _, row := range rows {
		out[row.Core().ID] = e.SearchTextsOf(kind, row.Text(), row.Translated(), row.Searched()...)
	}
	return out, nil
}
