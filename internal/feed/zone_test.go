package feed

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

// zoneNames are all zones that an event may be in.
func zoneNames(t testing.TB) []string {
	t.Helper()
	list, err := os.ReadFile("../../calendar/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(list))
}

func zoneOf(t testing.TB, name string) calendar.Zone {
	t.Helper()
	zone, err := calendar.ParseZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// nearChanges returns random instants between the years from and to. It also returns instants around the clock
// changes of the zone.
func nearChanges(random *rand.Rand, zone calendar.Zone, from, to int) []time.Time {
	begin, end := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(to+1, 1, 1, 0, 0, 0, 0, time.UTC)
	out := randomInstants(random, begin, end)
	for at := begin.In(zone.Location()); ; {
		_, change := at.ZoneBounds()
		if change.IsZero() || !change.Before(end) {
			return out
		}
		for _, minutes := range []time.Duration{-61, -60, -30, -1, 0, 1, 29, 30, 59, 60, 61} {
			out = append(out, change.Add(minutes*time.Minute))
		}
		at = change.In(zone.Location())
	}
}

func randomInstants(random *rand.Rand, begin, end time.Time) []time.Time {
	out := make([]time.Time, 5)
	for i := range out {
		out[i] = time.Unix(begin.Unix()+random.Int64N(end.Unix()-begin.Unix()), 0).UTC()
	}
	return out
}

// TestInstantsOfAllZones writes entries in every zone to iCalendar files. It reads each file without other data
// about zones, and expects the stored instants.
func TestInstantsOfAllZones(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	years := []int{2026, 2024 + random.IntN(10)}
	names := append(zoneNames(t), "UTC+2", "-05:30", "UTC-3.5")
	always := []string{"Europe/Warsaw", "Europe/Dublin", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo"}
	never := []string{"UTC", "UTC+2", "Africa/Casablanca", "America/Nuuk"}
	if testing.Short() {
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		years, names = years[:1], slices.Concat(names[:50], always, never)
	}
	for _, year := range years {
		local := map[string]int{} // starts
		for _, name := range names {
			local[name] += localStarts(t, year, name, randomEntries(random, zoneOf(t, name), year))
		}
		for _, name := range always {
			if local[name] == 0 {
				t.Errorf("no time in %s in %d", name, year)
			}
		}
		for _, name := range never {
			if local[name] > 0 {
				t.Errorf("%d times in %s in %d", local[name], name, year)
			}
		}
	}
}

// randomEntries returns entries at random times in a zone, and near its clock changes around a year. The UID of
// each entry is its index.
func randomEntries(random *rand.Rand, zone calendar.Zone, year int) []Entry {
	times := nearChanges(random, zone, year-1, year+1)
	times = append(times, randomInstants(random, time.Date(1000, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC))...)
	entries := make([]Entry, 0, len(times)+1)
	for i, at := range times {
		end := times[random.IntN(len(times))]
		if end.Before(at) {
			at, end = end, at
		}
		entries = append(entries, Entry{ID: int64(i), UID: strconv.Itoa(i), Start: at, End: end, Zone: zone})
	}
	// What chance drew may lie in no year that the file has rules for.
	summer := time.Date(year, 7, 1, 12, 0, 0, 0, time.UTC)
	return append(entries, Entry{ID: int64(len(times)), UID: strconv.Itoa(len(times)), Start: summer, End: summer.Add(time.Hour), Zone: zone})
}

// localStarts writes entries to an iCalendar file and checks the times in it. It returns the number of starts that
// are written as local times.
func localStarts(t *testing.T, year int, zone string, entries []Entry) (local int) {
	t.Helper()
	f := testFeed(t)
	f.Year = year
	c := readICal(t, f.ICalendar(entries))
	zones := readZones(t, c)
	found := c.children("VEVENT")
	if len(found) != len(entries) {
		t.Fatalf("%s: %d events of %d", zone, len(found), len(entries))
	}
	for _, event := range found {
		i, err := strconv.Atoi(event.one(t, "UID").value)
		if err != nil {
			t.Fatal(err)
		}
		e, start, end := &entries[i], event.one(t, "DTSTART"), event.one(t, "DTEND")
		for _, got := range instants(t, zones, start) {
			if !got.Equal(e.Start) {
				t.Errorf("%s in %d: start %v, want %s", zone, year, start, e.Start)
			}
		}
		if _, ok := start.parameters["TZID"]; ok {
			local++
		}
		if !e.End.After(e.Start) {
			if end != nil {
				t.Errorf("%s: an end that is not later: %v", zone, end)
			}
			continue
		}
		for _, got := range instants(t, zones, end) {
			if !got.Equal(e.End) {
				t.Errorf("%s in %d: end %v, want %s", zone, year, end, e.End)
			}
		}
	}
	return local
}

// TestRulesOfYearsToCome checks that the rule of a zone stays the same in later years. After 2037, Go's
// Time.ZoneBounds does not advance past the last day of leap years.
func TestRulesOfYearsToCome(t *testing.T) {
	t.Parallel()
	want := ruleOf(zoneOf(t, "Europe/Warsaw"), 2026)
	for year := 2027; year < 2080; year++ {
		if diff := cmp.Diff(want, ruleOf(zoneOf(t, "Europe/Warsaw"), year), cmp.AllowUnexported(zoneRule{}, clockChange{})); diff != "" {
			t.Errorf("%d (-want +got):\n%s", year, diff)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, zone string
		want       string // the lines between TZID and END, joined by blanks
	}{
		{
			"in the north", "Europe/Warsaw",
			"BEGIN:DAYLIGHT DTSTART:19700329T020000 RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU TZOFFSETFROM:+0100 TZOFFSETTO:+0200 TZNAME:CEST END:DAYLIGHT " +
				"BEGIN:STANDARD DTSTART:19701025T030000 RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU TZOFFSETFROM:+0200 TZOFFSETTO:+0100 TZNAME:CET END:STANDARD",
		},
		{
			"in the south", "Australia/Sydney",
			"BEGIN:STANDARD DTSTART:19700405T030000 RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU TZOFFSETFROM:+1100 TZOFFSETTO:+1000 TZNAME:AEST END:STANDARD " +
				"BEGIN:DAYLIGHT DTSTART:19701004T020000 RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=1SU TZOFFSETFROM:+1000 TZOFFSETTO:+1100 TZNAME:AEDT END:DAYLIGHT",
		},
		{
			"a negative daylight saving time", "Europe/Dublin",
			"BEGIN:DAYLIGHT DTSTART:19700329T010000 RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU TZOFFSETFROM:+0000 TZOFFSETTO:+0100 TZNAME:IST END:DAYLIGHT " +
				"BEGIN:STANDARD DTSTART:19701025T020000 RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU TZOFFSETFROM:+0100 TZOFFSETTO:+0000 TZNAME:GMT END:STANDARD",
		},
		{
			"half an hour", "Australia/Lord_Howe",
			"BEGIN:STANDARD DTSTART:19700405T020000 RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU TZOFFSETFROM:+1100 TZOFFSETTO:+1030 TZNAME:+1030 END:STANDARD " +
				"BEGIN:DAYLIGHT DTSTART:19701004T020000 RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=1SU TZOFFSETFROM:+1030 TZOFFSETTO:+1100 TZNAME:+11 END:DAYLIGHT",
		},
		{
			"without changes", "Asia/Kathmandu",
			"BEGIN:STANDARD DTSTART:19700101T000000 TZOFFSETFROM:+0545 TZOFFSETTO:+0545 TZNAME:+0545 END:STANDARD",
		},
		{"the day before the last Sunday", "America/Nuuk", ""},
		{"by the moon", "Africa/Casablanca", ""},
		{"the day after the last Thursday", "Africa/Cairo", ""},
		{"UTC", "UTC", ""},
		{"an offset", "UTC+2", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
			lines := linesOf(t, testFeed(t), Entry{Start: start, End: start, Zone: zoneOf(t, tt.zone)})
			all := strings.Join(lines, " ")
			_, zone, _ := strings.Cut(all, "TZID:"+tt.zone+" ")
			zone, _, _ = strings.Cut(zone, " END:VTIMEZONE")
			if zone != tt.want {
				t.Errorf("got  %s\nwant %s", zone, tt.want)
			}
			if tt.want == "" && !strings.Contains(all, "DTSTART:20260701T120000Z") {
				t.Errorf("not in UTC: %s", all)
			}
		})
	}
}
