package randomcalendar

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/draw"
	"github.com/almanac-cal/almanac/proof/listreference"
)

// RequestMaker makes one random request. Query is its text. The Draw methods return its meaning, from which package
// listreference computes the expected reply.
type RequestMaker struct {
	*Maker
	Site     listreference.Site
	focus    string   // the group of filters that gets most parameters
	Query    []string // encoded name=value pairs
	Stranger bool     // the caller knows no password
}

// likely returns true at random. For the group of filters that this request focuses on, the probability is three
// times percent. For other groups it is a third.
func (a *RequestMaker) likely(group string, percent int) bool {
	if group != a.focus {
		return draw.Percent(a.Rand, percent/3)
	}
	return draw.Percent(a.Rand, percent*3)
}

// Add appends a parameter to the query and encodes it.
func (a *RequestMaker) Add(name, value string) {
	a.Query = append(a.Query, url.QueryEscape(name)+"="+url.QueryEscape(value))
}

// list appends a parameter with several values, in a random one of the accepted notations.
func (a *RequestMaker) list(name string, items ...string) {
	switch a.IntN(3) {
	case 0:
		for _, item := range items {
			a.Add(name+"[]", item)
		}
	case 1:
		a.Add(name, strings.Join(items, ", "))
	default:
		a.Add(name, strings.Join(items, ","))
	}
}

func (a *RequestMaker) numbers(name string, ids []int64) []int64 {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.FormatInt(id, 10)
	}
	a.list(name, words...)
	return ids
}

func (a *RequestMaker) number(name string, id int64) *int64 {
	a.Add(name, strconv.FormatInt(id, 10))
	return &id
}

func (a *RequestMaker) boolean(name string) *bool {
	v := draw.Percent(a.Rand, 70)
	word := draw.Item(a.Rand, "0", "False", "no", "off")
	if v {
		word = draw.Item(a.Rand, "1", "true", "YES", "on")
	}
	a.Add(name, word)
	return &v
}

func (a *RequestMaker) text(name string) *string {
	v := draw.Item(a.Rand, vocabulary...)
	if draw.Percent(a.Rand, 50) {
		v = listreference.Fold(v)
	}
	runes := []rune(v)
	switch a.IntN(4) {
	case 0:
		v = strings.ToUpper(string(runes[:1+a.IntN(len(runes))]))
	case 1:
		v += " " + draw.Item(a.Rand, vocabulary...)
	case 2:
		v = draw.Item(a.Rand, `"`+a.DrawWords(2)+`"`, "-"+v, v+" -"+draw.Item(a.Rand, vocabulary...))
	}
	a.Add(name, v)
	return &v
}

func (a *RequestMaker) statuses() []calendar.Status {
	out := draw.Items(a.Rand, calendar.Statuses, 1+a.IntN(3))
	if draw.Percent(a.Rand, 3) {
		out = append(out, "any")
	} else if draw.Percent(a.Rand, 50) {
		out = []calendar.Status{draw.Item(a.Rand, calendar.Publish, calendar.Future)}
	}
	words := make([]string, len(out))
	for i, s := range out {
		words[i] = string(s)
	}
	a.list("status", words...)
	return out
}

// someWords appends a filter for a column that allows only a few words, and returns the wanted words. Rarely one of
// them is invalid.
func (a *RequestMaker) someWords(f listreference.Column) []string {
	words := draw.Items(a.Rand, f.Words, 1+a.IntN(len(f.Words)))
	if draw.Percent(a.Rand, 3) {
		words = append(words, "any")
	}
	a.list(f.Name, words...)
	return words
}

