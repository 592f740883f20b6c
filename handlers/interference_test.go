package handlers_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/draw"
	"github.com/almanac-cal/almanac/proof/listreference"
	"github.com/almanac-cal/almanac/proof/randomcalendar"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// This file holds the property of non-interference: if two calendars differ only in what a caller may not read, the
// caller gets the same replies from both. The methods of listreference.Observer say what a caller may read.

// pairsPerSeed is how many pairs of calendars are compared for a seed; if storetest.IsBrief, half of them.
const pairsPerSeed = 10

// pathsPerPair is how many requests about what differs are made to both calendars of a pair.
const pathsPerPair = 24

func TestWhatACallerMayNotReadChangesNoReply(t *testing.T) {
	t.Parallel()
	seeds := []uint64{5, 6} // if storetest.IsBrief, the first
	if text := os.Getenv(seedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		seeds = []uint64{seed}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				if seed != seeds[0] && storetest.IsBrief(st) {
					t.Skip("SQLite has all seeds")
				}
				checkInterference(t, st, seed)
			})
		})
	}
}

// interference checks that records which an observer may not read do not influence the observer's replies. It
// compares replies before and after changes of such records.
type interference struct {
	*randomcalendar.Maker
	site   listreference.Site
	api    *apitest.API // with the index
	asked  map[string]func(*testing.T, listreference.Observer, string) apitest.Response
	shares map[string]int
}

func checkInterference(t *testing.T, st *store.Store, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 15))
	site := listreference.Site{Zone: time.UTC, Now: apitest.Now}
	n := &interference{site: site, api: apitest.New(t, st), shares: map[string]int{}}
	plain := apitest.New(t, st, apitest.Unindexed)
	w := randomcalendar.New()
	for i, role := range []calendar.Role{
		calendar.Subscriber, calendar.Contributor, calendar.Author, calendar.Editor, calendar.Administrator,
	} {
		for _, login := range []string{string(role), string(role) + "2"} {
			w.Callers = append(w.Callers, listreference.Caller{ID: n.api.SignIn(t, login, role), Login: login, Role: i + 1})
		}
	}
	// record makes records due at the now of each of several sites; the second is the earliest.
	n.Maker = &randomcalendar.Maker{Rand: r, Calendar: w, Few: true, Sites: []listreference.Site{site, {Zone: time.UTC, Now: site.Now.Add(-time.Hour)}}}
	n.Fill()
	randomcalendar.Store(t, n.api, w)
	n.api.Reindex(t)
	header := func(o listreference.Observer) map[string]string {
		if o.ID == 0 {
			return nil
		}
		return map[string]string{"Authorization": "Bearer " + n.api.Token(o.Login)}
	}
	kept := n.api.Cached(t, listreference.ReplyLife/2, listreference.ReplyLife/2)
	n.asked = map[string]func(*testing.T, listreference.Observer, string) apitest.Response{
		"index": func(t *testing.T, o listreference.Observer, path string) apitest.Response {
			return n.api.Do(t, apitest.Request{Path: path, Header: header(o)})
		},
		"database": func(t *testing.T, o listreference.Observer, path string) apitest.Response {
			return plain.Do(t, apitest.Request{Path: path, Header: header(o)})
		},
		"kept": func(t *testing.T, o listreference.Observer, path string) apitest.Response {
			if o.ID != 0 {
				return apitest.Response{}
			}
			return apitest.Send(t, kept, httptest.NewRequestWithContext(t.Context(), http.MethodGet,
				apitest.BaseURL+"/"+handlers.Namespace+path, nil))
		},
	}
	observers := []listreference.Observer{}
	for _, c := range w.Callers {
		stranger, friend := listreference.Observer{Caller: c}, listreference.Observer{Caller: c, Knows: true}
		// Editors are shown nearly everything, with passwords or without.
		observers = append(observers, stranger)
		if c.Role < listreference.Editor {
			observers = append(observers, stranger, stranger, friend)
		}
		if c.Role == listreference.Anonymous {
			observers = append(observers, stranger, stranger, stranger)
		}
	}
	pairs := pairsPerSeed
	if storetest.IsBrief(st) {
		pairs /= 2
	}
	for pair := range pairs {
		n.compare(t, draw.Item(r, observers...), pair)
		if t.Failed() {
			t.Fatalf("run again with %s=%d", seedVariable, seed)
		}
	}
	t.Logf("of %d pairs of calendars: %v", pairs, n.shares)
	for _, what := range []string{"a hidden link", "a protected event", "a private venue with a position", "a hidden series", "an event of a hidden series"} {
		if !storetest.IsBrief(st) && 100*n.shares[what] < 5*pairs {
			t.Errorf("%s differs in %d of %d pairs, want 5 %%", what, n.shares[what], pairs)
		}
	}
}

