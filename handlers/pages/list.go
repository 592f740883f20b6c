package pages

import (
	"cmp"
	"errors"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/web"
)

// preparedList has the parsed parameters of a list page.
type preparedList struct {
	request *request // the request without aliases
	asked   *read.EventQuery
	events  *query.Events // query for the events; nil means that a parameter is invalid
	form    *web.Filter
	status  int
}

// prepare parses the parameters of a list page. If a parameter is invalid, the page has status 400, shows the
// error in the form, and has no events. If dates is true, the filter form has fields for dates.
func (r *request) prepare(dates bool) (*preparedList, error) {
	path, values, err := r.withoutAliases()
	r = r.withAddress(path, values)
	out := &preparedList{request: r, status: http.StatusOK}
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
	out.asked.LimitValidity(r.Reader)
	out.events, err = out.asked.Events(r.Reader)
	return out, err
}

// listPage answers with a list of events. Coming and ongoing events are in order of their starts, past events in
// order of their ends.
func (r *request) listPage() (*Reply, error) {
	p, err := r.prepare(true)
	if err != nil {
		return nil, err
	}
	r = p.request
	m := &web.ListPage{Filter: p.form}
	if len(r.terms) == 0 && !r.path.Past && r.path.Page <= 1 && len(r.filters()) == 0 {
		if m.About, err = r.prose(markup.Paragraphs(r.PageSettings.About[r.Language])); err != nil {
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
	f := frameInput{
		kind: "list-page", current: address.ViewList, filters: r.filters(), feed: r.feedFilters(),
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
	if list.Total > 0 {
		m.Count = r.pluralOf(r.words.EventsCount, list.Total)
	}
	f.title, f.description = title, description
	if r.path.Page > 1 {
		f.title += ", " + strings.ReplaceAll(r.words.PageNumber, "{n}", strconv.Itoa(r.path.Page))
	}
	f.api = "/events" + encode(slices.Concat(r.filters(), r.scopeFilters(), r.pastFilter()))
	m.Frame = r.frame(f)
	m.Subscribe = r.subscribe(name, r.feedFilters())
	return r.reply(p.status, "list", &m.Frame, m)
}

// scopeFilters returns the filters that the path of the page implies: its term, and featured.
func (r *request) scopeFilters() []web.Field {
	var out []web.Field
	if n := len(r.terms); n > 0 {
		name := map[calendar.Kind]string{calendar.Category: "categories", calendar.Tag: "tags"}[r.path.Taxonomy]
		out = append(out, web.Field{Name: name, Value: r.termSlug(r.terms[n-1], r.Language)})
	}
	if r.path.Featured {
		out = append(out, web.Field{Name: "featured", Value: "1"})
	}
	return out
}

// setAPIRoot sets the value of the header X-TEC-API-ROOT. On the page of a term or of featured events, it is the
// API's list of those events.
func (r *request) setAPIRoot() {
	if scope := r.scopeFilters(); len(scope) > 0 {
		r.apiRoot = "/events/" + encode(scope)
	}
}

// pastFilter returns the API filter that selects the events of a list of past events. It is nil for other pages.
func (r *request) pastFilter() []web.Field {
	if !r.path.Past {
		return nil
	}
	return []web.Field{{Name: "ends_before", Value: "now"}}
}

// feedFilters returns the filters of the page's feeds. The result is never nil.
func (r *request) feedFilters() []web.Field {
	return slices.Concat([]web.Field{}, r.scopeFilters(), r.filters("include"))
}

// eventList is a page of a list of events, with its number and the number of pages.
type eventList struct {
	query.Page
	number, pages int
	past          bool
}

// findList finds a page of past events if past is true, else of coming and ongoing events. If dates were sent, the
// list need not begin now.
func (r *request) findList(e *query.Events, q *read.EventQuery, past bool) (eventList, error) {
	one := *e
	dated := one.Window != query.Window{}
	switch {
	case past:
		ended := r.Now.Add(-time.Second)
		if one.Window.EndMax == nil || ended.Before(*one.Window.EndMax) {
			one.Window.EndMax = &ended
		}
		one.ByEnd = true
	case !dated && one.Include == nil:
		from := r.Now
		one.Window.EndMin = &from
	}
	if past || !dated && one.Include == nil {
		if err := r.expireByNextEnd(); err != nil {
			return eventList{}, err
		}
	}
	offset, limit := q.Span()
	page, err := r.FindEvents(&one, offset, limit)
	if err != nil {
		return eventList{}, err
	}
	out := eventList{Page: page, number: int(q.Number), pages: (page.Total + limit - 1) / max(limit, 1), past: past}
	if q.Number > 1 && len(page.IDs) == 0 {
		return out, address.ErrNoPage
	}
	return out, nil
}

// expireByNextEnd makes the reply expire when the next event ends, because that event then leaves the list. If
// there are too many ongoing events to read them all, the reply expires after a minute.
func (r *request) expireByNextEnd() error {
	now, tomorrow := r.Now, r.Tomorrow()
	r.ExpireBy(tomorrow)
	going := r.anonymousEvents()
	going.Hidden, going.Spans, going.Window = true, true, query.Window{EndMin: &now, StartMax: &tomorrow}
	page, err := r.FindEvents(going, 0, idsAtOnce)
	if err != nil {
		return err
	}
	if page.Total > len(page.IDs) {
		r.ExpireBy(now.Add(time.Minute))
	}
	if page, err = r.withSpans(page); err != nil {
		return err
	}
	for _, s := range page.Spans {
		r.ExpireBy(time.Unix(s.Ends+1, 0).UTC())
	}
	return nil
}

// fillList adds the events of a list under headings of their days, and links to the previous and next page.
func (r *request) fillList(m *web.ListPage, list eventList, f *frameInput) error {
	items, err := r.items(list.Page, rowItem, linkedDescription(len(list.IDs)))
	if err != nil {
		return err
	}
	m.Groups = r.groups(items, list.past)
	f.events = linkedEvents(items)
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

// groups sorts the items of a list and puts them under headings by first day. If past is true, it groups them by last
// day. In other lists without filters by date, events that began before today come first, as ongoing.
func (r *request) groups(items []pageItem, past bool) []web.Group {
	today, now := r.today().Format(time.DateOnly), dayNumberOf(r.today())
	r.ExpireBy(r.Tomorrow())
	var out []web.Group
	key := ""
	// Days of all-day events in other zones may be in another order than their instants.
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
		ongoing := !past && this < today && len(r.filters(slices.DeleteFunc(slices.Clone(r.pages.filterNames), func(name string) bool {
			return slices.Contains(dateParameters, name)
		})...)) == 0
		if ongoing {
			this = "now"
		}
		if this != key || len(out) == 0 {
			key = this
			g := web.Group{Title: r.words.OnNow}
			if !ongoing {
				day, _ := address.ParseDay(this)
				p := r.readingIn(address.ViewDay)
				p.Date = day
				g = web.Group{
					Title: r.dates.full(day), Href: r.dayHref(p), Day: strconv.Itoa(dayNumber(day)), Date: this,
					Weekday: r.dates.WeekdayName(day.Weekday()), Month: r.dates.besideDay(day), Today: this == today,
				}
				if distance := int(dayNumberOf(day) - now); distance >= 0 {
					g.Relative = r.dates.RelativeDay(distance)
				}
			}
			out = append(out, g)
		}
		out[len(out)-1].Items = append(out[len(out)-1].Items, item.body)
	}
	return out
}

// pager returns the links to the previous and next page of a list. The first page of past events precedes the
// first page of coming events.
func (r *request) pager(list eventList) (earlier, later *web.Link) {
	at := func(page int, past bool) string {
		p := r.path
		p.Page, p.Past, p.Redirect = page, past, 0
		filters := r.filters()
		if p.View == address.ViewSeries {
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

// emptyList returns the message that no event matches. It links to the page without its filters, and to the next
// event of the calendar if there is one.
func (r *request) emptyList(e *query.Events) (*web.Empty, error) {
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
	} else if r.path.View != address.ViewList || len(r.terms) > 0 {
		out.Links = append(out.Links, web.Link{Text: r.words.AllEvents, Href: r.href(r.newPagePath(address.ViewDefault), nil)})
	}
	return out, nil
}

// nextEvent returns a link to the next event of the whole calendar, or nil if there is none. The query like
// determines which events the visitor may see.
func (r *request) nextEvent(like *query.Events) (*web.Link, error) {
	from := r.Now
	page, err := r.FindEvents(&query.Events{
		Now: r.Now, Language: r.Language, Visible: like.Visible, Places: like.Places, Readable: like.Readable,
		Window: query.Window{StartMin: &from},
	}, 0, 1)
	if err != nil || len(page.IDs) == 0 {
		return nil, err
	}
	rows, err := r.Events(page.IDs)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	r.ExpireBy(rows[0].StartsAt.Add(time.Second))
	shown, redacted := r.representEvent(r.View(), rows[0], false)
	before, after, _ := strings.Cut(strings.ReplaceAll(r.words.NothingNext, "{date}", r.eventTimeOf(rows[0], redacted).text), "{title}")
	return &web.Link{
		Before: before, Text: html.UnescapeString(shown.Title), After: after, Lang: r.foreignLanguage(shown.Language),
		Href: r.localAddress(shown.URL),
	}, nil
}
