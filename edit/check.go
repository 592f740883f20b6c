package edit

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
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/organizertranslation"
	entrecord "github.com/almanac-cal/almanac/ent/record"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/ent/venuetranslation"
)

// Problem is something in the database that package edit would not have written.
type Problem struct {
	Kind calendar.Kind // "" for what belongs to no record
	ID   int64         // 0 for what belongs to no record
	What string
}

func (p Problem) String() string {
	if p.ID == 0 {
		return p.What
	}
	return fmt.Sprintf("%s %d: %s", p.Kind, p.ID, p.What)
}

// checkedKinds are the kinds that Check goes through.
var checkedKinds = []calendar.Kind{calendar.Event, calendar.Venue, calendar.Organizer, calendar.Category, calendar.Tag}

// Check goes through all records and reports what is not as writes leave it: instants that are not the wall times in
// their zone, slugs, languages, texts that searches look at, positions, numbers of events of terms, what terms are
// sorted by, links to nothing, ids that were never drawn, a change log with gaps. It changes nothing, and may run while
// the service answers: what looks wrong is looked at a second time before it is reported. step is told how many records
// of a kind were seen.
func Check(
	ctx context.Context, db *ent.Client, e *Editor, step func(kind calendar.Kind, records int), report func(Problem),
) error {
	c := &checker{Editor: e, db: db}
	for _, kind := range checkedKinds {
		done, after := 0, int64(0)
		for {
			ids, err := idsAfter(ctx, db, kind, after)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				break
			}
			if err := c.twice(ctx, func() error { return c.records(ctx, kind, ids) }, report); err != nil {
				return fmt.Errorf("check %s: %w", kind, err)
			}
			after = ids[len(ids)-1]
			done += len(ids)
			step(kind, done)
		}
	}
	return c.twice(ctx, func() error {
		return errors.Join(c.orphans(ctx), c.log(ctx))
	}, report)
}

// checker collects the problems of one look.
type checker struct {
	*Editor
	db    *ent.Client
	found []Problem
}

func (c *checker) say(kind calendar.Kind, id int64, format string, args ...any) {
	c.found = append(c.found, Problem{kind, id, fmt.Sprintf(format, args...)})
}

// twice looks, and if something is wrong looks again, and reports what was so both times.
func (c *checker) twice(ctx context.Context, look func() error, report func(Problem)) error {
	c.found = nil
	if err := look(); err != nil || len(c.found) == 0 {
		return err
	}
	first := c.found
	c.found = nil
	if err := look(); err != nil {
		return err
	}
	for _, p := range c.found {
		if slices.Contains(first, p) {
			report(p)
		}
	}
	return ctx.Err()
}

// checked is what a record has, whatever its kind.
type checked struct {
	id        int64
	original  calendar.Language
	languages calendar.LanguageSet
	slug      string
	trashed   bool
	others    []otherText
}

// otherText is a translation.
type otherText struct {
	language calendar.Language
	slug     string
}

// records looks at some records of a kind.
func (c *checker) records(ctx context.Context, kind calendar.Kind, ids []int64) error {
	rows, err := c.load(ctx, kind, ids)
	if err != nil {
		return err
	}
	return errors.Join(c.slugs(ctx, kind, rows), c.texts(ctx, kind, rows), c.drawn(ctx, kind, ids))
}

