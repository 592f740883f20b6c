package handlers_test

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
)

// asking makes requests by chance, as text and as what they mean.
type asking struct {
	*refMaker
	site  refSite
	focus string   // the group of filters that this request is mostly about
	query []string // encoded pairs
	// stranger is whether the caller knows no password.
	stranger bool
}

// likely is true in so many of a hundred cases, in more when the request is about the group, else in fewer.
func (a *asking) likely(group string, percent int) bool {
	if group != a.focus {
		return drawPercent(a.Rand, percent/3)
	}
	return drawPercent(a.Rand, percent*3)
}

func (a *asking) add(name, value string) {
	a.query = append(a.query, url.QueryEscape(name)+"="+url.QueryEscape(value))
}

// list sends a list in one of the ways there are.
func (a *asking) list(name string, items ...string) {
	switch a.IntN(3) {
	case 0:
		for _, item := range items {
			a.add(name+"[]", item)
		}
	case 1:
		a.add(name, strings.Join(items, ", "))
	default:
		a.add(name, strings.Join(items, ","))
	}
}

func (a *asking) numbers(name string, ids []int64) []int64 {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.FormatInt(id, 10)
	}
	a.list(name, words...)
	return ids
}

func (a *asking) number(name string, id int64) *int64 {
	a.add(name, strconv.FormatInt(id, 10))
	return &id
}

func (a *asking) boolean(name string) *bool {
	v := drawPercent(a.Rand, 70)
	word := pickOne(a.Rand, "0", "False", "no", "off")
	if v {
		word = pickOne(a.Rand, "1", "true", "YES", "on")
	}
	a.add(name, word)
	return &v
}

func (a *asking) text(name string) *string {
	v := pickOne(a.Rand, refVocabulary...)
	if drawPercent(a.Rand, 50) {
		v = refFold(v)
	}
	runes := []rune(v)
	switch a.IntN(4) {
	case 0:
		v = strings.ToUpper(string(runes[:1+a.IntN(len(runes))]))
	case 1:
		v += " " + pickOne(a.Rand, refVocabulary...)
	case 2:
		v = pickOne(a.Rand, `"`+a.words(2)+`"`, "-"+v, v+" -"+pickOne(a.Rand, refVocabulary...))
	}
	a.add(name, v)
	return &v
}

func (a *asking) statuses() []calendar.Status {
	out := pickSome(a.Rand, calendar.Statuses, 1+a.IntN(3))
	if drawPercent(a.Rand, 3) {
		out = append(out, "any")
	} else if drawPercent(a.Rand, 50) {
		out = []calendar.Status{pickOne(a.Rand, calendar.Publish, calendar.Future)}
	}
	words := make([]string, len(out))
	for i, s := range out {
		words[i] = string(s)
	}
	a.list("status", words...)
	return out
}

// someWords asks for words of a column, seldom for another one.
func (a *asking) someWords(f *query.Column) []string {
	words := pickSome(a.Rand, f.Words, 1+a.IntN(len(f.Words)))
	if drawPercent(a.Rand, 3) {
		words = append(words, "any")
	}
	a.list(f.Name, words...)
	return words
}

// date is near something that happens, or a phrase.
func (a *asking) date(name string) refDate {
	m := a.moment()
	if drawPercent(a.Rand, 75) {
		midnight := drawPercent(a.Rand, 40)
		for range 20 {
			e := pickOne(a.Rand, a.world.events...)
			m = e.start
			if strings.HasPrefix(name, "end") {
				m = e.end
			}
			if !midnight || m.Equal(a.site.midnight(refDate{at: m}, 0)) {
				break
			}
		}
		if midnight {
			m = m.Add(pickOne(a.Rand, 0, 0, -time.Second, -time.Second, -24*time.Hour))
		} else {
			m = m.Add(pickOne(a.Rand, 0, 0, 0, 0, -time.Second, time.Second, 12*time.Hour, -24*time.Hour))
		}
	}
	_, offset := m.In(a.site.zone).Zone()
	wall := m.UTC().Add(time.Duration(offset) * time.Second)
	_, offset = a.site.now.In(a.site.zone).Zone()
	now := a.site.now.UTC().Add(time.Duration(offset) * time.Second)
	today := now.Truncate(24 * time.Hour)
	days := a.IntN(60) - 30
	date, text := refDate{at: m}, ""
	switch a.IntN(14) {
	case 0:
		layout := pickOne(a.Rand, time.DateOnly, "2006/01/02", "02.01.2006", "2 January 2006")
		date, text = refDate{wall.Truncate(24 * time.Hour), true}, wall.Format(layout)
	case 1, 2:
		date, text = refDate{wall, true}, wall.Format(pickOne(a.Rand, time.DateTime, "2006-01-02T15:04:05"))
	case 3, 4, 11, 12, 13:
		text = m.UTC().Format("2006-01-02T15:04:05Z")
	case 5, 6:
		text = m.In(time.FixedZone("", 3600*(a.IntN(25)-12))).Format("2006-01-02 15:04:05-07:00")
	case 7:
		text = strconv.FormatInt(m.Unix(), 10)
	case 8:
		date, text = refDate{today.AddDate(0, 0, days), true}, today.AddDate(0, 0, days).Format("January 2, 2006")
	case 9:
		date, text = refDate{now.AddDate(0, 0, days), true}, fmt.Sprintf("%+d days", days)
	default:
		i := a.IntN(3)
		date, text = refDate{today.AddDate(0, 0, i), true}, [3]string{"today", "jutro", "+2 days 00:00"}[i]
	}
	a.add(name, text)
	return date
}

