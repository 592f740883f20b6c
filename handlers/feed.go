package handlers

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
)

// Sizes of feeds (contract, section 20).
const (
	feedSize     = 750
	maxFeedSize  = 2000
	newsSize     = 50
	pastMonths   = 2
	futureMonths = 24
)

// feedQuery is what a feed may be asked: a list of events, and a month or a day that it is narrowed to.
type feedQuery struct {
	eventQuery
	month, day *calendar.Wall // the first moment
	since      time.Time      // when the default window moved last; zero: it does not apply
	began      time.Time      // since when dates that depend on the time are the same ones; zero: there are none
}

func (r *request) declareFeed(p *param.Set, q *feedQuery) {
	q.endless = true
	param.Default(p.Int(&q.page, "page", "Page of the list"), &q.page, 1).Between(1, nil).NoLink()
	param.Default(p.Int(&q.perPage, "per_page", "Events on a page"), &q.perPage, feedSize).Between(1, maxFeedSize)
	r.declareFeedFilters(p, q)
}

func (r *request) declareNews(p *param.Set, q *feedQuery) {
	q.endless = true
	q.paging = paging{1, newsSize}
	r.declareFeedFilters(p, q)
}

func (r *request) declareFeedFilters(p *param.Set, q *feedQuery) {
	var refused *string
	refuse := func(name string) {
		p.OptString(&refused, name, "Refused: feeds show what everybody sees").Hide().NoLink().
			Check(func(context.Context) *param.Fault { return param.Bad() })
	}
	for i := range eventFilters {
		switch f := &eventFilters[i]; {
		case f.secret:
			refuse("status")
		case f.written != nil:
			f.written(&q.eventQuery, r, p)
		default:
			q.declareColumn(r, p, &f.Column)
		}
	}
	refuse("password")
	period := func(layout string) func(any) (calendar.Wall, *param.Fault) {
		return func(raw any) (calendar.Wall, *param.Fault) {
			text, fault := param.String(raw)
			first, ok := pageDate(layout, text)
			if fault != nil || !ok {
				return calendar.Wall{}, param.Bad()
			}
			return first, nil
		}
	}
	param.Opt(p, &q.month, "month", "Events of this month, such as 2026-12", "string", period("2006-01")).Link(linkedText(p, "month"))
	param.Opt(p, &q.day, "day", "Events of this day, such as 2026-12-05", "string", period(time.DateOnly)).Link(linkedText(p, "day"))
	r.declareLanguage(p)
}

// linkedText repeats a parameter in links as it was sent. If it was sent several times, the last one counts.
func linkedText(p *param.Set, name string) func() string {
	return func() string {
		raw, ok := p.Raw(name)
		text, fault := param.String(raw)
		if !ok || fault != nil {
			return ""
		}
		return text
	}
}

// asksForDates reports whether a parameter says which dates the feed is of.
func (q *feedQuery) asksForDates() bool {
	return q.relative() || q.StartDate != nil || q.EndDate != nil || q.month != nil || q.day != nil || q.Include != nil
}

// list returns the query of a list of events for subscribers, with its default window (contract, section 20).
func (q *feedQuery) list(r *request) (*query.Events, error) {
	e, err := q.periodOf(r)
	r.holdsUntil(r.yearEnds())
	if err != nil || q.Include != nil || q.relative() || q.month != nil || q.day != nil {
		return e, err
	}
	zone := r.zone()
	year, month, _ := zone.Wall(r.now).Date()
	first := func(months int) time.Time {
		return zone.Instant(calendar.WallAt(year, month+time.Month(months), 1, 0, 0, 0))
	}
	q.since = first(0)
	r.holdsUntil(first(1))
	if q.StartDate == nil {
		e.Window.EndMin = new(first(-pastMonths))
	}
	if q.EndDate == nil {
		e.Window.StartMax = new(first(futureMonths + 1).Add(-time.Second))
	}
	return e, nil
}

