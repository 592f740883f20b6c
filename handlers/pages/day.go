package pages

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/web"
)

// dayPage answers with the page of a day.
func (r *request) dayPage() (*Reply, error) {
	p, err := r.prepare(false)
	if err != nil {
		return nil, err
	}
	r = p.request
	today := r.today()
	day := r.path.Date
	if day.IsZero() {
		day = today
		r.ExpireBy(r.Tomorrow())
	}
	title := r.dates.full(day)
	m := &web.ListPage{Filter: p.form, Heading: title}
	if day == today {
		m.Lead = r.words.Today
		r.ExpireBy(r.Tomorrow())
	}
	f := frameInput{kind: "list-page day-page", current: address.ViewDay, filters: r.filters(), feed: r.periodFeed("day", day.Format(time.DateOnly))}
	if day != today {
		f.current = ""
	}
	if p.events != nil {
		p.asked.Size = ent.MaxRead
		offset, limit := p.asked.Span()
		this := dayRange{day, day}
		sheet, err := r.eventsOfDays(p.events, this, this, offset+limit)
		if err != nil {
			return nil, err
		}
		if p.asked.Number > 1 && offset >= sheet.total || limit == 0 {
			return nil, address.ErrNoPage
		}
		rows, err := r.rowsOfDay(sheet.days[0].events[min(offset, sheet.total):], day)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			m.Groups = []web.Group{{Title: r.words.Events, Bare: true, Items: itemBodies(rows)}}
			f.events = linkedEvents(rows)
			m.Count = r.pluralOf(r.words.EventsCount, sheet.total)
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
		before, after, err := r.neighbours(p.events, this, dayRange{day.AddDate(0, 0, -1), day.AddDate(0, 0, 1)})
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
		if p.asked.Number > 1 {
			m.Earlier = at(p.asked.Number - 1)
			m.Earlier.Text, m.Earlier.Rel = r.words.Earlier, "prev"
		}
		if offset+limit < sheet.total {
			m.Later = at(p.asked.Number + 1)
			m.Later.Text, m.Later.Rel = r.words.Later, "next"
		}
		if m.Earlier != nil {
			f.prev = m.Earlier.Href
		}
		if m.Later != nil {
			f.next = m.Later.Href
		}
		f.index = sheet.total > 0 && len(r.filters()) == 0 && p.asked.Number == 1
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
	m.Subscribe = r.subscribe(name, r.feedFilters())
	return r.reply(p.status, "list", &m.Frame, m)
}

// rowsOfDay renders the events of a day. Events that began on an earlier day show the date of their start.
func (r *request) rowsOfDay(events []dayEvent, day calendar.Wall) ([]pageItem, error) {
	description := linkedDescription(len(events))
	began := func(e dayEvent) bool { return e.first.Before(day) }
	before := slices.DeleteFunc(slices.Clone(events), func(e dayEvent) bool { return !began(e) })
	items, err := r.itemsByID(before, rowSince, description)
	if err != nil {
		return nil, err
	}
	today, err := r.itemsByID(slices.DeleteFunc(slices.Clone(events), began), rowItem, description)
	if err != nil {
		return nil, err
	}
	maps.Copy(items, today)
	var out []pageItem
	for _, e := range events {
		if item, ok := items[e.id]; ok {
			out = append(out, item)
		}
	}
	return out, nil
}

// periodFeed returns the filters for the feed of a day or month page. The argument name is "day" or "month", and
// value is that date.
func (r *request) periodFeed(name, value string) []web.Field {
	return append(r.feedFilters(), web.Field{Name: name, Value: value})
}

// periodFilters returns API filters for events between two days. The first day of the first year needs no lower
// bound, since nothing takes place before it.
func periodFilters(first, last calendar.Wall) []web.Field {
	out := []web.Field{{Name: "starts_before", Value: last.Format(time.DateOnly)}}
	if before := first.AddDate(0, 0, -1); isPageDay(before) {
		out = append(out, web.Field{Name: "ends_after", Value: before.Format(time.DateOnly)})
	}
	return out
}

// isPageDay reports whether the year of a day is one that pages and the API support.
func isPageDay(day calendar.Wall) bool {
	year, _, _ := day.Date()
	return year >= address.FirstYear && year <= address.LastYear
}

// dayHref returns the link to the page p of a day. It returns "" if the site has no day pages.
func (r *request) dayHref(p address.Page) string {
	if !r.pages.servesView(address.ViewDay) {
		return ""
	}
	return r.href(p, nil)
}
