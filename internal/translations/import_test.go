package translations

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/proof/must"
)

// unit returns a unit with an English source and a Polish target.
func unit(kind calendar.Kind, id int64, f Field, source, target string) Unit {
	return Unit{ID: ID{kind, id, f}, From: calendar.English, To: calendar.Polish, Source: source, Target: &target}
}

// polishTexts returns the Polish title, description, excerpt and slug of an event. Without a translation all are empty.
func (w *world) polishTexts(id int64) [4]string {
	w.t.Helper()
	row, err := w.db.EventTranslation.Query().
		Where(eventtranslation.EventID(id), eventtranslation.LanguageEQ(calendar.Polish)).Only(w.t.Context())
	if ent.IsNotFound(err) {
		return [4]string{}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return [4]string{row.Title, row.Description, row.Excerpt, row.Slug}
}

func TestImport(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		gala := func(f Field, source, target string) Unit { return unit(calendar.Event, w.gala, f, source, target) }
		without := gala(Title, "Gala", "")
		without.Target = nil
		spanish := unit(calendar.Event, w.market, Title, "Mercado", "Market")
		spanish.From, spanish.To = calendar.Spanish, calendar.English
		// What is the record's own language cannot be overwritten by a file that takes it for a translation.
		own := unit(calendar.Event, w.gala, Title, "Gala", "Party")
		own.From, own.To = calendar.Polish, calendar.English
		long := strings.Repeat("x", 501)
		steps := []struct {
			name     string
			im       Importer
			units    []Unit
			want     map[Outcome]int
			problems []string
			polish   [4]string // of the gala
		}{
			{"a title", Importer{}, []Unit{gala(Title, "Gala", " Bal ")}, map[Outcome]int{Updated: 1}, nil, [4]string{"Bal"}},
			{"again", Importer{}, []Unit{gala(Title, "Gala", "Bal")}, map[Outcome]int{Unchanged: 1}, nil, [4]string{"Bal"}},
			{"a changed source", Importer{}, []Unit{gala(Title, "Galla", "Inny")}, map[Outcome]int{SourceChanged: 1}, []string{"the source text has changed since the export"}, [4]string{"Bal"}},
			{"a changed source whose translation is there", Importer{}, []Unit{gala(Title, "Galla", "Bal")}, map[Outcome]int{Unchanged: 1}, nil, [4]string{"Bal"}},
			{"a changed source, forced", Importer{Force: true}, []Unit{gala(Title, "Galla", "Inny")}, map[Outcome]int{Updated: 1}, nil, [4]string{"Inny"}},
			{"a source with other white space", Importer{}, []Unit{gala(Description, strings.Join(strings.Fields(html), " "), "<p>Opis</p><script>x</script>")}, map[Outcome]int{Updated: 1}, nil, [4]string{"Inny", "<p>Opis</p>"}},
			{"a slug", Importer{}, []Unit{gala(Slug, "gala", "Wielki Bal")}, map[Outcome]int{Updated: 1}, nil, [4]string{"Inny", "<p>Opis</p>", "", "wielki-bal"}},
			{"the slug of another language", Importer{}, []Unit{gala(Slug, "gala", "gala")}, map[Outcome]int{Unchanged: 1}, nil, [4]string{"Inny", "<p>Opis</p>", "", "wielki-bal"}},
			{"empty and no targets", Importer{}, []Unit{gala(Description, html, " "), without, gala(Slug, "gala", "")}, map[Outcome]int{Untranslated: 3}, nil, [4]string{"Inny", "<p>Opis</p>", "", "wielki-bal"}},
			{"cleared", Importer{Clear: true}, []Unit{gala(Description, html, ""), without, gala(Excerpt, "<em>Short</em>", ""), gala(Slug, "gala", "")}, map[Outcome]int{Updated: 1, Untranslated: 2, Unchanged: 1}, nil, [4]string{"Inny", "", "", "wielki-bal"}},
			{"a changed source is not cleared", Importer{Clear: true}, []Unit{gala(Title, "x", "")}, map[Outcome]int{SourceChanged: 1}, []string{"the source text has changed since the export"}, [4]string{"Inny", "", "", "wielki-bal"}},
			{"one invalid of two", Importer{}, []Unit{gala(Title, "Gala", long), gala(Excerpt, "<em>Short</em>", "Krótko")}, map[Outcome]int{Failed: 1, Updated: 1}, []string{"501 characters, and 500 are allowed"}, [4]string{"Inny", "", "Krótko", "wielki-bal"}},
			{"the same field twice", Importer{}, []Unit{gala(Title, "Gala", "A"), gala(Title, "Gala", "B")}, map[Outcome]int{Updated: 2}, nil, [4]string{"B", "", "Krótko", "wielki-bal"}},
			{"the last text cleared", Importer{Clear: true}, []Unit{gala(Title, "Gala", ""), gala(Excerpt, "<em>Short</em>", "")}, map[Outcome]int{Updated: 2}, nil, [4]string{}},
			{"unknown and in the trash", Importer{Force: true}, []Unit{
				unit(calendar.Event, 1<<40, Title, "x", "y"), unit(calendar.Event, w.gone, Title, "Gone", "Nie ma"),
				unit(calendar.Venue, w.gala, Name, "Gala", "Bal"), unit(calendar.Tag, w.category, Name, "Music", "Muzyka"),
			}, map[Outcome]int{Unknown: 3, InTrash: 1}, []string{"there is no such record", "the record is in the trash", "there is no such record", "there is no such record"}, [4]string{}},
			{"an original", Importer{Force: true}, []Unit{own}, map[Outcome]int{Original: 1}, []string{"the record was written in this language"}, [4]string{}},
			{"from another language", Importer{}, []Unit{spanish}, map[Outcome]int{Updated: 1}, nil, [4]string{}},
		}
		for _, s := range steps {
			for _, dry := range []bool{true, false} {
				before := w.texts()
				s.im.DryRun = dry
				report, problems := w.importFile(s.im, writeUnits(t, s.units))
				checkEqual(t, s.name, s.want, report.Units)
				for i := range problems {
					_, problems[i], _ = strings.Cut(problems[i], ": ")
				}
				checkEqual(t, s.name+": problems", s.problems, problems)
				if dry {
					checkEqual(t, s.name+": texts after a dry run", before, w.texts())
				}
			}
			checkEqual(t, s.name+": Polish", s.polish, w.polishTexts(w.gala))
		}
	})
}