// periodOf returns the query of a list of events without a default window. A month and a day narrow the dates that are asked
// for.
func (q *feedQuery) periodOf(r *request) (*query.Events, error) {
	if q.limitValidity(r); !r.until.IsZero() {
		q.began = r.now // the dates asked for move, or the page is that of the present month or day
	}
	e, err := q.events(r)
	if err != nil {
		return nil, err
	}
	for _, p := range []struct {
		first        *calendar.Wall
		months, days int
	}{{q.month, 1, 0}, {q.day, 0, 1}} {
		if p.first != nil {
			e.Periods = append(e.Periods, query.PeriodOf(r.zone(), *p.first, p.first.AddDate(0, p.months, p.days)))
		}
	}
	return e, nil
}

// listCalendar answers /events.ics.
func (r *request) listCalendar(q *feedQuery) (*reply, error) {
	e, err := q.list(r)
	if err != nil {
		return nil, err
	}
	// The entry before the page is where its withdrawn events begin. It is found together with the page.
	offset, limit := q.span()
	before := min(offset, 1)
	page, err := r.findEvents(e, offset-before, limit+before)
	if err != nil {
		return nil, err
	}
	r.depends.complete, r.depends.found = r.depends.find != nil && q.repeatable(), page
	shown := page
	shown.IDs = page.IDs[min(before, len(page.IDs)):]
	if page.Changed != nil {
		shown.Changed = page.Changed[min(before, len(page.Changed)):]
	}
	if q.page > 1 && len(shown.IDs) == 0 {
		return nil, &calendar.Error{Code: "event-archive-page-not-found", Key: "event-archive-page-not-found"}
	}
	bounds, err := r.boundsOf(page, before, offset+len(shown.IDs) >= page.Total)
	if err != nil {
		return nil, err
	}
	about, err := r.about(q, eventsICS, 1)
	if err != nil {
		return nil, err
	}
	parts, err := r.calendarParts(about, shown)
	if err != nil {
		return nil, err
	}
	withdrawn, err := r.withdrawnParts(about, e, bounds)
	if err != nil {
		return nil, err
	}
	about.Self = r.feedAddress(eventsICS)(q.page)
	_, _, header := q.links(r.feedAddress(eventsICS), page.Total)
	parts = append(parts, withdrawn...)
	last, err := r.lastModified(latestPart(parts), q.since, r.yearBegan(), q.began)
	if err != nil {
		return nil, err
	}
	return r.feedReply(&calendarFile{about, parts}, last, "inline", "", header...), nil
}

// calendarFile is iCalendar.
type calendarFile struct {
	about *feed.Feed
	parts []feed.Part
}

// boundsOf returns which withdrawn events stand on a page whose first ids are those of the entries before it. The last page
// has no end.
func (r *request) boundsOf(page query.Page, before int, isLast bool) (b query.WithdrawnPart, err error) {
	var ids []int64
	if before > 0 && len(page.IDs) > 0 {
		ids = append(ids, page.IDs[0])
	}
	if !isLast && len(page.IDs) > 0 {
		ids = append(ids, page.IDs[len(page.IDs)-1])
	}
	if ids == nil {
		return b, nil
	}
	rows, err := r.db.Event.Query().Where(event.IDIn(ids...)).Select(event.FieldID, event.FieldStartsAt).All(r.ctx)
	if err != nil {
		return b, fmt.Errorf("bounds of a page: %w", err)
	}
	for _, row := range rows {
		at := &query.Position{Start: row.StartsAt, ID: row.ID}
		if before > 0 && row.ID == page.IDs[0] {
			b.After = at
		}
		if !isLast && row.ID == page.IDs[len(page.IDs)-1] {
			b.Last = at
		}
	}
	return b, nil
}

