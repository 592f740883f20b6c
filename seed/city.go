package seed

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"time"

	"github.com/brianvoe/gofakeit/v6"

	"github.com/almanac-cal/almanac/calendar"
)

// City is the calendar of a city: Bristol, Kraków or Valencia, as the first language is English, Polish or
// Spanish. Around From it has a few events that are over, an exhibition that is on, and eight weeks of what a
// city does: concerts, plays, workshops, matches, markets and lectures, more of it on weekends than on Mondays,
// and a festival with events of its own. One is a draft, one is hidden, one needs a password.
//
// The same options give the same calendar.
func City(o Options) *Calendar {
	languages := o.languages()
	c := &planner{
		town: towns[languages[0]], languages: languages, from: o.From,
		texts: map[calendar.Language]sections{}, used: map[string]bool{},
		starts: map[string]calendar.Wall{}, ids: map[string]string{},
		perWeek: map[calendar.Wall]int{}, bookings: map[booking][]calendar.Span{},
	}
	for _, l := range languages {
		c.texts[l] = readTexts("city", l)
	}
	// Not gofakeit.New, for which seed 0 is a new one each time.
	c.fake = gofakeit.NewCustom(rand.NewSource(int64(o.Seed)).(rand.Source64))
	zone := o.Zone
	if zone == (calendar.Zone{}) {
		var err error
		if zone, err = calendar.ParseZone(c.town.zone); err != nil {
			panic(err)
		}
	}
	c.today = zone.Wall(o.From).StartOfDay()
	c.cal = &Calendar{
		Scenario: "city", City: c.town.name, Language: languages[0], Zone: zone, AuthorID: o.AuthorID,
	}
	c.terms()
	c.places()
	c.hosts()
	events := o.Events
	if events <= 0 {
		events = DefaultEvents
	}
	programme := c.programme()
	for i := range events {
		a := repeating[c.fake.Number(0, len(repeating)-1)]
		if i < len(programme) {
			a = programme[i]
		}
		c.cal.Events = append(c.cal.Events, c.event(a))
	}
	return c.cal
}

// planner makes the calendar of a city.
type planner struct {
	town      *town
	languages []calendar.Language
	texts     map[calendar.Language]sections
	fake      *gofakeit.Faker
	from      time.Time
	today     calendar.Wall // midnight of the day of From
	cal       *Calendar
	ids       map[string]string        // source ids by kind and key: "venue club"
	used      map[string]bool          // titles
	starts    map[string]calendar.Wall // of acts, by their text, for those that are parts of them
	perWeek   map[calendar.Wall]int    // events by the Monday of their week
	bookings  map[booking][]calendar.Span
}

// booking is a venue on a day on which it is taken at some times.
type booking struct {
	venue string
	day   calendar.Wall
}

// categories are the categories with their parents.
var categories = []struct{ key, parent string }{
	{"music", ""},
	{"jazz", "music"},
	{"classical", "music"},
	{"theatre", ""},
	{"family", ""},
	{"workshops", "family"},
	{"sport", ""},
	{"markets", ""},
	{"talks", ""},
	{"film", ""},
	{"exhibitions", ""},
}

var tags = []string{
	"outdoors", "accessible", "beginners", "live-music", "dance", "books", "local-food", "history", "science", "charity",
	"late-night", "crafts",
}

// composers are played at recitals; their names are the same in all languages.
var composers = []string{
	"Bach", "Scarlatti", "Haydn", "Schubert", "Chopin", "Schumann", "Brahms", "Grieg", "Debussy", "Ravel", "Albéniz",
	"Granados", "Szymanowski", "Mompou", "Bacewicz",
}

// name gives a record its source id. Events are named last, so that a longer calendar keeps the ids.
func (c *planner) name(key string) string {
	id := fmt.Sprintf("seed:%s:%d", c.cal.Scenario, len(c.ids)+1)
	c.ids[key] = id
	return id
}

// named are the source ids of the keys.
func (c *planner) named(kind string, keys []string) []string {
	ids := make([]string, len(keys))
	for i, key := range keys {
		id, ok := c.ids[kind+" "+key]
		if !ok {
			panic(fmt.Sprintf("no %s %q", kind, key))
		}
		ids[i] = id
	}
	return ids
}

func (c *planner) terms() {
	each := func(kind, key string) Term {
		t := Term{SourceID: c.name(kind + " " + key), Name: Text{}}
		for _, l := range c.languages {
			paragraphs := c.texts[l].get(kind + " " + key)
			t.Name[l] = paragraphs[0]
			if len(paragraphs) > 1 {
				if t.Description == nil {
					t.Description = Text{}
				}
				t.Description[l] = strings.Join(paragraphs[1:], " ")
			}
		}
		return t
	}
	for _, category := range categories {
		t := each("category", category.key)
		if category.parent != "" {
			t.Parent = c.ids["category "+category.parent]
		}
		c.cal.Categories = append(c.cal.Categories, t)
	}
	for _, tag := range tags {
		c.cal.Tags = append(c.cal.Tags, each("tag", tag))
	}
}

