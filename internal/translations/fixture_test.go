package translations

import (
	"bufio"
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/proof/storetest"
)

var testNow = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

func site() calendar.Site {
	zone, err := calendar.ParseZone("UTC")
	if err != nil {
		panic(err)
	}
	return calendar.Site{
		BaseURL: "http://127.0.0.1", Zone: zone, Language: calendar.English, Now: func() time.Time { return testNow },
	}
}

// world is a test database with records of each kind, and helpers to change, export and import them.
type world struct {
	t  testing.TB
	db *ent.Client
	// gala was written in English and has all fields, bare a title only; market in Spanish; gone is in the trash.
	gala, bare, market, gone int64
	venue, organizer         int64
	category, tag            int64
}

// oddTitle is a title with characters that plain text may have.
const oddTitle = `Ada & "Bob" <3 a<b>c &amp; łódź 🎉`

const html = "<p>First &amp; <a href=\"https://example.org/?a=1&amp;b=2\">last</a></p>\n\n<ul>\n\t<li>é</li>\n</ul>"

func newWorld(t testing.TB, db *ent.Client) *world {
	t.Helper()
	w := &world{t: t, db: db}
	start := when.FromInstant(testNow)
	event := func(in edit.EventInput) func(context.Context, *ent.Tx, *edit.Editor) (int64, error) {
		in.Start, in.End = &start, &start
		return func(ctx context.Context, tx *ent.Tx, e *edit.Editor) (int64, error) {
			row, err := series.CreateEvent(ctx, tx, e, &in)
			if err != nil {
				return 0, err
			}
			return row.ID, nil
		}
	}
	w.gala = w.write("en", event(edit.EventInput{Title: new("Gala"), Description: new(html), Excerpt: new("<em>Short</em>")}))
	w.bare = w.write("en", event(edit.EventInput{Title: new(oddTitle)}))
	w.market = w.write("es", event(edit.EventInput{Title: new("Mercado"), Description: new("<p>Frutas</p>")}))
	w.gone = w.write("en", event(edit.EventInput{Title: new("Gone"), Description: new("Old")}))
	w.write("", func(ctx context.Context, tx *ent.Tx, e *edit.Editor) (int64, error) {
		row, err := edit.LockEvent(ctx, tx, w.gone)
		if err == nil {
			_, err = e.TrashEvent(ctx, tx, row)
		}
		return 0, err
	})
	w.venue = w.write("en", func(ctx context.Context, tx *ent.Tx, e *edit.Editor) (int64, error) {
		row, _, err := edit.Venues.Create(ctx, tx, e, &edit.VenueInput{Name: new("Hall"), Description: new("<p>Big</p>")})
		if err != nil {
			return 0, err
		}
		return row.ID, nil
	})
	w.organizer = w.write("en", func(ctx context.Context, tx *ent.Tx, e *edit.Editor) (int64, error) {
		row, _, err := edit.Organizers.Create(ctx, tx, e, &edit.OrganizerInput{Name: new("Club")})
		if err != nil {
			return 0, err
		}
		return row.ID, nil
	})
	term := func(in edit.TermInput) func(context.Context, *ent.Tx, *edit.Editor) (int64, error) {
		return func(ctx context.Context, tx *ent.Tx, e *edit.Editor) (int64, error) {
			row, err := e.CreateTerm(ctx, tx, &in)
			if err != nil {
				return 0, err
			}
			return row.ID, nil
		}
	}
	w.category = w.write("en", term(edit.TermInput{Taxonomy: calendar.Category, Name: new("Music"), Description: new("All <of> it")}))
	w.tag = w.write("en", term(edit.TermInput{Taxonomy: calendar.Tag, Name: new("free")}))
	return w
}

// eachEngine runs a test on every engine.
func eachEngine(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, st *store.Store) { test(t, newWorld(t, st.Ent)) })
}

// write runs do in a transaction, with an editor who writes texts in language l. It returns the id that do returns.
func (w *world) write(l calendar.Language, do func(context.Context, *ent.Tx, *edit.Editor) (int64, error)) int64 {
	w.t.Helper()
	e := &edit.Editor{Site: site(), Now: testNow, By: auth.System(), Write: l}
	var id int64
	err := edit.Write(w.t.Context(), w.db, e, func(tx *ent.Tx) (err error) {
		id, err = do(w.t.Context(), tx, e)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// change writes the fields of in to an event, with texts in a language.
func (w *world) change(id int64, l calendar.Language, in edit.EventInput) {
	w.t.Helper()
	w.write(l, func(ctx context.Context, tx *ent.Tx, e *edit.Editor) (int64, error) {
		row, err := edit.LockEvent(ctx, tx, id)
		if err == nil {
			_, err = series.UpdateEvent(ctx, tx, e, row, &in)
		}
		return 0, err
	})
}

// export runs an exporter and returns the file.
func (w *world) export(x Exporter) (string, Exported) {
	w.t.Helper()
	x.DB = w.db
	var out bytes.Buffer
	done, err := x.Write(w.t.Context(), &out)
	if err != nil {
		w.t.Fatal(err)
	}
	return out.String(), done
}

// importFile imports a file and returns the report and the problems.
func (w *world) importFile(im Importer, file string) (*Report, []string) {
	w.t.Helper()
	im.DB, im.Site = w.db, site()
	var problems []string
	im.Problem = func(p Problem) { problems = append(problems, p.String()) }
	report, err := im.Import(w.t.Context(), bytes.NewReader([]byte(file)))
	if err != nil {
		w.t.Fatalf("%v in\n%s", err, file)
	}
	return report, problems
}

// texts returns the texts of all records, by record and language.
func (w *world) texts() map[key]map[calendar.Language]calendar.Text {
	w.t.Helper()
	out := make(map[key]map[calendar.Language]calendar.Text)
	for _, kind := range Kinds {
		ids := []int64{w.gala, w.bare, w.market, w.gone, w.venue, w.organizer, w.category, w.tag}
		rows, err := loadRecords(w.t.Context(), w.db, kind, selection{ids: ids}, 100)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range rows {
			in := map[calendar.Language]calendar.Text{r.original.Language: r.original}
			for _, t := range r.others {
				in[t.Language] = t
			}
			out[key{kind, r.id}] = in
		}
	}
	return out
}

// readFile returns all units of a file.
func readFile(t testing.TB, file string) []Unit {
	t.Helper()
	var out []Unit
	err := Read(bytes.NewReader([]byte(file)), func(u *Unit) error {
		out = append(out, *u)
		return nil
	})
	if err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	return out
}

// translateFile returns the file with translations. It calls how for each unit without a translation.
func translateFile(t testing.TB, file string, how func(*Unit) string) string {
	t.Helper()
	units := readFile(t, file)
	for i := range units {
		if u := &units[i]; u.Target == nil {
			u.Target = new(how(u))
		}
	}
	return writeUnits(t, units)
}

// writeUnits returns a file with the given units.
func writeUnits(t testing.TB, units []Unit) string {
	t.Helper()
	var out bytes.Buffer
	b := bufio.NewWriter(&out)
	w := &jsonWriter{Writer: b, to: calendar.Polish}
	if len(units) > 0 {
		w.to = units[0].To
	}
	w.open()
	for i := range units {
		if err := w.unit(&units[i]); err != nil {
			t.Fatal(err)
		}
	}
	w.close()
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// checkEqual fails the test if two values differ. what names them in the message.
func checkEqual(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
