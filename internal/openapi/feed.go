package openapi

import (
	"path"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// feedCollection is the collection name of all feeds.
const feedCollection = "feeds"

// isFeed reports whether the route is a feed. Feeds are public, have their own base address, and have formats
// for subscriptions.
func (p *Route) isFeed() bool { return p.Server != "" }

// isCalendar reports whether the route is a feed in iCalendar format.
func (p *Route) isCalendar() bool { return p.isFeed() && path.Ext(p.Path) == ".ics" }

// feedName returns the words of a feed's path without its placeholder. /event/{slug}.ics gives "event" and
// "ics".
func (p *Route) feedName() []string {
	return strings.FieldsFunc(strings.ReplaceAll(p.Path, "{slug}", ""), func(r rune) bool { return r == '/' || r == '.' })
}

// feedSchema returns the schema of a feed's body. Only JSON Feed has one with members.
func (d *description) feedSchema(p *Route) ordered {
	if path.Ext(p.Path) == ".json" {
		return d.schemas.add("JSONFeed", jsonFeedSchema(d.api.MaxFeed))
	}
	return ordered{{"type", "string"}}
}

// jsonFeedSchema returns the schema of JSON Feed 1.1 with the extension of this service (contract, section 20). A
// feed has at most most items.
func jsonFeedSchema(most int) ordered {
	text := ordered{{"type", "string"}}
	uri := ordered{{"type", "string"}, {"format", "uri"}}
	at := ordered{{"type", "string"}, {"format", "date-time"}}
	date := ordered{{"type", "string"}, {"description", "A time with its offset, or a day of an all-day event"}}
	return ordered{
		{"type", "object"},
		{"required", []string{"version", "title", "home_page_url", "feed_url", "language", "items"}},
		{"properties", ordered{
			{"version", uri},
			{"title", text},
			{"home_page_url", uri},
			{"feed_url", uri},
			{"language", ordered{{"type", "string"}, {"enum", calendar.Languages}}},
			{"items", ordered{{"type", "array"}, {"items", ordered{
				{"type", "object"},
				{"required", []string{"id", "title", "summary", "date_modified", "_event"}},
				{"properties", ordered{
					{"id", ordered{{"type", "string"}, {"description", "Stays the same when the event changes"}}},
					{"url", uri},
					{"title", text},
					{"content_html", text},
					{"content_text", text},
					{"summary", text},
					{"image", uri},
					{"date_published", at},
					{"date_modified", at},
					{"tags", ordered{{"type", "array"}, {"items", text}}},
					{"_event", ordered{
						{"type", "object"},
						{"required", []string{"start", "end", "timezone", "all_day"}},
						{"properties", ordered{
							{"start", date},
							{"end", date},
							{"timezone", text},
							{"all_day", ordered{{"type", "boolean"}, {"nullable", true}}},
							{"location", text},
						}},
					}},
				}},
			}}, {"maxItems", most}}},
		}},
	}
}
