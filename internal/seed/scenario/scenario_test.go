package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
)

var update = flag.Bool("update", false, "write the golden file instead of comparing with it")

const golden = "testdata/golden.json"

var firstDay = calendar.WallAt(2026, time.September, 1, 0, 0, 0)

func optionsOf(scenario string, first calendar.Language, events int) Options {
	languages := []calendar.Language{first}
	for _, l := range calendar.Languages {
		if l != first {
			languages = append(languages, l)
		}
	}
	return Options{
		Scenario: scenario, Seed: 7, Events: events, From: firstDay, Languages: languages, Pictures: true,
		Now: time.Date(2027, time.June, 15, 12, 0, 0, 0, time.UTC),
	}
}

func mustNew(t testing.TB, o Options) *Calendar {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// init makes garbage collection rarer. Calendars are short-lived, so this makes the tests a quarter faster.
func init() { debug.SetGCPercent(400) }

// manyEvents is the number of events from which on calendars are generated only for the pairs of isPair.
const manyEvents = 5000

// forEachCalendar runs a test for all scenarios and first languages. In short mode, or for manyEvents or more, it
// runs only the pairs of isPair.
func forEachCalendar(t *testing.T, events int, test func(t *testing.T, c *Calendar)) {
	for i, s := range Scenarios {
		for j, l := range calendar.Languages {
			if (testing.Short() || events >= manyEvents) && !isPair(i, j) {
				continue
			}
			t.Run(fmt.Sprintf("%s %s %d", s, l, events), func(t *testing.T) {
				test(t, mustNew(t, optionsOf(s, l, events)))
			})
		}
	}
}

// isPair reports whether a scenario and a first language are among the pairs that are tested in short mode. These have
// each scenario once and each language twice.
func isPair(scenario, language int) bool { return (scenario+language)%len(calendar.Languages) == 0 }

// eventJSON is an event in a form whose JSON is the same on every machine.
type eventJSON struct {
	Event
	Span [4]string
}

func eventToJSON(e Event) eventJSON {
	return eventJSON{e, [4]string{
		e.Span.Start.String(), e.Span.End.String(), e.Span.Zone.String(), fmt.Sprint(e.Span.AllDay),
	}}
}

func sum(t *testing.T, c *Calendar) string {
	t.Helper()
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, v := range []any{c.Categories(), c.Tags(), c.Venues(), c.Organizers(), c.Pictures()} {
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	for i := range c.Len() {
		if err := enc.Encode(eventToJSON(c.Event(i))); err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sumOfSeries returns a checksum of all series of a calendar.
func sumOfSeries(t *testing.T, c *Calendar) string {
	t.Helper()
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, s := range c.Series() {
		err := enc.Encode(struct {
			eventJSON
			Rule       string
			ExDate     []calendar.Wall
			Exceptions []Exception
		}{eventToJSON(s.Event), s.Rule.String(), s.ExDate, s.Exceptions})
		if err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func TestCalendarsAreTheSameAsEver(t *testing.T) {
	got := map[string]string{}
	for _, s := range Scenarios {
		for _, l := range calendar.Languages {
			c := mustNew(t, optionsOf(s, l, 500))
			got[s+" "+string(l)] = sum(t, c)
			got["series of "+s+" "+string(l)] = sumOfSeries(t, c)
		}
	}
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run go test -update if this is meant (-want +got):\n%s", diff)
	}
}

func TestEventsAreTheSameInAnyOrderAndInParallel(t *testing.T) {
	forEachCalendar(t, 300, func(t *testing.T, c *Calendar) {
		want := make([]Event, c.Len())
		for i := range want {
			want[i] = c.Event(i)
		}
		again := mustNew(t, c.Options())
		got := make([]Event, c.Len())
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for i := len(got) - 1 - worker; i >= 0; i -= 4 {
					got[i] = again.Event(i)
				}
			})
		}
		group.Wait()
		if !reflect.DeepEqual(want, got) {
			t.Error("events differ")
		}
	})
}

func TestSeedsDiffer(t *testing.T) {
	o := optionsOf("city", calendar.Polish, 50)
	a := sum(t, mustNew(t, o))
	o.Seed++
	if sum(t, mustNew(t, o)) == a {
		t.Error("two seeds made the same calendar")
	}
}

func TestNoTwoTitlesAlikeWithinTwentyEvents(t *testing.T) {
	sizes := []int{200, 2000, manyEvents}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, events := range sizes {
		forEachCalendar(t, events, titlesDiffer)
	}
}

func titlesDiffer(t *testing.T, c *Calendar) {
	type entry struct {
		at    time.Time
		title Text
	}
	all := make([]entry, c.Len())
	for i := range all {
		e := c.Event(i)
		all[i] = entry{e.Span.StartsAt(), e.Title}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return a.at.Compare(b.at) })
	for _, l := range c.Options().Languages {
		last := map[string]int{}
		for n, e := range all {
			title, ok := e.title[l]
			if before, again := last[title]; ok && again && n-before < 20 {
				t.Errorf("%q again after %d events, %s", title, n-before, e.at)
			}
			if ok {
				last[title] = n
			}
		}
	}
}

func TestWhatEventsReferToExists(t *testing.T) {
	forEachCalendar(t, 600, func(t *testing.T, c *Calendar) {
		for i, term := range c.Categories() {
			if term.Parent >= i {
				t.Errorf("category %d has the parent %d", i, term.Parent)
			}
		}
		used := map[string]bool{}
		id := func(s string) {
			if used[s] || !strings.HasPrefix(s, "seed:"+c.Options().Scenario+":") {
				t.Errorf("source id %q", s)
			}
			used[s] = true
		}
		for _, v := range c.Venues() {
			id(v.SourceID)
			checkText(t, c, v.Name, v.Description)
			checkAddress(t, v.Website)
			if v.City == "" || v.Country == "" || v.Phone == "" || strings.Contains(v.Phone, "#") {
				t.Errorf("incomplete venue %+v", v)
			}
		}
		for _, o := range c.Organizers() {
			id(o.SourceID)
			checkText(t, c, o.Name, o.Description)
			checkAddress(t, o.Website)
			if !strings.HasSuffix(o.Email, ".example") {
				t.Errorf("mail address %q", o.Email)
			}
		}
		for _, p := range c.Pictures() {
			id(p.SourceID)
		}
		for i := range c.Len() {
			e := c.Event(i)
			id(e.SourceID)
			checkEvent(t, c, i, e)
		}
	})
}

func checkAddress(t testing.TB, address string) {
	t.Helper()
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
	if !strings.HasSuffix(host, ".example") || len(host) <= len(".example") {
		t.Errorf("address %q", address)
	}
}

// checkText checks a plain text and one in HTML.
func checkText(t testing.TB, c *Calendar, plain, html Text) {
	t.Helper()
	first := c.Options().Languages[0]
	if plain[first] == "" {
		t.Errorf("no text in the first language: %v", plain)
	}
	for l, s := range plain {
		clean, err := markup.Text(s)
		if n := utf8.RuneCountInString(s); err != nil || n == 0 || n > 500 || strings.ContainsAny(s, "{}") || clean != s {
			if !c.Options().Nasty || n > 500 {
				t.Errorf("%s: %q (%v)", l, s, err)
			}
		}
	}
	for l, s := range html {
		clean, err := markup.HTML(s)
		if err != nil || clean != s || s == "" || !c.Options().Nasty && strings.ContainsAny(s, "{}") {
			t.Errorf("%s: not as the sanitiser leaves it: %q (%v)", l, s, err)
		}
		if _, ok := plain[l]; !ok {
			t.Errorf("text in %s without a title: %q", l, s)
		}
	}
}

func checkEvent(t testing.TB, c *Calendar, i int, e Event) {
	t.Helper()
	checkText(t, c, e.Title, e.Excerpt)
	checkText(t, c, e.Title, e.Description)
	if err := e.Span.Check(); err != nil {
		t.Errorf("event %d: %v", i, err)
	}
	if e.Span != e.Span.Rounded() {
		t.Errorf("event %d is not rounded: %v", i, e.Span)
	}
	end := c.Options().From.AddDate(0, c.Options().Months, 0)
	if e.Span.Start.Before(c.Options().From) || !e.Span.Start.Before(end) {
		t.Errorf("event %d starts at %s, outside the calendar", i, e.Span.Start)
	}
	if e.Parent >= i || e.Parent < -1 {
		t.Errorf("event %d has the parent %d", i, e.Parent)
	}
	within := func(what string, indices []int, n int) {
		for at, index := range indices {
			if index < 0 || index >= n || slices.Contains(indices[:at], index) {
				t.Errorf("event %d: %s %v of %d", i, what, indices, n)
			}
		}
	}
	within("categories", e.Categories, len(c.Categories()))
	within("tags", e.Tags, len(c.Tags()))
	within("venues", e.Venues, len(c.Venues()))
	within("organizers", e.Organizers, len(c.Organizers()))
	if e.Picture >= len(c.Pictures()) || e.Picture < -1 {
		t.Errorf("event %d: picture %d", i, e.Picture)
	}
	if !e.Published.Equal(e.Published.Truncate(time.Second)) || e.Published.Location() != time.UTC {
		t.Errorf("event %d: published %s", i, e.Published)
	}
	if future := e.Published.After(c.Options().Now); future != (e.Status == calendar.Future) {
		t.Errorf("event %d: %s, published %s", i, e.Status, e.Published)
	}
	if e.Website != "" {
		checkAddress(t, e.Website)
	}
	if !e.EventStatus.Known() || !e.Attendance.Known() {
		t.Errorf("event %d: %q, %q", i, e.EventStatus, e.Attendance)
	}
	if planned := e.EventStatus == calendar.Scheduled; planned != (e.EventStatusReason == nil) {
		t.Errorf("event %d: %s, because of %q", i, e.EventStatus, e.EventStatusReason)
	}
	for l := range e.Title {
		if e.EventStatusReason != nil && e.EventStatusReason[l] == "" {
			t.Errorf("event %d has no reason in %s", i, l)
		}
	}
	if remote := e.Attendance != calendar.Offline; remote != (e.VirtualURL != "") {
		t.Errorf("event %d: %s at %q", i, e.Attendance, e.VirtualURL)
	}
	if e.VirtualURL != "" {
		checkAddress(t, e.VirtualURL)
	}
}

func TestCalendarsHaveTheShapeOfRealOnes(t *testing.T) {
	forEachCalendar(t, 3000, func(t *testing.T, c *Calendar) {
		var weekdays [7]int
		var months [13]int
		has := map[string]int{}
		hosts := make([]int, len(c.Venues()))
		for i := range c.Len() {
			e := c.Event(i)
			_, month, _ := e.Span.Start.Date()
			weekdays[e.Span.Start.Weekday()]++
			months[month]++
			has[string(e.Status)]++
			for _, v := range e.Venues {
				hosts[v]++
			}
			countFeatures(has, &e, c.Options())
		}
		for _, what := range []string{
			"publish", "future", "draft", "pending", "private", "hidden", "sticky", "featured", "ticketed", "password",
			"part", "no venue", "two organizers", "all day", "no description", "long description", "picture", "over",
			"running", "to come", "all languages", "one language", "two languages", "free", "priced", "utc",
			"canceled", "postponed", "online",
		} {
			if has[what] == 0 {
				t.Errorf("no event is %q", what)
			}
		}
		if has["night of the clocks"] == 0 && len(c.cities[0].changes) > 0 {
			t.Error("no event in a night in which the clocks change")
		}
		if has["trash"] > 0 {
			t.Error("events in the trash")
		}
		if weekend := weekdays[0] + weekdays[6]; weekend <= 2*weekdays[1] {
			t.Errorf("weekends have %d events, Mondays %d", weekend, weekdays[1])
		}
		if all := has["all languages"]; all < c.Len()*6/10 || all > c.Len()*8/10 {
			t.Errorf("%d of %d events have all languages", all, c.Len())
		}
		busy, quiet := months[6]+months[7]+months[8], months[1]+months[2]+months[12]
		if c.cities[0].lat < 0 {
			busy, quiet = quiet, busy
		}
		if c.Options().Scenario == "university" {
			busy, quiet = quiet, busy
		}
		if busy <= quiet && !c.plan.Cities {
			t.Errorf("the busy months have %d events, the quiet ones %d", busy, quiet)
		}
		if top, all := topTenth(hosts); top*2 <= all {
			t.Errorf("a tenth of the venues has %d of %d events", top, all)
		}
		if n := len(c.Tags()); n < 25 || n > 60 {
			t.Errorf("%d tags", n)
		}
	})
}

// countFeatures counts in has which optional fields and properties an event has.
func countFeatures(has map[string]int, e *Event, o Options) {
	_, before := e.Span.StartsAt().In(e.Span.Zone.Location()).Zone()
	_, after := e.Span.EndsAt().In(e.Span.Zone.Location()).Zone()
	for what, is := range map[string]bool{
		"hidden": e.Hide, "sticky": e.Sticky, "featured": e.Featured, "ticketed": e.Ticketed,
		"password": e.Password != "", "part": e.Parent >= 0, "no venue": len(e.Venues) == 0,
		"two organizers": len(e.Organizers) == 2, "all day": e.Span.AllDay, "no description": e.Description == nil,
		"long description": len(e.Description[o.Languages[0]]) > 800, "picture": e.Picture >= 0,
		"over": e.Span.Over(o.Now), "running": !e.Span.StartsAt().After(o.Now) && !e.Span.Over(o.Now),
		"to come": e.Span.StartsAt().After(o.Now), "all languages": len(e.Title) == 3,
		"one language": len(e.Title) == 1, "two languages": len(e.Title) == 2, "free": e.Cost.Lowest() == "0",
		"priced": e.Cost.Lowest() > "0", "utc": e.Span.Zone.String() == "UTC",
		"night of the clocks": !e.Span.AllDay && before != after,
		"canceled":            e.EventStatus == calendar.Canceled, "postponed": e.EventStatus == calendar.Postponed,
		"online": e.Attendance != calendar.Offline,
	} {
		if is {
			has[what]++
		}
	}
}

// topTenth returns the sum of the highest tenth of the numbers, and that of all.
func topTenth(numbers []int) (top, all int) {
	slices.Sort(numbers)
	slices.Reverse(numbers)
	for i, n := range numbers {
		if i < (len(numbers)+9)/10 {
			top += n
		}
		all += n
	}
	return top, all
}

func TestWrongOptionsAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"unknown scenario":    {func(o *Options) { o.Scenario = "circus" }, "scenario"},
		"negative events":     {func(o *Options) { o.Events = -1 }, "events"},
		"negative venues":     {func(o *Options) { o.Venues = -1 }, "venues"},
		"negative organizers": {func(o *Options) { o.Organizers = -1 }, "organizers"},
		"negative months":     {func(o *Options) { o.Months = -1 }, "months"},
		"too many months":     {func(o *Options) { o.Months = 241 }, "months"},
		"no first day":        {func(o *Options) { o.From = calendar.Wall{} }, "from"},
		"last day too late":   {func(o *Options) { o.From = calendar.WallAt(9999, 1, 1, 0, 0, 0) }, "from"},
		"unknown language":    {func(o *Options) { o.Languages = []calendar.Language{"en", "de"} }, `"de"`},
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsOf("city", calendar.English, 10)
			test.change(&o)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v does not name %s", err, test.want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	o := mustNew(t, Options{From: firstDay}).Options()
	if o.Scenario != "city" || o.Events != 200 || o.Months != 24 || o.Venues != 22 || o.Organizers != 12 ||
		!slices.Equal(o.Languages, calendar.Languages) {
		t.Errorf("got %+v", o)
	}
	if day := calendar.UTC().Wall(o.Now); day.Sub(firstDay).Abs() > 24*time.Hour {
		t.Errorf("now is %s", o.Now)
	}
}

