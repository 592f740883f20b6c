package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/brianvoe/gofakeit/v6"

	"github.com/almanac-cal/almanac/calendar"
)

// Scenarios lists the names of all scenarios.
var Scenarios = []string{"city", "venue", "festival", "university", "conference", "sport"}

const (
	maxCity   = 60 // letters
	maxMonths = 240
	lessons   = 5
)

// Calendar is a generated calendar. It does not change after New, so any number of goroutines may read its
// events at the same time.
type Calendar struct {
	o     Options
	plan  *plan
	texts []sections // by language, in the order of Options.Languages
	local sections
	lists []*list
	// ordinals are the ordinals of the lessons, such as "third", by language, number and form.
	ordinals [][][]string
	infos    map[string][]*descriptionTexts // by name and language
	abouts   map[string][]*descriptionTexts // descriptions by name of the section and language
	// activities are the descriptions of entries of lists, by slot, entry and language.
	activities map[[2]int][]*descriptionTexts
	people     []person
	bands      []string
	teams      []team
	hosts      int // number of the teams, the first ones, that play at home
	cities     []city
	prices     map[*country][][2]calendar.Cost

	categories []Term
	tags       []Term
	venues     []Venue
	organizers []Organizer
	pictures   []Picture
	series     []Series
	category   map[string]int // indexes into categories, by key
	tag        map[string]int
	venueAt    []venuePlace
	venuesAt   placeIndex
	organizing placeIndex
	kindsOf    map[role]cycle

	tagOf map[int][]int // indexes of the tags for the entries of a list, by slot; -1 means none
	rules []rule

	layout layout
	closed []bool     // public holidays: no event with a time of day begins on these days
	spots  []roomSlot // place and time of each event
	leads  []uint16   // first paragraph of each event, by event and language
	// moreShare is the percentage of events with a further paragraph. It is low if there are few of these for many
	// events, so that no paragraph is in more than about 2 % of a calendar.
	moreShare map[*descriptionTexts]int
	holidays  map[int]map[yearDay]bool // by year, as far as they were asked for
	rooms     rooms

	// written is the time at which the records count as created. Only scheduled events are published later.
	written time.Time
	// home is the language of the country of the first city.
	home calendar.Language
	// drafts is the number of events for which find looked for a room. thrown is the number of days or events
	// that it gave up.
	drafts, thrown int
	// own maps an event to its own picture. byKind maps kinds to the pictures that their events share.
	own    map[int]int
	byKind map[string][]int
}

// layout assigns the indexes of events. They are in this order: pinned events, festivals, courses, events of
// festivals, lessons, and all others (free).
type layout struct {
	pinned []*kind
	fests  []festival
	parts  int // number of events of each festival
	course int // number of courses
	free   int
	soon   []plannedEvent // the first of the free events, which are in the next weeks
	spread permutation    // spreads the other events over time
}

// calm reports whether an event is always public and takes place as planned.
func (l *layout) calm(i int) bool {
	return i < l.firstPart() || i >= l.firstFree() && i < l.firstFree()+len(l.soon)
}

func (l *layout) firstPart() int   { return len(l.pinned) + len(l.fests) + l.course }
func (l *layout) firstLesson() int { return l.firstPart() + len(l.fests)*l.parts }
func (l *layout) firstFree() int   { return l.firstLesson() + l.course*lessons }