// date appends a date parameter with a name and returns its meaning. It is often near the start or end of some event.
// Some dates are phrases such as "today".
func (a *RequestMaker) date(name string) listreference.Date {
	m := a.drawMoment()
	if draw.Percent(a.Rand, 75) {
		midnight := draw.Percent(a.Rand, 40)
		for range 20 {
			e := draw.Item(a.Rand, a.Calendar.Events...)
			m = e.Start
			if strings.HasPrefix(name, "end") {
				m = e.End
			}
			if !midnight || m.Equal(a.Site.Midnight(listreference.Date{At: m}, 0)) {
				break
			}
		}
		if midnight {
			m = m.Add(draw.Item(a.Rand, 0, 0, -time.Second, -time.Second, -24*time.Hour))
		} else {
			m = m.Add(draw.Item(a.Rand, 0, 0, 0, 0, -time.Second, time.Second, 12*time.Hour, -24*time.Hour))
		}
	}
	_, offset := m.In(a.Site.Zone).Zone()
	wall := m.UTC().Add(time.Duration(offset) * time.Second)
	_, offset = a.Site.Now.In(a.Site.Zone).Zone()
	now := a.Site.Now.UTC().Add(time.Duration(offset) * time.Second)
	today := now.Truncate(24 * time.Hour)
	days := a.IntN(60) - 30
	date, text := listreference.Date{At: m}, ""
	switch a.IntN(14) {
	case 0:
		layout := draw.Item(a.Rand, time.DateOnly, "2006/01/02", "02.01.2006", "2 January 2006")
		date, text = listreference.Date{At: wall.Truncate(24 * time.Hour), Naive: true}, wall.Format(layout)
	case 1, 2:
		date, text = listreference.Date{At: wall, Naive: true}, wall.Format(draw.Item(a.Rand, time.DateTime, "2006-01-02T15:04:05"))
	case 3, 4, 11, 12, 13:
		text = m.UTC().Format("2006-01-02T15:04:05Z")
	case 5, 6:
		text = m.In(time.FixedZone("", 3600*(a.IntN(25)-12))).Format("2006-01-02 15:04:05-07:00")
	case 7:
		text = strconv.FormatInt(m.Unix(), 10)
	case 8:
		date, text = listreference.Date{At: today.AddDate(0, 0, days), Naive: true}, today.AddDate(0, 0, days).Format("January 2, 2006")
	case 9:
		date, text = listreference.Date{At: now.AddDate(0, 0, days), Naive: true}, fmt.Sprintf("%+d days", days)
	default:
		i := a.IntN(3)
		date, text = listreference.Date{At: today.AddDate(0, 0, i), Naive: true}, [3]string{"today", "jutro", "+2 days 00:00"}[i]
	}
	a.Add(name, text)
	return date
}

// anyID returns one of the given ids at random. Rarely it returns another number, such as the id of an event.
func (a *RequestMaker) anyID(of ...int64) int64 {
	if draw.Percent(a.Rand, 3) {
		return draw.Item(a.Rand, 0, -1, 999999, draw.Item(a.Rand, a.Calendar.Events...).ID)
	}
	return draw.Item(a.Rand, of...)
}

func (a *RequestMaker) linkedIDs(kind calendar.Kind) []int64 {
	ids := []int64{}
	for _, l := range draw.Items(a.Rand, a.Calendar.Linked[kind], 1+a.IntN(4)) {
		// The trash is asked for now and then only, for it is a fault.
		if l.Status != calendar.Trash || draw.Percent(a.Rand, 25) {
			ids = append(ids, l.ID)
		}
	}
	if len(ids) == 0 || draw.Percent(a.Rand, 3) {
		ids = append(ids, a.anyID(draw.Item(a.Rand, a.Calendar.Linked[kind]...).ID))
	}
	return ids
}

func (a *RequestMaker) termWords(name string, kind calendar.Kind) []string {
	var words []string
	for _, t := range draw.Items(a.Rand, a.Calendar.Terms[kind], 1+a.IntN(3)) {
		word := strconv.FormatInt(t.ID, 10)
		for _, text := range t.Texts.In {
			if text.Slug != "" && draw.Percent(a.Rand, 40) {
				word = draw.Item(a.Rand, text.Slug, strings.ToUpper(text.Slug))
			}
		}
		words = append(words, word)
	}
	if draw.Percent(a.Rand, 4) {
		words = append(words, draw.Item(a.Rand, "nothing", "99", "0"))
	}
	a.list(name, words...)
	return words
}

func (a *RequestMaker) eventIDs(count int) []int64 {
	var ids []int64
	for _, e := range draw.Items(a.Rand, a.Calendar.Events, count) {
		ids = append(ids, e.ID)
	}
	return ids
}

func (a *RequestMaker) eventID() int64 {
	if draw.Percent(a.Rand, 50) {
		return a.anyID(a.Calendar.Events[0].ID, draw.Item(a.Rand, a.Calendar.Events...).ID)
	}
	// One that most callers may read.
	for {
		if e := draw.Item(a.Rand, a.Calendar.Events...); e.Status == calendar.Publish {
			return e.ID
		}
	}
}