func TestZoneOfTheOptionsIsThatOfAllEvents(t *testing.T) {
	zone, err := calendar.ParseZone("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	o := optionsOf("sport", calendar.Spanish, 100)
	o.Zone = zone
	c := mustNew(t, o)
	for i := range c.Len() {
		if got := c.Event(i).Span.Zone; got != zone {
			t.Errorf("event %d is in %s", i, got)
		}
	}
}

func TestNastyTextsAreAddedOnRequestOnly(t *testing.T) {
	o := optionsOf("city", calendar.English, 300)
	plain := mustNew(t, o)
	o.Nasty = true
	nasty := mustNew(t, o)
	differ := 0
	for i := range nasty.Len() {
		e := nasty.Event(i)
		checkEvent(t, nasty, i, e)
		if e.Title["en"] != plain.Event(i).Title["en"] {
			differ++
		}
	}
	if differ != 300/17+1 {
		t.Errorf("%d titles are nasty", differ)
	}
}

func TestCitiesOfALeagueAreInOneCountry(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		o := optionsOf("sport", calendar.English, 200)
		o.Seed = seed
		c := mustNew(t, o)
		for _, v := range c.Venues()[1:] {
			if v.Country != c.Venues()[0].Country {
				t.Fatalf("seed %d: %s and %s", seed, v.Country, c.Venues()[0].Country)
			}
		}
	}
}

func TestTeamsPlayOthers(t *testing.T) {
	sizes := []int{50, 200, 2000}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, events := range sizes {
		forEachCalendar(t, events, func(t *testing.T, c *Calendar) {
			var teams []string
			for _, team := range c.teams {
				teams = append(teams, team.name)
			}
			slices.Sort(teams)
			if n := len(slices.Compact(teams)); n != len(c.teams) {
				t.Errorf("%d of %d teams have names of their own", n, len(c.teams))
			}
			for match := range c.size(placeholderMatch) {
				if c.team(match, true).name == c.team(match, false).name {
					t.Fatalf("match %d: %s plays itself", match, c.team(match, true).name)
				}
			}
		})
	}
}
