package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// seriesKind describes how to generate one series: an eventKind with a rule, and sometimes a season. The plan of a
// scenario lists them.
type seriesKind struct {
	eventKind
	Rule string
	// Season is the first and last day of the season, such as "12-01 01-10". "" means all year.
	Season string
	Closed string // days of the season without an occurrence, such as "12-24 12-25"; "" means none
	// Holidays is true if the series also takes place on public holidays.
	Holidays bool
	// Moved and Canceled are the numbers of a moved and a canceled occurrence, from 1. 0 means none.
	Moved, Canceled int

	rule        recur.Rule
	first, last yearDay
	closed      []yearDay
}

// yearDay is a day of the year in any year.
type yearDay struct {
	month time.Month
	day   int
}

// in returns the midnight at the start of the day in a year.
func (d yearDay) in(year int) calendar.Wall { return calendar.WallAt(year, d.month, d.day, 0, 0, 0) }

func parseYearDay(text string) (yearDay, error) {
	t, err := time.Parse("01-02", text)
	return yearDay{t.Month(), t.Day()}, err
}

// parse parses the texts of a series: rule, closed days, season, and those of the embedded eventKind. It returns an
// error for an impossible season, or if Moved or Canceled exceeds the count of the rule.
func (k *seriesKind) parse(p *plan) (err error) {
	if err := k.eventKind.parse(p); err != nil {
		return err
	}
	if k.rule, err = recur.Parse(k.Rule, calendar.UTC()); err != nil {
		return fmt.Errorf("series %q: %w", k.Key, err)
	}
	for day := range strings.FieldsSeq(k.Closed) {
		closed, err := parseYearDay(day)
		if err != nil {
			return fmt.Errorf("series %q: closed: %w", k.Key, err)
		}
		k.closed = append(k.closed, closed)
	}
	if first, last, ok := strings.Cut(k.Season, " "); ok {
		if k.first, err = parseYearDay(first); err != nil {
			return fmt.Errorf("series %q: season: %w", k.Key, err)
		}
		if k.last, err = parseYearDay(last); err != nil {
			return fmt.Errorf("series %q: season: %w", k.Key, err)
		}
	}
	switch {
	case (k.Season == "") != (k.first == yearDay{}), k.Closed != "" && k.Season == "":
		return fmt.Errorf("series %q: impossible season", k.Key)
	case max(k.Moved, k.Canceled) > k.rule.Count:
		return fmt.Errorf("series %q: it has not so many occurrences", k.Key)
	}
	return nil
}

// seriesMonths and seriesDays are how long before Options.Now series begin, if the calendar includes that day.
const (
	seriesMonths = 12 // months, for endless series without a season
	seriesDays   = 21 // days, for other series
)

// fillSeries generates the series of the scenario. If Options.Now is within the calendar, most series are
// endless and began within the year before. Otherwise they begin with the calendar, and end with it or after
// two years. So no series has many occurrences, even in a long calendar.
func (c *Calendar) fillSeries() error {
	end := c.o.From.AddDate(0, c.o.Months, 0)
	for i, k := range c.plan.Series {
		source := chanceOf(c.o.Seed, chanceSeries, uint64(i))
		d := newDraft(c, source, 0)
		now := c.cities[d.city].zone.Wall(c.o.Now).StartOfDay()
		from, until := c.o.From, calendar.Wall{}
		// Without Options.Now, the calendar may begin after the last occurrence of an endless series that a
		// write creates.
		if !c.written.Equal(c.o.Now) || now.Before(from) || !now.Before(end) {
			until = end
			if two := from.AddDate(2, 0, 0); two.Before(end) {
				until = two
			}
		} else {
			since := now.AddDate(0, -seriesMonths, 0)
			if k.rule.Ends() || k.Season != "" {
				since = now.AddDate(0, 0, -seriesDays)
			}
			if from.Before(since) {
				from = since
			}
		}
		s, ok, err := c.seriesOf(i, k, d, source, from, until)
		if err != nil {
			return err
		}
		if ok {
			c.series = append(c.series, s)
		}
	}
	return nil
}

