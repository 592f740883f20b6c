package series_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/proof/edittest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// horizonURL and horizonBegan are the environment variables that TestHorizonOfProcesses sets for its processes.
// They have the URL of the database, and the time at which the clock began, in Unix milliseconds.
const (
	horizonURL   = "ALMANAC_TEST_HORIZON"
	horizonBegan = "ALMANAC_TEST_HORIZON_BEGAN"
)

// horizonDay is the real duration of a day on horizonClock. Three years take some seven seconds.
const horizonDay = 6 * time.Millisecond

// horizonEnd is the time at which horizonClock stops.
var horizonEnd = edittest.Now.AddDate(2, 0, 0)

// horizonClock returns the time of an accelerated clock that all processes share. The clock started at began and
// advances day by day until horizonEnd.
func horizonClock(began time.Time) time.Time {
	at := edittest.Now.AddDate(0, 0, int(time.Since(began)/horizonDay))
	if at.After(horizonEnd) {
		return horizonEnd
	}
	return at
}

// horizonRules are rules of all frequencies. Some have starts in hours that a zone of horizonStarts skips or
// repeats.
var horizonRules = []string{
	"FREQ=DAILY;INTERVAL=20", "FREQ=DAILY;INTERVAL=31", "FREQ=DAILY;BYMONTH=3,10;BYMONTHDAY=25,26,27,28,29,30,31",
	"FREQ=WEEKLY;INTERVAL=2", "FREQ=WEEKLY;INTERVAL=4;BYDAY=SA,SU", "FREQ=WEEKLY;INTERVAL=3;BYDAY=SU;WKST=SU",
	"FREQ=MONTHLY", "FREQ=MONTHLY;BYDAY=-1SU", "FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=MONTHLY;BYMONTHDAY=31",
	"FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
	"FREQ=YEARLY", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;SKIP=FORWARD",
	"FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU", "FREQ=YEARLY;BYDAY=20MO",
	"FREQ=WEEKLY;COUNT=30", "FREQ=MONTHLY;UNTIL=20280101",
}

// horizonStarts are the zones and times of day of the series.
var horizonStarts = []struct {
	zone         string
	hour, minute int
}{
	{"Europe/Warsaw", 2, 30},
	{"Europe/Warsaw", 18, 0},
	{"America/New_York", 2, 15},
	{"America/New_York", 1, 30},
	{"Australia/Lord_Howe", 2, 10},
	{"America/Santiago", 0, 0},
	{"Africa/Cairo", 0, 30},
	{"UTC+5.5", 9, 0},
}

// newSchedule returns a schedule with a rule. It starts at the first start of the rule on the day of from or
// later.
func newSchedule(t *testing.T, text string, zone calendar.Zone, from calendar.Wall) recur.Schedule {
	t.Helper()
	rule, err := recur.Parse(text, zone)
	if err != nil {
		t.Fatal(err)
	}
	for range 366 * 5 {
		s, err := recur.New(calendar.Span{Start: from, End: from.Add(90 * time.Minute), Zone: zone}, rule, nil, nil)
		if err == nil {
			return s
		}
		from = from.AddDate(0, 0, 1)
	}
	t.Fatalf("%s has no start", text)
	return recur.Schedule{}
}

func TestSeriesThatFailsHoldsUpNoOther(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		e := w.As(calendar.Editor)
		const broken = 12
		for range broken {
			w.Event(e, edittest.WeeklyEvent("FREQ=YEARLY"))
		}
		w.DB.SeriesPhase.Update().SetTimezone("Nowhere").ExecX(t.Context())
		whole := w.Event(e, edittest.WeeklyEvent("FREQ=WEEKLY"))
		now := edittest.Now.AddDate(0, 0, 28)
		for _, want := range []int{4, 0} {
			made, err := series.ExtendDue(t.Context(), w.DB, edittest.Site(t), now)
			if made < want || made > want+1 || err == nil {
				t.Errorf("%d occurrences, want about %d; %v", made, want, err)
			} else if n := strings.Count(err.Error(), "extend series"); n != 10 {
				t.Errorf("%d errors, want those of the first 10: %v", n, err)
			}
			if n, err := series.CountOverdue(t.Context(), w.DB, now); n != broken || err != nil {
				t.Errorf("%d series are overdue, want %d: %v", n, broken, err)
			}
		}
		if until := w.DB.Series.GetX(t.Context(), *whole.SeriesID).GeneratedUntil; until.Before(dateAt("2028-07-28 00:00:00").Wall) {
			t.Errorf("generated until %s", until)
		}
		w.DB.SeriesPhase.Update().SetTimezone(edittest.Site(t).Zone.String()).ExecX(t.Context())
	})
}

