package seed

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
)

// Writer stores a generated calendar in a database. Store and Editor must be set.
type Writer struct {
	Store *store.Store
	// Editor has the user and the time of the writes. Write changes only a copy of it. There it sets the first
	// language of the calendar, and a missing key for passwords.
	Editor *edit.Editor
	// Files is the store for image files. Nil means that records have no images.
	Files media.Store
	// AuthorID is the user who becomes the author of the records; 0 means none.
	AuthorID int64
	// Number is the number of the calendar among those of its scenario. 0 means 1.
	Number Number
	// Progress is called with the number of events written so far and the total. Nil disables it.
	Progress func(done, total int)
	// Workers is the number of goroutines that generate and prepare events while others are written. 0 means
	// one less than the number of processors, but at least one. It does not change the result.
	Workers int
	// Verify makes Write return an error for texts that sanitising would change. Only tests set it.
	Verify bool
}

// Write stores a calendar. It does not change existing records with the same source id, even in the trash. Nor does
// it change categories and tags whose names exist: the events are linked to these. It writes no series if the
// database has series switched off.
//
// A transaction stores all categories, all tags, all pictures, one series, or up to batchSize records of another
// kind. If ctx ends, Write returns the error of ctx between two transactions. Another call with the same calendar
// continues. The summary covers the committed records, even with an error.
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
		Writer: w, cal: c, language: o.Languages[0], editor: editor, loader: bulk.NewLoader(w.Store, &editor), now: editor.Now,
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

// Summary has the numbers of records that Writer.Write created, and of those that it found and left unchanged.
type Summary struct {
	Created, Found Counts // occurrences of series are not included in events
	// Occurrences is the number of occurrences of the created series.
	Occurrences int
	// Translations is the number of texts written in languages other than the original.
	Translations int
}

// Calendar is the source of a Writer, usually a *scenario.Calendar. Event must be safe for concurrent use.
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

// batchSize is the maximum number of venues, organizers or events in a transaction. It limits the time that other
// writers wait.
const batchSize = 500

// idsBySource maps source ids to the ids of stored records.
type idsBySource map[string]int64

// findIDs returns the ids of the stored records with the given source ids. Other source ids are missing from the
// result.
func (r *seedRun) findIDs(ctx context.Context, kind calendar.Kind, sources []string) (idsBySource, error) {
	out := make(idsBySource)
	for part := range slices.Chunk(sources, batchSize) {
		var rows []struct {
			ID     int64
			Source string `sql:"source_id"`
		}
		err := r.Store.Ent.ScanKind(ctx, kind, &rows, func(s *sql.Selector) {
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

// sources returns the source ids of records in the calendar with the number r.Number. The function source returns
// those in calendar 1.
func sources[T any](r *seedRun, records []T, source func(T) string) []string {
	out := make([]string, len(records))
	for i, record := range records {
		out[i] = r.Number.sourceID(source(record))
	}
	return out
}
