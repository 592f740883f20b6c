package handlers

import (
	"cmp"
	"context"
	"errors"
	"html"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/web"
)

// applyAliases gives parameters of the original the names that they have here: tribe-bar-search is search, tribe-bar-date
// the day or month to show. In lists it is start_date. The page's own dates win.
func (r *pageRequest) applyAliases() error {
	if text := sentText(r.values["tribe-bar-search"]); text != "" && r.values["search"] == nil {
		r.values["search"] = text
	}
	text := sentText(r.values["tribe-bar-date"])
	delete(r.values, "tribe-bar-search")
	delete(r.values, "tribe-bar-date")
	if text == "" {
		return nil
	}
	switch r.path.View {
	case viewMonth, viewDay:
		if !r.path.Date.IsZero() {
			return nil
		}
		if month, ok := pageMonth(text); ok && r.path.View == viewMonth {
			r.path.Date = month
			return nil
		}
		date, err := when.Parse(text, r.now, r.zone())
		if err != nil {
			fault := *param.Bad()
			fault.Param = "tribe-bar-date"
			return param.Invalid{Faults: []param.Fault{fault}}
		}
		if date.Relative() {
			r.holdsUntil(r.tomorrow())
		}
		day := dayOf(date, r.zone())
		if !ofPages(day) {
			return errNoPage
		}
		r.path.Date = day
		if r.path.View == viewMonth {
			r.path.Date = startOfMonth(day)
		}
	default:
		if r.values["start_date"] == nil {
			r.values["start_date"] = text
		}
	}
	return nil
}

// prepared is a list that was asked for, as far as all lists are alike.
type prepared struct {
	asked  *eventQuery
	events *query.Events // nil: a parameter is invalid
	form   *web.Filter
	status int
}

// prepare reads the parameters of a list. A parameter that is invalid is a fault at its field, and there are no events.
func (r *pageRequest) prepare(dates bool) (*prepared, error) {
	out := &prepared{status: http.StatusOK}
	err := r.applyAliases()
	if err == nil {
		out.asked, err = r.parse()
	}
	var invalid param.Invalid
	if errors.As(err, &invalid) {
		out.status = http.StatusBadRequest
	} else if err != nil {
		return nil, err
	}
	if out.form, err = r.filterForm(dates); err != nil {
		return nil, err
	}
	if out.status == http.StatusBadRequest {
		out.form.Faults, out.form.Open = r.faults(invalid, "search", "start_date", "end_date", "categories"), true
		return out, nil
	}
	out.asked.limitValidity(r.request)
	out.events, err = out.asked.events(r.request)
	return out, err
}

// listPage answers a list: of what has not ended, by start, or of what has ended, by end.
func (r *pageRequest) listPage() (*PageReply, error) {
	p, err := r.prepare(true)
	if err != nil {
		return nil, err
	}
	m := &web.ListPage{Filter: p.form}
	if len(r.terms) == 0 && !r.path.Past && r.path.Page <= 1 && len(r.filters()) == 0 {
		if m.About, err = r.prose(markup.Paragraphs(r.h.PageSettings.About[r.lang])); err != nil {
			return nil, err
		}
	}
	var list eventList
	if p.events != nil {
		if list, err = r.findList(p.events, p.asked, r.path.Past); err != nil {
			return nil, err
		}
	}
	title := r.words.UpcomingEvents
	if r.path.Past {
		title = r.words.PastEvents
	}
	description := r.words.DescList
	if r.path.Past {
		description = r.words.DescPast
	}
	m.Heading = title
	f := frameOf{
		kind: "list-page", current: viewList, filters: r.filters(), feed: r.feedFilters(),
		index: p.events != nil && !r.path.Past && len(r.filters()) == 0,
	}
	if err := r.describeTerm(m, &f, &title, &description); err != nil {
		return nil, err
	}
	r.setAPIRoot()
	name := title
	if r.path.Past && len(r.terms) > 0 {
		title, m.Heading = title+" – "+r.words.PastEvents, m.Heading+" – "+r.words.PastEvents
		description = title
	}
	if r.path.Featured {
		title, m.Heading = title+" – "+r.words.Featured, m.Heading+" – "+r.words.Featured
		description = title
	}
	if p.events != nil {
		if err := r.fillList(m, list, &f); err != nil {
			return nil, err
		}
	}
	if p.events != nil && list.Total == 0 && m.Empty == nil {
		if m.Empty, err = r.emptyList(p.events); err != nil {
			return nil, err
		}
		f.index = f.index && len(r.terms) == 0
	}
	if p.events != nil {
		m.Count = r.pluralOf(r.words.EventsCount, list.Total)
	}
	f.title, f.description = title, description
	if r.path.Page > 1 {
		f.title += ", " + strings.ReplaceAll(r.words.PageNumber, "{n}", strconv.Itoa(r.path.Page))
	}
	f.api = "/events" + encode(append(append(r.filters(), r.scopeFilters()...), r.pastFilter()...))
	m.Frame = r.frame(f)
	m.Subscribe = r.subscribe(r.subscribeTitle(name), r.feedFilters())
	return r.reply(p.status, "list", &m.Frame, m)
}

