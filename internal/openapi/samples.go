package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/internal/param"
)

// Sample is a request that shows the use of a parameter.
type Sample struct {
	Method string
	Server string // base address of the path; "" means that of the API
	Path   string // path below Server
	Query  string // query string before percent-encoding
	Body   string // JSON, or a form field with a file
	Header string // header line, such as Idempotency-Key: "…"
}

// samples are example values of parameters in the form in which they are sent: a path, a query, the value of a
// header, or the body of a write. The key is the location and the name. If a name has another meaning in one
// collection, the collection and a dot come before it. A boolean without a sample gets true. Tests send all
// samples.
var samples = map[string]string{
	"query page":               "page=1&per_page=5",
	"query per_page":           "per_page=5",
	"query format":             "format=csv&per_page=2000",
	"query start_date":         "start_date=2026-12-01",
	"query end_date":           "end_date=2026-12-31",
	"query starts_before":      "starts_before=2026-12-24 18:00",
	"query starts_after":       "starts_after=tomorrow",
	"query ends_before":        "ends_before=+1 month",
	"query ends_after":         "ends_after=2026-12-10T18:00:00+01:00",
	"query strict_dates":       "strict_dates=true&start_date=2026-12-05 18:00",
	"query search":             "search=jazz",
	"query venues.search":      "search=hall",
	"query organizers.search":  "search=alice",
	"query categories":         "categories=music,3",
	"query tags":               "tags=free-entry",
	"query venue":              "venue=10,11",
	"query organizer":          "organizer=12",
	"query status":             "status=publish,draft",
	"query geoloc_lat":         "geoloc_lat=52.23&geoloc_lng=21.01",
	"query geoloc_lng":         "geoloc_lat=52.23&geoloc_lng=21.01",
	"query geoloc_radius":      "geoloc_radius=10&geoloc_lat=52.23&geoloc_lng=21.01",
	"query include":            "include=15,16",
	"query categories.include": "include=2,3",
	"query tags.include":       "include=4",
	"query exclude":            "exclude=2",
	"query tags.exclude":       "exclude=4",
	"query post_parent":        "post_parent=15",
	"query series":             "series=next",
	"query feeds.series":       "series=none",
	"query month":              "month=2026-12",
	"query day":                "day=2026-12-05",
	"query event_status":       "event_status=canceled,postponed",
	"query password":           "password=sesame",
	"query event":              "event=15",
	"query post":               "post=15",
	"query has_events":         "has_events=true",
	"query only_with_upcoming": "only_with_upcoming=true",
	"query hide_empty":         "hide_empty=true",
	"query order":              "order=desc",
	"query orderby":            "orderby=count",
	"query parent":             "parent=2",
	"query slug":               "slug=jazz",
	"query context":            "context=view",
	"query namespace":          "namespace=cal/events/v1",
	"query ml_language":        "ml_language=pl",
	"query _fields":            "_fields=id,title,venue.venue",

	"header If-None-Match": `"3-8f14e45fceea167a"`,
	"header If-Match":      "*",

	"header If-Modified-Since": "Sat, 21 Nov 2026 12:00:00 GMT",

	"header Prefer":          "handling=strict",
	"header Idempotency-Key": `"8e03978e-40d5-43e8-bc93-6894a57f9324"`,

	"body title":                `{"title": "Open-air cinema"}`,
	"body description":          `{"description": "<p>Bring a <b>blanket</b>.</p>"}`,
	"body excerpt":              `{"excerpt": "<p>Under the stars.</p>"}`,
	"body slug":                 `{"slug": "open-air-cinema"}`,
	"body status":               `{"status": "draft"}`,
	"body author":               `{"author": 1}`,
	"body date":                 `{"date": "2026-11-20 12:00"}`,
	"body date_utc":             `{"date_utc": "2026-11-20 11:00"}`,
	"body timezone":             `{"timezone": "Europe/Warsaw"}`,
	"body start_date":           `{"start_date": "2026-12-18 18:00"}`,
	"body end_date":             `{"end_date": "2026-12-24 20:00"}`,
	"body image":                `{"image": 14}`,
	"body cost":                 `{"cost": "15 - 20 zł"}`,
	"body website":              `{"website": "https://example.org/cinema"}`,
	"body show_map":             `{"show_map": true}`,
	"body show_map_link":        `{"show_map_link": true}`,
	"body categories":           `{"categories": [2, "Cinema"]}`,
	"body tags":                 `{"tags": ["Outdoor", "Families"]}`,
	"body venue":                `{"venue": [10, {"venue": "Old Mill", "city": "Łódź"}]}`,
	"body venues.venue":         `{"venue": "Old Mill"}`,
	"body organizer":            `{"organizer": [12, {"organizer": "Film Club"}]}`,
	"body organizers.organizer": `{"organizer": "Film Club"}`,
	"body password":             `{"password": "sesame"}`,
	"body post_parent":          `{"post_parent": 19}`,
	"body event_status_reason":  `{"event_status_reason": "The hall is flooded."}`,
	"body rrule":                `{"rrule": "FREQ=WEEKLY;COUNT=6"}`,
	"body rdate":                `{"rdate": ["2026-12-21"]}`,
	"body exdate":               `{"exdate": []}`,
	"body scope":                `{"scope": "this"}`,
	"body series.scope":         `{"scope": "all"}`,
	"body exceptions":           `{"exceptions": "keep"}`,
	"body limit":                `{"limit": 20}`,
	"query scope":               "scope=this",
	"query series.scope":        "scope=all",
	"body geo_lat":              `{"geo_lat": 51.77, "geo_lng": 19.46}`,
	"body geo_lng":              `{"geo_lat": 51.77, "geo_lng": 19.46}`,
	"body name":                 `{"name": "Cinema"}`,
	"body parent":               `{"parent": 2}`,
	"body url":                  `{"url": "https://example.org/poster.png"}`,
	"body file":                 "file=@poster.png",

	// These replace a sample in the example of a whole body. That example must work in any calendar, so it uses
	// no ids.
	"example events.end_date":        `{"end_date": "2026-12-18 20:00"}`,
	"example events.venue":           `{"venue": {"venue": "Old Mill", "city": "Łódź"}}`,
	"example events.organizer":       `{"organizer": {"organizer": "Film Club"}}`,
	"example events.categories":      `{"categories": ["Film"]}`,
	"example categories.description": `{"description": "Films of all kinds"}`,
	"example tags.name":              `{"name": "Rainproof"}`,
	"example tags.description":       `{"description": "Under a roof"}`,

	"path events.id":       "/events/15",
	"path venues.id":       "/venues/10",
	"path organizers.id":   "/organizers/12",
	"path categories.id":   "/categories/5",
	"path tags.id":         "/tags/4",
	"path images.id":       "/images/14",
	"path series.id":       "/series/25",
	"path events.slug":     "/events/by-slug/winter-jazz-blues",
	"path venues.slug":     "/venues/by-slug/grand-hall",
	"path organizers.slug": "/organizers/by-slug/alice-co",
	"path series.slug":     "/series/by-slug/polish-for-beginners",
	"path feeds.slug":      "/event/winter-jazz-blues.ics",
}

