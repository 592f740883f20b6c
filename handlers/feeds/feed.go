package feeds

import (
	"context"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
)

// feedSize is the default number of events on a page of a calendar feed, and MaxFeedSize the largest. The
// constant newsSize is the number of entries in a feed of new and changed events. The constants pastMonths and
// futureMonths limit a calendar feed without requested dates (contract, section 20).
const (
	feedSize     = 750
	MaxFeedSize  = 2000
	newsSize     = 50
	pastMonths   = 2
	futureMonths = 24
)

// feedQuery is the input of a feed: filters of events, and optionally a month or a day.
type feedQuery struct {
	read.EventQuery
	month, day *calendar.Wall // first moment of the requested month or day; nil means none
	// since is when the default time window last moved. Zero means that the window does not apply.
	since time.Time
	moves bool // the requested dates depend on the current time
}

func (r *request) declareFeed(p *param.Set, q *feedQuery) {
	q.Endless = true
	param.Default(p.Int(&q.Number, "page", "Page of the list"), &q.Number, 1).Between(1, nil).NoLink()
	param.Default(p.Int(&q.Size, "per_page", "Events on a page"), &q.Size, feedSize).Between(1, MaxFeedSize)
	r.declareFeedFilters(p, q)
}

func (r *request) declareNews(p *param.Set, q *feedQuery) {
	q.Endless = true
	q.Paging = read.Paging{Number: 1, Size: newsSize}
	r.declareFeedFilters(p, q)
}

func (r *request) declareFeedFilters(p *param.Set, q *feedQuery) {
	var refused *string
	refuse := func(name string) {
		p.OptString(&refused, name, "Refused: feeds show what everybody sees").Hide().NoLink().
			Check(func(context.Context) *param.Fault { return param.Bad() })
	}
	q.DeclareFilters(r.Reader, p, func() { refuse("status") })
	refuse("password")
	period := func(layout string) func(any) (calendar.Wall, *param.Fault) {
		return func(raw any) (calendar.Wall, *param.Fault) {
			text, fault := param.String(raw)
			first, ok := address.ParseDate(layout, text)
			if fault != nil || !ok {
				return calendar.Wall{}, param.Bad()
			}
			return first, nil
		}
	}
	param.Opt(p, &q.month, "month", "Events of this month, such as 2026-12", "string", period("2006-01")).Link(read.LinkAsSent(p, "month"))
	param.Opt(p, &q.day, "day", "Events of this day, such as 2026-12-05", "string", period(time.DateOnly)).Link(read.LinkAsSent(p, "day"))
	read.DeclareLanguage(p)
}

// asksForDates reports whether a parameter limits the feed to certain dates or event ids.
func (q *feedQuery) asksForDates() bool {
	return q.ReplacesDefaultWindow() || q.StartDate != nil || q.EndDate != nil || q.month != nil || q.day != nil || q.Include != nil
}

// list returns the query of a calendar feed (contract, section 20). A default time window applies if the request
// limits neither dates nor ids.
func (q *feedQuery) list(r *request) (*query.Events, error) {
	e, err := q.periodOf(r)
	r.ExpireBy(r.ruleYearEnd())
	if err != nil || q.Include != nil || q.ReplacesDefaultWindow() || q.month != nil || q.day != nil {
		return e, err
	}
	zone := r.Zone()
	year, month, _ := zone.Wall(r.Now).Date()
	first := func(months int) time.Time {
		return zone.Instant(calendar.WallAt(year, month+time.Month(months), 1, 0, 0, 0))
	}
	q.since = first(0)
	r.ExpireBy(first(1))
	if q.StartDate == nil {
		e.Window.EndMin = new(first(-pastMonths))
	}
	if q.EndDate == nil {
		e.Window.StartMax = new(first(futureMonths + 1).Add(-time.Second))
	}
	return e, nil
}

// periodOf returns the query of a feed without a default time window. A requested month or day narrows the date
// filters.
func (q *feedQuery) periodOf(r *request) (*query.Events, error) {
	q.LimitValidity(r.Reader)
	// Relative dates set r.Until. So does the page of the present month or day.
	q.moves = !r.Until.IsZero()
	e, err := q.Events(r.Reader)
	if err != nil {
		return nil, err
	}
	for _, p := range []struct {
		first        *calendar.Wall
		months, days int
	}{{q.month, 1, 0}, {q.day, 0, 1}} {
		if p.first != nil {
			e.Periods = append(e.Periods, query.PeriodOf(r.Zone(), *p.first, p.first.AddDate(0, p.months, p.days)))
		}
	}
	return e, nil
}

// listCalendar answers GET /events.ics.
func (r *request) listCalendar(q *feedQuery) (*endpoint.Reply, error) {
	e, err := q.list(r)
	if err != nil {
		return nil, err
	}
	// The entry before the page marks where its withdrawn events begin. It is found together with the page.
	offset, limit := q.Span()
	before := min(offset, 1)
	page, err := r.FindEvents(e, offset-before, limit+before)
	if err != nil {
		return nil, err
	}
	r.Complete, r.Found = r.FindAgain != nil && q.IsCheap(), page
	shown := page
	shown.IDs = page.IDs[min(before, len(page.IDs)):]
	if page.Changed != nil {
		shown.Changed = page.Changed[min(before, len(page.Changed)):]
	}
	if q.Number > 1 && len(shown.IDs) == 0 {
		return nil, &calendar.Error{Code: "event-archive-page-not-found", Key: "event-archive-page-not-found"}
	}
	bounds, err := r.boundsOf(page, before, offset+len(shown.IDs) >= page.Total)
	if err != nil {
		return nil, err
	}
	about, err := r.describeFeed(q, eventsICS, 1)
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
	about.Self = r.feedAddress(eventsICS)(q.Number)
	_, _, header := endpoint.PageLinks(q.Paging, r.feedAddress(eventsICS), page.Total)
	parts = append(parts, withdrawn...)
	var last time.Time
	if !q.moves {
		if last, err = r.lastModified(latestPart(parts), q.since, r.ruleYearStart()); err != nil {
			return nil, err
		}
	}
	return r.feedReply(&calendarFile{about, parts}, last, "inline", "", header...), nil
}

// calendarFile is a feed in iCalendar format.
type calendarFile struct {
	about *feed.Feed
	parts []feed.Part
}
