package seed

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/load"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
)

// batchSize is the number of records in a transaction. It limits the time that other writers wait.
const batchSize = 500

// Summary counts what a Writer did.
type Summary struct {
	Created, Found Counts // the events without the occurrences of series
	// Occurrences are the events of the series that it created.
	Occurrences int
	// Translations are the texts written in other languages than the original.
	Translations int
}

// Calendar is the source of a Writer, usually a *scenario.Calendar. Several goroutines may call Event at the
// same time.
type Calendar interface {
	Options() scenario.Options
	Categories() []scenario.Term
	Tags() []scenario.Term
	Venues() []scenario.Venue
	Organizers() []scenario.Organizer
	Pictures() []scenario.Picture
	Series() []scenario.Series
	Len() int
	Event(i int) scenario.Event
}

// Writer fills a database. Store and Editor must be set.
type Writer struct {
	Store *store.Store
	// Editor says in whose name and at what time is written. Its Write language is set to that of the calendar,
	// and a key for passwords is made if it has none, both in a copy.
	Editor *edit.Editor
	// Files takes the pictures; without it records have none.
	Files media.Store
	// AuthorID is the user who becomes the author of the records; 0 means none.
	AuthorID int64
	// Number is which calendar of its scenario it is; 0 is 1.
	Number Number
	// Progress, if not nil, is called with the number of events so far and the total.
	Progress func(done, total int)
	// Workers is the number of goroutines that generate and prepare events while others are written. 0 means
	// one less than the number of processors, and at least one. It does not change the result.
	Workers int
	// Verify is load.Loader's.
	Verify bool
}

// Write stores a calendar. What is there already, by its source id and in the trash or not, is left as it is; so
// are categories and tags whose names are taken, which the events then get. There are no series while they are
// switched off.
//
// It writes in transactions of some hundred records each, and one for each series, in the order of the calendar, and ends with the error
// of ctx between two of them when ctx ends. Called again with the same calendar it goes on from there. The
// summary is that of what was committed, also with an error.
func (w Writer) Write(ctx context.Context, c Calendar) (Summary, error) {
	o := c.Options()
	editor := *w.Editor
	editor.Write = o.Languages[0]
	if len(editor.PasswordKey) == 0 {
		key, err := edit.PasswordKey(ctx, w.Store.Ent)
		if err != nil {
			return Summary{}, err
		}
		editor.PasswordKey = key
	}
	r := &seedRun{
		Writer: w, cal: c, language: o.Languages[0], editor: editor, loader: load.New(w.Store, &editor), now: editor.Now,
		summary: Summary{Created: Counts{}, Found: Counts{}},
	}
	r.loader.Verify = w.Verify
	if r.Workers <= 0 {
		r.Workers = max(runtime.GOMAXPROCS(0)-1, 1)
	}
	for _, step := range []func(context.Context) error{r.terms, r.pictures, r.venues, r.organizers, r.events, r.series} {
		if err := step(ctx); err != nil {
			return r.summary, fmt.Errorf("seed %s: %w", o.Scenario, err)
		}
	}
	return r.summary, nil
}

// idsBySource are the ids of records that are there already, by source id.
type idsBySource map[string]int64

// find returns the ids of records by their source ids.
func (r *seedRun) find(ctx context.Context, kind calendar.Kind, sources []string) (idsBySource, error) {
	out := make(idsBySource)
	for part := range slices.Chunk(sources, batchSize) {
		var rows []struct {
			ID     int64
			Source string `sql:"source_id"`
		}
		err := scan(ctx, r.Store.Ent, kind, &rows, func(s *sql.Selector) {
			sql.FieldIn(event.FieldSourceID, part...)(s)
			s.Select(s.C(event.FieldID), s.C(event.FieldSourceID))
		})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			out[row.Source] = row.ID
		}
	}
	return out, nil
}

// sources returns the source ids of records in the run's calendar.
func sources[T any](r *seedRun, records []T, source func(T) string) []string {
	out := make([]string, len(records))
	for i, record := range records {
		out[i] = r.Number.sourceID(source(record))
	}
	return out
}