// load reads the records, and looks at what is particular to the kind.
func (c *checker) load(ctx context.Context, kind calendar.Kind, ids []int64) (out []checked, err error) {
	switch kind {
	case calendar.Event:
		rows, err := c.db.Event.Query().Where(event.IDIn(ids...)).
			WithTranslations(func(q *ent.EventTranslationQuery) {
				q.Select(eventtranslation.FieldEventID, eventtranslation.FieldLanguage, eventtranslation.FieldSlug)
			}).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			c.span(r)
			s := checked{id: r.ID, original: r.Language, languages: r.Languages, slug: r.Slug, trashed: r.Status == calendar.Trash}
			for _, t := range r.Edges.Translations {
				s.others = append(s.others, otherText{t.Language, t.Slug})
			}
			out = append(out, s)
		}
	case calendar.Venue:
		rows, err := c.db.Venue.Query().Where(venue.IDIn(ids...)).
			WithTranslations(func(q *ent.VenueTranslationQuery) {
				q.Select(venuetranslation.FieldVenueID, venuetranslation.FieldLanguage, venuetranslation.FieldSlug)
			}).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if is := cellOf(r.Latitude, r.Longitude); (is == nil) != (r.Cell == nil) || is != nil && *is != *r.Cell {
				c.say(kind, r.ID, "its place on the map is not indexed")
			}
			s := checked{id: r.ID, original: r.Language, languages: r.Languages, slug: r.Slug, trashed: r.Status == calendar.Trash}
			for _, t := range r.Edges.Translations {
				s.others = append(s.others, otherText{t.Language, t.Slug})
			}
			out = append(out, s)
		}
	case calendar.Organizer:
		rows, err := c.db.Organizer.Query().Where(organizer.IDIn(ids...)).
			WithTranslations(func(q *ent.OrganizerTranslationQuery) {
				q.Select(organizertranslation.FieldOrganizerID, organizertranslation.FieldLanguage, organizertranslation.FieldSlug)
			}).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			s := checked{id: r.ID, original: r.Language, languages: r.Languages, slug: r.Slug, trashed: r.Status == calendar.Trash}
			for _, t := range r.Edges.Translations {
				s.others = append(s.others, otherText{t.Language, t.Slug})
			}
			out = append(out, s)
		}
	default:
		return c.terms(ctx, kind, ids)
	}
	return out, err
}

// span compares the instants of an event with its wall times.
func (c *checker) span(r *ent.Event) {
	zone, err := calendar.ParseZone(r.Timezone)
	if err != nil {
		c.say(calendar.Event, r.ID, "its time zone %q is unknown", r.Timezone)
		return
	}
	span := calendar.Span{Start: r.StartWall, End: r.EndWall, Zone: zone, AllDay: r.AllDay}
	if !span.StartsAt().Equal(r.StartsAt) || !span.EndsAt().Equal(r.EndsAt) {
		c.say(calendar.Event, r.ID, "its instants are not its wall times in %s", r.Timezone)
	}
	if r.EndsAt.Before(r.StartsAt) {
		c.say(calendar.Event, r.ID, "it ends before it starts")
	}
	if !r.Status.Known() {
		c.say(calendar.Event, r.ID, "its status %q is unknown", r.Status)
	}
}

