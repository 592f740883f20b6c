package scenario

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/seed/picture"
)

// data holds what calendars are made of:
//
//   - city.json: the kinds of events and the series of the scenario "city", how often, when and where they take place;
//   - city.pl.txt: its texts in Polish; common.pl.txt: those that several scenarios share;
//   - local.pl.txt: the people and proper names of the countries that go with Polish;
//   - places.pl.txt: those countries and their cities.
//
// A text file consists of sections "# type key". A line "=" is a title, ">" a way to begin a description, "+" a
// paragraph that may follow. A section "# kind play alone" has further titles of the kind "play", with descriptions
// of their own. Lists have an entry per line with its forms separated by "|". {list} stands for an entry, {list:2}
// for its second form. An entry may have slots itself. "# works film" is a list in which an entry with the slot of
// another list stands for as many works as that list has entries, each with an author: {by}.
//
// {who:2} to {who:6} are the genitive, dative, accusative, instrumental and locative of a person in Polish,
// {who:7} is the instrumental after "with". The other languages have one form.
//
// "# words US" has words and phrases that a country writes in another way than the texts do.
//
//go:embed data
var data embed.FS

// plan is the file of a scenario.
type plan struct {
	// Months and Weekdays, from Monday, are how full they are in relation to each other.
	Months   [12]int
	Weekdays [7]int
	Cities   bool // whether it goes on in many cities instead of one
	Country  bool // whether those are in one country
	House    bool // whether all venues are under one roof
	Since    int  // the year in which the oldest of its festivals began; 0 is 1987
	// Fests are events of several days with events of their own, Courses those of five weekly ones.
	Fests struct {
		Share  float64 // share of all events that are part of festivals
		Scale  float64 // how many fests
		Days   [2]int  // how long, at least and at most
		Months [2]int  // first and last month in which they begin; 0, 0 means all
	}
	Courses    struct{ Share float64 }
	Venues     []string    // types of venues, in the order in which they are put up
	Organizers []string    // types of organizers
	Categories [][2]string // key and key of the parent
	Tags       []string
	TagLists   []string // lists whose entries are further tags
	Entries    []entryRule
	Kinds      []*kind
	Series     []*seriesKind
}

// role is the part a kind plays in the calendar.
type role string

const (
	standaloneRole   role = ""        // stands for itself
	festivalRole     role = "fest"    // has a festival's worth of events
	openingRole      role = "opening" // is the first event of a fest
	festivalPartRole role = "part"    // is one of the others
	closingRole      role = "closing" // is the last
	courseRole       role = "course"  // has weekly lessons
	lessonRole       role = "lesson"
	currentRole      role = "current" // runs at Options.Now; there is one
	clockChangeRole  role = "clocks"  // takes place in the first night in which the clocks change; there is one
)

// kind describes how to generate one or many events.
type kind struct {
	Key    string
	Role   role
	Weight int      // how many of a hundred or so events are of it
	At     []string // types of venues; none means online
	By     []string // types of organizers
	In     []string // categories
	Tags   []string
	Days   string // "sat sun"; "": any
	Starts string // "19:00 19:30"; "" means all day
	Lasts  [2]int // minutes, or days if all day; at least and at most
	Price  [2]int // in units of about a pound; 0, 0 means free; -1, -1 means unknown
	// Months are the first and the last month of the season in the north; 0, 0 means all year.
	Months [2]int
	// AfterDark is part of the English titles that need the dark.
	AfterDark string
	Keywords  []string // English entries of the list of keywords
	Motif     string   // of its pictures

	Reduced, Ticketed, Featured, Sticky, Outdoors bool

	days     []int // from Monday
	starts   []clock
	titles   []title
	keywords []int    // tags
	full     []uint64 // how full the days up to each day are, cumulated
	soon     int      // how many are in layout.soon
	count    int      // how many others there are of a kind that stands for itself
}

