package index_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/search"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestSeriesAreFoundAsByTheDatabase writes series at random. After each write it compares random lists of an index that
// follows the change log with those of the database.
func TestSeriesAreFoundAsByTheDatabase(t *testing.T) {
	eachFollower(t, func(f *follower) {
		rounds, lists := 40, 25
		if storetest.IsBrief(f.api.Store) {
			rounds, lists = 10, 12
		}
		m := &seriesModel{follower: f, Rand: rand.New(rand.NewPCG(7, 11))}
		for _, login := range []string{"first", "second"} {
			m.authors = append(m.authors, f.api.SignIn(f.T, login, calendar.Author))
		}
		for id := range int64(30) {
			m.write(1000 + id)
		}
		must.Succeed(f, f.index.Load(f.Context()))
		for round := range rounds {
			for range m.IntN(4) {
				m.write(1000 + m.Int64N(40))
			}
			if round == rounds/2 {
				must.Succeed(f, f.index.Load(f.Context()))
			}
			for range lists {
				m.compare(f.index)
			}
		}
		loaded := index.New(f.api.Store.Ent, nil, slog.New(slog.DiscardHandler))
		must.Succeed(f, loaded.Load(f.Context()))
		for range lists {
			m.compare(loaded)
		}
		if m.some < m.asked/3 {
			f.Errorf("only %d of %d lists have series", m.some, m.asked)
		}
	})
}

// seriesModel writes random series to a database, and compares lists of them.
type seriesModel struct {
	*follower
	*rand.Rand
	authors     []int64
	asked, some int // lists, and those that are not empty
}

// write creates, changes or deletes the series with the given id, by chance.
func (m *seriesModel) write(id int64) {
	m.Helper()
	ctx := m.Context()
	err := store.Tx(ctx, m.api.Store.Ent, func(tx *ent.Tx) error {
		of := searchtext.And(searchtext.KindEQ(calendar.Series), searchtext.OwnerID(id))
		if _, err := tx.SearchText.Delete().Where(of).Exec(ctx); err != nil {
			return err
		}
		known := tx.Series.DeleteOneID(id).Exec(ctx)
		if known != nil && !ent.IsNotFound(known) {
			return known
		}
		action := calendar.Created
		switch {
		case known == nil && m.IntN(4) == 0:
			return m.log(tx, id, calendar.Deleted)
		case known == nil:
			action = calendar.Updated
		}
		if err := m.create(tx, id); err != nil {
			return err
		}
		return m.log(tx, id, action)
	})
	must.Succeed(m, err)
}

func (m *seriesModel) create(tx *ent.Tx, id int64) error {
	status := pick(m.Rand, append(slices.Clone(calendar.Statuses), calendar.Publish, calendar.Publish)...)
	create := tx.Series.Create().SetID(id).SetStatus(status).SetLanguage(calendar.English).SetLanguages("en").
		SetPublishedAt(m.moment()).SetCreatedAt(apitest.Now).SetModifiedAt(apitest.Now).
		SetHideFromListings(m.IntN(6) == 0).SetProtected(m.IntN(3) == 0)
	if status == calendar.Trash {
		create.SetStatusBeforeTrash(pick(m.Rand, calendar.Draft, calendar.Pending, calendar.Publish))
	}
	if m.IntN(3) > 0 {
		create.SetAuthorID(pick(m.Rand, m.authors...))
	}
	set := []func([]byte) *ent.SeriesCreate{create.SetSortEn, create.SetSortPl, create.SetSortEs}
	title := m.title()
	for i, l := range calendar.Languages {
		if m.IntN(4) == 0 {
			title = m.title()
		}
		switch m.IntN(12) {
		case 0: // the column stays null
		case 1:
			set[i]([]byte{})
		default:
			set[i](calendar.SortKey(l, title, calendar.NameKeySize))
		}
	}
	if err := create.Exec(m.Context()); err != nil {
		return err
	}
	for _, languages := range pick(m.Rand, []int{7}, []int{1, 6}, []int{2, 5}, []int{1, 2, 4}) {
		text := search.Fold(m.title() + "\n\n" + m.title())
		err := tx.SearchText.Create().SetKind(calendar.Series).SetOwnerID(id).SetLanguages(languages).SetText(text).Exec(m.Context())
		if err != nil {
			return err
		}
	}
	return nil
}

// log adds an entry to the change log.
func (m *seriesModel) log(tx *ent.Tx, id int64, action calendar.Action) error {
	if err := tx.Counter.Update().Where(counter.ID("revision")).AddValue(1).Exec(m.Context()); err != nil {
		return err
	}
	newest, err := tx.Counter.Get(m.Context(), "revision")
	if err != nil {
		return err
	}
	return tx.Change.Create().SetID(newest.Value).SetKind(calendar.Series).SetRecordID(id).SetAction(action).SetAt(apitest.Now).
		Exec(m.Context())
}

// title returns one of few titles, so that many are equal. Their order differs between languages.
func (m *seriesModel) title() string {
	return pick(m.Rand, "Łódź walk", "lodz walk", "Lozenge", "Ñandú", "nylon", "Zebra", "żaglówka", "Jazz night", "jazz  NIGHT",
		"12 steps", "—", strings.Repeat("long", 40))
}

func (m *seriesModel) moment() time.Time {
	return apitest.Now.Add(time.Duration(m.IntN(9)-4) * time.Hour)
}