// terms is load for terms.
func (c *checker) terms(ctx context.Context, kind calendar.Kind, ids []int64) (out []checked, err error) {
	rows, err := c.db.Term.Query().Where(term.IDIn(ids...)).WithTranslations().All(ctx)
	if err != nil {
		return nil, err
	}
	var counts []struct {
		TermID int64 `json:"term_id"`
		Count  int   `json:"count"`
	}
	err = c.db.EventTerm.Query().
		Where(eventterm.TermIDIn(ids...), eventterm.HasEventWith(event.StatusEQ(calendar.Publish))).
		GroupBy(eventterm.FieldTermID).Aggregate(ent.Count()).Scan(ctx, &counts)
	if err != nil {
		return nil, err
	}
	events := make(map[int64]int, len(counts))
	for _, n := range counts {
		events[n.TermID] = n.Count
	}
	for _, r := range rows {
		if r.EventCount != events[r.ID] {
			c.say(kind, r.ID, "it counts %d events and has %d", r.EventCount, events[r.ID])
		}
		others := make([]calendar.Text, len(r.Edges.Translations))
		s := checked{id: r.ID, original: r.Language, languages: r.Languages, slug: r.Slug}
		for i, t := range r.Edges.Translations {
			s.others = append(s.others, otherText{t.Language, t.Slug})
			others[i] = calendar.Text{Language: t.Language, Title: t.Name, Description: t.Description}
		}
		keys := SortKeysOf(c.Site.Language,
			calendar.Text{Language: r.Language, Title: r.Name, Description: r.Description}, others)
		for column, is := range map[string][]byte{
			term.FieldSortEn: r.SortEn, term.FieldSortPl: r.SortPl, term.FieldSortEs: r.SortEs,
			term.FieldDescriptionSortEn: r.DescriptionSortEn, term.FieldDescriptionSortPl: r.DescriptionSortPl,
			term.FieldDescriptionSortEs: r.DescriptionSortEs,
		} {
			if is == nil || !bytes.Equal(is, keys[column]) {
				c.say(kind, r.ID, "what it is sorted by in %s is out of date", column)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// slugs compares the slugs of records with those that are kept for their kind, and the languages with the texts.
func (c *checker) slugs(ctx context.Context, kind calendar.Kind, rows []checked) error {
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
		room := slugOf{owner: r.id, trashed: r.trashed}.room()
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
			c.say(kind, r.id, "its slugs are %q and %q are kept for it", want, have[r.id])
		}
		if languages != r.languages {
			c.say(kind, r.id, "it has texts in %q and says %q", languages, r.languages)
		}
	}
	return nil
}

// texts compares what records can be found by with what they would be found by if it were written now.
func (c *checker) texts(ctx context.Context, kind calendar.Kind, rows []checked) error {
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.id
	}
	kept, err := c.db.SearchText.Query().Where(searchtext.KindEQ(kind), searchtext.OwnerIDIn(ids...)).All(ctx)
	if err != nil {
		return err
	}
	have := make(map[int64][]found)
	for _, t := range kept {
		have[t.OwnerID] = append(have[t.OwnerID], found{t.Languages, t.Text})
	}
	want, err := c.searchTexts(ctx, c.db, kind, ids)
	if err != nil {
		return err
	}
	order := func(a, b found) int { return cmp.Or(strings.Compare(a.text, b.text), a.languages-b.languages) }
	for _, id := range ids {
		slices.SortFunc(want[id], order)
		slices.SortFunc(have[id], order)
		if !slices.Equal(want[id], have[id]) {
			c.say(kind, id, "what searches look at is out of date")
		}
	}
	return nil
}

// drawn looks whether the ids of records come from the sequence.
func (c *checker) drawn(ctx context.Context, kind calendar.Kind, ids []int64) error {
	if isTerm(kind) {
		return nil
	}
	drawn, err := c.db.Record.Query().Where(entrecord.IDIn(ids...), entrecord.KindEQ(kind)).IDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range without(ids, drawn) {
		c.say(kind, id, "its id was never drawn")
	}
	return nil
}

// orphans looks for what belongs to records that are not there.
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
			c.say("", 0, "%d %s belong to nothing", n, what)
		}
	}
	for _, side := range []struct{ column, in string }{{"event_id", event.Table}, {"venue_id", venue.Table}} {
		missing("links of venues", side.column, side.in, func(p func(*sql.Selector)) (int, error) {
			return c.db.EventVenue.Query().Where(p).Count(ctx)
		})
	}
	for _, side := range []struct{ column, in string }{
		{eventorganizer.FieldEventID, event.Table}, {eventorganizer.FieldOrganizerID, organizer.Table},
	} {
		missing("links of organizers", side.column, side.in, func(p func(*sql.Selector)) (int, error) {
			return c.db.EventOrganizer.Query().Where(p).Count(ctx)
		})
	}
	for _, side := range []struct{ column, in string }{{eventterm.FieldEventID, event.Table}, {eventterm.FieldTermID, term.Table}} {
		missing("links of terms", side.column, side.in, func(p func(*sql.Selector)) (int, error) {
			return c.db.EventTerm.Query().Where(p).Count(ctx)
		})
	}
	tables := map[calendar.Kind]string{
		calendar.Event: event.Table, calendar.Venue: venue.Table, calendar.Organizer: organizer.Table,
		calendar.Category: term.Table, calendar.Tag: term.Table,
	}
	for _, kind := range checkedKinds {
		missing("slugs of the kind "+string(kind), slug.FieldOwnerID, tables[kind], func(p func(*sql.Selector)) (int, error) {
			return c.db.Slug.Query().Where(slug.KindEQ(kind), p).Count(ctx)
		})
		missing("search texts of the kind "+string(kind), searchtext.FieldOwnerID, tables[kind], func(p func(*sql.Selector)) (int, error) {
			return c.db.SearchText.Query().Where(searchtext.KindEQ(kind), p).Count(ctx)
		})
	}
	return errors.Join(errs...)
}

// log looks whether the change log goes up to the revision without gaps. Its oldest entries may have been taken away.
func (c *checker) log(ctx context.Context) error {
	revision, err := Revision(ctx, c.db)
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
		c.say("", 0, "the change log up to revision %d has %d entries from %d to %d", revision, l.Count, l.Min, l.Max)
	case newer > 0:
		c.say("", 0, "%d entries of the change log are newer than the revision %d", newer, revision)
	}
	return nil
}