func TestReasonsOfEvents(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		w.change(w.gala, calendar.English, edit.EventInput{EventStatusReason: new("Illness")})
		stored := func() string { return w.texts()[key{calendar.Event, w.gala}][calendar.Polish].EventStatusReason }
		file, _ := w.export(Exporter{Kinds: []calendar.Kind{calendar.Event}, To: "pl", MissingOnly: true})
		if !strings.Contains(file, "Event status reason of event") || !strings.Contains(file, "Illness") {
			t.Errorf("there is no reason:\n%s", file)
		}
		for _, s := range []struct {
			target  string
			outcome Outcome
			want    string
		}{
			{" Choroba <b>nagła</b> ", Updated, "Choroba nagła"},
			{"Choroba nagła", Unchanged, "Choroba nagła"},
			{strings.Repeat("x", 256), Failed, "Choroba nagła"},
			{"Choroba", Updated, "Choroba"},
		} {
			report, _ := w.importFile(Importer{}, writeUnits(t, []Unit{unit(calendar.Event, w.gala, Reason, "Illness", s.target)}))
			if report.Units[s.outcome] != 1 || stored() != s.want {
				t.Errorf("%q: %v, stored %q", s.target, report.Units, stored())
			}
		}
	})
}

// TestSlugOfAnother imports a slug that another term has. Terms get no numbers, so the slug fails, but the other texts
// are stored.
func TestSlugOfAnother(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		w.write("en", func(ctx context.Context, tx *ent.Tx, e *edit.Editor) (int64, error) {
			_, err := e.CreateTerm(ctx, tx, &edit.TermInput{Taxonomy: calendar.Tag, Name: new("darmowe")})
			return 0, err
		})
		report, problems := w.importFile(Importer{}, writeUnits(t, []Unit{
			unit(calendar.Category, w.category, Name, "Music", "Muzyka"),
			unit(calendar.Tag, w.tag, Name, "free", "za darmo"), unit(calendar.Tag, w.tag, Slug, "free", "Darmowe"),
			unit(calendar.Event, w.gala, Title, "Gala", "Bal"),
		}))
		checkEqual(t, "units", map[Outcome]int{Updated: 3, Failed: 1}, report.Units)
		if len(problems) != 1 || !strings.Contains(problems[0], "unit tag/") || !strings.Contains(problems[0], errSameOwner.Error()) {
			t.Errorf("problems %q", problems)
		}
		texts := w.texts()
		got := texts[key{calendar.Tag, w.tag}][calendar.Polish]
		checkEqual(t, "tag", calendar.Text{Language: calendar.Polish, Title: "za darmo"}, got)
		if w.polishTexts(w.gala)[0] != "Bal" || texts[key{calendar.Category, w.category}][calendar.Polish].Title != "Muzyka" {
			t.Error("the others of the batch are not written")
		}
	})
}