func (c *planner) places() {
	for _, key := range venueKeys {
		p := c.town.venues[key]
		c.cal.Venues = append(c.cal.Venues, Venue{
			SourceID: c.name("venue " + key), Name: p.name, Description: c.about("venue " + key),
			Address: p.address, City: c.town.name, Zip: p.zip, Province: c.town.province, Country: c.town.country,
			Phone: c.phone(), Website: site(p.name), Latitude: p.latitude, Longitude: p.longitude,
		})
	}
}

func (c *planner) hosts() {
	for _, key := range organizerKeys {
		name := c.town.organizers[key]
		c.cal.Organizers = append(c.cal.Organizers, Organizer{
			SourceID: c.name("organizer " + key), Name: name, Description: c.about("organizer " + key),
			Phone: c.phone(), Email: "info@" + calendar.Slug(name) + ".example", Website: site(name),
		})
	}
}

func site(name string) string { return "https://" + calendar.Slug(name) + ".example/" }

func (c *planner) phone() string { return fmt.Sprintf(c.town.phone, c.fake.Number(0, 999)) }

// about is a description that consists of a whole section.
func (c *planner) about(key string) Text {
	t := Text{}
	for _, l := range c.languages {
		in := strings.NewReplacer("{in_city}", c.town.in[l])
		t[l] = in.Replace(html(c.texts[l].get(key)))
	}
	return t
}

// programme is what takes place once, in the order in which it is put in: a lecture after each three others.
func (c *planner) programme() []act {
	texts := slices.Clone(lectures)
	c.fake.ShuffleStrings(texts)
	var all []act
	week := 0
	for i, a := range slices.Concat(opening, single) {
		all = append(all, a)
		if i%3 == 2 && week < len(texts) {
			all = append(all, lecture(texts[week], week))
			week++
		}
	}
	return all
}

// event makes an event of an act.
func (c *planner) event(a act) Event {
	f := c.fake
	e := Event{
		Status: calendar.Publish, Password: a.password, Hide: a.hide, Sticky: a.sticky, Featured: a.featured,
		Ticketed:   a.ticketed,
		Categories: c.named("category", a.in), Tags: c.named("tag", a.tags),
		Venues: c.named("venue", a.at), Organizers: c.named("organizer", a.by),
	}
	if a.status != "" {
		e.Status = a.status
	}
	more := ""
	e.Span, more = c.span(a)
	c.perWeek[weekOf(e.Span.Start)]++
	if a.more != "" {
		more = a.more
	}
	if a.with != "" {
		e.Parent = c.ids["event "+a.with]
	}
	c.write(&e, a, more)
	title := e.Title[c.cal.Language]
	key := a.text
	if _, again := c.starts[key]; again {
		key = title
	}
	c.starts[key] = e.Span.Start
	e.SourceID = c.name("event " + key)

	e.Cost = c.cost(a)
	if a.ticketed {
		e.Website = site(c.town.organizers[a.by[0]]) + calendar.Slug(title)
	}
	published := e.Span.StartsAt().Add(-time.Duration(f.Number(10*24, 50*24)) * time.Hour)
	if latest := c.from.Add(-time.Duration(f.Number(1, 20*24)) * time.Hour); published.After(latest) {
		published = latest
	}
	e.Published = published.UTC().Truncate(time.Second)
	return e
}

// write gives an event its texts; more is the key of paragraphs that follow.
func (c *planner) write(e *Event, a act, more string) {
	programme := slices.Clone(composers)
	c.fake.ShuffleStrings(programme)
	programme = programme[:3]
	who := c.who(a.who)
	for try := 0; ; try++ {
		title := strings.ReplaceAll(c.texts[c.cal.Language].get("event " + a.text)[0], "{who}", who)
		if !c.used[title] {
			c.used[title] = true
			break
		}
		// A large calendar runs out of names, not of pairs of them.
		if who = c.who(a.who); try > 3 {
			who = c.town.person(c.fake) + " & " + who
		}
	}
	e.Title, e.Excerpt, e.Description = Text{}, Text{}, Text{}
	for _, l := range c.speaking(a) {
		fill := strings.NewReplacer("{who}", who, "{composers}", strings.Join(programme, ", "))
		var paragraphs []string
		for _, p := range c.texts[l].get("event " + a.text) {
			paragraphs = append(paragraphs, fill.Replace(p))
		}
		if more != "" {
			paragraphs = append(paragraphs, c.texts[l].get("event "+more)...)
		}
		e.Title[l] = paragraphs[0]
		e.Excerpt[l] = html([]string{firstSentence(paragraphs[1])})
		e.Description[l] = html(paragraphs[1:])
	}
}