// New generates a calendar. Its error names the invalid option.
func New(o Options) (*Calendar, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	c := &Calendar{
		o: o, rooms: rooms{map[roomDay][2]uint64{}}, tagOf: map[int][]int{}, abouts: map[string][]*descriptionTexts{},
	}
	if c.plan, err = readPlan(o.Scenario); err != nil {
		return nil, fmt.Errorf("scenario %q: %w", o.Scenario, err)
	}
	for _, l := range o.Languages {
		s, err := readTexts(o.Scenario, l)
		if err != nil {
			return nil, fmt.Errorf("scenario %q: %w", o.Scenario, err)
		}
		c.texts = append(c.texts, s)
		if err := c.plan.check(c.texts[0], s); err != nil {
			return nil, fmt.Errorf("scenario %q in %q: %w", o.Scenario, l, err)
		}
	}
	c.home = o.Languages[0]
	if o.City != "" {
		if c.home, err = HomeOf(o.City, c.home); err != nil {
			return nil, err
		}
	}
	if c.local, err = readLocal(c.home); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		c.fillCities, c.fillWords, c.fillLists, c.fillLocal, c.fillDays, c.fillTerms, c.fillKinds, c.fillRules, c.fillVenues,
		c.fillOrganizers, c.fillPrices, c.fillCycles, c.fillSeries, c.lay, c.fillPictures,
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("scenario %q: %w", o.Scenario, err)
		}
	}
	c.rooms.taken = nil
	return c, nil
}

// Options returns the options of the calendar, with default values filled in.
func (c *Calendar) Options() Options {
	o := c.o
	o.Languages = slices.Clone(o.Languages)
	return o
}

// Categories returns the categories, parents before children. The caller must not change the list. This also
// holds for the following methods.
func (c *Calendar) Categories() []Term { return c.categories }

// Tags returns the tags, those of the scenario before those of entries in lists.
func (c *Calendar) Tags() []Term { return c.tags }

// Venues returns the venues.
func (c *Calendar) Venues() []Venue { return c.venues }

// Organizers returns the organizers.
func (c *Calendar) Organizers() []Organizer { return c.organizers }

// Pictures returns the pictures; none if Options.Pictures is false.
func (c *Calendar) Pictures() []Picture { return c.pictures }

// Series returns the series. Their number does not depend on the number of events.
func (c *Calendar) Series() []Series { return c.series }

// Written returns the time at which the records count as created. It is Options.Now, or, if that is zero, a
// time in the past that is not after the start of the calendar.
func (c *Calendar) Written() time.Time { return c.written }

// Zone returns the time zone of the first city.
func (c *Calendar) Zone() calendar.Zone { return c.cities[0].zone }

// City returns the name of the first city in a language of the calendar.
func (c *Calendar) City(l calendar.Language) string {
	return c.cities[0].names[max(slices.Index(c.o.Languages, l), 0)]
}

// Len returns the number of events. Occurrences of series are not included.
func (c *Calendar) Len() int { return c.o.Events }

// complete returns the options with default values. It returns an error for an invalid option.
func (o Options) complete() (Options, error) {
	o.Scenario = cmp.Or(o.Scenario, Scenarios[0])
	if !slices.Contains(Scenarios, o.Scenario) {
		return o, fmt.Errorf("unknown scenario %q: want one of %s", o.Scenario, strings.Join(Scenarios, ", "))
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"events", o.Events}, {"venues", o.Venues}, {"organizers", o.Organizers}} {
		if n.value < 0 {
			return o, fmt.Errorf("%s: %d is negative", n.name, n.value)
		}
	}
	o.Months = cmp.Or(o.Months, 24)
	if o.Months < 1 || o.Months > maxMonths {
		return o, fmt.Errorf("months: %d is not from 1 to %d", o.Months, maxMonths)
	}
	o.From = o.From.StartOfDay()
	// In UTC, events may begin a day before the first day, and end some weeks after the last.
	first, _, _ := o.From.AddDate(0, 0, -100).Date()
	last, _, _ := o.From.AddDate(0, o.Months, 100).Date()
	if o.From.IsZero() || first < 1000 || last > 9999 {
		return o, fmt.Errorf("from: %s is not a day from which a calendar can begin", o.From)
	}
	var languages []calendar.Language
	for _, l := range o.Languages {
		if !l.Known() {
			return o, fmt.Errorf("languages: %q is unknown: want some of %q", l, calendar.Languages)
		}
		if !slices.Contains(languages, l) {
			languages = append(languages, l)
		}
	}
	if len(languages) == 0 {
		languages = slices.Clone(calendar.Languages)
	}
	o.Languages = languages
	o.Events = cmp.Or(o.Events, 200)
	// A large calendar needs enough rooms for its events.
	o.Venues = cmp.Or(o.Venues, max(8+int(math.Sqrt(float64(o.Events))), o.Events/eventsOfVenue))
	o.Now = o.Now.UTC()
	if o.City = strings.Join(strings.Fields(o.City), " "); utf8.RuneCountInString(o.City) > maxCity ||
		strings.ContainsAny(o.City, "{}<>|") || o.City != "" && calendar.Slug(o.City) == "" {
		return o, fmt.Errorf("city: %q is not a name of at most %d letters", o.City, maxCity)
	}
	return o, nil
}