// seriesOf generates series i, with its first start on the day from or later. A rule without an end ends before
// until, or after the first day if that is later. If the kind has a season, the end of the season replaces until. A
// zero until sets no end. The result ok is false if there is no start, or if the end is after the year 9999.
func (c *Calendar) seriesOf(
	i int, k *seriesKind, d *draft, source randomSource, from, until calendar.Wall,
) (s Series, ok bool, err error) {
	s = Series{Rule: k.rule, Event: Event{SourceID: c.sourceID("series", i), Status: calendar.Publish, Parent: -1}}
	if k.Season != "" {
		year, _, _ := from.Date()
		if len(k.closed) > 0 && !from.Before(k.closed[0].in(year)) {
			year++
		}
		last := year
		if k.last.month < k.first.month {
			last++
		}
		if first := k.first.in(year); from.Before(first) {
			from = first
		}
		until = k.last.in(last).AddDate(0, 0, 1)
		for _, d := range k.closed {
			day := d.in(year)
			if day.Before(k.first.in(year)) {
				day = d.in(last)
			}
			s.ExDate = append(s.ExDate, day)
		}
	}
	clock := time.Duration(0)
	if len(k.starts) > 0 {
		clock = time.Duration(k.starts[0].minute) * time.Minute
	}
	start, ok := c.firstOf(k, from.Add(clock))
	if year, _, _ := until.Date(); !ok || !until.IsZero() && year > 9999 {
		return s, false, nil
	}
	s.Span = calendar.Span{Start: start, Zone: c.cities[d.city].zone}
	if len(k.starts) > 0 {
		s.Span.End = start.Add(time.Duration(k.Lasts[0]) * time.Minute)
	} else {
		s.Span.AllDay, s.Span.End = true, start.AddDate(0, 0, k.Lasts[0]-1)
		s.Span = s.Span.Rounded()
	}
	if !until.IsZero() && !k.rule.Ends() {
		s.Rule.Until = until.Add(-time.Second)
		if s.Rule.Until.Before(start) {
			s.Rule.Until = start.StartOfDay().AddDate(0, 0, 1).Add(-time.Second)
		}
	}
	for n := range s.ExDate {
		s.ExDate[n] = s.ExDate[n].Add(clock)
	}

	if k.titles, err = c.titles("series "+k.Key, len(c.plan.Kinds)+i); err != nil {
		return s, false, err
	}
	if !s.Span.AllDay && k.Season == "" && !k.Holidays {
		c.excludeHolidays(&s)
	}
	if err := c.describeSeries(&s, k, d, &source); err != nil {
		return s, false, err
	}
	c.makeExceptions(&s, k, d)
	c.takeRooms(&s)
	return s, true, nil
}

// holidayYears is the number of years, from its first start, in which a series skips public holidays.
const holidayYears = 2

// excludeHolidays excludes the starts on public holidays from the schedule, in the first holidayYears of the series.
func (c *Calendar) excludeHolidays(s *Series) {
	for start := range s.Schedule().Starts(calendar.Wall{}, s.Span.Start.AddDate(holidayYears, 0, 0)) {
		if c.isHoliday(start) {
			s.ExDate = append(s.ExDate, start)
		}
	}
}

// takeRooms occupies the first room of the venue for the occurrences of a series within the calendar.
func (c *Calendar) takeRooms(s *Series) {
	moved := map[calendar.Wall]calendar.Wall{}
	for _, x := range s.Exceptions {
		if !x.Start.IsZero() {
			moved[x.Nominal] = x.Start
		}
	}
	for start := range s.Schedule().Starts(calendar.Wall{}, c.day(len(c.publicHolidays))) {
		if to, ok := moved[start]; ok {
			start = to
		}
		from := int(start.Sub(c.o.From) / (15 * time.Minute))
		to := from + int((s.Span.End.Sub(s.Span.Start)+15*time.Minute-1)/(15*time.Minute)) + roomPause
		c.rooms.occupy(s.Venues[0], 0, from, to)
	}
}