// anyID is the id of something of the kinds asked for, and now and then of nothing.
func (a *asking) anyID(of ...int64) int64 {
	if drawPercent(a.Rand, 3) {
		return pickOne(a.Rand, 0, -1, 999999, pickOne(a.Rand, a.world.events...).id)
	}
	return pickOne(a.Rand, of...)
}

func (a *asking) linkedIDs(kind calendar.Kind) []int64 {
	ids := []int64{}
	for _, l := range pickSome(a.Rand, a.world.linked[kind], 1+a.IntN(4)) {
		// The trash is asked for now and then only, for it is a fault.
		if l.status != calendar.Trash || drawPercent(a.Rand, 25) {
			ids = append(ids, l.id)
		}
	}
	if len(ids) == 0 || drawPercent(a.Rand, 3) {
		ids = append(ids, a.anyID(pickOne(a.Rand, a.world.linked[kind]...).id))
	}
	return ids
}

func (a *asking) termWords(name string, kind calendar.Kind) []string {
	var words []string
	for _, t := range pickSome(a.Rand, a.world.terms[kind], 1+a.IntN(3)) {
		word := strconv.FormatInt(t.id, 10)
		for _, text := range t.texts.in {
			if text.slug != "" && drawPercent(a.Rand, 40) {
				word = pickOne(a.Rand, text.slug, strings.ToUpper(text.slug))
			}
		}
		words = append(words, word)
	}
	if drawPercent(a.Rand, 4) {
		words = append(words, pickOne(a.Rand, "nothing", "99", "0"))
	}
	a.list(name, words...)
	return words
}

func (a *asking) eventIDs(count int) []int64 {
	var ids []int64
	for _, e := range pickSome(a.Rand, a.world.events, count) {
		ids = append(ids, e.id)
	}
	return ids
}

func (a *asking) eventID() int64 {
	if drawPercent(a.Rand, 50) {
		return a.anyID(a.world.events[0].id, pickOne(a.Rand, a.world.events...).id)
	}
	// One that most callers may read.
	for {
		if e := pickOne(a.Rand, a.world.events...); e.status == calendar.Publish {
			return e.id
		}
	}
}

func (a *asking) events() eventAsk {
	const dates, texts, links, flags, places = "dates", "texts", "links", "flags", "places"
	a.focus = pickOne(a.Rand, dates, dates, dates, texts, links, flags, places, "nothing")
	q := eventAsk{dates: map[string]refDate{}, flags: map[string]bool{}, stored: map[string][]string{}, radius: 25}
	names := []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"}
	for i, name := range pickSome(a.Rand, names, len(names)) {
		if i == 0 && a.likely(dates, 30) || drawPercent(a.Rand, 8) {
			q.dates[name] = a.date(name)
		}
	}
	if a.likely(dates, 22) {
		q.strict = *a.boolean("strict_dates")
	}
	if a.likely(texts, 30) {
		q.search = a.text("search")
	}
	if drawPercent(a.Rand, 25) {
		q.password = !a.stranger
		a.add("password", map[bool]string{true: refPassword, false: "mistaken"}[q.password])
	}
	if a.likely(links, 12) {
		q.categories = a.termWords("categories", calendar.Category)
	}
	if a.likely(links, 12) {
		q.tags = a.termWords("tags", calendar.Tag)
	}
	if a.likely(links, 12) {
		q.venues = a.numbers("venue", a.linkedIDs(calendar.Venue))
	}
	if a.likely(links, 12) {
		q.organizers = a.numbers("organizer", a.linkedIDs(calendar.Organizer))
	}
	a.drawAside(func() {
		for _, f := range flagFilters {
			if a.likely(flags, 12) {
				q.flags[f.Name] = *a.boolean(f.Name)
			}
		}
	})
	a.drawAside(func() {
		for _, f := range wordFilters {
			if a.likely(flags, 12) {
				q.stored[f.Name] = a.someWords(f)
			}
		}
	})
	a.drawAside(func() {
		if a.likely(links, 15) || drawPercent(a.Rand, 10) {
			q.series = a.series()
		}
	})
	if a.likely(flags, 20) {
		q.status = a.statuses()
	}
	if a.likely(places, 12) {
		q.geoloc = a.boolean("geoloc")
	}
	if a.likely(places, 25) {
		a.circle(&q)
	} else if drawPercent(a.Rand, 1) {
		q.lng = new(10.0)
		a.add("geoloc_lng", "10")
	}
	if a.likely(links, 10) {
		q.include = append(a.eventIDs(a.IntN(70)), a.anyID(999998))
		a.numbers("include", q.include)
	}
	if a.likely(links, 8) {
		q.parent = a.number("post_parent", a.eventID())
	}
	return q
}

