package handlers_test

import (
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

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/apitest"
	"github.com/almanac-cal/almanac/internal/storetest"
	"github.com/almanac-cal/almanac/server"
	"github.com/almanac-cal/almanac/store"
)

// This file holds the property of non-interference: if two calendars differ only in what a caller may not read, the
// caller gets the same replies from both. observer.shown says what a caller may read. It comes from the contract and shares
// no rule with the service.

// pairsPerSeed is how many pairs of calendars are compared for a seed.
const pairsPerSeed = 40

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

// shown lists all that representations give an observer, by record.
func (o observer) shown(w *refWorld, s refSite) map[int64]string {
	out := map[int64]string{}
	for _, e := range w.events {
		out[e.id] = o.shownEvent(w, s, e)
	}
	for _, kind := range []calendar.Kind{calendar.Venue, calendar.Organizer} {
		for _, l := range w.linked[kind] {
			out[l.id] = o.common(s, &l.refRecord) + "unknown"
			if o.lists(s, &l.refRecord) {
				out[l.id] = fmt.Sprint(o.common(s, &l.refRecord), l.texts, l.located, l.lat, l.lng, l.fields)
			}
		}
	}
	for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
		for _, t := range w.terms[kind] {
			out[-t.id] = fmt.Sprint(kind, *t)
		}
	}
	return out
}

// lists reports whether some list, with a filter by status, shows a record to an observer.
func (o observer) lists(s refSite, r *refRecord) bool {
	return s.seen(r, o.refCaller, nil) || s.seen(r, o.refCaller, []calendar.Status{calendar.Trash})
}

// common is what is shown of a record in any case. An id and a slug are known to be taken. What is published while a reply
// is kept ends the reply's life, so it is shown.
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
	text += fmt.Sprint(e.texts.original, titles, e.start, e.end, e.startWall, e.endWall, e.zone, e.hidden, e.protected, e.parent)
	if redacted {
		return text + "redacted"
	}
	return text + fmt.Sprint(e.texts, e.allDay, e.featured, e.ticketed, e.terms,
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
	seeds := []uint64{1, 2}
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
			storetest.Each(t, func(t *testing.T, st *store.Store) { checkInterference(t, st, seed) })
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
	kept := n.api.Another(t, func(c *server.Config) { c.MaxAge, c.Stale = replyLife/2, replyLife/2 })
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
		// Whoever sees all records is rarely asked about: only the trash hides something from an editor.
		for range max(1, refEditor-c.role) {
			observers = append(observers, observer{c, false})
		}
		observers = append(observers, observer{c, true})
	}
	for pair := range pairsPerSeed {
		n.compare(t, one(r, observers...), pair)
		if t.Failed() {
			t.Fatalf("run again with %s=%d", seedVariable, seed)
		}
	}
	t.Logf("of %d pairs of calendars: %v", pairsPerSeed, n.shares)
	for _, what := range []string{"a hidden link", "a protected event", "a private venue with a position"} {
		if 100*n.shares[what] < 5*pairsPerSeed {
			t.Errorf("%s differs in %d of %d pairs, want 5 %%", what, n.shares[what], pairsPerSeed)
		}
	}
}

// compare asks an observer's requests, changes what the observer may not read, and asks them again.
func (n *interference) compare(t *testing.T, o observer, pair int) {
	t.Helper()
	before := n.world.clone()
	shown := o.shown(n.world, n.site)
	events, linked := map[*refEvent]bool{}, map[*refLinked]calendar.Kind{}
	for range 400 {
		if len(events)+len(linked) >= 8 {
			break
		}
		n.vary(o, shown, events, linked)
	}
	n.count(o, before, events, linked)
	paths := n.paths(o, before, events, linked)
	after := n.world
	n.world = before
	paths = append(paths, n.paths(o, after, events, linked)...)
	n.world = after

	was := n.replies(t, o, paths)
	for e := range events {
		n.world.rewriteEvent(t, n.api, e)
	}
	for l, kind := range linked {
		n.world.rewriteLinked(t, n.api, kind, l)
	}
	n.api.Reindex(t)
	n.api.Rewritten()
	for i, reply := range n.replies(t, o, paths) {
		if diff := cmp.Diff(was[i], reply); diff != "" {
			t.Errorf("pair %d, as %v (user %d): %s\n(-before +after):\n%s%s", pair, o, o.id, reply.path, diff,
				changes(before, n.world))
			return
		}
	}
	n.shares["requests"] += len(was)
}