// firstOf returns the first start of a series that is not before the wall time from. It returns false if there is
// none. It skips public holidays, unless the series has a season, lasts all day or takes place on holidays.
func (c *Calendar) firstOf(k *seriesKind, from calendar.Wall) (calendar.Wall, bool) {
	for start := range k.rule.Starts(from, calendar.Wall{}, recur.LastStart()) {
		if k.Holidays || k.Season != "" || len(k.starts) == 0 || !c.isHoliday(start) {
			return start, true
		}
	}
	return calendar.Wall{}, false
}

// describeSeries sets the links, the texts, the price and the publication time of a series.
func (c *Calendar) describeSeries(s *Series, k *seriesKind, d *draft, source *randomSource) error {
	p := &eventOutline{kind: &k.eventKind, draft: d, title: d.chooseTitle(&k.eventKind, 0)}
	d.outline, d.day = p, int(s.Span.Start.StartOfDay().Sub(c.o.From)/(24*time.Hour))
	p.needs = eventNeeds{at: k.At, starts: k.starts, minutes: k.Lasts[0], days: k.Lasts[0]}
	if len(k.starts) > 0 {
		p.clock = k.starts[0].minute
	}
	near := c.venueIndex.near(k.At[source.below(len(k.At))], d.city)
	d.venue = near[source.lowBiased(len(near))]
	c.chooseOrganizer(p, k.By, source)
	s.Venues, s.Organizers = []int{d.venue}, []int{d.organizer}
	for _, key := range k.In {
		s.Categories = append(s.Categories, c.categoryIndex[key])
	}
	for _, key := range k.Tags {
		s.Tags = append(s.Tags, c.tagIndex[key])
	}
	s.Picture = -1
	p.cost = c.cost(&k.eventKind, k.Price, d.city, source)
	s.Cost = p.cost
	s.Featured, s.Ticketed = k.Featured, k.Ticketed
	s.EventStatus, s.Attendance = calendar.Scheduled, calendar.Offline
	s.Title, s.Excerpt, s.Description = Text{}, Text{}, Text{}
	all := c.factsOf(p)
	for n, l := range c.o.Languages {
		f := all.in(l, c.home)
		s.Title[l] = composedTitle(d.text(p.title.in[n], n))
		var b strings.Builder
		of := p.title.descriptions[n]
		draw := *source
		lead, more := pickLines(f.suitable(of.leads), 1, &draw), pickLines(f.suitable(of.more), 2, &draw)
		if len(lead) == 0 {
			return fmt.Errorf("series %q: no text in %q suits it", k.Key, l)
		}
		for _, text := range slices.Concat(lead, more) {
			d.paragraph(&b, text.template, n)
		}
		s.Description[l], s.Excerpt[l] = b.String(), excerpt(b.String())
	}
	first := c.o.Languages[0]
	if k.Ticketed {
		s.Website = siteURL(c.organizers[d.organizer].Name[first]) + calendar.Slug(s.Title[first])
	}
	s.Published = s.Span.StartsAt().AddDate(0, 0, -source.between(30, 60))
	if latest := c.written.AddDate(0, 0, -1); s.Published.After(latest) {
		s.Published = latest
	}
	s.Published = s.Published.UTC().Truncate(time.Second)
	return nil
}

// makeExceptions moves occurrence k.Moved of a series, and cancels occurrence k.Canceled. 0 means no occurrence. The
// new day is two days later, or the next one after that which is no public holiday.
func (c *Calendar) makeExceptions(s *Series, k *seriesKind, d *draft) {
	n := 0
	for nominal := range s.Schedule().Starts(calendar.Wall{}, recur.LastStart()) {
		n++
		switch n {
		case k.Moved:
			to := nominal.AddDate(0, 0, 2)
			for c.isHoliday(to) {
				to = to.AddDate(0, 0, 1)
			}
			s.Exceptions = append(s.Exceptions, Exception{Nominal: nominal, Start: to})
		case k.Canceled:
			t := Text{}
			for l, language := range c.o.Languages {
				t[language] = d.text(c.remarkTexts["canceled"][l].leads[0].template, l)
			}
			s.Exceptions = append(s.Exceptions, Exception{Nominal: nominal, Reason: t})
		}
		if n >= max(k.Moved, k.Canceled) {
			return
		}
	}
}
