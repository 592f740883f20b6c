package feeds

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
)

func (r *request) newFeed(name string) *feed.Feed {
	return &feed.Feed{
		Name: name, Language: r.Language, Zone: r.Zone(), Words: r.Words, Year: r.year(), Outlook: r.Page != nil && r.Page.Format == address.FormatOutlook,
	}
}

// describeFeed returns the description of a feed: its name and addresses.
func (r *request) describeFeed(q *feedQuery, path string, page int64) (*feed.Feed, error) {
	name, err := q.name(r)
	if err != nil {
		return nil, err
	}
	f := r.newFeed(name)
	f.Self, f.Page = r.feedAddress(path)(page), r.pageAddress(q)
	return f, nil
}

// name returns the name of a feed. It has the site's name, and that of the term, venue or organizer if the feed
// is limited to one.
func (q *feedQuery) name(r *request) (string, error) {
	site := r.SiteName()
	var one *query.Condition
	for i := range q.Conditions {
		c := &q.Conditions[i]
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
	// A category is followed by the categories below it.
	rows, err := r.DB.LoadRows(r.Ctx, one.Column.LinksTo, 1, false, sql.FieldEQ(event.FieldID, one.IDs[0]))
	if err != nil || len(rows) == 0 {
		return site, err
	}
	if err := r.Translate(ent.PageOf(rows...)); err != nil {
		return "", err
	}
	return site + " – " + r.View().Text(rows[0]).Title, nil
}

// feedAddress returns a function that returns the URL of a feed's page, by the number of the page. The URL
// repeats the sent parameters. Dates have the text that was sent, and other parameters their parsed values.
func (r *request) feedAddress(path string) func(page int64) string {
	base := r.Site.BaseURL + r.Root.Segment + path
	pairs := encodePairs(r.Params.Links())
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

// pageAddress returns the URL of the calendar page that shows the events of a feed.
func (r *request) pageAddress(q *feedQuery) string {
	page := address.Page{Language: r.Root.Language(), View: address.ViewDefault}
	switch {
	case q.day != nil:
		page.View, page.Date = address.ViewDay, *q.day
	case q.month != nil:
		page.View, page.Date = address.ViewMonth, *q.month
	}
	pairs := slices.DeleteFunc(r.Params.Links(), func(p param.Pair) bool {
		return p.Name == "per_page" || p.Name == "month" || p.Name == "day"
	})
	address := r.Site.BaseURL + page.Path(&r.PageSettings.Paths)
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

// feedReply returns the reply with a feed. The time last is its Last-Modified, and the zero time means none. For a
// calendar file, it also sets Content-Disposition: "inline" or "attachment", and the file name without its extension.
// The name "" means that of the site.
func (r *request) feedReply(body any, last time.Time, disposition, name string, header ...[2]string) *endpoint.Reply {
	header = append(header, [2]string{"X-Robots-Tag", "noindex"})
	if !last.IsZero() {
		header = append(header, [2]string{"Last-Modified", last.UTC().Format(http.TimeFormat)})
	}
	if _, ok := body.(*calendarFile); ok {
		if name == "" {
			name = calendar.Slug(r.SiteName())
		}
		if name == "" {
			name = "events"
		}
		header = append(header, [2]string{"Content-Disposition", disposition + `; filename="` + fileName(name) + `.ics"`})
	}
	if r.Page != nil {
		header = append(header, [2]string{"Content-Location", selfOf(body)})
	}
	return &endpoint.Reply{Status: http.StatusOK, Body: body, Header: header}
}

// fileName replaces characters that are unsafe in a file name or a quoted string by hyphens.
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