// exampleFields are the fields in the example of a body: the required ones, and those that people fill in or
// change first. Without an entry the example has the required fields, or the first optional one.
var exampleFields = map[string]string{
	"create events":     "title description start_date end_date timezone cost venue organizer categories tags",
	"update events":     "cost website",
	"preview series":    "start_date end_date timezone rrule rdate",
	"update series":     "cost website",
	"create venues":     "venue address city country geo_lat phone",
	"update venues":     "address phone",
	"create organizers": "organizer phone email",
	"update organizers": "phone email",
	"create categories": "name description",
	"update categories": "description",
	"create tags":       "name description",
	"update tags":       "description",
	"create images":     "url",
}

// bodyExample returns the example for the JSON body of a write, built from the samples of its fields in params. A
// test sends it.
func (p *Route) bodyExample(verb string, params []*param.Param) json.RawMessage {
	var members []string
	fields, known := exampleFields[verb+" "+p.collection()]
	if !known {
		fields = usualFields(params)
	}
	for field := range strings.FieldsSeq(fields) {
		text, ok := samples["example "+p.collection()+"."+field]
		if !ok {
			at := slices.IndexFunc(params, func(one *param.Param) bool { return one.Name == field })
			text = p.sample(params[at])
		}
		// The sample of one coordinate contains the other one too.
		members = append(members, text[1:len(text)-1])
	}
	return json.RawMessage("{" + strings.Join(members, ", ") + "}")
}

