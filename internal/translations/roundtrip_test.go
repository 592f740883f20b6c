package translations

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestRoundTrip exports texts, translates the file and imports it. The stored translations must equal those in the
// file.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) { w.checkRoundTrip(t) })
}

// checkRoundTrip exports texts, translates the file, imports it, and exports it again.
func (w *world) checkRoundTrip(t *testing.T) {
	x := Exporter{To: calendar.Polish, Slugs: true}
	before := w.texts()
	first, done := w.export(x)
	if again, _ := w.export(x); again != first {
		t.Errorf("two exports differ:\n%s\n%s", first, again)
	}
	checkEqual(t, "exported", Exported{Records: 7, Units: 19, Revision: done.Revision}, done)

	file := translateFile(t, first, func(u *Unit) string {
		switch {
		case u.ID.Field == Slug:
			return "pl-" + u.Source
		case isHTML(u.ID.Kind, u.ID.Field):
			return u.Source + "\n<p>zażółć &amp; &lt;3</p>"
		}
		return "Ż: " + u.Source
	})
	dry, _ := w.importFile(Importer{DryRun: true}, file)
	checkEqual(t, "texts after a dry run", before, w.texts())
	report, problems := w.importFile(Importer{}, file)
	checkEqual(t, "report", &Report{Records: 7, Units: map[Outcome]int{Updated: 19}}, report)
	checkEqual(t, "dry run", report, dry)
	checkEqual(t, "problems", []string(nil), problems)

	want := before
	w.addPolish(want)
	checkEqual(t, "texts", want, w.texts())
	counts, err := Status(t.Context(), w.db, Filter{Languages: []calendar.Language{calendar.Polish}})
	if err != nil {
		t.Fatal(err)
	}
	checkComplete(t, counts)
	second, _ := w.export(x)
	checkEqual(t, "second export", file, writeUnits(t, readFile(t, second)))
	report, problems = w.importFile(Importer{}, second)
	checkEqual(t, "second import", &Report{Units: map[Outcome]int{Unchanged: 19}}, report)
	checkEqual(t, "its problems", []string(nil), problems)
	x.MissingOnly = true
	if rest := readFile(t, firstOf(w.export(x))); len(rest) != 0 {
		t.Errorf("missing: %v", rest)
	}
}

// addPolish adds to the texts of all records the Polish ones that an import of the translated file must store.
func (w *world) addPolish(all map[key]map[calendar.Language]calendar.Text) {
	for k, texts := range all {
		o, ok := texts[calendar.English]
		if !ok {
			o = texts[calendar.Spanish]
		}
		if k.id == w.gone && k.kind == calendar.Event {
			continue
		}
		p := calendar.Text{Language: calendar.Polish, Title: "Ż: " + o.Title, Slug: "pl-" + o.Slug}
		if o.Description != "" {
			p.Description = o.Description + "\n<p>zażółć &amp; &lt;3</p>"
			if k.kind.IsTerm() {
				p.Description = "Ż: " + o.Description
			}
		}
		if o.Excerpt != "" {
			p.Excerpt = o.Excerpt + "\n<p>zażółć &amp; &lt;3</p>"
		}
		texts[calendar.Polish] = p
	}
}

// checkComplete checks by the counts of Status that no text is left to translate.
func checkComplete(t *testing.T, counts []Count) {
	t.Helper()
	for _, c := range counts {
		if c.Complete != c.Records || c.Partial != 0 || c.MissingFields != 0 {
			t.Errorf("not complete: %+v", c)
		}
	}
}

func firstOf[A, B any](a A, _ B) A { return a }

// TestOthersStay checks that an import changes only texts in the language of the file, never an original.
func TestOthersStay(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(t, st.Ent)
	known := []ID{
		{calendar.Event, w.gala, Title},
		{calendar.Event, w.gala, Description},
		{calendar.Event, w.gala, Excerpt},
		{calendar.Event, w.gala, Slug},
		{calendar.Event, w.market, Title},
		{calendar.Event, w.market, Slug},
		{calendar.Event, w.gone, Title},
		{calendar.Event, w.venue, Title},
		{calendar.Venue, w.venue, Name},
		{calendar.Organizer, w.organizer, Slug},
		{calendar.Category, w.category, Slug},
		{calendar.Tag, w.tag, Slug},
		{calendar.Tag, w.tag, Name},
		{calendar.Tag, w.category, Description},
	}
	rapid.Check(t, func(rt *rapid.T) {
		before := w.texts()
		from := rapid.SampledFrom(calendar.Languages).Draw(rt, "from")
		to := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(calendar.Languages), func(l calendar.Language) bool {
			return l == from
		})).Draw(rt, "to")
		var units []Unit
		for _, id := range rapid.SliceOfN(rapid.SampledFrom(known), 1, 12).Draw(rt, "ids") {
			texts := before[key{id.Kind, id.Record}]
			u := Unit{ID: id, From: from, To: to, Source: "something else"}
			if own, ok := texts[from]; ok && rapid.Bool().Draw(rt, "current") {
				u.Source = field(&own, id.Field)
			}
			if rapid.Bool().Draw(rt, "target") {
				u.Target = new(rapid.SampledFrom([]string{"", "a", "b", "gala", "<p>x</p>", "&amp;", "\u0301", "\x01"}).Draw(rt, "text"))
			}
			units = append(units, u)
		}
		im := Importer{Force: rapid.Bool().Draw(rt, "force"), Clear: rapid.Bool().Draw(rt, "clear")}
		report, _ := w.importFile(im, writeUnits(t, units))
		total := 0
		for _, n := range report.Units {
			total += n
		}
		if total != len(units) {
			rt.Errorf("%d units in the report of %d", total, len(units))
		}
		after := w.texts()
		for k, texts := range before {
			for l, text := range texts {
				if l != to && after[k][l] != text {
					rt.Errorf("%s %d in %s: %+v became %+v", k.kind, k.id, l, text, after[k][l])
				}
			}
			for l := range after[k] {
				if _, ok := texts[l]; !ok && l != to {
					rt.Errorf("%s %d: there is %s now", k.kind, k.id, l)
				}
			}
		}
	})
}

// TestMany exports and imports more records than fit into a page or a batch.
func TestMany(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		w.write("en", func(ctx context.Context, tx *ent.Tx, e *edit.Editor) (int64, error) {
			for i := range 2*pageSize + 7 {
				in := &edit.OrganizerInput{Name: new(fmt.Sprintf("Organizer %d", i)), Description: new("x")}
				if _, _, err := edit.Organizers.Create(ctx, tx, e, in); err != nil {
					return 0, err
				}
			}
			return 0, nil
		})
		x := Exporter{To: calendar.Spanish, Kinds: []calendar.Kind{calendar.Organizer}}
		file, done := w.export(x)
		if done.Records != 2*pageSize+8 || done.Units != 4*pageSize+15 {
			t.Fatalf("exported %+v", done)
		}
		report, _ := w.importFile(Importer{}, translateFile(t, file, func(u *Unit) string { return strings.ToUpper(u.Source) }))
		if report.Records != done.Records || report.Units[Updated] != done.Units {
			t.Errorf("report %+v", report)
		}
		x.MissingOnly = true
		if _, done := w.export(x); done.Units != 0 {
			t.Errorf("still missing: %+v", done)
		}
	})
}