// speaking are the languages that an event is written in. Calendars are not translated without gaps.
func (c *planner) speaking(a act) []calendar.Language {
	gap := c.fake.Number(0, 11) // drawn for plain acts as well, so that one more language changes nothing else
	switch others := c.languages[1:]; {
	case a.plain:
		return c.languages[:1]
	case gap < len(others) && a.with == "":
		return slices.DeleteFunc(slices.Clone(c.languages), func(l calendar.Language) bool { return l == others[gap] })
	}
	return c.languages
}

func (c *planner) who(w who) string {
	switch w {
	case soloist:
		return c.town.person(c.fake)
	case band:
		return c.town.person(c.fake) + " " + c.fake.RandomString([]string{"Trio", "Quartet", "Quintet"})
	}
	return ""
}

// cost draws a price between those of the act, and a reduced one of two thirds.
func (c *planner) cost(a act) calendar.Cost {
	if a.low < 0 {
		return calendar.Cost{}
	}
	if a.high == 0 {
		return calendar.ParseCost([]string{"0"}, ".")
	}
	price := c.fake.Number(a.low, a.high)
	elements := []string{c.town.cost(price)}
	if a.reduced {
		elements = append(elements, c.town.cost(price*2/3))
	}
	return calendar.ParseCost(elements, ".")
}

// span finds a day for an act, and the text that goes with it.
func (c *planner) span(a act) (s calendar.Span, more string) {
	if a.with != "" {
		s = c.spanOn(a, c.starts[a.with].StartOfDay().AddDate(0, 0, a.offset))
		c.book(a, s)
		return s, ""
	}
	if a.changeover {
		if night, text := c.changeover(); text != "" {
			s = c.spanOn(a, night)
			c.book(a, s)
			return s, text
		}
	}
	if a.last == 0 {
		a.last = lastDay
	}
	var days []int
	for day := a.first; day <= a.last; day++ {
		on := c.today.AddDate(0, 0, day).Weekday()
		if len(a.on) == 0 || slices.Contains(a.on, on) {
			days = append(days, day)
		}
	}
	c.fake.ShuffleInts(days)
	// Of the days on which the venues are free, one in an emptier week; of none, any.
	best := -1
	for _, day := range days {
		on := c.spanOn(a, c.today.AddDate(0, 0, day))
		week := c.perWeek[weekOf(on.Start)]
		if c.free(a, on) && (best < 0 || week < best) {
			s, best = on, week
		}
	}
	if best < 0 {
		s = c.spanOn(a, c.today.AddDate(0, 0, days[0]))
	}
	c.book(a, s)
	return s, ""
}

// spanOn is when the act takes place if it starts on the day.
func (c *planner) spanOn(a act, day calendar.Wall) calendar.Span {
	s := calendar.Span{Start: day, Zone: c.cal.Zone}
	if a.days > 0 {
		s.AllDay, s.End = true, day.AddDate(0, 0, a.days-1)
		return s.Rounded()
	}
	s.Start = day.Add(time.Duration(a.hour)*time.Hour + time.Duration(a.minute)*time.Minute)
	s.End = s.Start.Add(a.lasts)
	return s
}

// books are the bookings that an act needs at a time.
func (a act) books(s calendar.Span) []booking {
	if a.roams {
		return nil
	}
	var all []booking
	for _, venue := range a.at {
		for day := s.Start.StartOfDay(); day.Before(s.End); day = day.AddDate(0, 0, 1) {
			all = append(all, booking{venue, day})
		}
	}
	return all
}

func (c *planner) book(a act, s calendar.Span) {
	for _, b := range a.books(s) {
		c.bookings[b] = append(c.bookings[b], s)
	}
}

func (c *planner) free(a act, s calendar.Span) bool {
	overlaps := func(t calendar.Span) bool { return s.Start.Before(t.End) && t.Start.Before(s.End) }
	return !slices.ContainsFunc(a.books(s), func(b booking) bool {
		return slices.ContainsFunc(c.bookings[b], overlaps)
	})
}

// changeover is the day in whose night the clocks change, if they do in the weeks of the calendar.
func (c *planner) changeover() (day calendar.Wall, text string) {
	offset := func(day int) int {
		noon := c.cal.Zone.Instant(c.today.AddDate(0, 0, day).Add(12 * time.Hour))
		_, seconds := noon.In(c.cal.Zone.Location()).Zone()
		return seconds
	}
	for night := range lastDay + 1 {
		if before, after := offset(night), offset(night+1); before != after {
			text = "clock-back"
			if after > before {
				text = "clock-forward"
			}
			return c.today.AddDate(0, 0, night), text
		}
	}
	return calendar.Wall{}, ""
}

// weekOf is the Monday of the week.
func weekOf(w calendar.Wall) calendar.Wall {
	return w.StartOfDay().AddDate(0, 0, -int((w.Weekday()+6)%7))
}