// usualFields returns the names of the required fields, separated by blanks. If none is required, it returns the
// name of the first field whose declaration has a sample.
func usualFields(params []*param.Param) string {
	var required []string
	for _, one := range params {
		if one.IsRequired {
			required = append(required, one.Name)
		}
	}
	if at := slices.IndexFunc(params, func(one *param.Param) bool { return one.Sample != nil }); len(required) == 0 && at >= 0 {
		return params[at].Name
	}
	return strings.Join(required, " ")
}

// samplePath returns a path of the route for a record that exists in the sample calendar.
func (p *Route) samplePath() string {
	_, rest, ok := strings.Cut(p.Path, "{")
	if !ok {
		return strings.TrimSuffix(p.Path, "/")
	}
	capture, _, _ := strings.Cut(rest, "}")
	return p.recordSample(string(param.InPath), capture)
}

// sampleOf returns a request that shows the use of the parameter one. It also contains everything else that the
// operation requires. It leaves out parameters without a sample; a test ensures that there are none.
func sampleOf(p *Route, params []*param.Param, one *param.Param, method string) Sample {
	out := Sample{Method: method, Server: p.Server, Path: p.samplePath()}
	var members []string
	add := func(of *param.Param) {
		text := p.sample(of)
		switch {
		case parameterLocation(of) == string(param.InQuery):
			out.Query = text
		case of.In == headerLocation:
			out.Header = of.Name + ": " + text
		case of.Format == "binary":
			out.Body = text
		case of.In == param.InBody:
			members = append(members, strings.Trim(text, "{}"))
		}
	}
	add(one)
	for _, other := range params {
		if other.IsRequired && other != one && other.In == param.InBody {
			add(other)
		}
	}
	if len(members) > 0 {
		out.Body = "{" + strings.Join(members, ", ") + "}"
	}
	return out
}

// sample returns a sample value for a parameter. It comes from the table samples or from the declaration. Without
// these it is true for a boolean.
func (p *Route) sample(of *param.Param) string {
	text, value := p.recordSample(parameterLocation(of), of.Name), of.Sample
	if value == nil && of.Type == "boolean" {
		value = true
	}
	switch {
	case text != "" || value == nil:
		return text
	case of.In != param.InBody:
		return fmt.Sprintf("%s=%v", of.Name, value)
	}
	if text, ok := value.(string); ok {
		value = strconv.Quote(text)
	}
	return fmt.Sprintf(`{%q: %v}`, of.Name, value)
}

// recordSample returns the sample value in the table samples for a location and a name. A sample for the collection
// of the path has precedence.
func (p *Route) recordSample(in, name string) string {
	if text, ok := samples[in+" "+p.collection()+"."+name]; ok {
		return text
	}
	return samples[in+" "+name]
}

// parameterLocation returns the location where a parameter is described. The language of a write is described
// in the query.
func parameterLocation(p *param.Param) string {
	if p.Name == "ml_language" {
		return string(param.InQuery)
	}
	return string(p.In)
}