// TestBrokenFile imports a file that is malformed at its end. Nothing of the file may be stored.
func TestBrokenFile(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		file := writeUnits(t, []Unit{unit(calendar.Event, w.gala, Title, "Gala", "Bal")})
		im := &Importer{DB: w.db, Site: site()}
		report, err := im.Import(t.Context(), strings.NewReader(file[:len(file)-4]))
		if !errors.Is(err, ErrFile) || report.Records != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		if got := w.polishTexts(w.gala); got != [4]string{} {
			t.Errorf("written all the same: %q", got)
		}
	})
}

// TestChangeLog checks that an import is recorded in the change log like other writes.
func TestChangeLog(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		w.importFile(Importer{}, writeUnits(t, []Unit{
			unit(calendar.Event, w.gala, Title, "Gala", "Bal"), unit(calendar.Event, w.gala, Description, html, "<p>Opis</p>"),
			unit(calendar.Event, w.bare, Title, "changed", "x"),
		}))
		last, err := w.db.Change.Query().Order(ent.Desc(change.FieldID)).First(t.Context())
		must.Succeed(t, err)
		if last.RecordID != w.gala || last.Action != calendar.Updated || !slices.Equal(last.Fields, []string{"title:pl", "description:pl"}) {
			t.Errorf("change %+v", last)
		}
	})
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		im := &Importer{DB: w.db, Site: site()}
		file := writeUnits(t, []Unit{unit(calendar.Event, w.gala, Title, "Gala", "Bal")})
		if _, err := im.Import(ctx, strings.NewReader(file)); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		x := &Exporter{DB: w.db, To: calendar.Polish}
		if _, err := x.Write(ctx, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

func TestExport(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		w.change(w.gala, calendar.Polish, edit.EventInput{Title: new("Bal")})
		w.change(w.market, calendar.English, edit.EventInput{Title: new("Market")})
		newest, err := w.db.Change.Query().Order(ent.Desc(change.FieldID)).FirstID(t.Context())
		must.Succeed(t, err)
		event := func(id int64, fields ...Field) (out []string) {
			for _, f := range fields {
				out = append(out, ID{calendar.Event, id, f}.String())
			}
			return out
		}
		events := []calendar.Kind{calendar.Event}
		tests := []struct {
			name       string
			x          Exporter
			want       []string
			sourceless int
		}{
			{"from the originals", Exporter{Kinds: events, To: "pl"}, slices.Concat(event(w.gala, Title, Description, Excerpt), event(w.bare, Title), event(w.market, Title, Description)), 0},
			{"what was written in the language is left out", Exporter{Kinds: events, To: "en"}, event(w.market, Title, Description), 0},
			{"from English", Exporter{Kinds: events, From: "en", To: "pl"}, slices.Concat(event(w.gala, Title, Description, Excerpt), event(w.bare, Title), event(w.market, Title)), 1},
			{"from a translation", Exporter{Kinds: events, From: "pl", To: "es"}, event(w.gala, Title), 3},
			{"missing only", Exporter{Kinds: events, To: "pl", MissingOnly: true}, slices.Concat(event(w.gala, Description, Excerpt), event(w.bare, Title), event(w.market, Title, Description)), 0},
			{"after an id", Exporter{Kinds: events, To: "pl", After: w.bare}, event(w.market, Title, Description), 0},
			{"since a revision", Exporter{Kinds: events, To: "pl", Since: new(newest - 2)}, slices.Concat(event(w.gala, Title, Description, Excerpt), event(w.market, Title, Description)), 0},
			{"since the newest revision", Exporter{To: "pl", Since: new(newest)}, nil, 0},
			{"with slugs", Exporter{Kinds: events, To: "en", Slugs: true}, event(w.market, Title, Description, Slug), 0},
			{"terms", Exporter{Kinds: []calendar.Kind{calendar.Category, calendar.Tag}, To: "pl"}, []string{
				"category/" + strconv.FormatInt(w.category, 10) + "/name", "category/" + strconv.FormatInt(w.category, 10) + "/description",
				"tag/" + strconv.FormatInt(w.tag, 10) + "/name",
			}, 0},
		}
		for _, tt := range tests {
			file, done := w.export(tt.x)
			var got []string
			for _, u := range readFile(t, file) {
				got = append(got, u.ID.String())
			}
			checkEqual(t, tt.name, tt.want, got)
			if done.Sourceless != tt.sourceless || done.Units != len(tt.want) || done.Revision != newest {
				t.Errorf("%s: %+v", tt.name, done)
			}
		}
	})
}