// subscribeTitle names what one subscribes to.
func (r *pageRequest) subscribeTitle(title string) string {
	return strings.ReplaceAll(r.words.SubscribeTo, "{title}", title)
}

// scopeFilters are the filters that the path stands for.
func (r *pageRequest) scopeFilters() []web.Field {
	var out []web.Field
	if n := len(r.terms); n > 0 {
		name := map[calendar.Kind]string{calendar.Category: "categories", calendar.Tag: "tags"}[r.path.Taxonomy]
		out = append(out, web.Field{Name: name, Value: r.termSlug(r.terms[n-1], r.lang)})
	}
	if r.path.Featured {
		out = append(out, web.Field{Name: "featured", Value: "1"})
	}
	return out
}

// setAPIRoot names the events of the path as the root of the API.
func (r *pageRequest) setAPIRoot() {
	if scope := r.scopeFilters(); len(scope) > 0 {
		r.apiRoot = "/events/" + encode(scope)
	}
}

// pastFilter selects, of the API, what a list of the past has.
func (r *pageRequest) pastFilter() []web.Field {
	if !r.path.Past {
		return nil
	}
	return []web.Field{{Name: "ends_before", Value: "now"}}
}

// feedFilters are the filters of the feeds of a page. It is never nil.
func (r *pageRequest) feedFilters() []web.Field {
	return append(append([]web.Field{}, r.scopeFilters()...), r.filters("include")...)
}

// eventList is a page of a list with its place in it.
type eventList struct {
	query.Page
	number, pages int
	past          bool
}

// findList looks up a page of what has not ended or of what has ended. Dates that were sent replace the beginning now.
func (r *pageRequest) findList(e *query.Events, q *eventQuery, past bool) (eventList, error) {
	one := *e
	dated := one.Window != query.Window{}
	switch {
	case past:
		ended := r.now.Add(-time.Second)
		if one.Window.EndMax == nil || ended.Before(*one.Window.EndMax) {
			one.Window.EndMax = &ended
		}
		one.ByEnd = true
	case !dated && one.Include == nil:
		from := r.now
		one.Window.EndMin = &from
	}
	if past || !dated && one.Include == nil {
		if err := r.holdsUntilNextEnd(); err != nil {
			return eventList{}, err
		}
	}
	offset, limit := q.span()
	page, err := r.findEvents(&one, offset, limit)
	if err != nil {
		return eventList{}, err
	}
	out := eventList{Page: page, number: int(q.page), pages: (page.Total + limit - 1) / max(limit, 1), past: past}
	if q.page > 1 && len(page.IDs) == 0 {
		return out, errNoPage
	}
	return out, nil
}

// holdsUntilNextEnd notes when the next event ends: lists of what has not ended change then.
func (r *pageRequest) holdsUntilNextEnd() error {
	row, err := r.db.Event.Query().Where(event.EndsAtGTE(r.now), event.StartsAtLTE(r.tomorrow())).
		Order(event.ByEndsAt()).Select(event.FieldID, event.FieldEndsAt).First(r.ctx)
	r.holdsUntil(r.tomorrow())
	if ent.IsNotFound(err) {
		return nil
	}
	if err == nil {
		r.holdsUntil(row.EndsAt.Add(time.Second))
	}
	return err
}

