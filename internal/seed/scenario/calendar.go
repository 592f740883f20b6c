package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// Calendar is a generated calendar. It does not change after New, so any number of goroutines may read its
// events at the same time.
type Calendar struct {
	o     Options
	plan  *plan
	texts []sections // by language, in the order of Options.Languages
	local sections
	lists []*list
	// ordinals has the ordinals of the lessons in words, such as "third", by language, number and grammatical form.
	ordinals     [][][]string
	remarkTexts  map[string][]*descriptionTexts // general remarks, such as on tickets, by name and language
	descriptions map[string][]*descriptionTexts // by name of the section and language
	// activities has the descriptions that belong to one entry of a word list, by language. Nil means that a
	// language has none. The key is the number of the placeholder that the list fills, and the entry's index.
	activities map[[2]int][]*descriptionTexts
	people     []person
	bands      []string
	teams      []team
	homeTeams  int // number of teams that play at home: the first in teams
	cities     []city
	prices     map[*country][][2]calendar.Cost

	categories     []Term
	tags           []Term
	venues         []Venue
	organizers     []Organizer
	pictures       []Picture
	series         []Series
	categoryIndex  map[string]int // indexes into categories, by key
	tagIndex       map[string]int
	venuePlaces    []venuePlace
	venueIndex     placeIndex
	organizerIndex placeIndex
	kindsOf        map[role]cycle

	entryTags map[int][]int // tags of word lists, by placeholder and index of the entry; -1 means none
	rules     []rule

	layout         layout
	publicHolidays []bool     // whether each day of the calendar is a public holiday
	spots          []roomSlot // place and time of each event
	leads          []uint16   // first paragraph of each event, by event and language
	// moreShare is the percentage of events with a second paragraph, by the texts for it. It is low if there are few
	// texts for many events. So no paragraph is in more than about 2 % of a calendar.
	moreShare map[*descriptionTexts]int
	holidays  map[int]map[yearDay]bool // by year; isHoliday adds a year at its first use
	rooms     rooms

	// written is the time at which the records appear to have been created. Only scheduled events are published
	// later.
	written time.Time
	// home is the language of the first city's country.
	home calendar.Language
	// searches is the number of events for which findRoom looked for a room. In
	// rejected it counts the days that it tried after the wanted one, and the events without a free room.
	searches, rejected int
	// ownPictures maps the index of an event to that of its own picture. The map kindPictures has the pictures that
	// events of a kind share, by its key.
	ownPictures  map[int]int
	kindPictures map[string][]int
}

// New generates a calendar. It returns an error if an option is invalid, or if no kind of event has a possible day.
func New(o Options) (*Calendar, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	c := &Calendar{
		o: o, rooms: rooms{map[roomDay][2]uint64{}}, entryTags: map[int][]int{}, descriptions: map[string][]*descriptionTexts{},
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
		c.fillOrganizers, c.fillPrices, c.fillCycles, c.fillSeries, c.layOut, c.fillPictures,
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

// Categories returns the categories, parents before children. The caller must not change the list.
func (c *Calendar) Categories() []Term { return c.categories }

// Tags returns the tags: first those of the scenario, then those for entries of word lists, such as composers. The
// caller must not change the list.
func (c *Calendar) Tags() []Term { return c.tags }

// Venues returns the venues. Event.Venues has indexes into this list. The caller must not change it.
func (c *Calendar) Venues() []Venue { return c.venues }

// Organizers returns the organizers. Event.Organizers has indexes into this list. The caller must not change it.
func (c *Calendar) Organizers() []Organizer { return c.organizers }

// Pictures returns the pictures, or none if Options.Pictures is false. The caller must not change the list.
func (c *Calendar) Pictures() []Picture { return c.pictures }

// Series returns the series. Their number does not depend on the number of events. The caller must not change the
// list.
func (c *Calendar) Series() []Series { return c.series }

// Written returns the time at which the records appear to have been created. It is Options.Now, or, if that is zero,
// a past time that is not after the start of the calendar.
func (c *Calendar) Written() time.Time { return c.written }

// Zone returns the time zone of the first city.
func (c *Calendar) Zone() calendar.Zone { return c.cities[0].zone }

// City returns the name of the first city in a language. If the calendar is not in that language, it uses the first
// language of the calendar.
func (c *Calendar) City(l calendar.Language) string {
	return c.cities[0].names[max(slices.Index(c.o.Languages, l), 0)]
}

// Len returns the number of events. Occurrences of series are not included.
func (c *Calendar) Len() int { return c.o.Events }

func (c *Calendar) sourceID(kind string, i int) string {
	return fmt.Sprintf("seed:%s:%s:%d", c.o.Scenario, kind, i)
}
