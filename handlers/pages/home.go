package pages

import (
	"errors"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/web"
)

// homePage answers with the home page: events of today and the next ones.
func (r *request) homePage() (*Reply, error) {
	m := &web.HomePage{Heading: r.words.Home}
	if name := r.SiteName(); name != "" {
		m.Heading = name
	}
	r.ExpireBy(r.Tomorrow())
	today := r.today()
	m.Date = r.dates.full(today)
	all := &query.Events{
		Now: r.Now, Language: r.Language, Visible: read.VisibleTo(r.Caller, nil), Places: read.VisibleTo(r.Caller, nil), Readable: r.ReadableEvents(nil),
	}
	if err := r.expireByNextEnd(); err != nil {
		return nil, err
	}
	now, tomorrow := r.Now, r.Tomorrow()
	lastSecond := tomorrow.Add(-time.Second)
	find := func(w query.Window, limit int, conditions ...query.Condition) (query.Page, error) {
		one := *all
		one.Window, one.Conditions = w, conditions
		return r.FindEvents(&one, 0, limit)
	}
	featured, err := r.featuredNext(all)
	if err != nil {
		return nil, err
	}
	on, err := find(query.Window{EndMin: &now, StartMax: &lastSecond, StartMin: new(r.Zone().Instant(today))}, 7)
	if err != nil {
		return nil, err
	}
	if len(on.IDs) < 4 {
		// Since few events begin today, ongoing events are shown as well.
		if on, err = find(query.Window{EndMin: &now, StartMax: &lastSecond}, 7); err != nil {
			return nil, err
		}
	}
	all.Series.First = true // only the next occurrence of each series
	next, err := find(query.Window{StartMin: &tomorrow}, 13)
	if err != nil {
		return nil, err
	}
	shown := map[int64]bool{}
	if len(featured.IDs) > 0 {
		items, err := r.items(featured, cardItem, noLinkedData)
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			// The lead event should have a picture, if one of the events has one.
			lead := items[max(0, slices.IndexFunc(items, func(item pageItem) bool { return item.pictured }))]
			shown[lead.id], m.Lead = true, lead.body
		}
	}
	for _, part := range []struct {
		page  query.Page
		limit int
		into  *[]template.HTML
	}{{on, 6, &m.Today}, {next, 12, &m.Upcoming}} {
		items, err := r.items(withoutField(part.page, shown, part.limit), cardItem, noLinkedData)
		if err != nil {
			return nil, err
		}
		*part.into = itemBodies(items)
	}
	if m.Lead == "" && len(m.Today)+len(m.Upcoming) == 0 {
		m.Empty = &web.Empty{Title: r.words.NothingTitle, Text: r.words.NothingHere}
	}
	rows, depth, err := r.categoryTree()
	if err != nil {
		return nil, err
	}
	for _, t := range rows {
		if !r.pages.servesTerms(calendar.Category) || depth[t.ID] > 0 || t.EventCount == 0 && len(m.Categories) > 24 {
			continue
		}
		text := r.View().Text(t)
		p := r.newPagePath(address.ViewList)
		p.Taxonomy, p.Slugs = calendar.Category, []string{calendar.DecodedSlug(text.Slug)}
		link := web.Link{Text: text.Title, Href: r.href(p, nil), Lang: r.foreignLanguage(string(text.Language)), Colour: termColour(t.ID)}
		m.Categories = append(m.Categories, link)
	}
	m.UpcomingHref = r.href(r.newPagePath(address.ViewDefault), nil)
	if r.pages.servesView(address.ViewDay) {
		m.TodayHref = r.href(r.newPagePath(address.ViewDay), nil)
	}
	if r.PageSettings.Pages.Docs {
		m.Developers = r.pages.prefix + r.Root.Segment + "/developers/"
	}
	m.Subscribe = r.subscribe(r.words.AllEvents, nil)
	m.Frame = r.frame(frameInput{
		kind: "home", title: m.Heading, description: r.words.Lead, index: true, feed: []web.Field{}, api: "/events",
	})
	return r.reply(http.StatusOK, "home", &m.Frame, m)
}

// featuredNext returns the next five featured events at most. The reply expires when the first of them has
// started.
func (r *request) featuredNext(all *query.Events) (query.Page, error) {
	one := *all
	column, err := columnNamed("featured")
	if err != nil {
		return query.Page{}, err
	}
	from := r.Now
	one.Window, one.Conditions = query.Window{StartMin: &from}, []query.Condition{{Column: column, Flag: true}}
	one.Spans = true
	page, err := r.FindEvents(&one, 0, 5)
	if err != nil {
		return page, err
	}
	return page, r.expireByStart(page)
}

// expireByStart makes the reply expire when the first event of the page has started. The page is in order of
// starts.
func (r *request) expireByStart(page query.Page) error {
	page, err := r.withSpans(page)
	if err == nil && len(page.Spans) > 0 {
		r.ExpireBy(time.Unix(page.Spans[0].Starts+1, 0).UTC())
	}
	return err
}

// columnNamed returns the filter column with a name, or an error if there is none.
func columnNamed(name string) (*query.Column, error) {
	columns := read.EventColumns()
	at := slices.IndexFunc(columns, func(c *query.Column) bool { return c.Name == name })
	if at < 0 {
		return nil, errors.New("there is no filter " + name)
	}
	return columns[at], nil
}

// withoutField returns a page without the events in ids, and with at most limit events. Its total stays the
// same.
func withoutField(page query.Page, ids map[int64]bool, limit int) query.Page {
	out := query.Page{Total: page.Total}
	for i, id := range page.IDs {
		if ids[id] || len(out.IDs) == limit {
			continue
		}
		out.IDs = append(out.IDs, id)
		if page.Changed != nil {
			out.Changed = append(out.Changed, page.Changed[i])
		}
	}
	return out
}