// fillList writes the events of a list below the headings of their days, and the links to the pages before and after.
func (r *pageRequest) fillList(m *web.ListPage, list eventList, f *frameOf) error {
	items, err := r.items(list.Page, rowItem)
	if err != nil {
		return err
	}
	m.Groups = r.groups(items, list.past)
	m.Earlier, m.Later = r.pager(list)
	if list.pages > 1 {
		m.Position = strings.NewReplacer("{n}", strconv.Itoa(list.number), "{pages}", strconv.Itoa(list.pages)).Replace(r.words.Pages)
	}
	if m.Earlier != nil && list.number > 1 {
		f.prev = m.Earlier.Href
	}
	if m.Later != nil && list.number < list.pages {
		f.next = m.Later.Href
	}
	return nil
}

// groups puts the items of a list below the headings of their first days, of a list of what has ended below those of their last
// days. Of a list of what has not ended, what began before today comes first, as going on.
func (r *pageRequest) groups(items []pageItem, past bool) []web.Group {
	today := r.zone().Wall(r.now).Format(time.DateOnly)
	r.holdsUntil(r.tomorrow())
	var out []web.Group
	key := ""
	// The days of whole-day events of other zones are in another order than their instants.
	slices.SortStableFunc(items, func(a, b pageItem) int {
		if past {
			return cmp.Compare(b.last, a.last)
		}
		return cmp.Compare(a.day, b.day)
	})
	for _, item := range items {
		this := item.day
		if past {
			this = item.last
		}
		ongoing := !past && this < today && len(r.filters(slices.DeleteFunc(slices.Clone(r.h.pageFilters), func(name string) bool {
			return slices.Contains(dateParameters, name)
		})...)) == 0
		if ongoing {
			this = "now"
		}
		if this != key || len(out) == 0 {
			key = this
			g := web.Group{Title: r.words.OnNow}
			if !ongoing {
				day, _ := pageDay(this)
				p := r.scoped(viewDay)
				p.Date = day
				g = web.Group{
					Title: r.dates.full(day), Href: r.dayHref(p), Day: strconv.Itoa(dayNumber(day)), Date: this,
					Weekday: r.dates.weekday(day.Weekday()), Month: r.dates.monthYear(day), Today: this == today,
				}
			}
			out = append(out, g)
		}
		out[len(out)-1].Items = append(out[len(out)-1].Items, item.body)
	}
	return out
}

// pager returns the links to what is before and after a page of a list. Before the first page of what is coming is the
// first one of what is past.
func (r *pageRequest) pager(list eventList) (earlier, later *web.Link) {
	at := func(page int, past bool) string {
		p := r.path
		p.Page, p.Past, p.Redirect = page, past, 0
		filters := r.filters()
		if p.View == viewSeries {
			p.Page = 0
			if page > 1 {
				filters = append(filters, web.Field{Name: "page", Value: strconv.Itoa(page)})
			}
		}
		if past != r.path.Past {
			filters = r.filters(dateParameters...)
		}
		if page <= 1 {
			p.Page = 0
		}
		return r.href(p, filters)
	}
	if list.past {
		if list.number < list.pages {
			earlier = &web.Link{Text: r.words.Earlier, Href: at(list.number+1, true), Rel: "next"}
		}
		switch {
		case list.number > 1:
			later = &web.Link{Text: r.words.Later, Href: at(list.number-1, true), Rel: "prev"}
		default:
			later = &web.Link{Text: r.words.UpcomingEvents, Href: at(0, false)}
		}
		return earlier, later
	}
	switch {
	case list.number > 1:
		earlier = &web.Link{Text: r.words.Earlier, Href: at(list.number-1, false), Rel: "prev"}
	default:
		earlier = &web.Link{Text: r.words.PastEvents, Href: at(0, true)}
	}
	if list.number < list.pages {
		later = &web.Link{Text: r.words.Later, Href: at(list.number+1, false), Rel: "next"}
	}
	return earlier, later
}