// calendarParts returns the entries of a page, from the cache or from their rows. It leaves out events that are not public any
// more.
func (r *request) calendarParts(about *feed.Feed, page query.Page) ([]feed.Part, error) {
	entries := make(map[int64]*feedEvent)
	bodies, err := render(r, page, rendering[*ent.Event]{
		kind: calendar.Event,
		read: func(ids []int64) ([]*ent.Event, error) {
			clear(entries)
			return r.feedEvents(ids, entries)
		},
		value: func(e *ent.Event) (any, bool) {
			one := entries[e.ID]
			return &calendarEntry{about, &one.entry}, !one.hasParent
		},
		parts: func(e *ent.Event) []ent.Core { return entries[e.ID].parts },
		until: r.yearEnds(),
	})
	if err != nil {
		return nil, err
	}
	parts := make([]feed.Part, len(bodies))
	for i, body := range bodies {
		if parts[i], err = decodePart(body); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// yearEnds returns when the rules of zones may be others.
func (r *request) yearEnds() time.Time {
	year, _, _ := r.zone().Wall(r.now).Date()
	return r.zone().Instant(calendar.WallAt(year+1, 1, 1, 0, 0, 0))
}

// feedEvent is an event as feeds show it, with the records whose dates decide how long it is right.
type feedEvent struct {
	entry     feed.Entry
	parts     []ent.Core
	hasParent bool
}

// feedEvents reads public events with what feeds show of them, and adds them to entries.
func (r *request) feedEvents(ids []int64, entries map[int64]*feedEvent) ([]*ent.Event, error) {
	var out []*ent.Event
	for some := range slices.Chunk(ids, ent.MaxRead) {
		rows, err := r.db.ReadEvents(r.ctx, some)
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(rows, func(e *ent.Event) bool {
			return e.Status.Shown(r.now, e.PublishedAt) != calendar.Publish
		})
		page, err := r.db.ReadEventLinks(r.ctx, rows)
		if err != nil {
			return nil, err
		}
		page.Events = rows
		if err := r.translate(page); err != nil {
			return nil, err
		}
		if err := r.addEntries(rows, entries); err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

func (r *request) addEntries(rows []*ent.Event, entries map[int64]*feedEvent) error {
	related, err := r.relatedRecords(rows)
	if err != nil {
		return err
	}
	v := r.view()
	characters := 0
	if r.codec.mediaType == calendarCodec.mediaType {
		characters = feed.MostText
	}
	for _, e := range rows {
		entry, err := v.Entry(e, r.protected(e, ""), characters)
		if err != nil {
			return fmt.Errorf("event %d: %w", e.ID, err)
		}
		entry.UID, entry.Sequence = feed.UID(r.h.FeedKey, e.ID), int(edit.Sequence(e, r.now))
		one := &feedEvent{entry: entry, parts: r.partsOfEvent(e)}
		public := func(id int64) bool {
			to, ok := related[id]
			if ok {
				one.parts = append(one.parts, to)
			}
			return ok && to.Status.Shown(r.now, to.PublishedAt) == calendar.Publish
		}
		switch {
		case e.SeriesID != nil && public(*e.SeriesID):
			one.entry.Related = feed.SeriesUID(r.h.FeedKey, *e.SeriesID)
		case e.ParentID != nil:
			one.hasParent = true
			r.dependsOn(calendar.Event, *e.ParentID)
			if public(*e.ParentID) {
				one.entry.Related = feed.UID(r.h.FeedKey, *e.ParentID)
			}
		}
		entries[e.ID] = one
	}
	return nil
}

// relatedRecords returns the series and the parents of events by their ids, which are of one sequence.
func (r *request) relatedRecords(rows []*ent.Event) (map[int64]ent.Core, error) {
	var recurring, parents []int64
	for _, e := range rows {
		if e.SeriesID != nil {
			recurring = append(recurring, *e.SeriesID)
		}
		if e.ParentID != nil {
			parents = append(parents, *e.ParentID)
		}
	}
	out := make(map[int64]ent.Core)
	if recurring != nil {
		found, err := r.db.Series.Query().Where(series.IDIn(recurring...)).
			Select(series.FieldID, series.FieldStatus, series.FieldPublishedAt).All(r.ctx)
		if err != nil {
			return nil, fmt.Errorf("series of events: %w", err)
		}
		for _, s := range found {
			out[s.ID] = ent.Core{ID: s.ID, Kind: calendar.Series, Status: s.Status, PublishedAt: s.PublishedAt}
		}
	}
	if parents != nil {
		found, err := r.db.Event.Query().Where(event.IDIn(parents...)).
			Select(event.FieldID, event.FieldStatus, event.FieldPublishedAt).All(r.ctx)
		if err != nil {
			return nil, fmt.Errorf("parents of events: %w", err)
		}
		for _, e := range found {
			out[e.ID] = e.Core()
		}
	}
	return out, nil
}

// withdrawnParts returns the withdrawn events of a page.
func (r *request) withdrawnParts(about *feed.Feed, e *query.Events, b query.WithdrawnPart) ([]feed.Part, error) {
	found, err := r.withdrawn(e, b)
	if err != nil {
		return nil, err
	}
	parts := make([]feed.Part, len(found))
	for i, w := range found {
		entry, err := r.withdrawnEntry(w)
		if err != nil {
			return nil, err
		}
		parts[i] = about.Part(&entry)
	}
	return parts, nil
}

// withdrawn looks up withdrawn events, and notes that the reply depends on them.
func (r *request) withdrawn(e *query.Events, part query.WithdrawnPart) ([]query.Withdrawal, error) {
	if !e.TellsOfWithdrawn() {
		return nil, nil
	}
	engine := query.Database{Ent: r.db}
	find := func(ctx context.Context, now time.Time) ([]query.Withdrawal, error) {
		again := *e
		again.Now = now
		return engine.FindWithdrawn(ctx, &again, part)
	}
	found, err := find(r.ctx, r.now)
	if err != nil {
		return nil, fmt.Errorf("withdrawn events: %w", err)
	}
	type version struct{ id, at, sequence int64 }
	versions := func(list []query.Withdrawal) (out []version) {
		for _, w := range list {
			out = append(out, version{w.ID, w.At.Unix(), w.Sequence})
		}
		return out
	}
	shown := versions(found)
	r.depends.withdrawn = func(ctx context.Context, now time.Time) (bool, error) {
		list, err := find(ctx, now)
		return err == nil && slices.Equal(versions(list), shown), err
	}
	for _, w := range found {
		r.holdsUntil(w.At.Add(query.WithdrawalTime))
	}
	return found, nil
}

func (r *request) withdrawnEntry(w query.Withdrawal) (feed.Entry, error) {
	zone, err := calendar.ParseZone(w.Timezone)
	if err != nil {
		return feed.Entry{}, fmt.Errorf("withdrawn event %d: %w", w.ID, err)
	}
	return feed.Entry{
		ID: w.ID, UID: feed.UID(r.h.FeedKey, w.ID), Sequence: int(w.Sequence), Stamp: w.At, Withdrawn: true,
		Start: w.StartsAt, End: w.EndsAt, StartWall: w.StartWall, EndWall: w.EndWall, Zone: zone, AllDay: w.AllDay,
	}, nil
}

// oneCalendar answers /event/{slug}.ics.
func (r *request) oneCalendar(q *target) (*reply, error) {
	path := "/event/" + url.PathEscape(q.Slug) + icsSuffix
	about := r.newFeed(r.h.Site.Name)
	about.Import, about.Self = true, r.feedAddress(path)(1)
	var entry feed.Entry
	one, w, err := r.eventBySlug(q.Slug)
	switch {
	case err != nil:
		return nil, err
	case one != nil:
		r.dependsOn(calendar.Event, one.entry.ID)
		r.depends.complete = true
		r.holdsUntil(r.yearEnds())
		for _, part := range one.parts {
			if part.Status == calendar.Future && part.PublishedAt.After(r.now) {
				r.holdsUntil(part.PublishedAt)
			}
		}
		entry, about.Page = one.entry, one.entry.URL
	case w != nil:
		if entry, err = r.withdrawnEntry(*w); err != nil {
			return nil, err
		}
		r.holdsUntil(w.At.Add(query.WithdrawalTime))
	default:
		return nil, eventNotFound(q.Slug)
	}
	parts := []feed.Part{about.Part(&entry)}
	last, err := r.lastModified(entry.Stamp, r.yearBegan())
	if err != nil {
		return nil, err
	}
	return r.feedReply(&calendarFile{about, parts}, last, "attachment", calendar.SlugKey(q.Slug)), nil
}

// eventBySlug returns the public event that has a slug, else the withdrawn one that had it. Both are nil if there is none.
func (r *request) eventBySlug(slug string) (*feedEvent, *query.Withdrawal, error) {
	slug = calendar.SlugKey(slug)
	id, err := r.ownerBySlug(calendar.Event, slug)
	if err != nil {
		return nil, nil, err
	}
	entries := make(map[int64]*feedEvent)
	if id != 0 {
		if _, err := r.feedEvents([]int64{id}, entries); err != nil {
			return nil, nil, err
		}
	}
	if one := entries[id]; one != nil {
		return one, nil, nil
	}
	w, err := query.Database{Ent: r.db}.WithdrawnBySlug(r.ctx, slug, r.now)
	if err != nil {
		return nil, nil, fmt.Errorf("withdrawn event: %w", err)
	}
	return nil, w, nil
}

// eventNotFound names an event as it was asked for.
func eventNotFound(sent string) error {
	return &calendar.Error{Code: "rest-event-not-found", Key: "rest-event-not-found", Args: map[string]any{"ID": sent}}
}

func (r *request) declareOneCalendar(p *param.Set, q *target) {
	p.PathString(&q.Slug, "slug", "Slug of the event")
	r.declareLanguage(p)
}

// news is a feed of what is new or changed.
type news struct {
	about   *feed.Feed
	entries []feed.Entry
}

// listNews returns the handler of a feed of what is new or changed.
func listNews(path string) func(*request, *feedQuery) (*reply, error) {
	return func(r *request, q *feedQuery) (*reply, error) { return r.listNews(q, path) }
}

func (r *request) listNews(q *feedQuery, path string) (*reply, error) {
	e, err := q.periodOf(r)
	if err != nil {
		return nil, err
	}
	ending, deleted := !q.asksForDates(), *e
	if ending {
		e.Window.EndMin = new(r.now.Add(time.Second))
	}
	if e.Series.IDs == nil && !e.Series.None {
		e.Series.First = true
	}
	page, err := r.findEvents(e, 0, query.FewEvents)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	if page.Total == 0 {
		page.IDs = []int64{}
	} else if page.Total > query.FewEvents {
		page.IDs = nil
	}
	// An event that ends leaves the list or, of a series, makes room for the next occurrence.
	ids, next, err := query.Database{Ent: r.db}.LatestEvents(r.ctx, e, page.IDs, newsSize)
	if err != nil {
		return nil, fmt.Errorf("latest events: %w", err)
	}
	if ending && !next.IsZero() {
		r.holdsUntil(next)
	}
	out := &news{}
	if out.entries, err = r.latestEntries(ids); err != nil {
		return nil, err
	}
	if path == eventsAtom {
		withdrawn, err := r.withdrawn(&deleted, query.WithdrawnPart{Upcoming: ending, Limit: newsSize})
		if err != nil {
			return nil, err
		}
		for _, w := range withdrawn {
			entry, err := r.withdrawnEntry(w)
			if err != nil {
				return nil, err
			}
			out.entries = append(out.entries, entry)
		}
	}
	changed := []time.Time{q.began}
	if ending {
		changed = append(changed, r.now) // which event has left last is not known
	}
	for i := range out.entries {
		changed = append(changed, out.entries[i].Stamp)
	}
	last, err := r.lastModified(changed...)
	if err != nil {
		return nil, err
	}
	if out.about, err = r.about(q, path, 1); err != nil {
		return nil, err
	}
	return r.feedReply(out, last, "inline", ""), nil
}

// latestEntries returns those of some events that changed last, newest first. No more are in memory than that, and than one call
// reads.
func (r *request) latestEntries(ids []int64) ([]feed.Entry, error) {
	var out []feed.Entry
	for some := range slices.Chunk(ids, ent.MaxRead) {
		entries := make(map[int64]*feedEvent, len(some))
		if _, err := r.feedEvents(some, entries); err != nil {
			return nil, err
		}
		for _, one := range entries {
			out = append(out, one.entry)
		}
		slices.SortFunc(out, func(a, b feed.Entry) int { return cmp.Or(b.Stamp.Compare(a.Stamp), cmp.Compare(b.ID, a.ID)) })
		out = slices.Clip(slices.Delete(out, min(len(out), newsSize), len(out)))
	}
	return out, nil
}

func (r *request) newFeed(name string) *feed.Feed {
	year, _, _ := r.zone().Wall(r.now).Date()
	return &feed.Feed{
		Name: name, Language: r.lang, Zone: r.zone(), Words: r.h.Words, Year: year, Outlook: r.outlook,
	}
}

// about returns what a feed says of itself.
func (r *request) about(q *feedQuery, path string, page int64) (*feed.Feed, error) {
	name, err := q.name(r)
	if err != nil {
		return nil, err
	}
	f := r.newFeed(name)
	f.Self, f.Page = r.feedAddress(path)(page), r.pageAddress(q)
	return f, nil
}

// name is that of the site, with that of the one term, venue or organizer that the feed is of.
func (q *feedQuery) name(r *request) (string, error) {
	site := r.h.Site.Name
	var one *query.Condition
	for i := range q.conditions {
		c := &q.conditions[i]
		switch {
		case c.Column.Kind != query.TermKind && c.Column.Kind != query.LinkKind:
			continue
		case one != nil, c.Column.Kind == query.TermKind && len(c.Words) != 1, c.Column.Kind == query.LinkKind && len(c.IDs) != 1:
			return site, nil
		}
		one = c
	}
	if one == nil {
		return site, nil
	}
	var page ent.Page
	var err error
	var row ent.Row
	ids := one.IDs[:1] // of a category, those below it follow
	switch one.Column.LinksTo {
	case calendar.Venue:
		page.Venues, err = r.db.ReadVenues(r.ctx, ids)
		for _, v := range page.Venues {
			row = v
		}
	case calendar.Organizer:
		page.Organizers, err = r.db.ReadOrganizers(r.ctx, ids)
		for _, o := range page.Organizers {
			row = o
		}
	default:
		page.Terms, err = r.db.ReadTerms(r.ctx, ids)
		for _, t := range page.Terms {
			row = t
		}
	}
	if err != nil || row == nil {
		return site, err
	}
	if err := r.translate(page); err != nil {
		return "", err
	}
	return site + " – " + r.view().Text(row).Title, nil
}

// feedAddress returns the address of each page of a feed. It has the parameters as they were sent.
func (r *request) feedAddress(path string) func(page int64) string {
	base := r.h.Site.BaseURL + r.root.Segment + path
	pairs := encodePairs(r.params.Links())
	return func(page int64) string {
		text := pairs
		if page > 1 {
			text = joinQuery(text, "page="+strconv.FormatInt(page, 10))
		}
		if text == "" {
			return base
		}
		return base + "?" + text
	}
}

// pageAddress returns the address of the page that lists the events of a feed.
func (r *request) pageAddress(q *feedQuery) string {
	page := pagePath{Language: r.root.Language(), View: viewDefault}
	switch {
	case q.day != nil:
		page.View, page.Date = viewDay, *q.day
	case q.month != nil:
		page.View, page.Date = viewMonth, *q.month
	}
	pairs := slices.DeleteFunc(r.params.Links(), func(p param.Pair) bool {
		return p.Name == "per_page" || p.Name == "month" || p.Name == "day"
	})
	address := r.h.Site.BaseURL + page.path()
	if text := encodePairs(pairs); text != "" {
		address += "?" + text
	}
	return address
}

func encodePairs(pairs []param.Pair) (text string) {
	for _, p := range pairs {
		text = joinQuery(text, url.QueryEscape(p.Name)+"="+url.QueryEscape(p.Value))
	}
	return text
}

func joinQuery(a, b string) string {
	if a == "" {
		return b
	}
	return a + "&" + b
}

// feedReply answers with a feed. name is that of the file without its extension; "" means that of the site.
func (r *request) feedReply(body any, last time.Time, disposition, name string, header ...[2]string) *reply {
	header = append(header, [2]string{"X-Robots-Tag", "noindex"})
	if !last.IsZero() {
		header = append(header, [2]string{"Last-Modified", last.UTC().Format(http.TimeFormat)})
	}
	if _, ok := body.(*calendarFile); ok {
		if name == "" {
			name = calendar.Slug(r.h.Site.Name)
		}
		if name == "" {
			name = "events"
		}
		header = append(header, [2]string{"Content-Disposition", disposition + `; filename="` + fileName(name) + `.ics"`})
	}
	if r.located {
		header = append(header, [2]string{"Content-Location", selfOf(body)})
	}
	return &reply{status: http.StatusOK, body: body, header: header}
}

// fileName keeps what is safe in the name of a file and in a quoted string.
func fileName(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			return c
		}
		return '-'
	}, text)
}

func selfOf(body any) string {
	switch body := body.(type) {
	case *calendarFile:
		return body.about.Self
	case *news:
		return body.about.Self
	}
	return ""
}

func latestPart(parts []feed.Part) (last time.Time) {
	for i := range parts {
		if parts[i].Stamp.After(last) {
			last = parts[i].Stamp
		}
	}
	return last
}