// answer is what is compared of a reply.
type answer struct {
	path, by string
	status   int
	header   http.Header
	body     string
}

func (a answer) Equal(b answer) bool {
	return a.status == b.status && a.body == b.body && maps.EqualFunc(a.header, b.header, slices.Equal)
}

func (n *interference) replies(t *testing.T, o observer, paths []string) []answer {
	t.Helper()
	var out []answer
	for _, path := range paths {
		for _, by := range slices.Sorted(maps.Keys(n.asked)) {
			r := n.asked[by](t, o, path)
			r.Header.Del("X-Request-Id")
			r.Header.Del("Date")
			out = append(out, answer{path + " by " + by, by, r.Status, r.Header, string(r.Body)})
		}
	}
	return out
}

// vary changes a record at random, and takes the change back if the observer may read it.
func (n *interference) vary(
	o observer, shown map[int64]string, events map[*refEvent]bool, linked map[*refLinked]calendar.Kind,
) {
	if maybe(n.Rand, 35) {
		kind := one(n.Rand, calendar.Venue, calendar.Venue, calendar.Organizer)
		l := one(n.Rand, n.world.linked[kind]...)
		was := *l
		n.varyLinked(kind, l)
		if !maps.Equal(shown, o.shown(n.world, n.site)) {
			*l = was
		} else if !sameText(was, *l) {
			linked[l] = kind
		}
		return
	}
	e := one(n.Rand, n.world.events...)
	if maybe(n.Rand, 50) {
		// Those that are protected, and those that other authors have not published.
		for range 5 {
			if e.protected || !n.site.seen(&e.refRecord, o.refCaller, nil) {
				break
			}
			e = one(n.Rand, n.world.events...)
		}
	}
	was := *e
	for range 1 + n.IntN(3) {
		n.varyEvent(e)
	}
	if !maps.Equal(shown, o.shown(n.world, n.site)) {
		*e = was
	} else if !sameText(was, *e) {
		events[e] = true
	}
}

func sameText(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// far is a publication date that no reply lives to see.
var far = apitest.Now.AddDate(1, 0, 0)

func (n *interference) varyRecord(r *refRecord) {
	switch n.IntN(3) {
	case 0:
		if r.status != calendar.Trash && r.status != calendar.Publish {
			r.status = one(n.Rand, calendar.Draft, calendar.Pending, calendar.Private, calendar.Future)
			if r.status == calendar.Future {
				r.published = far
			}
		}
	case 1:
		r.author = one(n.Rand, n.world.callers...).id
	default:
		text := r.texts.in[r.texts.original]
		text.title, text.description = n.words(2), n.words(2)
		r.texts.in = maps.Clone(r.texts.in)
		r.texts.in[r.texts.original] = text
	}
}

func (n *interference) varyLinked(kind calendar.Kind, l *refLinked) {
	switch {
	case kind == calendar.Venue && maybe(n.Rand, 60):
		other := n.place(kind, l.id)
		l.located, l.lat, l.lng = other.located, other.lat, other.lng
	case maybe(n.Rand, 50):
		l.fields = n.place(kind, l.id).fields
	default:
		n.varyRecord(&l.refRecord)
	}
}

func (n *interference) varyEvent(e *refEvent) {
	switch n.IntN(14) {
	case 0, 1, 2:
		e.venues = n.relink(calendar.Venue, e.venues)
	case 3, 4:
		e.organizers = n.relink(calendar.Organizer, e.organizers)
	case 5:
		e.featured = !e.featured
	case 6:
		e.ticketed = !e.ticketed
	case 7:
		e.terms = nil
		for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
			for _, t := range some(n.Rand, n.world.terms[kind], n.IntN(3)) {
				e.terms = append(e.terms, t.id)
			}
		}
	case 8:
		text := e.texts.in[e.texts.original]
		text.description, text.excerpt = n.html(), n.html()
		e.texts.in = maps.Clone(e.texts.in)
		e.texts.in[e.texts.original] = text
	case 9:
		n.time(e)
	case 10:
		e.protected = !e.protected
	case 11:
		e.hidden = !e.hidden
	case 12:
		e.parent = one(n.Rand, 0, one(n.Rand, n.world.events...).id)
		if e.parent == e.id {
			e.parent = 0
		}
	default:
		n.varyRecord(&e.refRecord)
	}
}

