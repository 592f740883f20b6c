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
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// This file holds the property of non-interference: if two calendars differ only in what a caller may not read, the
// caller gets the same replies from both. The methods of observer say what a caller may read. They come from the contract and share
// no rule with the service.

// pairsPerSeed is how many pairs of calendars are compared for a seed; if storetest.IsBrief, half of them.
const pairsPerSeed = 10

// pathsPerPair is how many requests about what differs are made to both calendars of a pair.
const pathsPerPair = 24

// replyLife is how long the replies of these tests may be kept by caches.
const replyLife = 90 * time.Second

// observer is a caller, and whether the caller knows the passwords of events.
type observer struct {
	refCaller
	knows bool
}

func (o observer) String() string {
	name := "anonymous"
	if o.login != "" {
		name = o.login
	}
	if o.knows {
		name += " with the password"
	}
	return name
}

// shownLinked is all that representations give an observer of a venue or organizer, and whether events show links to it.
func (o observer) shownLinked(s refSite, l *refLinked) string {
	text := fmt.Sprint(o.common(s, &l.refRecord), s.seen(&l.refRecord, o.refCaller, nil))
	if !o.lists(s, &l.refRecord) {
		return text + "unknown"
	}
	return text + fmt.Sprint(l.texts, l.located, l.lat, l.lng, l.fields)
}

// lists reports whether some list, with a filter by status, shows a record to an observer.
func (o observer) lists(s refSite, r *refRecord) bool {
	return s.seen(r, o.refCaller, nil) || s.seen(r, o.refCaller, []calendar.Status{calendar.Trash})
}

// common returns the parts of a record that every caller sees. Ids and slugs are known to be taken. A publication date
// ends a cached reply, so it counts as shown.
func (o observer) common(s refSite, r *refRecord) string {
	text := fmt.Sprint(r.id, " ", r.texts.slugs(), " ")
	if s.effective(r) == calendar.Future && r.published.Before(s.now.Add(replyLife)) {
		text += fmt.Sprint("due ", r.published, " ")
	}
	if o.lists(s, r) {
		text += fmt.Sprint(r.author, " ", s.effective(r), " ", r.published, " ")
	}
	return text
}

func (o observer) shownEvent(w *refWorld, s refSite, e *refEvent) string {
	text := o.common(s, &e.refRecord)
	status := s.effective(&e.refRecord)
	redacted := s.redacted(e, o.refCaller) && !o.knows
	switch {
	case status == calendar.Trash && (e.hidden || !o.lists(s, &e.refRecord)):
		return text + "gone"
	case !o.lists(s, &e.refRecord):
		return text + "not accessible"
	case e.hidden && redacted:
		return text + "not listed, protected"
	}
	titles := map[calendar.Language]string{}
	for l, in := range e.texts.in {
		titles[l] = in.title
	}
	if w.seesSeries(s, o.refCaller, e.series) {
		text += fmt.Sprint("series ", e.series, " ")
	}
	for _, f := range wordFilters {
		if f.Public {
			text += fmt.Sprint(e.stored[f.Name], " ")
		}
	}
	text += fmt.Sprint(e.texts.original, titles, e.start, e.end, e.startWall, e.endWall, e.zone, e.hidden, e.protected, e.parent)
	if redacted {
		return text + "redacted"
	}
	return text + fmt.Sprint(e.texts, e.allDay, e.flags, e.stored, e.terms,
		o.links(w, s, calendar.Venue, e.venues), o.links(w, s, calendar.Organizer, e.organizers))
}

// links are those of an event that are shown.
func (o observer) links(w *refWorld, s refSite, kind calendar.Kind, ids []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		l := w.linkedOf(kind, id)
		return !s.seen(&l.refRecord, o.refCaller, nil)
	})
}

func (w *refWorld) linkedOf(kind calendar.Kind, id int64) *refLinked {
	at := slices.IndexFunc(w.linked[kind], func(l *refLinked) bool { return l.id == id })
	return w.linked[kind][at]
}