// series asks for the first of each series, for no series, or for some series, which the caller may read as a rule.
func (a *asking) series() *seriesAsk {
	switch a.IntN(10) {
	case 0, 1, 2, 3:
		a.add("series", "next")
		return &seriesAsk{next: true}
	case 4, 5:
		a.add("series", "none")
		return &seriesAsk{none: true}
	case 6:
		if drawPercent(a.Rand, 50) {
			a.list("series", pickOne(a.Rand, "next", "none"), strconv.FormatInt(pickOne(a.Rand, a.world.series...).id, 10))
			return &seriesAsk{invalid: true}
		}
	}
	q := &seriesAsk{ids: []int64{}}
	for _, r := range pickSome(a.Rand, a.world.series, 1+a.IntN(3)) {
		if r.status == calendar.Publish || drawPercent(a.Rand, 25) {
			q.ids = append(q.ids, r.id)
		}
	}
	if len(q.ids) == 0 || drawPercent(a.Rand, 3) {
		q.ids = append(q.ids, a.anyID(pickOne(a.Rand, a.world.series...).id))
	}
	a.numbers("series", q.ids)
	return q
}

// circle asks for what is around a position, from which some venue is a little nearer or farther than the
// radius.
func (a *asking) circle(q *eventAsk) {
	v := pickOne(a.Rand, a.world.linked[calendar.Venue]...)
	bearing, angle := a.Float64()*2*math.Pi, a.Float64()*495/6371
	sin, cos := math.Sincos(v.lat * math.Pi / 180)
	lat := math.Asin(sin*math.Cos(angle) + cos*math.Sin(angle)*math.Cos(bearing))
	lng := v.lng*math.Pi/180 + math.Atan2(math.Sin(bearing)*math.Sin(angle)*cos, math.Cos(angle)-sin*math.Sin(lat))
	send := func(name string, x float64) *float64 {
		x = math.Round(x*1e6) / 1e6
		a.add(name, strconv.FormatFloat(x, 'f', -1, 64))
		return &x
	}
	q.lat = send("geoloc_lat", lat*180/math.Pi)
	q.lng = send("geoloc_lng", math.Remainder(lng*180/math.Pi, 360))
	away := distance(v.lat, v.lng, *q.lat, *q.lng) * pickOne(a.Rand, 0.99, 0.999, 1.001, 1.01)
	q.radius = *send("geoloc_radius", max(0.001, away))
}

func (a *asking) linked() linkedAsk {
	var q linkedAsk
	if drawPercent(a.Rand, 25) {
		q.search = a.text("search")
	}
	if drawPercent(a.Rand, 20) {
		q.event = a.number("event", a.eventID())
	}
	if drawPercent(a.Rand, 30) {
		q.has = a.boolean("has_events")
	}
	if drawPercent(a.Rand, 40) {
		q.onlyUpcoming = *a.boolean("only_with_upcoming")
	}
	if drawPercent(a.Rand, 30) {
		q.status = a.statuses()
	}
	return q
}

func (a *asking) terms(kind calendar.Kind) termAsk {
	var q termAsk
	var ids []int64
	for _, t := range a.world.terms[kind] {
		ids = append(ids, t.id)
	}
	if drawPercent(a.Rand, 25) {
		q.search = a.text("search")
	}
	if drawPercent(a.Rand, 20) {
		q.exclude = a.numbers("exclude", append(pickSome(a.Rand, ids, a.IntN(5)), a.anyID(ids...)))
	}
	if drawPercent(a.Rand, 25) {
		q.include = a.numbers("include", append(pickSome(a.Rand, ids, a.IntN(12)), a.anyID(ids...)))
	}
	if drawPercent(a.Rand, 40) {
		q.order = pickOne(a.Rand, "asc", "desc", "DESC", "down")
		a.add("order", q.order)
	}
	if drawPercent(a.Rand, 70) {
		q.by = pickOne(a.Rand,
			"id", "name", "slug", "count", "description", "description", "term_group", "include", "none", "weight")
		a.add("orderby", q.by)
	}
	if drawPercent(a.Rand, 50) {
		q.all = !*a.boolean("hide_empty")
	}
	if drawPercent(a.Rand, 20) {
		parent := a.number("parent", a.anyID(ids...))
		if kind == calendar.Category { // tags do not know the parameter
			q.parent = parent
		}
	}
	if drawPercent(a.Rand, 12) {
		q.post = a.number("post", a.eventID())
	}
	if drawPercent(a.Rand, 12) {
		q.event = a.number("event", a.eventID())
	}
	if drawPercent(a.Rand, 15) {
		slug := "nothing"
		for _, text := range pickOne(a.Rand, a.world.terms[kind]...).texts.in {
			if text.slug != "" {
				slug = text.slug
			}
		}
		q.slug = &slug
		a.add("slug", slug)
	}
	return q
}
