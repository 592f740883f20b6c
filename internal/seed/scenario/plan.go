package scenario

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/internal/seed/picture"
)

// plan is the parsed JSON file of a scenario. It has the kinds of events, series, categories, tags and frequencies.
type plan struct {
	// Months and Weekdays are relative frequencies of events by month and weekday. Weekdays begin with Monday.
	Months   [12]int
	Weekdays [7]int
	Cities   bool // whether the calendar has many cities instead of one
	Country  bool // whether all cities are in one country
	House    bool // whether all venues are in one building
	Since    int  // year of the first edition of the oldest festival; 0 means 1987
	// Fests describes festivals: events of several days with events of their own. Courses describes events with
	// weekly lessons.
	Fests struct {
		Share  float64 // share of all events that belong to festivals
		Scale  float64 // factor for the number of festivals
		Days   [2]int  // minimum and maximum duration in days
		Months [2]int  // first and last month in which festivals begin; 0, 0 means all
	}
	Courses    struct{ Share float64 }
	Venues     []string    // types of venues, in the order of their creation
	Organizers []string    // types of organizers
	Categories [][2]string // keys of a category and of its parent
	Tags       []string
	TagLists   []string // names of lists whose entries are further tags
	Entries    []entryRule
	Kinds      []*eventKind
	Series     []*seriesKind
}

// dataFiles has the plans, texts, names and cities from which calendars are generated. data/README.md describes their form.
//
//go:embed data/*.json data/*.txt
var dataFiles embed.FS

// role is the purpose of an event in the calendar, such as a festival or a lesson.
type role string

const (
	standaloneRole   role = ""        // a single event
	festivalRole     role = "fest"    // a festival, the parent of other events
	openingRole      role = "opening" // the first event of a festival
	festivalPartRole role = "part"    // another event of a festival
	closingRole      role = "closing" // the last event of a festival
	courseRole       role = "course"  // a course, the parent of its lessons
	lessonRole       role = "lesson"
	currentRole      role = "current" // the one event that takes place at Options.Now
	clockChangeRole  role = "clocks"  // the one event in the first night of a clock change
)

// eventKind describes how to generate one kind of event, such as jazz concerts. The plan of a scenario lists its
// kinds.
type eventKind struct {
	Key    string
	Role   role
	Weight int      // relative frequency
	At     []string // types of venues; none means that the events are online
	By     []string // types of organizers
	In     []string // keys of categories
	Tags   []string
	Days   string // weekdays, such as "sat sun"; "" means any
	Starts string // times of day, such as "19:00 19:30"; "" means all day
	Lasts  [2]int // minimum and maximum duration, in minutes, or in days for all-day events
	Price  [2]int // minimum and maximum price in units of about a pound; 0, 0 means free; -1, -1 means unknown
	// Months are the first and last month of the season on the northern hemisphere. 0, 0 means all year.
	Months [2]int
	// AfterDark is a word in the English titles of events that must begin after dark.
	AfterDark string
	Keywords  []string // English entries of the list of keywords, which become tags
	// Ages are pairs of a lowest and a highest age of the participants. An event has one pair. A highest age of 0
	// means no limit.
	Ages   [][2]int
	Places [2]int // minimum and maximum number of places; 0, 0 means no limit
	Doors  bool   // whether the doors open before the start
	Motif  string // motif of its pictures

	Reduced, Ticketed, Featured, Sticky, Outdoors bool

	days     []int // weekdays; 0 is Monday
	starts   []clock
	titles   []title
	keywords []int    // indexes of tags
	full     []uint64 // cumulated weights of the days up to each day
	soon     int      // number of its events in layout.soon
	count    int      // number of its other events, for kinds with standaloneRole
}

func readPlan(scenario string) (*plan, error) {
	b, err := dataFiles.ReadFile("data/" + scenario + ".json")
	if err != nil {
		return nil, err
	}
	return parsePlan(b)
}

