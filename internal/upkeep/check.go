// Package upkeep repairs what the database derives from records, after rows were written without package edit.
package upkeep

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	entrecord "github.com/almanac-cal/almanac/ent/record"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
)

// Problem is a state of the database that package edit would not have written.
type Problem struct {
	Kind calendar.Kind // kind of the record; "" if the problem belongs to no record
	ID   int64         // id of the record; 0 if the problem belongs to no record
	What string
}

func (p Problem) String() string {
	if p.ID == 0 {
		return p.What
	}
	return fmt.Sprintf("%s %d: %s", p.Kind, p.ID, p.What)
}

// Check reports records that differ from what package edit would have written:
//
//   - instants that differ from the wall times in their zone;
//   - slugs, languages, search texts, sort keys, cells of venues, event counts of terms;
//   - links to records that do not exist, ids that were never drawn;
//   - occurrences that are not in the schedule of their series, and starts of a schedule without an occurrence;
//   - gaps in the change log.
//
// It changes nothing. It may run while the service writes: it reads problems twice, and reports those that it
// finds both times. It calls step after each batch, with the number of records of the kind that it has read.
func Check(
	ctx context.Context, db *ent.Client, e *edit.Editor, step func(kind calendar.Kind, records int), report func(Problem),
) error {
	c := &checker{Editor: e, db: db}
	for _, kind := range slices.Concat(kinds, []calendar.Kind{calendar.Series}) {
		err := eachBatch(ctx, db, kind, 0, func(ids []int64, done int) error {
			if err := c.confirmed(ctx, func() error { return c.records(ctx, kind, ids) }, report); err != nil {
				return fmt.Errorf("check %s: %w", kind, err)
			}
			step(kind, done)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return c.confirmed(ctx, func() error {
		return errors.Join(c.strays(ctx), c.orphans(ctx), c.log(ctx))
	}, report)
}

// checker collects the problems that one run of a check finds.
type checker struct {
	*edit.Editor
	db    *ent.Client
	found []Problem
}

// add records a problem.
func (c *checker) add(kind calendar.Kind, id int64, format string, args ...any) {
	c.found = append(c.found, Problem{kind, id, fmt.Sprintf(format, args...)})
}

// confirmed runs check. If it finds problems, confirmed runs it again, and reports the problems that both runs find.
// A write between the reads of one run can look like a problem.
func (c *checker) confirmed(ctx context.Context, check func() error, report func(Problem)) error {
	c.found = nil
	if err := check(); err != nil || len(c.found) == 0 {
		return err
	}
	first := c.found
	c.found = nil
	if err := check(); err != nil {
		return err
	}
	for _, p := range c.found {
		if slices.Contains(first, p) {
			report(p)
		}
	}
	return ctx.Err()
}

// checkedRecord has the columns of a record that Check examines for all kinds.
type checkedRecord struct {
	id        int64
	original  calendar.Language
	languages calendar.LanguageSet
	slug      string
	trashed   bool
	others    []otherText
}

// otherText has the language and the slug of a record's translation.
type otherText struct {
	language calendar.Language
	slug     string
}

// records checks the records of a kind with the given ids.
func (c *checker) records(ctx context.Context, kind calendar.Kind, ids []int64) error {
	rows, err := c.load(ctx, kind, ids)
	if err != nil {
		return err
	}
	return errors.Join(c.slugs(ctx, kind, rows), c.texts(ctx, kind, rows), c.recordIDs(ctx, kind, ids))
}

// load loads the records of a kind with the given ids. It also checks the columns that only this kind has.
func (c *checker) load(ctx context.Context, kind calendar.Kind, ids []int64) (out []checkedRecord, err error) {
	switch {
	case kind.IsTerm():
		return c.terms(ctx, kind, ids)
	case kind == calendar.Series:
		return c.series(ctx, ids)
	}
	rows, err := c.db.LoadRows(ctx, kind, len(ids), true, sql.FieldIn(event.FieldID, ids...))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		switch r := row.(type) {
		case *ent.Event:
			c.span(r)
		case *ent.Venue:
			if staleCell(r) {
				c.add(kind, r.ID, "its place on the map is not indexed")
			}
		}
		out = append(out, checkedRecordOf(row))
	}
	return out, nil
}

// checkedRecordOf returns the checked columns of a row. The row has all its translations.
func checkedRecordOf(row ent.Row) checkedRecord {
	core, text := row.Core(), row.Text()
	r := checkedRecord{
		id: core.ID, original: text.Language, languages: core.Languages, slug: text.Slug, trashed: core.Status == calendar.Trash,
	}
	for _, t := range row.Translated() {
		r.others = append(r.others, otherText{t.Language, t.Slug})
	}
	return r
}

// span checks that the stored instants of an event match its wall times, and that its status is a known one.
func (c *checker) span(r *ent.Event) {
	_, stale, err := derivedSpan(r)
	if err != nil {
		c.add(calendar.Event, r.ID, "its time zone %q is unknown", r.Timezone)
		return
	}
	if stale {
		c.add(calendar.Event, r.ID, "its instants are not its wall times in %s", r.Timezone)
	}
	if r.EndsAt.Before(r.StartsAt) {
		c.add(calendar.Event, r.ID, "it ends before it starts")
	}
	if !r.Status.Known() {
		c.add(calendar.Event, r.ID, "its status %q is unknown", r.Status)
	}
}

// terms loads the categories or tags with the given ids, and checks their event counts and sort keys.
func (c *checker) terms(ctx context.Context, kind calendar.Kind, ids []int64) (out []checkedRecord, err error) {
	rows, err := c.db.Term.Query().Where(term.IDIn(ids...)).WithTranslations().All(ctx)
	if err != nil {
		return nil, err
	}
	events, err := publishedEvents(ctx, c.db, ids)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.EventCount != events[r.ID] {
			c.add(kind, r.ID, "it counts %d events and has %d", r.EventCount, events[r.ID])
		}
		others := make([]calendar.Text, len(r.Edges.Translations))
		s := checkedRecord{id: r.ID, original: r.Language, languages: r.Languages, slug: r.Slug}
		for i, t := range r.Edges.Translations {
			s.others = append(s.others, otherText{t.Language, t.Slug})
			others[i] = calendar.Text{Language: t.Language, Title: t.Name, Description: t.Description}
		}
		keys := edit.SortKeysOf(c.Site.IndexedIn(),
			calendar.Text{Language: r.Language, Title: r.Name, Description: r.Description}, others)
		for column, is := range map[string][]byte{
			term.FieldSortEn: r.SortEn, term.FieldSortPl: r.SortPl, term.FieldSortEs: r.SortEs,
			term.FieldDescriptionSortEn: r.DescriptionSortEn, term.FieldDescriptionSortPl: r.DescriptionSortPl,
			term.FieldDescriptionSortEs: r.DescriptionSortEs,
		} {
			if is == nil || !bytes.Equal(is, keys[column]) {
				c.add(kind, r.ID, "what it is sorted by in %s is out of date", column)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// slugs compares the slugs in the records with the rows of the table slugs. It also compares a record's languages
// with those of its translations.
func (c *checker) slugs(ctx context.Context, kind calendar.Kind, rows []checkedRecord) error {
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.id
	}
	kept, err := c.db.Slug.Query().Where(slug.KindEQ(kind), slug.OwnerIDIn(ids...)).All(ctx)
	if err != nil {
		return err
	}
	line := func(language calendar.Language, text string, trashed int64) string {
		return fmt.Sprintf("%s %s %d", language, text, trashed)
	}
	have := make(map[int64][]string)
	for _, s := range kept {
		have[s.OwnerID] = append(have[s.OwnerID], line(s.Language, s.Slug, s.TrashedID))
	}
	for _, r := range rows {
		var want []string
		room := edit.SlugScope(r.id, r.trashed)
		languages := calendar.LanguagesOf(r.original)
		if r.slug != "" {
			want = append(want, line(r.original, r.slug, room))
		}
		for _, o := range r.others {
			languages = languages.With(o.language)
			if o.slug != "" {
				want = append(want, line(o.language, o.slug, room))
			}
		}
		slices.Sort(want)
		slices.Sort(have[r.id])
		if !slices.Equal(want, have[r.id]) {
			c.add(kind, r.id, "its slugs are %q and %q are kept for it", want, have[r.id])
		}
		if languages != r.languages {
			c.add(kind, r.id, "it has texts in %q and says %q", languages, r.languages)
		}
	}
	return nil
}

// texts compares the stored search texts of records with those that package edit would write now.
func (c *checker) texts(ctx context.Context, kind calendar.Kind, rows []checkedRecord) error {
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.id
	}
	kept, err := c.db.SearchText.Query().Where(searchtext.KindEQ(kind), searchtext.OwnerIDIn(ids...)).All(ctx)
	if err != nil {
		return err
	}
	have := make(map[int64][]edit.SearchText)
	for _, t := range kept {
		have[t.OwnerID] = append(have[t.OwnerID], edit.SearchText{Languages: t.Languages, Text: t.Text})
	}
	want, err := c.SearchTexts(ctx, c.db, kind, ids)
	if err != nil {
		return err
	}
	order := func(a, b edit.SearchText) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), a.Languages-b.Languages)
	}
	for _, id := range ids {
		slices.SortFunc(want[id], order)
		slices.SortFunc(have[id], order)
		if !slices.Equal(want[id], have[id]) {
			c.add(kind, id, "what searches look at is out of date")
		}
	}
	return nil
}

