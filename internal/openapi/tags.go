package openapi

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/represent"
)

// tag returns the OpenAPI tag of the route's operations.
func (p *Route) tag() string {
	switch {
	case p.isFeed():
		return feedTag
	case p.Kind == "":
		return apiTag
	}
	return tagOf(p.Kind)
}

func tagOf(kind calendar.Kind) string { return capitalise(kind.Plural()) }

// feedTag and apiTag are the tags of routes without a kind of record.
const feedTag, apiTag = "Feeds", "API"

// tags maps each tag to its description.
var tags = func() map[string]string {
	all := map[string]string{
		apiTag:       "The index of routes and this description",
		feedTag:      "Events for calendar applications and feed readers",
		"Events":     "Events of the calendar",
		"Venues":     "Places where events are held",
		"Categories": "Categories of events, which form a tree",
		"Tags":       "Tags of events",
		"Images":     "Images of events, venues and organizers",
		"Series":     "Series of events that recur",
	}
	for _, s := range represent.ShownKinds {
		all[tagOf(s.Kind)] = s.Doc
	}
	return all
}()

// displayName is the extension member with the translated title of a tag. The tag name itself stays English,
// because clients and anchors use it.
const displayName = "x-displayName"

func capitalise(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