// emptyList says that nothing matches, and names the next event without the filters.
func (r *pageRequest) emptyList(e *query.Events) (*web.Empty, error) {
	out := &web.Empty{Title: r.words.NothingTitle, Text: r.words.NothingText}
	if r.path.Past {
		out.Text = ""
	}
	if len(r.filters()) > 0 {
		p := r.path
		p.Page = 0
		out.Links = append(out.Links, web.Link{Text: r.words.Clear, Href: r.href(p, nil)})
	} else {
		out.Text = r.words.NothingHere
	}
	next, err := r.nextEvent(e)
	if err != nil {
		return nil, err
	}
	if next != nil {
		out.Links = append(out.Links, *next)
	} else if r.path.View != viewList || len(r.terms) > 0 {
		out.Links = append(out.Links, web.Link{Text: r.words.AllEvents, Href: r.href(r.newPagePath(viewDefault), nil)})
	}
	return out, nil
}

// nextEvent returns a link to the next event of all, nil if there is none.
func (r *pageRequest) nextEvent(like *query.Events) (*web.Link, error) {
	from := r.now
	page, err := r.findEvents(&query.Events{
		Now: r.now, Language: r.lang, Visible: like.Visible, Places: like.Places, Readable: like.Readable,
		Window: query.Window{StartMin: &from},
	}, 0, 1)
	if err != nil || len(page.IDs) == 0 {
		return nil, err
	}
	rows, err := r.events(page.IDs)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	r.holdsUntil(rows[0].StartsAt.Add(time.Second))
	shown, redacted := r.shown(r.view(), rows[0], false)
	return &web.Link{
		Text: strings.NewReplacer("{title}", html.UnescapeString(shown.Title), "{date}", r.when(rows[0], redacted).text).
			Replace(r.words.NothingNext),
		Href: r.local(shown.URL),
	}, nil
}

// filterForm is the form of the page, with what was sent.
func (r *pageRequest) filterForm(dates bool) (*web.Filter, error) {
	to := r.path
	to.Page, to.Redirect, to.Past = 0, 0, false
	f := &web.Filter{
		Dates: dates, Search: sentText(r.values["search"]), From: r.dateField("start_date"), To: r.dateField("end_date"),
		Featured: r.path.Featured,
	}
	if sent, fault := param.Boolean(r.values["featured"]); fault == nil && sent {
		f.Featured = true
	}
	fields := []string{"search", "categories", "featured"}
	if dates {
		fields = append(fields, "start_date", "end_date")
		to.View = viewList
	}
	chosen := sentText(r.values["categories"])
	if r.path.Taxonomy == calendar.Category {
		chosen = r.termSlug(r.terms[len(r.terms)-1], r.lang)
	}
	// The form chooses the category, so it leads to all events.
	to.Taxonomy, to.Slugs, to.Featured = "", nil, false
	f.Action = r.h.prefix + to.path()
	if r.path.Taxonomy == calendar.Tag {
		f.Hidden = append(f.Hidden, web.Field{Name: "tags", Value: r.termSlug(r.terms[len(r.terms)-1], r.lang)})
		fields = append(fields, "tags")
	}
	if r.path.Past {
		f.Hidden = append(f.Hidden, web.Field{Name: paramDisplay, Value: displayPast})
	}
	f.Hidden = append(f.Hidden, r.filters(fields...)...)
	var err error
	if f.Categories, err = r.categoryOptions(chosen); err != nil {
		return nil, err
	}
	r.addChips(f)
	return f, nil
}

// dateField is a date that was sent as a field of a form has it. What is no date stays as it is.
func (r *pageRequest) dateField(name string) string {
	text := sentText(r.values[name])
	if text == "" {
		return ""
	}
	date, err := when.Parse(text, r.now, r.zone())
	if err != nil {
		return text
	}
	return date.Wall(r.zone()).Format(time.DateOnly)
}

