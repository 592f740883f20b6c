package scenario

import (
	"cmp"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"

	"github.com/brianvoe/gofakeit/v6"

	"github.com/almanac-cal/almanac/calendar"
)

// Scenarios are the calendars there are.
var Scenarios = []string{"city", "venue", "festival", "university", "conference", "sport"}

const (
	maxPictures = 36
	maxMonths   = 240
	lessons     = 5
)

// Calendar is a made-up calendar. It is not changed after New, so that any number of goroutines may ask for
// events at the same time.
type Calendar struct {
	o      Options
	plan   *plan
	texts  []sections // by language, as in Options.Languages
	local  sections
	lists  []*list
	infos  map[string][]templates
	abouts map[string]about // by section
	people []string
	bands  []string
	teams  []team
	cities []city
	prices map[*country][][2]calendar.Cost

	categories []Term
	tags       []Term
	venues     []Venue
	organizers []Organizer
	pictures   []Picture
	series     []Series
	category   map[string]int // indices by key
	tag        map[string]int
	venuesAt   placed
	organizing placed
	kindsOf    map[role]cycle

	layout layout
	days   []uint64 // how full the days up to this one are, cumulated
	festal []uint64 // the same for the days on which fests begin
}

// layout says which index is what. The kinds follow each other: pinned events, fests, courses, the events of
// the fests, the lessons, and all others.
type layout struct {
	pinned []*kind
	fests  []festival
	parts  int // of each fest
	course int // number of courses
	free   int
	spread scatter // of the free ones over time
}

func (l layout) firstPart() int   { return len(l.pinned) + len(l.fests) + l.course }
func (l layout) firstLesson() int { return l.firstPart() + len(l.fests)*l.parts }
func (l layout) firstFree() int   { return l.firstLesson() + l.course*lessons }

// New makes a calendar. The error names the option that cannot be.
func New(o Options) (*Calendar, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	c := &Calendar{o: o, abouts: map[string]about{}}
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
	if c.local, err = readLocal(o.Languages[0]); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		c.fillLists, c.fillLocal, c.fillCities, c.fillDays, c.fillTerms, c.fillKinds, c.fillPictures, c.fillVenues,
		c.fillOrganizers, c.fillPrices, c.lay, c.fillSeries,
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("scenario %q: %w", o.Scenario, err)
		}
	}
	return c, nil
}

// Options are those of the calendar, with the defaults filled in.
func (c *Calendar) Options() Options {
	o := c.o
	o.Languages = slices.Clone(o.Languages)
	return o
}

// Categories lists the categories, parents before children. It is not to be changed, as those that follow.
func (c *Calendar) Categories() []Term { return c.categories }

// Tags lists the tags, those that are used most first.
func (c *Calendar) Tags() []Term { return c.tags }

// Venues lists the venues.
func (c *Calendar) Venues() []Venue { return c.venues }

// Organizers lists the organizers.
func (c *Calendar) Organizers() []Organizer { return c.organizers }

// Pictures lists the pictures, none unless Options.Pictures asks for them.
func (c *Calendar) Pictures() []Picture { return c.pictures }

// Series lists the series: a few, whatever the number of events.
func (c *Calendar) Series() []Series { return c.series }

// Len is the number of events, without those of the series.
func (c *Calendar) Len() int { return c.o.Events }

// complete fills in the defaults.
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
	// Events may begin a day before the first in UTC and end some weeks after the last.
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
	root := math.Sqrt(float64(o.Events))
	o.Venues = cmp.Or(o.Venues, 8+int(root))
	o.Now = o.Now.UTC()
	return o, nil
}

// fake draws names and words. Not gofakeit.New, for which seed 0 is a new one each time.
func (c *Calendar) fake(what uint64) *gofakeit.Faker {
	source := chanceOf(c.o.Seed, what)
	return gofakeit.NewCustom(rand.NewSource(int64(source.next() >> 1)).(rand.Source64))
}

// What chanceOf is told first after the seed, so that no two things are drawn alike.
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
)

// fillLists gathers the lists of all languages, sorted by name.
func (c *Calendar) fillLists() error {
	for key := range c.texts[0] {
		if len(key) > 5 && key[:5] == "list " {
			if slices.Contains(slotNames[:], key[5:]) {
				return fmt.Errorf("section %q has the name of a slot", key)
			}
			c.lists = append(c.lists, &list{name: key[5:]})
		}
	}
	slices.SortFunc(c.lists, func(a, b *list) int { return cmp.Compare(a.name, b.name) })
	if len(c.lists) > maxSlots-slotLists {
		return fmt.Errorf("%d lists are too many", len(c.lists))
	}
	for _, l := range c.lists {
		for _, texts := range c.texts {
			entries, err := texts.entries("list " + l.name)
			if err != nil {
				return err
			}
			l.size = len(entries)
			l.entries = append(l.entries, entries)
		}
	}
	c.infos = map[string][]templates{}
	for _, key := range []string{"free", "ticket", "any", "outdoors", "online", "canceled", "postponed", "heading", "house"} {
		about, err := c.about("info " + key)
		if err != nil {
			return err
		}
		c.infos[key] = about.leads
	}
	return nil
}

