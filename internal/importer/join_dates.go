package importer

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
)

// joinDates replaces single events that are dates of one recurring event by a series. Their URLs differ only in the
// day. The series gets the most frequent combination of fields. Dates in another zone form a separate series, and so
// do all-day dates among timed ones. A date without others stays single. So does one with a start that an earlier
// element of c.Events has, or one beyond maxDates.
func (c *Calendar) joinDates() error {
	type series struct {
		page   string
		zone   string
		allDay bool
	}
	together := make(map[series][]*Event)
	for _, e := range c.Events {
		if e.SeriesPage == "" {
			continue
		}
		s := series{e.SeriesPage, e.Span.Zone.String(), e.Span.AllDay}
		sameStart := func(o *Event) bool { return o.Span.Start.Equal(e.Span.Start) }
		if len(together[s]) < maxDates && !slices.ContainsFunc(together[s], sameStart) {
			together[s] = append(together[s], e)
		}
	}
	joined := make(map[*Event]bool) // events that became dates of a series
	for _, dates := range together {
		if len(dates) < 2 {
			continue
		}
		slices.SortStableFunc(dates, func(a, b *Event) int { return a.Span.StartsAt().Compare(b.Span.StartsAt()) })
		slugs := make(map[string]int)
		for _, e := range dates {
			slugs[e.Slug]++
		}
		starts := make([]recur.Date, len(dates))
		changed := make([]*Event, len(dates))
		for i, e := range dates {
			joined[e] = true
			starts[i].Wall = e.Span.Start
			one := *e
			one.Nominal = e.Span.Start
			if slugs[e.Slug] > 1 {
				one.Slug = "" // the slug belongs to the series
			}
			changed[i] = &one
		}
		typical, most, err := typicalDate(dates)
		if err != nil {
			return err
		}
		base := *typical
		schedule, err := recur.New(base.Span, recur.Rule{}, starts, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", base.Where, err)
		}
		base.Slug = keptSlug(path.Base(base.SeriesPage))
		base.Page, base.GUID, base.UID = "", "", "" // each date has its own
		base.Series = &Recurrence{Schedule: schedule, Changed: changed, Single: dates, Typical: 2*most > len(dates)}
		c.Events[slices.Index(c.Events, dates[0])] = &base
	}
	c.Events = slices.DeleteFunc(c.Events, func(e *Event) bool { return joined[e] })
	return nil
}

// typicalDate returns the first date with the most frequent combination of fields. most is the number of dates that
// have this combination.
func typicalDate(dates []*Event) (typical *Event, most int, err error) {
	count := make(map[string]int)
	for _, e := range dates {
		text, err := e.fieldsText()
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", e.Where, err)
		}
		count[text]++
		most = max(most, count[text])
	}
	for _, e := range dates {
		text, err := e.fieldsText()
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", e.Where, err)
		}
		if count[text] == most {
			return e, most, nil
		}
	}
	return nil, 0, nil
}

// fieldsText returns an event's fields as JSON, for comparison with other dates of the same recurring event. It
// leaves out what always differs: ids, slug, page, dates, and times of publication and change.
func (e *Event) fieldsText() (string, error) {
	one := *e
	one.Origin, one.Slug, one.Published, one.Modified, one.Nominal = Origin{}, "", nil, nil, calendar.Wall{}
	one.Page, one.GUID, one.UID = "", "", ""
	one.Span = e.Span.MoveStart(calendar.WallAt(2000, 1, 1, 0, 0, 0))
	data, err := json.Marshal(one)
	return string(data), err
}

// datedPath matches the path of a URL such as /event/{slug}/{day}/. Its group is the part before the day. A number
// after the day distinguishes two events of one day.
var datedPath = regexp.MustCompile(`^(.*/[^/]+)/[0-9]{4}-[0-9]{2}-[0-9]{2}(?:/[0-9]+)?/?$`)

// seriesPageOf returns the host and path of a recurring event's page, from the URL of one of its dates. It returns
// "" for other URLs.
func seriesPageOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	m := datedPath.FindStringSubmatch(u.Path)
	if m == nil {
		return ""
	}
	return u.Hostname() + m[1]
}