// addChips adds the filters of the page, each as a link to the page without it.
func (r *pageRequest) addChips(f *web.Filter) {
	p := r.path
	p.Page, p.Redirect = 0, 0
	today := r.zone().Wall(r.now).StartOfDay()
	labels := map[string]string{
		"search": r.words.Search, "start_date": r.words.From, "end_date": r.words.To, "categories": r.words.Category,
		"featured": r.words.Featured, "tags": r.words.Tags, "venue": r.words.Venue, "organizer": r.words.Organizer,
	}
	for _, field := range r.filters() {
		text := field.Value
		switch field.Name {
		case "categories":
			for _, o := range f.Categories {
				if o.Value == text {
					text = o.Text
				}
			}
		case "start_date", "end_date":
			if day, ok := pageDay(r.dateField(field.Name)); ok {
				text = r.dates.near(day, today)
				r.holdsUntil(r.tomorrow())
			}
		case "featured":
			text = ""
		}
		label := labels[field.Name]
		if label == "" {
			label = field.Name
		}
		if text != "" {
			label += ": " + text
		}
		f.Chips = append(f.Chips, web.Link{Text: label, Href: r.href(p, r.filters(field.Name))})
	}
	if p.Featured {
		p.Featured = false
		f.Chips = append(f.Chips, web.Link{Text: r.words.Featured, Href: r.href(p, r.filters())})
	}
	f.Clear = r.href(p, nil)
	f.Open = len(f.Chips) > 0
}

// maxCategories is how many categories a form offers.
const maxCategories = 300

// categoryTree reads the categories with events or with descendants that have some, in the order of a tree.
func (r *pageRequest) categoryTree() (rows []*ent.Term, depth map[int64]int, err error) {
	q := &termQuery{paging: paging{page: 1, perPage: maxCategories}}
	all, err := r.termPage(calendar.Category, r.db.Term.Query().Where(q.predicates(calendar.Category, r.lang)...), q, 0)
	if err != nil {
		return nil, nil, err
	}
	below := map[int64][]*ent.Term{}
	known := map[int64]bool{}
	for _, t := range all {
		known[t.ID] = true
	}
	for _, t := range all {
		parent := represent.ParentID(t)
		if !known[parent] {
			parent = 0
		}
		below[parent] = append(below[parent], t)
	}
	depth = map[int64]int{}
	var add func(parent int64, level int) int
	add = func(parent int64, level int) (events int) {
		for _, t := range below[parent] {
			at := len(rows)
			rows = append(rows, t)
			depth[t.ID] = level
			n := t.EventCount + add(t.ID, level+1)
			if n == 0 {
				rows = rows[:at]
			}
			events += n
		}
		return events
	}
	add(0, 0)
	return rows, depth, nil
}

func (r *pageRequest) categoryOptions(chosen string) ([]web.Option, error) {
	rows, depth, err := r.categoryTree()
	if err != nil {
		return nil, err
	}
	out := make([]web.Option, len(rows))
	for i, t := range rows {
		text := r.view().Text(t)
		out[i] = web.Option{
			Value: text.Slug, Text: text.Title, Lang: r.foreign(string(text.Language)),
			Depth: strings.Repeat("– ", depth[t.ID]), Selected: text.Slug == chosen || strconv.FormatInt(t.ID, 10) == chosen,
		}
	}
	return out, nil
}