// DrawEventQuery makes a random request for a list of events and returns its meaning. Most of its parameters belong
// to one group of filters.
func (a *RequestMaker) DrawEventQuery() listreference.EventQuery {
	const dates, texts, links, flags, places = "dates", "texts", "links", "flags", "places"
	a.focus = draw.Item(a.Rand, dates, dates, dates, texts, links, flags, places, "nothing")
	q := listreference.EventQuery{Dates: map[string]listreference.Date{}, Flags: map[string]bool{}, Words: map[string][]string{}, Radius: 25}
	names := []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"}
	for i, name := range draw.Items(a.Rand, names, len(names)) {
		if i == 0 && a.likely(dates, 30) || draw.Percent(a.Rand, 8) {
			q.Dates[name] = a.date(name)
		}
	}
	if a.likely(dates, 22) {
		q.Strict = *a.boolean("strict_dates")
	}
	if a.likely(texts, 30) {
		q.Search = a.text("search")
	}
	if draw.Percent(a.Rand, 25) {
		q.Password = !a.Stranger
		a.Add("password", map[bool]string{true: Password, false: "mistaken"}[q.Password])
	}
	if a.likely(links, 12) {
		q.Categories = a.termWords("categories", calendar.Category)
	}
	if a.likely(links, 12) {
		q.Tags = a.termWords("tags", calendar.Tag)
	}
	if a.likely(links, 12) {
		q.Venues = a.numbers("venue", a.linkedIDs(calendar.Venue))
	}
	if a.likely(links, 12) {
		q.Organizers = a.numbers("organizer", a.linkedIDs(calendar.Organizer))
	}
	a.DrawAside(func() {
		for _, f := range a.Calendar.FlagColumns {
			if a.likely(flags, 12) {
				q.Flags[f.Name] = *a.boolean(f.Name)
			}
		}
	})
	a.DrawAside(func() {
		for _, f := range a.Calendar.WordColumns {
			if a.likely(flags, 12) {
				q.Words[f.Name] = a.someWords(f)
			}
		}
	})
	a.DrawAside(func() {
		if a.likely(links, 15) || draw.Percent(a.Rand, 10) {
			q.Series = a.series()
		}
	})
	if a.likely(flags, 20) {
		q.Status = a.statuses()
	}
	if a.likely(places, 12) {
		q.Geoloc = a.boolean("geoloc")
	}
	if a.likely(places, 25) {
		a.circle(&q)
	} else if draw.Percent(a.Rand, 1) {
		q.Lng = new(10.0)
		a.Add("geoloc_lng", "10")
	}
	if a.likely(links, 10) {
		q.Include = append(a.eventIDs(a.IntN(70)), a.anyID(999998))
		a.numbers("include", q.Include)
	}
	if a.likely(links, 8) {
		q.Parent = a.number("post_parent", a.eventID())
	}
	return q
}

// series appends the parameter series and returns its meaning. It is next, none or ids of series, most of them
// published. Rarely it is an invalid mixture.
func (a *RequestMaker) series() *listreference.SeriesQuery {
	switch a.IntN(10) {
	case 0, 1, 2, 3:
		a.Add("series", "next")
		return &listreference.SeriesQuery{Next: true}
	case 4, 5:
		a.Add("series", "none")
		return &listreference.SeriesQuery{None: true}
	case 6:
		if draw.Percent(a.Rand, 50) {
			a.list("series", draw.Item(a.Rand, "next", "none"), strconv.FormatInt(draw.Item(a.Rand, a.Calendar.Series...).ID, 10))
			return &listreference.SeriesQuery{Invalid: true}
		}
	}
	q := &listreference.SeriesQuery{IDs: []int64{}}
	for _, r := range draw.Items(a.Rand, a.Calendar.Series, 1+a.IntN(3)) {
		if r.Status == calendar.Publish || draw.Percent(a.Rand, 25) {
			q.IDs = append(q.IDs, r.ID)
		}
	}
	if len(q.IDs) == 0 || draw.Percent(a.Rand, 3) {
		q.IDs = append(q.IDs, a.anyID(draw.Item(a.Rand, a.Calendar.Series...).ID))
	}
	a.numbers("series", q.IDs)
	return q
}