// relink adds a link to one that is not in the trash, or takes one away. Half of what it adds has few events.
func (n *interference) relink(kind calendar.Kind, ids []int64) []int64 {
	if len(ids) > 0 && maybe(n.Rand, 40) {
		at := n.IntN(len(ids))
		return slices.Delete(slices.Clone(ids), at, at+1)
	}
	all := n.world.linked[kind]
	if maybe(n.Rand, 50) {
		all = all[len(all)/2:]
	}
	l := one(n.Rand, all...)
	if l.status == calendar.Trash || slices.Contains(ids, l.id) {
		return ids
	}
	return slices.Insert(slices.Clone(ids), n.IntN(len(ids)+1), l.id)
}

// count notes what differs between the two calendars.
func (n *interference) count(
	o observer, before *refWorld, events map[*refEvent]bool, linked map[*refLinked]calendar.Kind,
) {
	differs := map[string]bool{}
	for e := range events {
		was := before.eventOf(e.id)
		open := n.site.seen(&e.refRecord, o.refCaller, nil) && (o.knows || !n.site.redacted(e, o.refCaller))
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
	for l, kind := range linked {
		was := before.linkedOf(kind, l.id)
		switch {
		case kind == calendar.Venue && (was.located || l.located) &&
			(was.located != l.located || was.lat != l.lat || was.lng != l.lng):
			differs["a private venue with a position"] = true
		default:
			differs["a venue or organizer that others may read"] = true
		}
	}
	if len(events)+len(linked) == 0 {
		differs["nothing: all may be read"] = true
	}
	for what := range differs {
		n.shares[what]++
	}
	n.shares["as "+o.String()]++
}

// paths are requests of an observer: some at random, and others about what differs.
func (n *interference) paths(
	o observer, other *refWorld, events map[*refEvent]bool, linked map[*refLinked]calendar.Kind,
) []string {
	var out []string
	add := func(collection string, pairs ...any) {
		q := make([]string, 0, len(pairs)/2)
		for i := 0; i < len(pairs); i += 2 {
			q = append(q, fmt.Sprint(pairs[i], "=", url.QueryEscape(fmt.Sprint(pairs[i+1]))))
		}
		out = append(out, "/"+collection+"?"+strings.Join(q, "&"))
	}
	for range 6 {
		a := &asking{refMaker: n.refMaker, site: n.site, stranger: !o.knows}
		collection := one(n.Rand, "events", "events", "venues", "organizers", "categories", "tags")
		switch collection {
		case "events":
			a.events()
			if maybe(n.Rand, 50) {
				a.add("starts_after", "1990-01-01")
			}
		case "venues", "organizers":
			a.linked()
		default:
			a.terms(map[string]calendar.Kind{"categories": calendar.Category, "tags": calendar.Tag}[collection])
		}
		if maybe(n.Rand, 40) {
			a.add("page", strconv.Itoa(1+n.IntN(4)))
			a.add("per_page", strconv.Itoa(1+n.IntN(4)))
		}
		out = append(out, "/"+collection+"?"+strings.Join(a.query, "&"))
	}
	all := []any{"starts_after", "1990-01-01", "per_page", 50, "_fields", "events.id,events.venue.id,total"}
	if maybe(n.Rand, 50) {
		all = append(all, "password", map[bool]string{true: refPassword, false: "mistaken"}[o.knows])
	}
	near := func(l *refLinked) {
		if l.located {
			add("events", append(all, "geoloc_lat", l.lat, "geoloc_lng", l.lng, "geoloc_radius", 1)...)
		}
	}
	for e := range events {
		was := other.eventOf(e.id)
		filters := [][]any{{"featured", 0}, {"featured", 1}, {"ticketed", 0}, {"ticketed", 1}, {"geoloc", 0}, {"geoloc", 1}}
		for _, v := range slices.Concat(e.venues, was.venues) {
			filters = append(filters, []any{"venue", v})
		}
		for _, o := range slices.Concat(e.organizers, was.organizers) {
			filters = append(filters, []any{"organizer", o})
		}
		for _, t := range slices.Concat(e.terms, was.terms) {
			if slices.ContainsFunc(n.world.terms[calendar.Tag], func(tag *refTerm) bool { return tag.id == t }) {
				filters = append(filters, []any{"tags", t})
			} else {
				filters = append(filters, []any{"categories", t})
			}
		}
		for _, text := range []refText{e.texts.in[e.texts.original], was.texts.in[e.texts.original]} {
			for _, word := range refWords(refPlain(text.title + " " + text.description)) {
				filters = append(filters, []any{"search", word})
			}
		}
		for _, f := range some(n.Rand, filters, 5) {
			if maybe(n.Rand, 50) {
				f = append(f, "include", e.id)
			}
			add("events", append(slices.Clone(all), f...)...)
		}
		for _, id := range some(n.Rand, slices.Concat(e.venues, was.venues), 1) {
			near(n.world.linkedOf(calendar.Venue, id))
		}
		switch n.IntN(3) {
		case 0:
			add("events", append(all, "post_parent", one(n.Rand, e.id, e.parent, was.parent))...)
		case 1:
			add("events", append(all, "status", one(n.Rand, calendar.Statuses...))...)
		default:
			add("events/"+strconv.FormatInt(e.id, 10), "password", map[bool]string{true: refPassword}[o.knows])
		}
		for _, collection := range []string{"venues", "organizers"} {
			f := one(n.Rand, []any{"event", e.id}, []any{"has_events", 0}, []any{"has_events", 1}, []any{"only_with_upcoming", 1})
			add(collection, append(f, "per_page", 50, "_fields", collection+".id,total")...)
		}
		add(one(n.Rand, "categories", "tags"), one(n.Rand, "event", "post"), e.id, "hide_empty", n.IntN(2), "per_page", 50)
	}
	for l, kind := range linked {
		collection := string(kind) + "s"
		if kind == calendar.Venue {
			near(l)
			near(other.linkedOf(kind, l.id))
			add("events", append(all, "geoloc", n.IntN(2))...)
		}
		add("events", append(all, string(kind), l.id)...)
		for _, value := range some(n.Rand, slices.Sorted(maps.Values(l.fields)), 1) {
			add(collection, "search", value, "per_page", 50)
		}
		if status := one(n.Rand, calendar.Statuses...); maybe(n.Rand, 30) {
			add(collection, "has_events", n.IntN(2), "status", status, "per_page", 50)
		}
		if maybe(n.Rand, 30) {
			add(collection + "/" + strconv.FormatInt(l.id, 10))
		}
	}
	return out
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
		SetFeatured(e.featured).SetTicketed(e.ticketed).ClearParentID().ClearPasswordHash()
	if e.author != 0 {
		update.SetAuthorID(e.author)
	}
	if e.parent != 0 {
		update.SetParentID(e.parent)
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