// dayPage answers a day.
func (r *pageRequest) dayPage() (*PageReply, error) {
	p, err := r.prepare(false)
	if err != nil {
		return nil, err
	}
	today := r.zone().Wall(r.now).StartOfDay()
	day := r.path.Date
	if day.IsZero() {
		day = today
		r.holdsUntil(r.tomorrow())
	}
	title := r.dates.full(day)
	m := &web.ListPage{Filter: p.form, Heading: title}
	if day == today {
		m.Lead = r.words.Today
		r.holdsUntil(r.tomorrow())
	}
	f := frameOf{kind: "list-page", current: viewDay, filters: r.filters(), feed: r.periodFeed("day", day.Format(time.DateOnly))}
	if day != today {
		f.current = ""
	}
	if p.events != nil {
		all, err := r.eventsOfDays(p.events, day, day)
		if err != nil {
			return nil, err
		}
		all = onDay(all, day)
		p.asked.perPage = ent.MaxRead
		offset, limit := p.asked.span()
		if p.asked.page > 1 && offset >= len(all) || limit == 0 {
			return nil, errNoPage
		}
		rows, err := r.rowsOfDay(all[offset:min(offset+limit, len(all))], day)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			m.Groups = []web.Group{{Title: r.words.Events, Items: rows}}
			m.Count = r.pluralOf(r.words.EventsCount, len(all))
		} else {
			m.Empty = &web.Empty{Title: r.words.NothingOnDay}
		}
		at := func(page int64) *web.Link {
			fields := r.filters()
			if page > 1 {
				fields = append(fields, web.Field{Name: "page", Value: strconv.FormatInt(page, 10)})
			}
			return &web.Link{Href: r.href(r.path, fields)}
		}
		before, after, err := r.neighbours(p.events, day, day)
		if err != nil {
			return nil, err
		}
		link := func(to calendar.Wall, rel string) *web.Link {
			if to.IsZero() {
				return nil
			}
			p := r.path
			p.Date = to
			return &web.Link{Text: r.dates.near(to, day), Href: r.href(p, r.filters()), Rel: rel}
		}
		m.Earlier, m.Later = link(before, "prev"), link(after, "next")
		if p.asked.page > 1 {
			m.Earlier = at(p.asked.page - 1)
			m.Earlier.Text, m.Earlier.Rel = r.words.Earlier, "prev"
		}
		if offset+limit < len(all) {
			m.Later = at(p.asked.page + 1)
			m.Later.Text, m.Later.Rel = r.words.Later, "next"
		}
		if m.Earlier != nil {
			f.prev = m.Earlier.Href
		}
		if m.Later != nil {
			f.next = m.Later.Href
		}
		f.index = len(all) > 0 && len(r.filters()) == 0 && p.asked.page == 1
		if m.Empty != nil {
			for _, l := range []*web.Link{m.Earlier, m.Later} {
				if l != nil {
					m.Empty.Links = append(m.Empty.Links, web.Link{Text: l.Text, Href: l.Href})
				}
			}
		}
	}
	description := strings.ReplaceAll(r.words.DescDay, "{date}", title)
	heading, lead, name := m.Heading, m.Lead, r.words.AllEvents
	if err := r.describeTerm(m, &f, &title, &description); err != nil {
		return nil, err
	}
	if len(r.terms) > 0 {
		name = title
		m.Lead, m.LeadLang = heading, ""
		title += ", " + heading
	} else {
		m.Heading, m.Lead = heading, lead
	}
	r.setAPIRoot()
	if r.path.Featured {
		title, m.Heading = title+" – "+r.words.Featured, m.Heading+" – "+r.words.Featured
		description = title
	}
	f.title, f.description = title, description
	f.api = "/events" + encode(append(append(r.filters(), r.scopeFilters()...), periodFilters(day, day)...))
	m.Frame = r.frame(f)
	m.Subscribe = r.subscribe(r.subscribeTitle(name), r.feedFilters())
	return r.reply(p.status, "list", &m.Frame, m)
}

// rowsOfDay are the events of a day. Those that began before say when.
func (r *pageRequest) rowsOfDay(events []dayEvent, day calendar.Wall) ([]template.HTML, error) {
	began := func(e dayEvent) bool { return e.first.Before(day) }
	before := slices.DeleteFunc(slices.Clone(events), func(e dayEvent) bool { return !began(e) })
	bodies, err := r.itemsByID(before, rowSince)
	if err != nil {
		return nil, err
	}
	today, err := r.itemsByID(slices.DeleteFunc(slices.Clone(events), began), rowItem)
	if err != nil {
		return nil, err
	}
	maps.Copy(bodies, today)
	var out []template.HTML
	for _, e := range events {
		if body, ok := bodies[e.id]; ok {
			out = append(out, body)
		}
	}
	return out, nil
}

// periodFeed are the filters of the feed of a day or month.
func (r *pageRequest) periodFeed(name, value string) []web.Field {
	return append(r.feedFilters(), web.Field{Name: name, Value: value})
}

// periodFilters select, of the API, what takes place between two days. Nothing takes place before the first year.
func periodFilters(first, last calendar.Wall) []web.Field {
	out := []web.Field{{Name: "starts_before", Value: last.Format(time.DateOnly)}}
	if before := first.AddDate(0, 0, -1); ofPages(before) {
		out = append(out, web.Field{Name: "ends_after", Value: before.Format(time.DateOnly)})
	}
	return out
}

// ofPages reports whether a day is of a year that pages and the API have.
func ofPages(day calendar.Wall) bool {
	year, _, _ := day.Date()
	return year >= firstPageYear && year <= lastPageYear
}