func parsePlan(b []byte) (*plan, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	p := new(plan)
	if err := d.Decode(p); err != nil {
		return nil, err
	}
	for _, k := range p.Kinds {
		if err := k.parse(p); err != nil {
			return nil, err
		}
	}
	for _, k := range p.Series {
		if err := k.parse(p); err != nil {
			return nil, err
		}
	}
	for i, c := range p.Categories {
		if c[1] != "" && !slices.Contains(p.categoryKeys()[:i], c[1]) {
			return nil, fmt.Errorf("category %q: no parent %q before it", c[0], c[1])
		}
	}
	return p, nil
}

// parse sets k.days and k.starts from their texts. It returns an error for impossible durations or prices, and for a
// kind without organizers. So it does for an unknown motif, venue, organizer, category or tag.
func (k *eventKind) parse(p *plan) error {
	for name := range strings.FieldsSeq(k.Days) {
		day := slices.Index([]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, name)
		if day < 0 {
			return fmt.Errorf("kind %q: no day %q", k.Key, name)
		}
		k.days = append(k.days, day)
	}
	var err error
	if k.starts, err = parseClocks(k.Starts); err != nil {
		return fmt.Errorf("kind %q: %w", k.Key, err)
	}
	if !slices.Contains(picture.Motifs(), k.Motif) {
		return fmt.Errorf("kind %q: no motif %q", k.Key, k.Motif)
	}
	if k.Lasts[0] < 1 || k.Lasts[1] < k.Lasts[0] || k.Price[1] < k.Price[0] || len(k.By) == 0 {
		return fmt.Errorf("kind %q: impossible duration, price or organizer", k.Key)
	}
	for _, missing := range []struct {
		what       string
		used, have []string
	}{
		{"venue", k.At, p.Venues},
		{"organizer", k.By, p.Organizers},
		{"category", k.In, p.categoryKeys()},
		{"tag", k.Tags, p.Tags},
	} {
		for _, key := range missing.used {
			if !slices.Contains(missing.have, key) {
				return fmt.Errorf("kind %q: no %s %q", k.Key, missing.what, key)
			}
		}
	}
	return nil
}

// parseClocks parses times of day, separated by spaces: "19:30 20:00", "dusk" or "dark".
func parseClocks(text string) ([]clock, error) {
	var all []clock
	for start := range strings.FieldsSeq(text) {
		var hour, minute int
		switch start {
		case "dusk", "dark":
			all = append(all, clock{dusk: start == "dusk", dark: start == "dark"})
			continue
		}
		if _, err := fmt.Sscanf(start, "%d:%d", &hour, &minute); err != nil {
			return nil, fmt.Errorf("start %q: %w", start, err)
		}
		all = append(all, clock{minute: hour*60 + minute})
	}
	return all, nil
}

func (p *plan) categoryKeys() []string {
	keys := make([]string, len(p.Categories))
	for i, c := range p.Categories {
		keys[i] = c[0]
	}
	return keys
}

// check returns an error if two languages have different sections or numbers of lines. It also returns one for the
// section of an unknown kind or series.
func (p *plan) check(first, other sections) error {
	for key, a := range first {
		b := other[key]
		switch {
		case b == nil:
			if isEntrySection(key) {
				continue
			}
			return fmt.Errorf("no section %q", key)
		case len(a.Titles) != len(b.Titles), len(a.Entries) != len(b.Entries),
			hasSameTexts(key) && (len(a.Leads) != len(b.Leads) || len(a.More) != len(b.More)):
			return fmt.Errorf("section %q has not as many lines as in the first language", key)
		}
	}
	for key := range other {
		if first[key] == nil && !isEntrySection(key) {
			return fmt.Errorf("section %q is not in the first language", key)
		}
		name, ok := strings.CutPrefix(key, "kind ")
		name, _, _ = strings.Cut(name, " ")
		if ok && !slices.ContainsFunc(p.Kinds, func(k *eventKind) bool { return k.Key == name }) {
			return fmt.Errorf("section %q is of no kind", key)
		}
		name, ok = strings.CutPrefix(key, "series ")
		if ok && !slices.ContainsFunc(p.Series, func(k *seriesKind) bool { return k.Key == name }) {
			return fmt.Errorf("section %q is of no series", key)
		}
	}
	return nil
}