// An export of the changes since a revision is refused if the change log no longer goes back so far. Otherwise texts
// would be missing.
func TestExportSinceForgottenChanges(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		newest := w.db.Change.Query().Order(ent.Desc(change.FieldID)).FirstX(t.Context()).ID
		w.db.Change.Delete().Where(change.IDLT(newest - 2)).ExecX(t.Context())
		for _, tt := range []struct {
			since int64
			fails bool
		}{{0, true}, {newest - 4, true}, {newest - 3, false}, {newest, false}} {
			x := Exporter{DB: w.db, To: "pl", From: "en", Since: &tt.since}
			if _, err := x.Write(t.Context(), &bytes.Buffer{}); (err != nil) != tt.fails {
				t.Errorf("since %d of %d: %v", tt.since, newest, err)
			}
		}
	})
}

type failingReader struct{}

func (failingReader) Write([]byte) (int, error) { return 0, errBroken }

var errBroken = errors.New("disk full")

func TestExportTellsOfFailures(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		x := &Exporter{DB: w.db, From: calendar.English, To: calendar.Polish}
		if _, err := x.Write(t.Context(), failingReader{}); !errors.Is(err, errBroken) {
			t.Errorf("error %v", err)
		}
	})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		w.change(w.gala, calendar.Polish, edit.EventInput{Title: new("Bal"), Slug: new("bal")})
		w.change(w.bare, calendar.Polish, edit.EventInput{Title: new("Ada")})
		got, err := Status(t.Context(), w.db, Filter{})
		must.Succeed(t, err)
		checkEqual(t, "status", []Count{
			{"event", "en", 3, 2, 0, 2},
			{"event", "pl", 3, 1, 1, 4},
			{"event", "es", 3, 1, 0, 4},
			{"venue", "en", 1, 1, 0, 0},
			{"venue", "pl", 1, 0, 0, 2},
			{"venue", "es", 1, 0, 0, 2},
			{"organizer", "en", 1, 1, 0, 0},
			{"organizer", "pl", 1, 0, 0, 1},
			{"organizer", "es", 1, 0, 0, 1},
			{"category", "en", 1, 1, 0, 0},
			{"category", "pl", 1, 0, 0, 2},
			{"category", "es", 1, 0, 0, 2},
			{"tag", "en", 1, 1, 0, 0},
			{"tag", "pl", 1, 0, 0, 1},
			{"tag", "es", 1, 0, 0, 1},
		}, slices.DeleteFunc(got, func(c Count) bool { return c.Records == 0 }))

		var missing []Missing
		filter := Filter{Kinds: []calendar.Kind{calendar.Event}, Languages: []calendar.Language{calendar.Polish}}
		err = ListMissing(t.Context(), w.db, filter, func(m Missing) error {
			missing = append(missing, m)
			return nil
		})
		must.Succeed(t, err)
		checkEqual(t, "missing", []Missing{
			{calendar.Event, w.gala, "Gala", calendar.Polish, []Field{Description, Excerpt}},
			{calendar.Event, w.market, "Mercado", calendar.Polish, []Field{Title, Description}},
		}, missing)
	})
}

func TestStatusOfNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, w *world) {
		w.write("", func(ctx context.Context, tx *ent.Tx, e *edit.Editor) (int64, error) {
			row, err := edit.Venues.Lock(ctx, tx, w.venue)
			if err == nil {
				_, err = edit.Venues.Trash(ctx, tx, e, row)
			}
			return 0, err
		})
		got, err := Status(t.Context(), w.db, Filter{Kinds: []calendar.Kind{calendar.Venue}, Languages: []calendar.Language{"pl"}})
		must.Succeed(t, err)
		checkEqual(t, "status", []Count{{Kind: "venue", Language: "pl"}}, got)
	})
}