// homePage answers the first page: what is on today, and next.
func (r *pageRequest) homePage() (*PageReply, error) {
	m := &web.HomePage{Heading: r.words.Home}
	if name := r.siteName(); name != "" {
		m.Heading = name
	}
	r.holdsUntil(r.tomorrow())
	today := r.zone().Wall(r.now).StartOfDay()
	m.Date = r.dates.full(today)
	all := &query.Events{
		Now: r.now, Language: r.lang, Visible: seenBy(r.caller, nil), Places: seenBy(r.caller, nil), Readable: r.readable(nil),
	}
	if err := r.holdsUntilNextEnd(); err != nil {
		return nil, err
	}
	now, tomorrow := r.now, r.tomorrow()
	lastSecond := tomorrow.Add(-time.Second)
	find := func(w query.Window, limit int, conditions ...query.Condition) (query.Page, error) {
		one := *all
		one.Window, one.Conditions = w, conditions
		return r.findEvents(&one, 0, limit)
	}
	featured, err := r.featuredNext(all)
	if err != nil {
		return nil, err
	}
	on, err := find(query.Window{EndMin: &now, StartMax: &lastSecond, StartMin: new(r.zone().Instant(today))}, 7)
	if err != nil {
		return nil, err
	}
	if len(on.IDs) < 4 {
		// Few things begin today: what goes on is shown as well.
		if on, err = find(query.Window{EndMin: &now, StartMax: &lastSecond}, 7); err != nil {
			return nil, err
		}
	}
	all.Series.First = true // of a series the next one
	next, err := find(query.Window{StartMin: &tomorrow}, 13)
	if err != nil {
		return nil, err
	}
	shown := map[int64]bool{}
	if len(featured.IDs) > 0 {
		items, err := r.items(featured, cardItem)
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			// The one that opens the page has a picture, if one of them has.
			lead := items[max(0, slices.IndexFunc(items, func(item pageItem) bool { return item.pictured }))]
			shown[lead.id], m.Lead = true, lead.body
		}
	}
	for _, part := range []struct {
		page  query.Page
		limit int
		into  *[]template.HTML
	}{{on, 6, &m.Today}, {next, 12, &m.Upcoming}} {
		items, err := r.items(without(part.page, shown, part.limit), cardItem)
		if err != nil {
			return nil, err
		}
		*part.into = bodies(items)
	}
	if m.Lead == "" && len(m.Today)+len(m.Upcoming) == 0 {
		m.Empty = &web.Empty{Title: r.words.NothingTitle, Text: r.words.NothingHere}
	}
	rows, depth, err := r.categoryTree()
	if err != nil {
		return nil, err
	}
	for _, t := range rows {
		if !r.h.servesTerms(calendar.Category) || depth[t.ID] > 0 || t.EventCount == 0 && len(m.Categories) > 24 {
			continue
		}
		text := r.view().Text(t)
		p := r.newPagePath(viewList)
		p.Taxonomy, p.Slugs = calendar.Category, []string{text.Slug}
		link := web.Link{Text: text.Title, Href: r.href(p, nil), Lang: r.foreign(string(text.Language)), Colour: termColour(t.ID)}
		m.Categories = append(m.Categories, link)
	}
	m.UpcomingHref = r.href(r.newPagePath(viewDefault), nil)
	if r.h.serves(viewDay) {
		m.TodayHref = r.href(r.newPagePath(viewDay), nil)
	}
	if r.h.PageSettings.Pages.Docs {
		m.Developers = r.h.prefix + r.root.Segment + "/developers/"
	}
	m.Subscribe = r.subscribe(r.subscribeTitle(r.words.AllEvents), nil)
	m.Frame = r.frame(frameOf{
		kind: "home", title: m.Heading, description: r.words.Lead, index: true, feed: []web.Field{}, api: "/events",
	})
	return r.reply(http.StatusOK, "home", &m.Frame, m)
}

// featuredNext returns the next featured events.
func (r *pageRequest) featuredNext(all *query.Events) (query.Page, error) {
	one := *all
	column, err := columnNamed("featured")
	if err != nil {
		return query.Page{}, err
	}
	from := r.now
	one.Window, one.Conditions = query.Window{StartMin: &from}, []query.Condition{{Column: column, Flag: true}}
	page, err := r.findEvents(&one, 0, 5)
	if err != nil {
		return page, err
	}
	return page, r.holdsUntilStart(page)
}