func readPlan(scenario string) (*plan, error) {
	b, err := data.ReadFile("data/" + scenario + ".json")
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

// parse reads the days and the times of a kind, and checks that its plan has what it names.
func (k *kind) parse(p *plan) error {
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

// parseClocks reads times such as "19:30 20:00", "dusk" or "dark".
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

// section is a part of a text file.
type section struct {
	Titles, Leads, More []string   // the lines "=", ">" and "+"
	Entries             [][]string // the other lines, by forms
}

// sections has the sections of one or more text files, by type and key: "kind jazz".
type sections map[string]*section

var sectionTypes = []string{"kind", "series", "list", "works", "words", "categories", "tags", "venue", "organizer", "info"}

// read adds the sections of a file.
func (s sections) read(name string) error {
	b, err := data.ReadFile("data/" + name)
	if err != nil {
		return err
	}
	if err := s.parse(string(b)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (s sections) parse(text string) error {
	var now *section
	forms := 0
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		wrong := func(what string) error { return fmt.Errorf("line %d: %s: %q", number+1, what, line) }
		if line == "" {
			continue
		}
		mark, rest, _ := strings.Cut(line, " ")
		if mark == "#" {
			typ, _, _ := strings.Cut(rest, " ")
			if !slices.Contains(sectionTypes, typ) {
				return wrong("unknown type of section")
			}
			if s[rest] != nil {
				return wrong("section is there twice")
			}
			now, forms = new(section), 0
			s[rest] = now
			continue
		}
		if now == nil {
			return wrong("text before the first section")
		}
		switch mark {
		case "=":
			now.Titles = append(now.Titles, rest)
		case ">":
			now.Leads = append(now.Leads, rest)
		case "+":
			now.More = append(now.More, rest)
		default:
			entry := strings.Split(line, " | ")
			if slices.Contains(entry, "") || forms != 0 && len(entry) != forms {
				return wrong("entry has not as many forms as the one before")
			}
			forms = len(entry)
			now.Entries = append(now.Entries, entry)
		}
	}
	return nil
}

// readTexts reads the texts of a scenario in a language.
func readTexts(scenario string, l calendar.Language) (sections, error) {
	s := sections{}
	if err := s.read("common." + string(l) + ".txt"); err != nil {
		return nil, err
	}
	if err := s.read(scenario + "." + string(l) + ".txt"); err != nil {
		return nil, err
	}
	return s, nil
}

func readLocal(l calendar.Language) (sections, error) {
	s := sections{}
	if err := s.read("local." + string(l) + ".txt"); err != nil {
		return nil, err
	}
	return s, s.read("places." + string(l) + ".txt")
}

// entries returns those of a section; none is an error.
func (s sections) entries(key string) ([][]string, error) {
	if s[key] == nil || len(s[key].Entries) == 0 {
		return nil, fmt.Errorf("no section %q", key)
	}
	return s[key].Entries, nil
}

// named returns the entries of the sections "categories" or "tags" by their first form.
func (s sections) named(key string) (map[string][]string, error) {
	entries, err := s.entries(key)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, e := range entries {
		if all[e[0]] != nil {
			return nil, fmt.Errorf("%s: %q twice", key, e[0])
		}
		all[e[0]] = e[1:]
	}
	return all, nil
}

// check reports what a language has and another has not, and kinds that the plan does not know.
func (p *plan) check(first, other sections) error {
	for key, a := range first {
		b := other[key]
		switch {
		case b == nil:
			return fmt.Errorf("no section %q", key)
		case len(a.Titles) != len(b.Titles), len(a.Leads) != len(b.Leads), len(a.More) != len(b.More),
			len(a.Entries) != len(b.Entries):
			return fmt.Errorf("section %q has not as many lines as in the first language", key)
		}
	}
	for key := range other {
		if first[key] == nil {
			return fmt.Errorf("section %q is not in the first language", key)
		}
		name, ok := strings.CutPrefix(key, "kind ")
		name, _, _ = strings.Cut(name, " ")
		if ok && !slices.ContainsFunc(p.Kinds, func(k *kind) bool { return k.Key == name }) {
			return fmt.Errorf("section %q is of no kind", key)
		}
		name, ok = strings.CutPrefix(key, "series ")
		if ok && !slices.ContainsFunc(p.Series, func(k *seriesKind) bool { return k.Key == name }) {
			return fmt.Errorf("section %q is of no series", key)
		}
	}
	return nil
}