// TestSeriesThatEndsFarAheadIsExtendedToItsEnd extends a daily series with a distant UNTIL several times.
// Afterwards all its occurrences are stored, and it is no longer due.
func TestSeriesThatEndsFarAheadIsExtendedToItsEnd(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		first := w.Event(w.As(calendar.Editor), edittest.WeeklyEvent("FREQ=DAILY;UNTIL=20290430"))
		count := func() int { return w.DB.Event.Query().Where(event.SeriesID(*first.SeriesID)).CountX(t.Context()) }
		state := func() string {
			s := w.DB.Series.GetX(t.Context(), *first.SeriesID)
			return fmt.Sprint(count(), s.GeneratedUntil != nil, s.ExtendAt != nil)
		}
		got := []string{state()}
		for _, months := range []int{6, 12, 18} {
			if _, err := series.ExtendDue(t.Context(), w.DB, edittest.Site(t), edittest.Now.AddDate(0, months, 0)); err != nil {
				t.Fatal(err)
			}
			got = append(got, state())
		}
		// From 2026-07-01 to 2028-07-14, to 2029-01-14, and to 2029-04-30.
		want := []string{"745 true true", "929 true true", "1035 false false", "1035 false false"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("occurrences, whether more come, and whether they are due (-want +got):\n%s", diff)
		}
	})
}

func TestLaterPhaseWaitsForTheOneBefore(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		first := w.Event(w.As(calendar.Editor), edittest.WeeklyEvent("FREQ=WEEKLY"))
		was := w.DB.Series.GetX(t.Context(), *first.SeriesID).GeneratedUntil
		last := w.Occurrences(*first.SeriesID)
		starts := []calendar.Wall{last[len(last)-1].OriginalStart.AddDate(0, 0, 7)}
		for len(starts) < 40 {
			starts = append(starts, starts[len(starts)-1].AddDate(0, 0, 7))
		}
		phase := w.DB.SeriesPhase.Query().Where(seriesphase.SeriesID(*first.SeriesID)).OnlyX(t.Context())
		later, template := phase.Template, w.Template(phase)
		tags := make([]int64, 20_000)
		for i := range tags {
			tags[i] = int64(i) + 1e9 // gone
		}
		template.SetTermIDs(calendar.Tag, tags)
		tagged, err := ent.EncodeTemplate(template)
		if err != nil {
			t.Fatal(err)
		}
		phase.Update().SetTemplate(tagged).SetRrule("FREQ=WEEKLY;UNTIL=" + starts[19].Format("20060102")).ExecX(t.Context())
		w.DB.SeriesPhase.Create().SetSeriesID(*first.SeriesID).SetPosition(1).SetRrule(phase.Rrule).SetTemplate(later).
			SetStartWall(starts[20]).SetEndWall(starts[20].Add(time.Hour)).SetTimezone(phase.Timezone).ExecX(t.Context())

		// 25 months before the last start.
		now := edittest.Site(t).Zone.Instant(starts[39].AddDate(0, -25, 0)).Add(time.Hour)
		if n, err := series.ExtendDue(t.Context(), w.DB, edittest.Site(t), now); n != len(starts) || err != nil {
			t.Errorf("%d occurrences, want %d: %v", n, len(starts), err)
		}
		var got []calendar.Wall
		for _, row := range w.Occurrences(*first.SeriesID) {
			if was.Before(*row.OriginalStart) {
				got = append(got, *row.OriginalStart)
			}
		}
		if !slices.Equal(got, starts) {
			t.Errorf("occurrences on %s,\nwant %s", got, starts)
		}
	})
}