// holdsUntilStart notes when the first of some events, in the order of their starts, is no longer one that is coming.
func (r *pageRequest) holdsUntilStart(page query.Page) error {
	days, err := r.daysOf(page)
	if err == nil && len(days) > 0 {
		r.holdsUntil(days[0].starts.Add(time.Second))
	}
	return err
}

// columnNamed returns the column of a filter.
func columnNamed(name string) (*query.Column, error) {
	columns := EventColumns()
	at := slices.IndexFunc(columns, func(c *query.Column) bool { return c.Name == name })
	if at < 0 {
		return nil, errors.New("there is no filter " + name)
	}
	return columns[at], nil
}

// without returns a part of a page without some events, at most a number of them.
func without(page query.Page, ids map[int64]bool, limit int) query.Page {
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

// recordPage answers /?p={id}: it leads to the page of a published record.
func (r *pageRequest) recordPage() (*PageReply, error) {
	for _, one := range []struct {
		view pageView
		find func(context.Context, int64) (slug string, status calendar.Status, published time.Time, err error)
	}{
		{viewEvent, func(ctx context.Context, id int64) (string, calendar.Status, time.Time, error) {
			rows, err := r.db.ReadEvents(ctx, []int64{id})
			if err != nil || len(rows) == 0 {
				return "", "", time.Time{}, err
			}
			if err := r.translate(ent.PageOf(rows...)); err != nil {
				return "", "", time.Time{}, err
			}
			return r.view().Text(rows[0]).Slug, rows[0].Status, rows[0].PublishedAt, nil
		}},
		{viewVenue, func(ctx context.Context, id int64) (string, calendar.Status, time.Time, error) {
			rows, err := r.db.ReadVenues(ctx, []int64{id})
			if err != nil || len(rows) == 0 {
				return "", "", time.Time{}, err
			}
			if err := r.translate(ent.PageOf(rows...)); err != nil {
				return "", "", time.Time{}, err
			}
			return r.view().Text(rows[0]).Slug, rows[0].Status, rows[0].PublishedAt, nil
		}},
		{viewOrganizer, func(ctx context.Context, id int64) (string, calendar.Status, time.Time, error) {
			rows, err := r.db.ReadOrganizers(ctx, []int64{id})
			if err != nil || len(rows) == 0 {
				return "", "", time.Time{}, err
			}
			if err := r.translate(ent.PageOf(rows...)); err != nil {
				return "", "", time.Time{}, err
			}
			return r.view().Text(rows[0]).Slug, rows[0].Status, rows[0].PublishedAt, nil
		}},
		{viewSeries, func(_ context.Context, id int64) (string, calendar.Status, time.Time, error) {
			rows, err := r.seriesRows([]int64{id})
			if err != nil || len(rows) == 0 {
				return "", "", time.Time{}, err
			}
			e, err := seriesEvent(rows[0])
			if err != nil {
				return "", "", time.Time{}, err
			}
			return r.view().Text(e).Slug, rows[0].Status, rows[0].PublishedAt, nil
		}},
	} {
		if !r.h.serves(one.view) {
			continue
		}
		slug, status, published, err := one.find(r.ctx, r.path.ID)
		if err != nil {
			return nil, err
		}
		if slug != "" && status.Shown(r.now, published) == calendar.Publish {
			p := r.newPagePath(one.view)
			p.Slugs = []string{slug}
			return r.redirect(http.StatusMovedPermanently, p), nil
		}
	}
	return nil, errNoPage
}

// pageFilterNames are the parameters of lists that pages repeat in their links.
func pageFilterNames(now time.Time) []string {
	left := []string{"page", "per_page", "status", "password", "ml_language"}
	var out []string
	for _, p := range param.Describe(now, param.InQuery, func(s *param.Set) {
		(&request{now: now}).declareEventQuery(s, &eventQuery{})
	}) {
		if !slices.Contains(left, p.Name) {
			out = append(out, p.Name)
		}
	}
	return out
}

func replaceNumber(text, n string) string { return strings.ReplaceAll(text, "{n}", n) }

// dayHref is the address of a day, "" if the site has no such pages.
func (r *pageRequest) dayHref(p pagePath) string {
	if !r.h.serves(viewDay) {
		return ""
	}
	return r.href(p, nil)
}