// recordIDs checks that the table records has the ids of the given records. All ids except those of terms are
// allocated there.
func (c *checker) recordIDs(ctx context.Context, kind calendar.Kind, ids []int64) error {
	if kind.IsTerm() {
		return nil
	}
	drawn, err := c.db.Record.Query().Where(entrecord.IDIn(ids...), entrecord.KindEQ(kind)).IDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.Contains(drawn, id) {
			c.add(kind, id, "its id was never drawn")
		}
	}
	return nil
}

// orphans counts links, slugs and search texts whose record does not exist.
func (c *checker) orphans(ctx context.Context) error {
	var errs []error
	missing := func(what, column, in string, count func(func(*sql.Selector)) (int, error)) {
		n, err := count(func(s *sql.Selector) {
			t := sql.Table(in).As("owner")
			s.Where(sql.NotExists(sql.Select(t.C("id")).From(t).Where(sql.ColumnsEQ(t.C("id"), s.C(column)))))
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		} else if n > 0 {
			c.add("", 0, "%d %s belong to nothing", n, what)
		}
	}
	for _, kind := range slices.Concat(calendar.LinkedKinds, []calendar.Kind{calendar.Category}) { // tags are in the table of categories
		links, noun := ent.LinkTables[kind], kind.Plural()
		if kind.IsTerm() {
			noun = "terms"
		}
		for _, side := range []struct{ column, in string }{{links.Event, event.Table}, {links.Record, ent.Tables[kind]}} {
			missing("links of "+noun, side.column, side.in, func(p func(*sql.Selector)) (int, error) {
				var n []int
				err := c.db.ScanLinks(ctx, kind, &n, func(s *sql.Selector) {
					s.Select(sql.Count("*"))
					p(s)
				})
				return slices.Max(append(n, 0)), err
			})
		}
	}
	for _, kind := range slices.Concat(kinds, []calendar.Kind{calendar.Series}) {
		missing("slugs of the kind "+string(kind), slug.FieldOwnerID, ent.Tables[kind], func(p func(*sql.Selector)) (int, error) {
			return c.db.Slug.Query().Where(slug.KindEQ(kind), p).Count(ctx)
		})
		missing("search texts of the kind "+string(kind), searchtext.FieldOwnerID, ent.Tables[kind], func(p func(*sql.Selector)) (int, error) {
			return c.db.SearchText.Query().Where(searchtext.KindEQ(kind), p).Count(ctx)
		})
	}
	return errors.Join(errs...)
}

// log checks that the change log has no gaps up to the revision. Its oldest entries may have been deleted.
func (c *checker) log(ctx context.Context) error {
	revision, err := edit.Revision(ctx, c.db)
	if err != nil {
		return err
	}
	var spread []struct {
		Min, Max int64
		Count    int64
	}
	err = c.db.Change.Query().Where(entchange.IDLTE(revision)).
		Aggregate(ent.As(ent.Min(entchange.FieldID), "min"), ent.As(ent.Max(entchange.FieldID), "max"), ent.As(ent.Count(), "count")).
		Scan(ctx, &spread)
	if err != nil {
		return fmt.Errorf("change log: %w", err)
	}
	newer, err := c.db.Change.Query().Where(entchange.IDGT(revision)).Count(ctx)
	if err != nil {
		return fmt.Errorf("change log: %w", err)
	}
	switch l := spread[0]; {
	case revision == 0 && l.Count == 0 && newer == 0:
	case l.Max != revision || l.Max-l.Min+1 != l.Count:
		c.add("", 0, "the change log up to revision %d has %d entries from %d to %d", revision, l.Count, l.Min, l.Max)
	case newer > 0:
		c.add("", 0, "%d entries of the change log are newer than the revision %d", newer, revision)
	}
	return nil
}