// TestHorizonOfProcesses runs eight processes that extend 60 series, while the clock advances by two years. Each
// process is killed at random times and replaced. No occurrence may be missing or stored twice.
func TestHorizonOfProcesses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	// SQLite has one writer at a time, so its processes could not meet.
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	url := storetest.MySQL(t)
	w := edittest.NewWorld(t, storetest.Migrated(t, url).Ent)
	schedules := make(map[int64]recur.Schedule)
	from := edittest.Now
	for i := range 60 {
		at := horizonStarts[i%len(horizonStarts)]
		zone, err := calendar.ParseZone(at.zone)
		if err != nil {
			t.Fatal(err)
		}
		text := horizonRules[i%len(horizonRules)]
		s := newSchedule(t, text, zone, calendar.WallAt(from.Year(), from.Month(), from.Day()+i, at.hour, at.minute, 0))
		row := w.Event(w.As(calendar.Editor), &edit.EventInput{
			Title: new(fmt.Sprintf("Series %d", i)), Zone: &zone, Rule: &text,
			Start: edittest.Wall(s.Start.String()), End: edittest.Wall(s.End.String()),
		})
		schedules[*row.SeriesID] = s
	}
	created := w.DB.Event.Query().CountX(t.Context())

	began := time.Now()
	deaths := runProcesses(t, url, began)
	for worker, n := range deaths {
		if n == 0 {
			t.Errorf("process %d was never killed", worker)
		}
	}

	starts := make(map[int64][]string)
	byID := make(map[int64]bool)
	for _, row := range w.DB.Event.Query().Order(event.ByOriginalStart()).AllX(t.Context()) {
		starts[*row.SeriesID] = append(starts[*row.SeriesID], row.OriginalStart.String()+" "+row.StartsAt.Format(calendar.Layout))
		byID[row.ID] = true
	}
	if len(byID) <= created {
		t.Errorf("%d events at the end, %d at the start", len(byID), created)
	}
	for _, row := range w.DB.Series.Query().Order(entseries.ByID()).AllX(t.Context()) {
		s := schedules[row.ID]
		last := recur.LastStart()
		if !s.Ends() {
			last = *row.GeneratedUntil
			if least := s.Zone.Wall(horizonEnd).AddDate(0, 24, 0); last.Before(least) {
				t.Errorf("series %d has its occurrences until %s, want at least %s", row.ID, last, least)
			}
		} else if row.GeneratedUntil != nil || row.ExtendAt != nil {
			t.Errorf("series %d ends, and is extended", row.ID)
		}
		var want []string
		for o := range s.Occurrences(calendar.Wall{}, last) {
			want = append(want, o.Nominal.String()+" "+o.StartsAt().Format(calendar.Layout))
		}
		if diff := cmp.Diff(want, starts[row.ID]); diff != "" {
			t.Errorf("occurrences of series %d, %s (-want +got):\n%s", row.ID, s.Rule, diff)
		}
	}
	// The revision has no gaps, and no event is without an entry.
	for _, c := range w.CheckLog() {
		if c.Kind != calendar.Event {
			continue
		}
		last := c.RecordID
		if c.Action == calendar.Loaded {
			var err error
			if last, err = strconv.ParseInt(c.Fields[0], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		for id := c.RecordID; id <= last; id++ {
			delete(byID, id)
		}
	}
	if len(byID) > 0 {
		t.Errorf("%d events are not in the change log", len(byID))
	}
	for _, p := range w.Problems() {
		t.Error(p)
	}
}

// runProcesses keeps eight processes running until the clock stops, and returns how often each was killed.
func runProcesses(t *testing.T, url string, began time.Time) (deaths [8]int) {
	t.Helper()
	var all sync.WaitGroup
	for worker := range deaths {
		all.Go(func() {
			for {
				cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHorizonProcess$", "-test.count=1")
				cmd.Env = append(os.Environ(), horizonURL+"="+url, horizonBegan+"="+strconv.FormatInt(began.UnixMilli(), 10))
				var output bytes.Buffer
				cmd.Stdout, cmd.Stderr = &output, &output
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				var killed atomic.Bool
				kill := time.AfterFunc(rand.N(2*time.Second), func() {
					if horizonClock(began).Before(horizonEnd) {
						killed.Store(true)
						if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
							t.Error(err)
						}
					}
				})
				err := cmd.Wait()
				kill.Stop()
				switch {
				case err == nil:
					return
				case killed.Load() && output.Len() == 0:
					deaths[worker]++
				default:
					t.Errorf("process %d: %v\n%s", worker, err, &output)
					return
				}
			}
		})
	}
	all.Wait()
	return deaths
}

// TestHorizonProcess is the program that TestHorizonOfProcesses starts. It extends series until the accelerated
// clock stops.
func TestHorizonProcess(t *testing.T) {
	url := os.Getenv(horizonURL)
	if url == "" {
		t.Skip("TestHorizonOfProcesses starts it")
	}
	began, err := strconv.ParseInt(os.Getenv(horizonBegan), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	st := storetest.Open(t, url)
	for {
		now := horizonClock(time.UnixMilli(began))
		if _, err := series.ExtendDue(t.Context(), st.Ent, edittest.Site(t), now); err != nil {
			t.Fatal(err)
		}
		if now.Equal(horizonEnd) {
			return
		}
		time.Sleep(horizonDay)
	}
}