// eventsOfVenue is the approximate number of events of a venue in a large calendar. With twice as many in two
// years, rooms become scarce.
const eventsOfVenue = 250

// fake returns a generator of names and words for one purpose. gofakeit.New is unsuitable, because it treats
// seed 0 as random.
func (c *Calendar) fake(what uint64) *gofakeit.Faker {
	source := chanceOf(c.o.Seed, what)
	return gofakeit.NewCustom(rand.NewSource(int64(source.next() >> 1)).(rand.Source64))
}

// The first argument of chanceOf after the seed. It differs for each purpose, so that the random numbers are
// independent.
const (
	chanceNames uint64 = iota + 1
	chanceCities
	chanceVenues
	chanceOrganizers
	chancePictures
	chanceTitles
	chanceFests
	chanceCourses
	chanceEvents
	chanceSpread
	chanceStates
	chanceSeries
	chanceAuthors
	chanceLeads
)

// fillLists reads the lists of all languages, and sorts them by name.
func (c *Calendar) fillLists() error {
	for key := range c.texts[0] {
		typ, name, _ := strings.Cut(key, " ")
		if typ != "list" && typ != "works" {
			continue
		}
		if slices.Contains(slotNames[:], name) {
			return fmt.Errorf("section %q has the name of a slot", key)
		}
		c.lists = append(c.lists, &list{name: name, works: typ == "works"})
	}
	slices.SortFunc(c.lists, func(a, b *list) int { return cmp.Compare(a.name, b.name) })
	if len(c.lists) > maxSlots-slotLists {
		return fmt.Errorf("%d lists are too many", len(c.lists))
	}
	for _, l := range c.lists {
		for _, texts := range c.texts {
			entries, err := texts.listOf(l)
			if err != nil {
				return err
			}
			l.size = len(entries)
			l.entries = append(l.entries, entries)
		}
	}
	if err := c.nestLists(); err != nil {
		return err
	}
	for _, texts := range c.texts {
		ordinals, err := texts.entries("list ordinal")
		if err != nil {
			return err
		}
		if len(ordinals) < lessons || len(ordinals[0]) < formsOf(slotNth) {
			return fmt.Errorf("list of ordinals: want %d with %d forms", lessons, formsOf(slotNth))
		}
		c.ordinals = append(c.ordinals, ordinals)
	}
	c.infos = map[string][]*descriptionTexts{}
	for _, key := range []string{"free", "ticket", "any", "doors", "outdoors", "online", "canceled", "postponed", "heading", "house", "long", "place"} {
		var err error
		if c.infos[key], err = c.about("info " + key); err != nil {
			return err
		}
	}
	return nil
}