// compare runs a random list query on an index and on the database, and expects the same result.
func (m *seriesModel) compare(x *index.Index) {
	m.Helper()
	q := &query.SeriesList{Now: m.moment(), Language: pick(m.Rand, calendar.Languages...)}
	statuses := slices.Clone(calendar.Statuses)
	m.Shuffle(len(statuses), func(i, j int) { statuses[i], statuses[j] = statuses[j], statuses[i] })
	statuses = statuses[:1+m.IntN(len(statuses))]
	switch m.IntN(4) {
	case 0:
		q.Visible.Anyone = statuses
	case 1:
		q.Visible.Author, q.Visible.Own = pick(m.Rand, m.authors...), statuses
	case 2:
		q.Visible.Author, q.Visible.Own = pick(m.Rand, m.authors...), statuses
		fallthrough
	default:
		q.Visible.Anyone = []calendar.Status{calendar.Publish}
	}
	if m.IntN(2) == 0 {
		text := pick(m.Rand, "jazz", "walk -lodz", `"jazz night"`, "o", "-jazz", "12 lodz", "-\"o\"", "—", "absent", "ngl", "ongl -zebra")
		parsed, ok := search.ParseEvents(text)
		if !ok {
			m.Fatal(text)
		}
		q.Search = &parsed
	}
	switch m.IntN(4) {
	case 0:
		q.Readable.All = true
	case 1:
		q.Readable.IDs = []int64{1000 + m.Int64N(40), 1000 + m.Int64N(40)}
	case 2:
		q.Readable.Author, q.Readable.DraftsOnly = pick(m.Rand, m.authors...), m.IntN(2) == 0
	}
	offset, limit := m.IntN(4), 1+m.IntN(50)
	want, err := query.Database{Ent: m.api.Store.Ent}.FindSeries(m.Context(), q, offset, limit)
	must.Succeed(m, err)
	got, err := x.FindSeries(m.Context(), q, offset, limit)
	must.Succeed(m, err)
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		m.Fatalf("%+v, %d from %d on (-database +index):\n%s", q, limit, offset, diff)
	}
	m.asked++
	m.some += min(got.Total, 1)
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

// TestOccurrencesAreCountedAsByTheDatabase compares the occurrences of series in an index with those in the database, before
// and after writes of events.
func TestOccurrencesAreCountedAsByTheDatabase(t *testing.T) {
	eachFollower(t, func(f *follower) {
		m := &seriesModel{follower: f, Rand: rand.New(rand.NewPCG(5, 3)), authors: []int64{f.api.SignIn(f.T, "first", calendar.Author)}}
		var series []int64
		for i := range 6 {
			series = append(series, f.api.AddSeries(f.T, apitest.SeriesRow{
				Title: "Course", Slug: fmt.Sprint("course-", i), Start: "2026-12-01 10:00:00", End: "2026-12-01 11:00:00", RRule: "FREQ=DAILY",
			}))
		}
		var events []int64
		for i := range 90 {
			start := apitest.Now.Add(time.Duration(m.IntN(40)-20) * time.Hour)
			wall := calendar.UTC().Wall(start).String()
			events = append(events, f.api.AddEvent(f.T, fmt.Sprint("Lesson ", i), wall, wall, func(c *ent.EventCreate) {
				c.SetSeriesID(pick(m.Rand, series[1:]...)).SetOriginalStart(calendar.WallAt(2026, 1, i, 10, 0, 0)).
					SetStatus(pick(m.Rand, calendar.Publish, calendar.Publish, calendar.Future, calendar.Private, calendar.Trash)).
					SetPublishedAt(m.moment()).SetHideFromListings(m.IntN(5) == 0)
				if m.IntN(2) == 0 {
					c.SetAuthorID(m.authors[0])
				}
			}))
		}
		must.Succeed(f, f.index.Load(f.Context()))
		for range 8 {
			for range 4 {
				m.compareOccurrences(append(series, 999_999))
			}
			event := fmt.Sprint("/events/", pick(m.Rand, events...))
			f.api.Do(f.T, apitest.Request{Method: "PATCH", As: "admin", Path: event, JSON: pick(m.Rand,
				object{"start_date": "2026-11-21 13:00:00", "end_date": "2026-11-21 14:00:00"}, object{"status": "private"},
				object{"status": "publish"}, object{"hide_from_listings": true})})
			f.api.Do(f.T, apitest.Request{Method: "DELETE", As: "admin", Path: fmt.Sprint("/events/", pick(m.Rand, events...))})
		}
	})
}

func (m *seriesModel) compareOccurrences(series []int64) {
	m.Helper()
	seen := query.Visible{Anyone: []calendar.Status{calendar.Publish}}
	switch m.IntN(3) {
	case 0:
		seen.Anyone = []calendar.Status{calendar.Publish, calendar.Future, calendar.Private}
	case 1:
		seen.Author, seen.Own = m.authors[0], []calendar.Status{calendar.Publish, calendar.Future, calendar.Private}
	}
	now := m.moment()
	want, err := query.Database{Ent: m.api.Store.Ent}.CountOccurrences(m.Context(), series, seen, now)
	must.Succeed(m, err)
	got, err := m.index.CountOccurrences(m.Context(), series, seen, now, 0)
	must.Succeed(m, err)
	shown := func(from map[int64]query.Occurrences) (lines []string) {
		for _, id := range series {
			o := from[id]
			line := fmt.Sprintf("series %d has %d", id, o.Published)
			if o.Next != nil {
				line += fmt.Sprintf(", next %d at %s", o.Next.ID, o.Next.StartsAt.UTC())
			}
			lines = append(lines, line)
		}
		return lines
	}
	if diff := gocmp.Diff(shown(want), shown(got)); diff != "" {
		m.Fatalf("%+v at %s (-database +index):\n%s", seen, now, diff)
	}
}