func (t refTexts) slugs() map[calendar.Language]string {
	out := map[calendar.Language]string{}
	for l, in := range t.in {
		out[l] = in.slug
	}
	return out
}

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

// interference changes a calendar where an observer cannot see it.
type interference struct {
	*refMaker
	site   refSite
	api    *apitest.API // with the index
	asked  map[string]func(*testing.T, observer, string) apitest.Response
	shares map[string]int
}

func checkInterference(t *testing.T, st *store.Store, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 15))
	site := refSite{time.UTC, apitest.Now}
	n := &interference{site: site, api: apitest.New(t, st), shares: map[string]int{}}
	plain := apitest.New(t, st, apitest.Unindexed)
	w := &refWorld{callers: []refCaller{{}}}
	for i, role := range []calendar.Role{
		calendar.Subscriber, calendar.Contributor, calendar.Author, calendar.Editor, calendar.Administrator,
	} {
		for _, login := range []string{string(role), string(role) + "2"} {
			w.callers = append(w.callers, refCaller{n.api.SignIn(t, login, role), login, i + 1})
		}
	}
	// record makes records due at the now of each of several sites; the second is the earliest.
	n.refMaker = &refMaker{Rand: r, world: w, few: true, sites: []refSite{site, {time.UTC, site.now.Add(-time.Hour)}}}
	n.fill()
	w.store(t, n.api)
	n.api.Reindex(t)
	header := func(o observer) map[string]string {
		if o.id == 0 {
			return nil
		}
		return map[string]string{"Authorization": "Bearer " + n.api.Token(o.login)}
	}
	kept := n.api.Cached(t, replyLife/2, replyLife/2)
	n.asked = map[string]func(*testing.T, observer, string) apitest.Response{
		"index": func(t *testing.T, o observer, path string) apitest.Response {
			return n.api.Do(t, apitest.Request{Path: path, Header: header(o)})
		},
		"database": func(t *testing.T, o observer, path string) apitest.Response {
			return plain.Do(t, apitest.Request{Path: path, Header: header(o)})
		},
		"kept": func(t *testing.T, o observer, path string) apitest.Response {
			if o.id != 0 {
				return apitest.Response{}
			}
			return apitest.Send(t, kept, httptest.NewRequestWithContext(t.Context(), http.MethodGet,
				apitest.BaseURL+"/"+handlers.Namespace+path, nil))
		},
	}
	observers := []observer{}
	for _, c := range w.callers {
		// Editors are shown nearly everything, with passwords or without.
		observers = append(observers, observer{c, false})
		if c.role < refEditor {
			observers = append(observers, observer{c, false}, observer{c, false}, observer{c, true})
		}
		if c.role == refAnonymous {
			observers = append(observers, observer{c, false}, observer{c, false}, observer{c, false})
		}
	}
	pairs := pairsPerSeed
	if storetest.IsBrief(st) {
		pairs /= 2
	}
	for pair := range pairs {
		n.compare(t, pickOne(r, observers...), pair)
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

// differences are the records in which two calendars differ, each once, in the order of their changes.
type differences struct {
	events []*refEvent
	linked []kindedRecord
	series []*refRecord
}

// kindedRecord is a venue or organizer with its kind.
type kindedRecord struct {
	kind calendar.Kind
	*refLinked
}

// addOnce is a list with an element at its end, unless it is there already.
func addOnce[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// compare asks an observer's requests, changes what the observer may not read, and asks them again.
func (n *interference) compare(t *testing.T, o observer, pair int) {
	t.Helper()
	before := n.world.clone()
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
		n.world.rewriteEvent(t, n.api, e)
	}
	for _, l := range d.linked {
		n.world.rewriteLinked(t, n.api, l.kind, l.refLinked)
	}
	for _, r := range d.series {
		rewriteSeries(t, n.api, r)
	}
	n.api.Reindex(t)
	n.api.Rewritten()
	for i, reply := range n.replies(t, o, paths) {
		if diff := gocmp.Diff(was[i], reply); diff != "" {
			t.Errorf("pair %d, as %v (user %d): %s\n(-before +after):\n%s%s", pair, o, o.id, reply.path, diff,
				changes(before, n.world))
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

func (n *interference) replies(t *testing.T, o observer, paths []string) []comparedReply {
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

// vary changes a record at random, and takes the change back if the observer may read it.
func (n *interference) vary(o observer, d *differences) {
	if drawPercent(n.Rand, 35) {
		kind := pickOne(n.Rand, calendar.Venue, calendar.Venue, calendar.Organizer)
		l := pickOne(n.Rand, n.world.linked[kind]...)
		was := *l
		n.varyLinked(kind, l)
		if o.shownLinked(n.site, &was) != o.shownLinked(n.site, l) {
			*l = was
		} else if !sameText(was, *l) {
			d.linked = addOnce(d.linked, kindedRecord{kind, l})
		}
		return
	}
	if drawPercent(n.Rand, 15) {
		r := pickOne(n.Rand, n.world.series...)
		was := *r
		n.varyRecord(r)
		r.texts = was.texts
		if n.shownSeries(o, &was) != n.shownSeries(o, r) {
			*r = was
		} else if !sameText(was, *r) {
			d.series = addOnce(d.series, r)
		}
		return
	}
	e := pickOne(n.Rand, n.world.events...)
	was := *e
	switch {
	case drawPercent(n.Rand, 40):
		// A link to a venue or organizer that the observer may not read.
		kind, ids := calendar.Venue, &e.venues
		if drawPercent(n.Rand, 30) {
			kind, ids = calendar.Organizer, &e.organizers
		}
		for range 5 {
			l := pickOne(n.Rand, n.world.linked[kind]...)
			if !n.site.seen(&l.refRecord, o.refCaller, nil) && l.status != calendar.Trash {
				*ids = toggleID(*ids, l.id)
				break
			}
		}
	default:
		for range 1 + n.IntN(3) {
			n.varyEvent(e)
		}
	}
	if o.shownEvent(n.world, n.site, &was) != o.shownEvent(n.world, n.site, e) {
		*e = was
	} else if !sameText(was, *e) {
		d.events = addOnce(d.events, e)
	}
}

// shownSeries is all that representations give an observer of a series.
func (n *interference) shownSeries(o observer, r *refRecord) string {
	return fmt.Sprint(o.common(n.site, r), n.site.seen(r, o.refCaller, nil))
}

// toggleID is a list with an id, or without it if it was there.
func toggleID(ids []int64, id int64) []int64 {
	if at := slices.Index(ids, id); at >= 0 {
		return slices.Delete(slices.Clone(ids), at, at+1)
	}
	return append(slices.Clone(ids), id)
}

func sameText(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// distantDate is a publication date that no reply lives to see.
var distantDate = apitest.Now.AddDate(1, 0, 0)

func (n *interference) varyRecord(r *refRecord) {
	switch n.IntN(3) {
	case 0:
		if r.status != calendar.Trash && r.status != calendar.Publish {
			r.status = pickOne(n.Rand, calendar.Draft, calendar.Pending, calendar.Private, calendar.Future)
			if r.status == calendar.Future {
				r.published = distantDate
			}
		}
	case 1:
		r.author = pickOne(n.Rand, n.world.callers...).id
	default:
		text := r.texts.in[r.texts.original]
		text.title, text.description = n.words(2), n.words(2)
		r.texts.in = maps.Clone(r.texts.in)
		r.texts.in[r.texts.original] = text
	}
}

func (n *interference) varyLinked(kind calendar.Kind, l *refLinked) {
	switch {
	case kind == calendar.Venue && drawPercent(n.Rand, 60):
		other := n.place(kind, l.id)
		l.located, l.lat, l.lng = other.located, other.lat, other.lng
	case drawPercent(n.Rand, 50):
		l.fields = n.place(kind, l.id).fields
	default:
		n.varyRecord(&l.refRecord)
	}
}

func (n *interference) varyEvent(e *refEvent) {
	switch n.IntN(17) {
	case 0, 1, 2:
		e.venues = n.relink(calendar.Venue, e.venues)
	case 3, 4:
		e.organizers = n.relink(calendar.Organizer, e.organizers)
	case 5:
		f := pickOne(n.Rand, wordFilters...)
		e.stored = maps.Clone(e.stored)
		e.stored[f.Name] = pickOne(n.Rand, f.Words...)
	case 6:
		name := pickOne(n.Rand, flagFilters...).Name
		e.flags = maps.Clone(e.flags)
		e.flags[name] = !e.flags[name]
	case 7:
		e.terms = nil
		for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
			for _, t := range pickSome(n.Rand, n.world.terms[kind], n.IntN(3)) {
				e.terms = append(e.terms, t.id)
			}
		}
	case 8, 14:
		text := e.texts.in[e.texts.original]
		text.description, text.excerpt = n.html(), n.html()
		e.texts.in = maps.Clone(e.texts.in)
		e.texts.in[e.texts.original] = text
	case 9:
		n.time(e)
	case 15, 16:
		e.series = pickOne(n.Rand, 0, pickOne(n.Rand, n.world.series...).id)
	case 10:
		e.protected = !e.protected
	case 11:
		e.hidden = !e.hidden
	case 12:
		e.parent = pickOne(n.Rand, 0, pickOne(n.Rand, n.world.events...).id)
		if e.parent == e.id {
			e.parent = 0
		}
	default:
		n.varyRecord(&e.refRecord)
	}
}

// relink adds a link to one that is not in the trash, or takes one away. Half of what it adds has few events.
func (n *interference) relink(kind calendar.Kind, ids []int64) []int64 {
	if len(ids) > 0 && drawPercent(n.Rand, 40) {
		at := n.IntN(len(ids))
		return slices.Delete(slices.Clone(ids), at, at+1)
	}
	all := n.world.linked[kind]
	if drawPercent(n.Rand, 50) {
		all = all[len(all)/2:]
	}
	l := pickOne(n.Rand, all...)
	if l.status == calendar.Trash || slices.Contains(ids, l.id) {
		return ids
	}
	return slices.Insert(slices.Clone(ids), n.IntN(len(ids)+1), l.id)
}

// count notes what differs between the two calendars.
func (n *interference) count(o observer, before *refWorld, d differences) {
	differs := map[string]bool{}
	for _, e := range d.events {
		was := before.eventOf(e.id)
		open := n.site.seen(&e.refRecord, o.refCaller, nil) && (o.knows || !n.site.redacted(e, o.refCaller))
		if was.series != e.series {
			differs["an event of a hidden series"] = true
		}
		linksDiffer := !slices.Equal(was.venues, e.venues) || !slices.Equal(was.organizers, e.organizers)
		switch {
		case open && linksDiffer:
			differs["a hidden link"] = true
		case n.site.seen(&e.refRecord, o.refCaller, nil) && e.protected && !e.hidden:
			differs["a protected event"] = true
		case !n.site.seen(&e.refRecord, o.refCaller, nil):
			differs["an event that others may read"] = true
		}
	}
	if len(d.series) > 0 {
		differs["a hidden series"] = true
	}
	for _, l := range d.linked {
		was := before.linkedOf(l.kind, l.id)
		switch {
		case l.kind == calendar.Venue && (was.located || l.located) &&
			(was.located != l.located || was.lat != l.lat || was.lng != l.lng):
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

// paths makes requests of an observer: most about what differs from another calendar, and some at random.
func (n *interference) paths(o observer, other *refWorld, d differences) []string {
	q := &questions{interference: n, observer: o}
	for _, e := range d.events {
		q.event(e, other.eventOf(e.id))
	}
	for _, l := range d.linked {
		q.linked(l.kind, l.refLinked, other.linkedOf(l.kind, l.id))
	}
	for _, r := range d.series {
		q.series(r.id)
	}
	slices.Sort(q.paths)
	paths := pickSome(n.Rand, slices.Compact(q.paths), pathsPerPair)
	for range 8 {
		a := &asking{refMaker: n.refMaker, site: n.site, stranger: !o.knows}
		collection := pickOne(n.Rand, "events", "events", "venues", "organizers", "categories", "tags")
		switch collection {
		case "events":
			a.events()
			if drawPercent(n.Rand, 50) {
				a.add("starts_after", "1990-01-01")
			}
		case "venues", "organizers":
			a.linked()
		default:
			a.terms(map[string]calendar.Kind{"categories": calendar.Category, "tags": calendar.Tag}[collection])
		}
		if drawPercent(n.Rand, 40) {
			a.add("page", strconv.Itoa(1+n.IntN(4)))
			a.add("per_page", strconv.Itoa(1+n.IntN(4)))
		}
		paths = append(paths, "/"+collection+"?"+strings.Join(a.query, "&"))
	}
	return paths
}

// questions are requests about what differs between two calendars.
type questions struct {
	*interference
	observer observer
	paths    []string
}

func (q *questions) add(collection string, pairs ...any) {
	query := make([]string, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		query = append(query, fmt.Sprint(pairs[i], "=", url.QueryEscape(fmt.Sprint(pairs[i+1]))))
	}
	q.paths = append(q.paths, "/"+collection+"?"+strings.Join(query, "&"))
}

// events asks for events of all times.
func (q *questions) events(pairs ...any) {
	pairs = append(pairs, "starts_after", "1990-01-01", "per_page", 50)
	if drawPercent(q.Rand, 80) {
		pairs = append(pairs, "_fields", "events.id,events.venue.id,total")
	}
	if q.observer.knows {
		pairs = append(pairs, "password", refPassword)
	} else if drawPercent(q.Rand, 30) {
		pairs = append(pairs, "password", "mistaken")
	}
	q.add("events", pairs...)
}

// series asks for the occurrences of series, and for those of one.
func (q *questions) series(id int64) {
	for _, value := range []any{"next", "none", id} {
		q.events("series", value)
	}
}

func (q *questions) near(l *refLinked) {
	if l.located {
		q.events("geoloc_lat", l.lat, "geoloc_lng", l.lng, "geoloc_radius", 1)
	}
	q.events("geoloc", 0)
	q.events("geoloc", 1)
}

// counts asks which venues or organizers have events.
func (q *questions) counts(collection string) {
	for _, f := range [][]any{{"has_events", 0}, {"has_events", 1}, {"only_with_upcoming", 1}} {
		q.add(collection, append(f, "per_page", 50, "_fields", collection+".id,total")...)
	}
}

func (q *questions) event(e, was *refEvent) {
	if e.series != was.series || e.start != was.start {
		q.series(max(e.series, was.series))
	}
	for _, f := range flagFilters {
		if e.flags[f.Name] != was.flags[f.Name] {
			q.events(f.Name, 0)
			q.events(f.Name, 1)
		}
	}
	for _, f := range wordFilters {
		if e.stored[f.Name] != was.stored[f.Name] {
			q.events(f.Name, e.stored[f.Name])
			q.events(f.Name, was.stored[f.Name])
		}
	}
	for _, id := range different(e.venues, was.venues) {
		q.events("venue", id)
		q.near(q.world.linkedOf(calendar.Venue, id))
		q.counts("venues")
		q.add("venues", "event", e.id)
	}
	for _, id := range different(e.organizers, was.organizers) {
		q.events("organizer", id)
		q.counts("organizers")
		q.add("organizers", "event", e.id)
	}
	for _, id := range different(e.terms, was.terms) {
		filter, collection := "categories", "categories"
		if slices.ContainsFunc(q.world.terms[calendar.Tag], func(t *refTerm) bool { return t.id == id }) {
			filter, collection = "tags", "tags"
		}
		q.events(filter, id)
		q.add(collection, pickOne(q.Rand, "event", "post"), e.id, "hide_empty", 0)
	}
	words := func(e *refEvent) []string {
		text := e.texts.in[e.texts.original]
		return strings.Fields(refPlain(text.title + " " + text.excerpt + " " + text.description))
	}
	for _, word := range pickSome(q.Rand, different(words(e), words(was)), 3) {
		q.events("search", pickOne(q.Rand, word, word, "-"+word), "ml_language", e.texts.original, "include", e.id)
	}
	if e.status != was.status || e.author != was.author || e.start != was.start || e.parent != was.parent ||
		e.hidden != was.hidden || e.protected != was.protected {
		q.counts("venues")
		q.counts("organizers")
		q.events("post_parent", pickOne(q.Rand, e.id, e.parent, was.parent))
		q.events("status", pickOne(q.Rand, calendar.Statuses...))
		q.add(pickOne(q.Rand, "categories", "tags"), pickOne(q.Rand, "event", "post"), e.id, "hide_empty", 0)
	}
	q.add("events/"+strconv.FormatInt(e.id, 10), "password", map[bool]string{true: refPassword}[q.observer.knows])
}

func (q *questions) linked(kind calendar.Kind, l, was *refLinked) {
	collection := string(kind) + "s"
	if kind == calendar.Venue {
		q.near(l)
		q.near(was)
	}
	q.events(string(kind), l.id)
	for _, value := range pickSome(q.Rand, different(slices.Collect(maps.Values(l.fields)), slices.Collect(maps.Values(was.fields))), 2) {
		q.add(collection, "search", value, "per_page", 50)
	}
	q.add(collection, "has_events", q.IntN(2), "status", pickOne(q.Rand, calendar.Statuses...), "per_page", 50)
	q.add(collection + "/" + strconv.FormatInt(l.id, 10))
}

// different lists what is in one of two lists only.
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

func (w *refWorld) eventOf(id int64) *refEvent {
	return w.events[slices.IndexFunc(w.events, func(e *refEvent) bool { return e.id == id })]
}

// clone copies the records of a world. What they point to is never changed.
func (w *refWorld) clone() *refWorld {
	out := &refWorld{callers: w.callers, terms: w.terms, linked: map[calendar.Kind][]*refLinked{}}
	for _, e := range w.events {
		out.events = append(out.events, new(*e))
	}
	for _, r := range w.series {
		out.series = append(out.series, new(*r))
	}
	for kind, all := range w.linked {
		for _, l := range all {
			out.linked[kind] = append(out.linked[kind], new(*l))
		}
	}
	return out
}

// changes tells in which records two worlds differ.
func changes(before, after *refWorld) string {
	var b strings.Builder
	for i, e := range after.events {
		if was := before.events[i]; !sameText(*was, *e) {
			fmt.Fprintf(&b, "event %+v\n  was %+v\n", *e, *was)
		}
	}
	for i, r := range after.series {
		if was := before.series[i]; !sameText(*was, *r) {
			fmt.Fprintf(&b, "series %+v\n  was %+v\n", *r, *was)
		}
	}
	for kind, all := range after.linked {
		for i, l := range all {
			if was := before.linked[kind][i]; !sameText(*was, *l) {
				fmt.Fprintf(&b, "%s %+v\n  was %+v\n", kind, *l, *was)
			}
		}
	}
	return b.String()
}

// rewriteEvent makes the row of an event and its links what the world says. Its terms count as before: that number is
// public.
func (w *refWorld) rewriteEvent(t *testing.T, api *apitest.API, e *refEvent) {
	t.Helper()
	ctx, db, own := t.Context(), api.Store.Ent, e.texts.in[e.texts.original]
	update := db.Event.UpdateOneID(e.id).ClearAuthorID().SetStatus(e.status).SetPublishedAt(e.published).
		SetTitle(own.title).SetExcerpt(own.excerpt).SetDescription(own.description).SetTimezone(e.zone).
		SetStartWall(calendar.WallOf(e.startWall)).SetEndWall(calendar.WallOf(e.endWall)).
		SetStartsAt(e.start.UTC()).SetEndsAt(e.end.UTC()).SetAllDay(e.allDay).SetHideFromListings(e.hidden).
		ClearParentID().ClearPasswordHash().ClearSeriesID().ClearOriginalStart()
	if e.author != 0 {
		update.SetAuthorID(e.author)
	}
	if e.parent != 0 {
		update.SetParentID(e.parent)
	}
	if e.series != 0 {
		update.SetSeriesID(e.series).SetOriginalStart(e.nominal())
	}
	if e.protected {
		update.SetPasswordHash(edit.HashPassword(api.Key, e.id, refPassword))
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(e.setColumns(update.Mutation()))
	do(update.Exec(ctx))
	_, err := db.EventVenue.Delete().Where(eventvenue.EventID(e.id)).Exec(ctx)
	do(err)
	_, err = db.EventOrganizer.Delete().Where(eventorganizer.EventID(e.id)).Exec(ctx)
	do(err)
	_, err = db.EventTerm.Delete().Where(eventterm.EventID(e.id)).Exec(ctx)
	do(err)
	api.LinkVenues(t, e.id, e.venues...)
	api.LinkOrganizers(t, e.id, e.organizers...)
	api.LinkTerms(t, e.id, e.terms...)
}

// rewriteSeries makes the row of a series what the world says.
func rewriteSeries(t *testing.T, api *apitest.API, r *refRecord) {
	t.Helper()
	update := api.Store.Ent.Series.UpdateOneID(r.id).ClearAuthorID().SetStatus(r.status).SetPublishedAt(r.published)
	if r.author != 0 {
		update.SetAuthorID(r.author)
	}
	if err := update.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// rewriteLinked makes the row of a venue or organizer what the world says.
func (w *refWorld) rewriteLinked(t *testing.T, api *apitest.API, kind calendar.Kind, l *refLinked) {
	t.Helper()
	var author *int64
	if l.author != 0 {
		author = &l.author
	}
	own := l.texts.in[l.texts.original]
	var err error
	if kind == calendar.Organizer {
		err = api.Store.Ent.Organizer.UpdateOneID(l.id).ClearAuthorID().SetNillableAuthorID(author).SetStatus(l.status).
			SetPublishedAt(l.published).SetName(own.title).SetNameKey(calendar.FoldName(own.title)).
			SetDescription(own.description).SetPhone(l.fields["phone"]).SetWebsite(l.fields["website"]).
			SetEmail(l.fields["email"]).Exec(t.Context())
	} else {
		update := api.Store.Ent.Venue.UpdateOneID(l.id).ClearAuthorID().SetNillableAuthorID(author).SetStatus(l.status).
			SetPublishedAt(l.published).SetName(own.title).SetNameKey(calendar.FoldName(own.title)).
			SetDescription(own.description).SetAddress(l.fields["address"]).SetCity(l.fields["city"]).
			SetCountry(l.fields["country"]).SetProvince(l.fields["province"]).SetState(l.fields["state"]).
			SetZip(l.fields["zip"]).SetPhone(l.fields["phone"]).SetWebsite(l.fields["website"]).
			ClearLatitude().ClearLongitude()
		if l.located {
			update.SetLatitude(l.lat).SetLongitude(l.lng)
		}
		err = update.Exec(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
