package pages

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/web"
)

// entriesOfDay is the largest number of events that a day of a month page shows.
const entriesOfDay = 5

func startOfMonth(w calendar.Wall) calendar.Wall {
	year, month, _ := w.Date()
	return calendar.WallAt(year, month, 1, 0, 0, 0)
}

// monthPage answers with the page of a month: whole weeks with the events of each day.
func (r *request) monthPage() (*Reply, error) {
	p, err := r.prepare(false)
	if err != nil {
		return nil, err
	}
	r = p.request
	today := r.today()
	r.ExpireBy(r.Tomorrow())
	first := r.path.Date
	if first.IsZero() {
		first = startOfMonth(today)
	}
	last := first.AddDate(0, 1, -1)
	title := r.dates.monthYear(first)
	named := r.readingIn(address.ViewMonth)
	named.Date = first
	name := r.words.AllEvents
	m := &web.MonthPage{Filter: p.form, Heading: title}
	f := frameInput{
		kind: "month-page", current: address.ViewMonth, title: title, description: strings.ReplaceAll(r.words.DescMonth, "{month}", title),
		filters: r.filters(), feed: r.periodFeed("month", first.Format("2006-01")),
	}
	if len(r.terms) > 0 {
		list := &web.ListPage{}
		text := ""
		if err := r.describeTerm(list, &f, &text, &f.description); err != nil {
			return nil, err
		}
		name, f.title = text, text+", "+title
		m.Term, m.TermLang, m.Crumbs = text, list.HeadingLang, list.Crumbs
	}
	r.setAPIRoot()
	if r.path.Featured {
		f.title, m.Heading = f.title+" – "+r.words.Featured, m.Heading+" – "+r.words.Featured
		f.description = f.title
	}
	var sheet *daySheet
	begin := weekStart(first, r.pages.PageSettings.WeekStart)
	end := weekStart(last, r.pages.PageSettings.WeekStart).AddDate(0, 0, 6)
	if p.events != nil {
		if sheet, err = r.eventsOfDays(p.events, dayRange{begin, end}, dayRange{first, last}, entriesOfDay); err != nil {
			return nil, err
		}
		near := dayRange{startOfMonth(first.AddDate(0, 0, -1)), first.AddDate(0, 2, -1)}
		before, after, err := r.neighbours(p.events, dayRange{first, last}, near)
		if err != nil {
			return nil, err
		}
		link := func(to calendar.Wall) *web.Link {
			if to.IsZero() {
				return nil
			}
			p := named
			p.Date = startOfMonth(to)
			return &web.Link{Text: r.dates.monthYear(to), Href: r.href(p, r.filters(dateParameters...))}
		}
		m.Earlier, m.Later = link(before), link(after)
		if m.Earlier != nil {
			f.prev = m.Earlier.Href
		}
		if m.Later != nil {
			f.next = m.Later.Href
		}
	}
	if sheet == nil {
		sheet = emptySheet(dayRange{begin, end})
	}
	if m.Weeks, f.events, err = r.weeks(sheet, first, today); err != nil {
		return nil, err
	}
	if p.events != nil {
		m.Count = r.pluralOf(r.words.EventsCount, sheet.total)
		f.index = sheet.total > 0 && len(r.filters()) == 0
		if sheet.total == 0 {
			m.Empty = &web.Empty{Title: r.words.NothingInMonth}
		}
	}
	for i := range 7 {
		day := time.Weekday((int(r.pages.PageSettings.WeekStart) + i) % 7)
		m.Weekdays = append(m.Weekdays, web.Weekday{Short: r.dates.ShortWeekdayName(day), Long: r.dates.WeekdayName(day)})
	}
	r.addMonths(m, first)
	f.api = "/events" + encode(append(append(r.filters(), r.scopeFilters()...), periodFilters(first, last)...))
	m.Frame = r.frame(f)
	m.Subscribe = r.subscribe(name, r.feedFilters())
	if p.events == nil {
		return r.reply(http.StatusBadRequest, "month", &m.Frame, m)
	}
	return r.reply(http.StatusOK, "month", &m.Frame, m)
}

// weekStart returns the first day of the week that day belongs to. The argument first is the weekday on which
// weeks begin.
func weekStart(day calendar.Wall, first time.Weekday) calendar.Wall {
	return day.AddDate(0, 0, -(int(day.Weekday()-first)+7)%7)
}

// weeks returns the days of a month page, grouped in whole weeks, and the JSON-LD of their events.
func (r *request) weeks(sheet *daySheet, month, today calendar.Wall) ([][]web.Cell, []json.RawMessage, error) {
	var starting, going []dayEvent
	seen := map[int64]bool{}
	for _, on := range sheet.days {
		for _, e := range on.events {
			switch {
			case !e.first.Before(on.day):
				starting = append(starting, e)
			case !seen[e.id]:
				seen[e.id] = true
				going = append(going, e)
			}
		}
	}
	description := linkedDescription(len(starting) + len(going))
	starts, err := r.itemsByID(starting, entryItem, description)
	if err != nil {
		return nil, nil, err
	}
	goesOn, err := r.itemsByID(going, entrySince, description)
	if err != nil {
		return nil, nil, err
	}
	var listed []pageItem
	var weeks [][]web.Cell
	_, thisMonth, _ := month.Date()
	for i, on := range sheet.days {
		day := on.day
		if i%7 == 0 {
			weeks = append(weeks, nil)
		}
		_, itsMonth, number := day.Date()
		cell := web.Cell{
			Number: number, Day: r.dates.full(day), Outside: itsMonth != thisMonth, Today: day == today,
			Past: day.Before(today),
		}
		if isPageDay(day) {
			cell.Date = day.Format(time.DateOnly)
		}
		p := r.readingIn(address.ViewDay)
		p.Date = day
		if on.total > 0 && r.pages.servesView(address.ViewDay) && isPageDay(day) {
			cell.Href = r.href(p, r.filters(dateParameters...))
			cell.Label = r.dates.full(day) + ", " + r.pluralOf(r.words.EventsCount, on.total)
		}
		for _, e := range on.events {
			continues := e.first.Before(day)
			item := starts[e.id]
			if continues {
				item = goesOn[e.id]
			}
			if item.body != "" { // an empty body means that the event was deleted meanwhile
				cell.Entries = append(cell.Entries, web.Entry{Body: item.body, Continues: continues})
				listed = append(listed, item)
			}
		}
		if more := on.total - entriesOfDay; more > 0 && cell.Href != "" {
			full := strings.ReplaceAll(r.pluralOf(r.words.MoreOnDay, more), "{date}", r.dates.dayMonth(day, day))
			cell.More = &web.Link{Text: "+" + strconv.Itoa(more), Href: cell.Href, Note: full}
		}
		weeks[len(weeks)-1] = append(weeks[len(weeks)-1], cell)
	}
	return weeks, linkedEvents(listed), nil
}

// addMonths adds the form for choosing a month. It offers months from a year before the month first to two years
// after it.
func (r *request) addMonths(m *web.MonthPage, first calendar.Wall) {
	p := r.readingIn(address.ViewMonth)
	m.GoTo, m.Kept = r.pages.pathOf(p), r.filters(dateParameters...)
	for i := -12; i <= 24; i++ {
		month := first.AddDate(0, i, 0)
		if !isPageDay(month) {
			continue
		}
		m.Months = append(m.Months, web.Option{
			Value: month.Format("2006-01"), Text: r.dates.monthYear(month), Selected: i == 0,
		})
	}
}