// differences has the records in which two calendars differ, each once, in the order of their changes.
type differences struct {
	events []*listreference.Event
	linked []kindedRecord
	series []*listreference.Record
}

// kindedRecord is a venue or organizer with its kind.
type kindedRecord struct {
	kind calendar.Kind
	*listreference.Linked
}

// addOnce returns the list with v at its end. If the list already has v, it returns the list unchanged.
func addOnce[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// compare sends an observer's requests, changes records that the observer may not read, and sends the requests
// again. The replies must be equal. pair is the number of this comparison.
func (n *interference) compare(t *testing.T, o listreference.Observer, pair int) {
	t.Helper()
	before := n.Calendar.Clone()
	var d differences
	for range 100 {
		if len(d.events)+len(d.linked)+len(d.series) >= 4 {
			break
		}
		n.vary(o, &d)
	}
	n.count(o, before, d)
	paths := n.paths(o, before, d)

	was := n.replies(t, o, paths)
	for _, e := range d.events {
		randomcalendar.RewriteEvent(t, n.api, n.Calendar, e)
	}
	for _, l := range d.linked {
		randomcalendar.RewriteLinked(t, n.api, l.kind, l.Linked)
	}
	for _, r := range d.series {
		randomcalendar.RewriteSeries(t, n.api, r)
	}
	n.api.Reindex(t)
	n.api.Rewritten()
	for i, reply := range n.replies(t, o, paths) {
		if diff := gocmp.Diff(was[i], reply); diff != "" {
			t.Errorf("pair %d, as %v (user %d): %s\n(-before +after):\n%s%s", pair, o, o.ID, reply.path, diff,
				changes(before, n.Calendar))
			return
		}
	}
	n.shares["requests"] += len(was)
}

// comparedReply has the compared parts of a reply.
type comparedReply struct {
	path, by string
	status   int
	header   http.Header
	body     string
}

func (a comparedReply) Equal(b comparedReply) bool {
	return a.status == b.status && a.body == b.body && maps.EqualFunc(a.header, b.header, slices.Equal)
}

func (n *interference) replies(t *testing.T, o listreference.Observer, paths []string) []comparedReply {
	t.Helper()
	var out []comparedReply
	for _, path := range paths {
		for _, by := range slices.Sorted(maps.Keys(n.asked)) {
			r := n.asked[by](t, o, path)
			r.Header.Del("X-Request-Id")
			r.Header.Del("Date")
			out = append(out, comparedReply{path + " by " + by, by, r.Status, r.Header, string(r.Body)})
		}
	}
	return out
}

// vary changes a random record, and reverts the change if the observer may read the record.
func (n *interference) vary(o listreference.Observer, d *differences) {
	if draw.Percent(n.Rand, 35) {
		kind := draw.Item(n.Rand, calendar.Venue, calendar.Venue, calendar.Organizer)
		l := draw.Item(n.Rand, n.Calendar.Linked[kind]...)
		was := *l
		n.varyLinked(kind, l)
		if o.ShownLinked(n.site, &was) != o.ShownLinked(n.site, l) {
			*l = was
		} else if !sameText(was, *l) {
			d.linked = addOnce(d.linked, kindedRecord{kind, l})
		}
		return
	}
	if draw.Percent(n.Rand, 15) {
		r := draw.Item(n.Rand, n.Calendar.Series...)
		was := *r
		n.varyRecord(r)
		r.Texts = was.Texts
		if o.ShownSeries(n.site, &was) != o.ShownSeries(n.site, r) {
			*r = was
		} else if !sameText(was, *r) {
			d.series = addOnce(d.series, r)
		}
		return
	}
	e := draw.Item(n.Rand, n.Calendar.Events...)
	was := *e
	switch {
	case draw.Percent(n.Rand, 40):
		// A link to a venue or organizer that the observer may not read.
		kind, ids := calendar.Venue, &e.Venues
		if draw.Percent(n.Rand, 30) {
			kind, ids = calendar.Organizer, &e.Organizers
		}
		for range 5 {
			l := draw.Item(n.Rand, n.Calendar.Linked[kind]...)
			if !n.site.Shows(&l.Record, o.Caller, nil) && l.Status != calendar.Trash {
				*ids = toggleID(*ids, l.ID)
				break
			}
		}
	default:
		for range 1 + n.IntN(3) {
			n.varyEvent(e)
		}
	}
	if o.ShownEvent(n.Calendar, n.site, &was) != o.ShownEvent(n.Calendar, n.site, e) {
		*e = was
	} else if !sameText(was, *e) {
		d.events = addOnce(d.events, e)
	}
}

// toggleID returns the list without id if it has id, else with it.
func toggleID(ids []int64, id int64) []int64 {
	if at := slices.Index(ids, id); at >= 0 {
		return slices.Delete(slices.Clone(ids), at, at+1)
	}
	return append(slices.Clone(ids), id)
}

func sameText(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// distantDate is a publication date that no reply lives to see.
var distantDate = apitest.Now.AddDate(1, 0, 0)

func (n *interference) varyRecord(r *listreference.Record) {
	switch n.IntN(3) {
	case 0:
		if r.Status != calendar.Trash && r.Status != calendar.Publish {
			r.Status = draw.Item(n.Rand, calendar.Draft, calendar.Pending, calendar.Private, calendar.Future)
			if r.Status == calendar.Future {
				r.Published = distantDate
			}
		}
	case 1:
		r.Author = draw.Item(n.Rand, n.Calendar.Callers...).ID
	default:
		text := r.Texts.In[r.Texts.Original]
		text.Title, text.Description = n.DrawWords(2), n.DrawWords(2)
		r.Texts.In = maps.Clone(r.Texts.In)
		r.Texts.In[r.Texts.Original] = text
	}
}

func (n *interference) varyLinked(kind calendar.Kind, l *listreference.Linked) {
	switch {
	case kind == calendar.Venue && draw.Percent(n.Rand, 60):
		other := n.DrawLinked(kind, l.ID)
		l.Located, l.Lat, l.Lng = other.Located, other.Lat, other.Lng
	case draw.Percent(n.Rand, 50):
		l.Fields = n.DrawLinked(kind, l.ID).Fields
	default:
		n.varyRecord(&l.Record)
	}
}

func (n *interference) varyEvent(e *listreference.Event) {
	switch n.IntN(17) {
	case 0, 1, 2:
		e.Venues = n.relink(calendar.Venue, e.Venues)
	case 3, 4:
		e.Organizers = n.relink(calendar.Organizer, e.Organizers)
	case 5:
		f := draw.Item(n.Rand, n.Calendar.WordColumns...)
		e.Words = maps.Clone(e.Words)
		e.Words[f.Name] = draw.Item(n.Rand, f.Words...)
	case 6:
		name := draw.Item(n.Rand, n.Calendar.FlagColumns...).Name
		e.Flags = maps.Clone(e.Flags)
		e.Flags[name] = !e.Flags[name]
	case 7:
		e.Terms = nil
		for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
			for _, t := range draw.Items(n.Rand, n.Calendar.Terms[kind], n.IntN(3)) {
				e.Terms = append(e.Terms, t.ID)
			}
		}
	case 8, 14:
		text := e.Texts.In[e.Texts.Original]
		text.Description, text.Excerpt = n.DrawHTML(), n.DrawHTML()
		e.Texts.In = maps.Clone(e.Texts.In)
		e.Texts.In[e.Texts.Original] = text
	case 9:
		n.DrawTime(e)
	case 15, 16:
		e.Series = draw.Item(n.Rand, 0, draw.Item(n.Rand, n.Calendar.Series...).ID)
	case 10:
		e.Protected = !e.Protected
	case 11:
		e.Hidden = !e.Hidden
	case 12:
		e.Parent = draw.Item(n.Rand, 0, draw.Item(n.Rand, n.Calendar.Events...).ID)
		if e.Parent == e.ID {
			e.Parent = 0
		}
	default:
		n.varyRecord(&e.Record)
	}
}

// relink adds to ids a record of the kind that is not in the trash, or removes one. Half of the added records have
// few events.
func (n *interference) relink(kind calendar.Kind, ids []int64) []int64 {
	if len(ids) > 0 && draw.Percent(n.Rand, 40) {
		at := n.IntN(len(ids))
		return slices.Delete(slices.Clone(ids), at, at+1)
	}
	all := n.Calendar.Linked[kind]
	if draw.Percent(n.Rand, 50) {
		all = all[len(all)/2:]
	}
	l := draw.Item(n.Rand, all...)
	if l.Status == calendar.Trash || slices.Contains(ids, l.ID) {
		return ids
	}
	return slices.Insert(slices.Clone(ids), n.IntN(len(ids)+1), l.ID)
}

// count counts the kinds of differences between the two calendars, so that the test can require each kind.
func (n *interference) count(o listreference.Observer, before *listreference.Calendar, d differences) {
	differs := map[string]bool{}
	for _, e := range d.events {
		was := before.EventOf(e.ID)
		open := n.site.Shows(&e.Record, o.Caller, nil) && (o.Knows || !n.site.Redacts(e, o.Caller))
		if was.Series != e.Series {
			differs["an event of a hidden series"] = true
		}
		linksDiffer := !slices.Equal(was.Venues, e.Venues) || !slices.Equal(was.Organizers, e.Organizers)
		switch {
		case open && linksDiffer:
			differs["a hidden link"] = true
		case n.site.Shows(&e.Record, o.Caller, nil) && e.Protected && !e.Hidden:
			differs["a protected event"] = true
		case !n.site.Shows(&e.Record, o.Caller, nil):
			differs["an event that others may read"] = true
		}
	}
	if len(d.series) > 0 {
		differs["a hidden series"] = true
	}
	for _, l := range d.linked {
		was := before.LinkedOf(l.kind, l.ID)
		switch {
		case l.kind == calendar.Venue && (was.Located || l.Located) &&
			(was.Located != l.Located || was.Lat != l.Lat || was.Lng != l.Lng):
			differs["a private venue with a position"] = true
		default:
			differs["a venue or organizer that others may read"] = true
		}
	}
	if len(d.events)+len(d.linked) == 0 {
		differs["nothing: all may be read"] = true
	}
	for what := range differs {
		n.shares[what]++
	}
	n.shares["as "+o.String()]++
}

// paths returns requests of an observer. Most are about the differences from another calendar, and some are
// random.
func (n *interference) paths(o listreference.Observer, other *listreference.Calendar, d differences) []string {
	q := &questions{interference: n, observer: o}
	for _, e := range d.events {
		q.event(e, other.EventOf(e.ID))
	}
	for _, l := range d.linked {
		q.linked(l.kind, l.Linked, other.LinkedOf(l.kind, l.ID))
	}
	for _, r := range d.series {
		q.series(r.ID)
	}
	slices.Sort(q.paths)
	paths := draw.Items(n.Rand, slices.Compact(q.paths), pathsPerPair)
	for range 8 {
		a := &randomcalendar.RequestMaker{Maker: n.Maker, Site: n.site, Stranger: !o.Knows}
		collection := draw.Item(n.Rand, "events", "events", "venues", "organizers", "categories", "tags")
		switch collection {
		case "events":
			a.DrawEventQuery()
			if draw.Percent(n.Rand, 50) {
				a.Add("starts_after", "1990-01-01")
			}
		case "venues", "organizers":
			a.DrawLinkedQuery()
		default:
			a.DrawTermQuery(map[string]calendar.Kind{"categories": calendar.Category, "tags": calendar.Tag}[collection])
		}
		if draw.Percent(n.Rand, 40) {
			a.Add("page", strconv.Itoa(1+n.IntN(4)))
			a.Add("per_page", strconv.Itoa(1+n.IntN(4)))
		}
		paths = append(paths, "/"+collection+"?"+strings.Join(a.Query, "&"))
	}
	return paths
}

// questions collects the paths of requests about the differences between two calendars.
type questions struct {
	*interference
	observer listreference.Observer
	paths    []string
}

func (q *questions) add(collection string, pairs ...any) {
	query := make([]string, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		query = append(query, fmt.Sprint(pairs[i], "=", url.QueryEscape(fmt.Sprint(pairs[i+1]))))
	}
	q.paths = append(q.paths, "/"+collection+"?"+strings.Join(query, "&"))
}

// events adds a list of events of all times, with the given parameters: names and values in turn.
func (q *questions) events(pairs ...any) {
	pairs = append(pairs, "starts_after", "1990-01-01", "per_page", 50)
	if draw.Percent(q.Rand, 80) {
		pairs = append(pairs, "_fields", "events.id,events.venue.id,total")
	}
	if q.observer.Knows {
		pairs = append(pairs, "password", randomcalendar.Password)
	} else if draw.Percent(q.Rand, 30) {
		pairs = append(pairs, "password", "mistaken")
	}
	q.add("events", pairs...)
}

// series adds lists of the occurrences of all series and of one series.
func (q *questions) series(id int64) {
	for _, value := range []any{"next", "none", id} {
		q.events("series", value)
	}
}

func (q *questions) near(l *listreference.Linked) {
	if l.Located {
		q.events("geoloc_lat", l.Lat, "geoloc_lng", l.Lng, "geoloc_radius", 1)
	}
	q.events("geoloc", 0)
	q.events("geoloc", 1)
}

// counts adds lists of the venues or organizers that have events, or have none.
func (q *questions) counts(collection string) {
	for _, f := range [][]any{{"has_events", 0}, {"has_events", 1}, {"only_with_upcoming", 1}} {
		q.add(collection, append(f, "per_page", 50, "_fields", collection+".id,total")...)
	}
}

func (q *questions) event(e, was *listreference.Event) {
	if e.Series != was.Series || e.Start != was.Start {
		q.series(max(e.Series, was.Series))
	}
	for _, f := range q.Calendar.FlagColumns {
		if e.Flags[f.Name] != was.Flags[f.Name] {
			q.events(f.Name, 0)
			q.events(f.Name, 1)
		}
	}
	for _, f := range q.Calendar.WordColumns {
		if e.Words[f.Name] != was.Words[f.Name] {
			q.events(f.Name, e.Words[f.Name])
			q.events(f.Name, was.Words[f.Name])
		}
	}
	for _, id := range different(e.Venues, was.Venues) {
		q.events("venue", id)
		q.near(q.Calendar.LinkedOf(calendar.Venue, id))
		q.counts("venues")
		q.add("venues", "event", e.ID)
	}
	for _, id := range different(e.Organizers, was.Organizers) {
		q.events("organizer", id)
		q.counts("organizers")
		q.add("organizers", "event", e.ID)
	}
	for _, id := range different(e.Terms, was.Terms) {
		filter, collection := "categories", "categories"
		if slices.ContainsFunc(q.Calendar.Terms[calendar.Tag], func(t *listreference.Term) bool { return t.ID == id }) {
			filter, collection = "tags", "tags"
		}
		q.events(filter, id)
		q.add(collection, draw.Item(q.Rand, "event", "post"), e.ID, "hide_empty", 0)
	}
	words := func(e *listreference.Event) []string {
		text := e.Texts.In[e.Texts.Original]
		return strings.Fields(listreference.PlainText(text.Title + " " + text.Excerpt + " " + text.Description))
	}
	for _, word := range draw.Items(q.Rand, different(words(e), words(was)), 3) {
		q.events("search", draw.Item(q.Rand, word, word, "-"+word), "ml_language", e.Texts.Original, "include", e.ID)
	}
	if e.Status != was.Status || e.Author != was.Author || e.Start != was.Start || e.Parent != was.Parent ||
		e.Hidden != was.Hidden || e.Protected != was.Protected {
		q.counts("venues")
		q.counts("organizers")
		q.events("post_parent", draw.Item(q.Rand, e.ID, e.Parent, was.Parent))
		q.events("status", draw.Item(q.Rand, calendar.Statuses...))
		q.add(draw.Item(q.Rand, "categories", "tags"), draw.Item(q.Rand, "event", "post"), e.ID, "hide_empty", 0)
	}
	q.add("events/"+strconv.FormatInt(e.ID, 10), "password", map[bool]string{true: randomcalendar.Password}[q.observer.Knows])
}

func (q *questions) linked(kind calendar.Kind, l, was *listreference.Linked) {
	collection := string(kind) + "s"
	if kind == calendar.Venue {
		q.near(l)
		q.near(was)
	}
	q.events(string(kind), l.ID)
	for _, value := range draw.Items(q.Rand, different(slices.Collect(maps.Values(l.Fields)), slices.Collect(maps.Values(was.Fields))), 2) {
		q.add(collection, "search", value, "per_page", 50)
	}
	q.add(collection, "has_events", q.IntN(2), "status", draw.Item(q.Rand, calendar.Statuses...), "per_page", 50)
	q.add(collection + "/" + strconv.FormatInt(l.ID, 10))
}

// different returns the elements that only one of two lists has.
func different[T cmp.Ordered](a, b []T) []T {
	var out []T
	for _, v := range slices.Concat(a, b) {
		if slices.Contains(a, v) != slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changes describes the records in which two calendars differ, for error messages.
func changes(before, after *listreference.Calendar) string {
	var b strings.Builder
	for i, e := range after.Events {
		if was := before.Events[i]; !sameText(*was, *e) {
			fmt.Fprintf(&b, "event %+v\n  was %+v\n", *e, *was)
		}
	}
	for i, r := range after.Series {
		if was := before.Series[i]; !sameText(*was, *r) {
			fmt.Fprintf(&b, "series %+v\n  was %+v\n", *r, *was)
		}
	}
	for kind, all := range after.Linked {
		for i, l := range all {
			if was := before.Linked[kind][i]; !sameText(*was, *l) {
				fmt.Fprintf(&b, "%s %+v\n  was %+v\n", kind, *l, *was)
			}
		}
	}
	return b.String()
}