// about returns the compiled descriptions in a section, by language.
func (c *Calendar) about(key string) ([]*descriptionTexts, error) {
	if a, ok := c.abouts[key]; ok {
		return a, nil
	}
	var all []*descriptionTexts
	for language := range c.texts {
		a, err := c.compileAbout(key, language)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	c.abouts[key] = all
	return all, nil
}

// compileAbout compiles the descriptions in a section in one language.
func (c *Calendar) compileAbout(key string, language int) (*descriptionTexts, error) {
	s := c.texts[language][key]
	if s == nil || len(s.Leads) == 0 && !strings.HasPrefix(key, "kind ") {
		return nil, fmt.Errorf("no text in section %q", key)
	}
	a := new(descriptionTexts)
	for of, texts := range map[*[]line][]string{&a.leads: s.Leads, &a.more: s.More} {
		for _, text := range texts {
			l, err := c.compileLine(text, language)
			if err != nil {
				return nil, fmt.Errorf("section %q in %q: %w", key, c.o.Languages[language], err)
			}
			*of = append(*of, l)
		}
	}
	return a, nil
}

// fillKinds compiles the titles of the kinds.
func (c *Calendar) fillKinds() error {
	for n, k := range c.plan.Kinds {
		key := "kind " + k.Key
		var err error
		if k.titles, err = c.titles(key, n); err != nil {
			return err
		}
		c.keepHours(k)
	}
	for _, k := range c.plan.Series {
		c.keepHours(&k.kind)
	}
	return nil
}

// fillCycles creates the cycle of the kinds of each role. It leaves out kinds of standalone events, festivals and
// courses without a possible day and venue.
func (c *Calendar) fillCycles() error {
	c.kindsOf = map[role]cycle{}
	byRole, possible := map[role][]*kind{}, map[role][]*kind{}
	for _, k := range c.plan.Kinds {
		c.fillKindDays(k)
		byRole[k.Role] = append(byRole[k.Role], k)
		if c.possible(k) {
			possible[k.Role] = append(possible[k.Role], k)
		}
	}
	for _, r := range []role{standaloneRole, currentRole, clockChangeRole} {
		if len(byRole[r]) == 0 {
			return fmt.Errorf("no kind with the role %q", r)
		}
	}
	if len(possible[standaloneRole]) == 0 {
		return fmt.Errorf("months: there is no event that takes place in %d from %s", c.o.Months, c.o.From)
	}
	for r := range byRole {
		switch r {
		case standaloneRole, festivalRole, courseRole:
			c.kindsOf[r] = newCycle(possible[r])
		default:
			c.kindsOf[r] = newCycle(byRole[r])
		}
	}
	return nil
}

// titles compiles the titles of a section and of its variants. A section without a title is an error. The order
// of the titles in use depends on number, the number of the kind.
func (c *Calendar) titles(key string, number int) ([]title, error) {
	var all []title
	for _, section := range slices.Sorted(maps.Keys(c.texts[0])) {
		if section != key && !strings.HasPrefix(section, key+" ") {
			continue
		}
		titles, err := c.titlesOf(section, number, len(all))
		if err != nil {
			return nil, fmt.Errorf("section %q: %w", section, err)
		}
		all = append(all, titles...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("section %q: no title", key)
	}
	return all, nil
}

// titlesOf compiles the titles of one section. Before is the number of titles in earlier sections of the kind.
func (c *Calendar) titlesOf(key string, number, before int) ([]title, error) {
	about, err := c.about(key)
	if err != nil {
		return nil, err
	}
	var all []title
	for i := range c.texts[0][key].Titles {
		texts := make([]string, len(c.texts))
		for l, s := range c.texts {
			texts[l] = s[key].Titles[i]
		}
		ts, err := c.compileAll(texts, false)
		if err == nil {
			err = ts.sameSlots()
		}
		if err != nil {
			return nil, err
		}
		t := title{in: ts, about: about, slots: ts[0].slots(), section: key, number: i}
		size := uint64(1)
		for _, slot := range t.slots {
			size *= uint64(c.size(slot))
		}
		t.turns = newScatter(size, chanceOf(c.o.Seed, chanceTitles, uint64(number), uint64(before+i)))
		all = append(all, t)
	}
	return all, nil
}

// cycle is an order of kinds that repeats. Each kind occurs as often as its weight, evenly spread.
type cycle struct {
	order []*kind
	turn  []int // number of earlier occurrences of the kind in order
}

func newCycle(kinds []*kind) cycle {
	var cy cycle
	total := 0
	for _, k := range kinds {
		k.Weight = max(k.Weight, 1)
		total += k.Weight
	}
	credit := make([]int, len(kinds))
	seen := make([]int, len(kinds))
	for range total {
		best := 0
		for i, k := range kinds {
			if credit[i] += k.Weight; credit[i] > credit[best] {
				best = i
			}
		}
		credit[best] -= total
		cy.order = append(cy.order, kinds[best])
		cy.turn = append(cy.turn, seen[best])
		seen[best]++
	}
	return cy
}

// at returns the kind at place n, and the number of earlier places of that kind.
func (cy cycle) at(n int) (k *kind, rank int) {
	round, place := n/len(cy.order), n%len(cy.order)
	k = cy.order[place]
	return k, round*k.Weight + cy.turn[place]
}

// count returns the number of places of kind k among the first n.
func (cy cycle) count(k *kind, n int) int {
	all := n / len(cy.order) * k.Weight
	for _, other := range cy.order[:n%len(cy.order)] {
		if other == k {
			all++
		}
	}
	return all
}

func (c *Calendar) sourceID(kind string, i int) string {
	return fmt.Sprintf("seed:%s:%s:%d", c.o.Scenario, kind, i)
}

// fillTerms creates the categories and the tags. The number of tags grows more slowly than the number of events.
func (c *Calendar) fillTerms() error {
	var categories, tags []map[string][]string
	for _, s := range c.texts {
		for of, all := range map[string]*[]map[string][]string{"categories": &categories, "tags": &tags} {
			named, err := s.named(of)
			if err != nil {
				return err
			}
			if want := map[string]int{"categories": len(c.plan.Categories), "tags": len(c.plan.Tags)}[of]; len(named) != want {
				return fmt.Errorf("section %q has %d entries, not %d", of, len(named), want)
			}
			*all = append(*all, named)
		}
	}
	form := func(all []map[string][]string, key string, n int) (Text, error) {
		t := Text{}
		for i, l := range c.o.Languages {
			if len(all[i][key]) <= n {
				return nil, fmt.Errorf("no text for %q in %q", key, l)
			}
			t[l] = all[i][key][n]
		}
		return t, nil
	}
	c.category, c.tag = map[string]int{}, map[string]int{}
	for i, pair := range c.plan.Categories {
		name, err := form(categories, pair[0], 0)
		if err != nil {
			return err
		}
		about, err := form(categories, pair[0], 1)
		if err != nil {
			return err
		}
		t := Term{SourceID: c.sourceID("category", i), Parent: -1, Name: name, Description: about}
		if pair[1] != "" {
			t.Parent = c.category[pair[1]]
		}
		c.category[pair[0]] = i
		c.categories = append(c.categories, t)
	}
	for _, key := range c.plan.Tags {
		name, err := form(tags, key, 0)
		if err != nil {
			return err
		}
		c.tag[key] = c.addTag(name)
	}
	want := 12 + int(math.Pow(float64(c.o.Events), 0.41))
	for _, from := range c.plan.TagLists {
		at := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == from })
		if at < 0 {
			return fmt.Errorf("no list %q", from)
		}
		for i := range c.lists[at].size {
			if len(c.tags) >= want {
				return nil
			}
			c.tagFor(slotLists+at, i)
		}
	}
	return nil
}

// tagFor returns the index of the tag for an entry of a list. It adds the tag if there is none.
func (c *Calendar) tagFor(slot, entry int) int {
	list := c.lists[slot-slotLists]
	if c.tagOf[slot] == nil {
		c.tagOf[slot] = slices.Repeat([]int{-1}, list.size)
	}
	if c.tagOf[slot][entry] < 0 {
		name := Text{}
		for n, l := range c.o.Languages {
			name[l] = list.entries[n][entry][0]
		}
		c.tagOf[slot][entry] = c.addTag(name)
	}
	return c.tagOf[slot][entry]
}

// addTag returns the index of the tag with a name. It adds the tag if there is none.
func (c *Calendar) addTag(name Text) int {
	first := c.o.Languages[0]
	key := calendar.Slug(name[first])
	at := slices.IndexFunc(c.tags, func(t Term) bool { return calendar.Slug(t.Name[first]) == key })
	if at < 0 {
		at = len(c.tags)
		c.tags = append(c.tags, Term{SourceID: c.sourceID("tag", at), Parent: -1, Name: name})
	}
	return at
}