// circle appends a position and a radius in kilometres, and sets them in q. Some venue is slightly inside or outside
// the circle.
func (a *RequestMaker) circle(q *listreference.EventQuery) {
	v := draw.Item(a.Rand, a.Calendar.Linked[calendar.Venue]...)
	bearing, angle := a.Float64()*2*math.Pi, a.Float64()*495/6371
	sin, cos := math.Sincos(v.Lat * math.Pi / 180)
	lat := math.Asin(sin*math.Cos(angle) + cos*math.Sin(angle)*math.Cos(bearing))
	lng := v.Lng*math.Pi/180 + math.Atan2(math.Sin(bearing)*math.Sin(angle)*cos, math.Cos(angle)-sin*math.Sin(lat))
	send := func(name string, x float64) *float64 {
		x = math.Round(x*1e6) / 1e6
		a.Add(name, strconv.FormatFloat(x, 'f', -1, 64))
		return &x
	}
	q.Lat = send("geoloc_lat", lat*180/math.Pi)
	q.Lng = send("geoloc_lng", math.Remainder(lng*180/math.Pi, 360))
	away := listreference.Distance(v.Lat, v.Lng, *q.Lat, *q.Lng) * draw.Item(a.Rand, 0.99, 0.999, 1.001, 1.01)
	q.Radius = *send("geoloc_radius", max(0.001, away))
}

// DrawLinkedQuery makes a random request for a list of venues or organizers and returns its meaning.
func (a *RequestMaker) DrawLinkedQuery() listreference.LinkedQuery {
	var q listreference.LinkedQuery
	if draw.Percent(a.Rand, 25) {
		q.Search = a.text("search")
	}
	if draw.Percent(a.Rand, 20) {
		q.Event = a.number("event", a.eventID())
	}
	if draw.Percent(a.Rand, 30) {
		q.Has = a.boolean("has_events")
	}
	if draw.Percent(a.Rand, 40) {
		q.OnlyUpcoming = *a.boolean("only_with_upcoming")
	}
	if draw.Percent(a.Rand, 30) {
		q.Status = a.statuses()
	}
	return q
}

// DrawTermQuery makes a random request for a list of categories or tags and returns its meaning.
func (a *RequestMaker) DrawTermQuery(kind calendar.Kind) listreference.TermQuery {
	var q listreference.TermQuery
	var ids []int64
	for _, t := range a.Calendar.Terms[kind] {
		ids = append(ids, t.ID)
	}
	if draw.Percent(a.Rand, 25) {
		q.Search = a.text("search")
	}
	if draw.Percent(a.Rand, 20) {
		q.Exclude = a.numbers("exclude", append(draw.Items(a.Rand, ids, a.IntN(5)), a.anyID(ids...)))
	}
	if draw.Percent(a.Rand, 25) {
		q.Include = a.numbers("include", append(draw.Items(a.Rand, ids, a.IntN(12)), a.anyID(ids...)))
	}
	if draw.Percent(a.Rand, 40) {
		q.Order = draw.Item(a.Rand, "asc", "desc", "DESC", "down")
		a.Add("order", q.Order)
	}
	if draw.Percent(a.Rand, 70) {
		q.By = draw.Item(a.Rand,
			"id", "name", "slug", "count", "description", "description", "term_group", "include", "none", "weight")
		a.Add("orderby", q.By)
	}
	if draw.Percent(a.Rand, 50) {
		q.All = !*a.boolean("hide_empty")
	}
	if draw.Percent(a.Rand, 20) {
		parent := a.number("parent", a.anyID(ids...))
		if kind == calendar.Category { // tags do not know the parameter
			q.Parent = parent
		}
	}
	if draw.Percent(a.Rand, 12) {
		q.Post = a.number("post", a.eventID())
	}
	if draw.Percent(a.Rand, 12) {
		q.Event = a.number("event", a.eventID())
	}
	if draw.Percent(a.Rand, 15) {
		slug := "nothing"
		for _, text := range draw.Item(a.Rand, a.Calendar.Terms[kind]...).Texts.In {
			if text.Slug != "" {
				slug = text.Slug
			}
		}
		q.Slug = &slug
		a.Add("slug", slug)
	}
	return q
}