// about is the description in a section.
func (c *Calendar) about(key string) (about, error) {
	if a, ok := c.abouts[key]; ok {
		return a, nil
	}
	a, err := c.compileAbout(key)
	if err == nil {
		c.abouts[key] = a
	}
	return a, err
}

func (c *Calendar) compileAbout(key string) (a about, err error) {
	lines := func(of func(*section) []string, change func(string) string) ([]templates, error) {
		var all []templates
		for i := range of(c.texts[0][key]) {
			texts := make([]string, len(c.texts))
			for l, s := range c.texts {
				texts[l] = change(of(s[key])[i])
			}
			ts, err := c.compileAll(texts, true)
			if err != nil {
				return nil, fmt.Errorf("section %q: %w", key, err)
			}
			all = append(all, ts)
		}
		return all, nil
	}
	leads := func(s *section) []string { return s.Leads }
	whole := func(s string) string { return s }
	if c.texts[0][key] == nil || len(c.texts[0][key].Leads) == 0 {
		return a, fmt.Errorf("no text in section %q", key)
	}
	if a.leads, err = lines(leads, whole); err != nil {
		return a, err
	}
	if a.firsts, err = lines(leads, firstSentence); err != nil {
		return a, err
	}
	a.more, err = lines(func(s *section) []string { return s.More }, whole)
	return a, err
}

// fillKinds compiles the texts of the kinds and lets those of a role take turns.
func (c *Calendar) fillKinds() error {
	c.kindsOf = map[role]cycle{}
	byRole := map[role][]*kind{}
	for n, k := range c.plan.Kinds {
		key := "kind " + k.Key
		var err error
		if k.about, err = c.about(key); err != nil {
			return err
		}
		if k.titles, err = c.titles(key, n); err != nil {
			return err
		}
		byRole[k.Role] = append(byRole[k.Role], k)
	}
	for _, r := range []role{free, current, clocks} {
		if len(byRole[r]) == 0 {
			return fmt.Errorf("no kind with the role %q", r)
		}
	}
	for r, kinds := range byRole {
		c.kindsOf[r] = newCycle(kinds)
	}
	return nil
}

// titles compiles the titles of a section, at least one. Their order depends on the number of the kind.
func (c *Calendar) titles(key string, number int) ([]title, error) {
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
			return nil, fmt.Errorf("section %q: %w", key, err)
		}
		t := title{in: ts, slots: ts[0].slots()}
		size := uint64(1)
		for _, slot := range t.slots {
			size *= uint64(c.size(slot))
		}
		t.turns = newScatter(size, chanceOf(c.o.Seed, chanceTitles, uint64(number), uint64(i)))
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("section %q: no title", key)
	}
	return all, nil
}

// cycle is an order in which kinds take turns, each as often as its weight says and evenly spread.
type cycle struct {
	order []*kind
	turn  []int // how many times the kind was there before in the cycle
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

// at is the kind of the n-th place and how many of that kind came before.
func (cy cycle) at(n int) (k *kind, rank int) {
	round, place := n/len(cy.order), n%len(cy.order)
	k = cy.order[place]
	return k, round*k.Weight + cy.turn[place]
}

func (c *Calendar) fillPictures() error {
	names, err := c.local.entries("list name")
	if err != nil || !c.o.Pictures {
		return err
	}
	for i := range min(maxPictures, len(names)) {
		source := chanceOf(c.o.Seed, chancePictures, uint64(i))
		c.pictures = append(c.pictures, Picture{
			SourceID: c.sourceID("picture", i), Title: names[i][0], Seed: source.next(),
		})
	}
	return nil
}

// picture draws one of the pictures in so many of a hundred cases.
func (c *Calendar) picture(source *chance, percent int) int {
	if len(c.pictures) == 0 || !source.percent(percent) {
		return -1
	}
	return source.below(len(c.pictures))
}

func (c *Calendar) sourceID(kind string, i int) string {
	return fmt.Sprintf("seed:%s:%s:%d", c.o.Scenario, kind, i)
}

// fillTerms makes the categories and as many tags as fit the number of events.
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
	used := map[string]bool{}
	add := func(name Text) {
		key := calendar.Slug(name[c.o.Languages[0]])
		if !used[key] {
			c.tags = append(c.tags, Term{SourceID: c.sourceID("tag", len(c.tags)), Parent: -1, Name: name})
		}
		used[key] = true
	}
	for _, key := range c.plan.Tags {
		name, err := form(tags, key, 0)
		if err != nil {
			return err
		}
		c.tag[key] = len(c.tags)
		add(name)
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
			name := Text{}
			for n, l := range c.o.Languages {
				name[l] = c.lists[at].entries[n][i][0]
			}
			add(name)
		}
	}
	return nil
}
