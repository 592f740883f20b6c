package handlers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/apitest"
	"github.com/almanac-cal/almanac/internal/storetest"
)

// follow is the schema a reference names.
func (d *openAPI) follow(s apiSchema) (apiSchema, error) {
	if s.Ref == "" {
		return s, nil
	}
	name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/")
	target, known := d.Components.Schemas[name]
	if !ok || !known {
		return s, fmt.Errorf("%s names no schema", s.Ref)
	}
	return target, nil
}

// check compares a decoded JSON value with a schema, and reports members that no schema mentions: what is
// answered is described.
func (d *openAPI) check(at string, v any, s apiSchema) error {
	s, err := d.follow(s)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if v == nil && s.Nullable {
		return nil
	}
	if s.Enum != nil && !slices.Contains(s.Enum, v) {
		return fmt.Errorf("%s: %v is none of %v", at, v, s.Enum)
	}
	if s.OneOf != nil {
		return d.checkOne(at, v, s.OneOf)
	}
	if s.AnyOf != nil {
		return d.checkAny(at, v, s.AnyOf)
	}
	switch v := v.(type) {
	case map[string]any:
		return d.checkObject(at, v, s)
	case []any:
		if s.Type != "array" || s.MaxItems != nil && len(v) > *s.MaxItems {
			return fmt.Errorf("%s: a list of %d where %q is described", at, len(v), s.Type)
		}
		for i, item := range v {
			if err := d.check(at+"."+strconv.Itoa(i), item, *s.Items); err != nil {
				return err
			}
		}
		return nil
	case string:
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			return fmt.Errorf("%s: %q does not match %s", at, v, s.Pattern)
		}
	case float64:
		whole := s.Type == "integer" && v == float64(int64(v))
		if (s.Type != "number" && s.Type != "" && !whole) || s.Minimum != nil && v < *s.Minimum {
			return fmt.Errorf("%s: %v is no %s", at, v, s.Type)
		}
		return nil
	}
	want := map[string]string{"string": "string", "bool": "boolean"}[fmt.Sprintf("%T", v)]
	if s.Type != "" && s.Type != want {
		return fmt.Errorf("%s: %v is no %s", at, v, s.Type)
	}
	return nil
}

func (d *openAPI) checkOne(at string, v any, schemas []apiSchema) error {
	var faults []string
	for _, s := range schemas {
		if err := d.check(at, v, s); err != nil {
			faults = append(faults, err.Error())
		}
	}
	if len(schemas)-len(faults) != 1 {
		return fmt.Errorf("%s: fits %d of %d schemas: %s",
			at, len(schemas)-len(faults), len(schemas), strings.Join(faults, "; "))
	}
	return nil
}

func (d *openAPI) checkAny(at string, v any, schemas []apiSchema) error {
	var faults []error
	for _, s := range schemas {
		err := d.check(at, v, s)
		if err == nil {
			return nil
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func (d *openAPI) checkObject(at string, v map[string]any, s apiSchema) error {
	if s.Type != "object" {
		return fmt.Errorf("%s: an object where %q is described", at, s.Type)
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s: %s is required and not there", at, name)
		}
	}
	for name, value := range v {
		inner, ok := s.Properties[name]
		switch {
		case ok:
		case s.AdditionalProperties != nil:
			inner = *s.AdditionalProperties
		case s.Properties == nil:
			continue
		default:
			return fmt.Errorf("%s: %s is not described", at, name)
		}
		if err := d.check(at+"."+name, value, inner); err != nil {
			return err
		}
	}
	return nil
}

// checkReply compares a reply with what the document says of the operation.
func (d *openAPI) checkReply(method, template string, res apitest.Response) error {
	reply, ok := d.Paths[template][strings.ToLower(method)].Responses[strconv.Itoa(res.Status)]
	if !ok {
		return fmt.Errorf("%s %s: status %d is not described", method, template, res.Status)
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	content, ok := reply.Content[kind]
	if !ok {
		return fmt.Errorf("%s %s: %s is not described", method, template, kind)
	}
	var body any
	if err := json.Unmarshal(res.Body, &body); err != nil {
		return fmt.Errorf("%s %s: %w in %s", method, template, err, res.Body)
	}
	for name := range reply.Headers {
		if res.Header.Get(name) == "" {
			return fmt.Errorf("%s %s: %s is described and not there", method, template, name)
		}
	}
	return d.check("body", body, content.Schema)
}

// template is the path of the document that a path is an instance of.
func template(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		switch {
		case part != "" && strings.Trim(part, "0123456789") == "":
			parts[i] = "{id}"
		case i > 0 && parts[i-1] == "by-slug":
			parts[i] = "{slug}"
		}
	}
	return strings.Join(parts, "/")
}

func TestRepliesAreAsDescribed(t *testing.T) {
	t.Parallel()
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	api.Example(t)
	api.SignIn(t, "subscriber", calendar.Subscriber)
	d := describe(t, api)
	problem := map[string]string{"Accept": "application/problem+json"}
	concert := object{"title": "Concert", "start_date": "2026-12-20 18:00", "end_date": "2026-12-20 20:00"}
	for _, c := range []struct {
		template string
		status   int
		apitest.Request
	}{
		{"/", 200, get("")},
		{"/doc", 200, get("/doc")},
		{"/events", 200, get("/events")},
		{"/events", 200, get("/events?per_page=3&page=2&categories=2,3")},
		{"/events", 200, get("/events?include=22")},
		{"/events", 200, get("/events?search=nothing")},
		{"/events", 200, get("/events?status=publish&ml_language=pl")},
		{"/events", 404, get("/events?page=99")},
		{"/events", 400, get("/events?page=0&featured=maybe")},
		{"/events", 401, apitest.Request{Path: "/events", Header: map[string]string{"Authorization": "Bearer wrong"}}},
		{"/events", 201, post("admin", "/events", concert)},
		{"/events", 201, post("admin", "/events", object{
			"title": "Two halls", "start_date": "2026-12-21", "end_date": "2026-12-22", "all_day": true, "cost": []any{5, "€8"},
			"venue": []any{10, object{"venue": "Annex", "geo_lat": 0, "geo_lng": 1.5}}, "organizer": 13, "tags": "new, 4",
		})},
		{"/events", 400, post("", "/events", object{})},
		{"/events", 400, post("", "/events", `{"title":`)},
		{"/events", 400, post("admin", "/events", object{"title": "", "start_date": "not a date", "end_date": "2026-12-01", "venue": []int{10, 999}})},
		{"/events", 401, post("", "/events", concert)},
		{"/events", 403, post("subscriber", "/events", concert)},
		{"/events/{id}", 200, get("/events/15")},
		{"/events/{id}", 200, get("/events/17")},
		{"/events/{id}", 200, get("/events/18")},
		{"/events/{id}", 200, apitest.Request{Path: "/events/20", As: "admin"}},
		{"/events/{id}", 403, get("/events/22")},
		{"/events/{id}", 403, apitest.Request{Path: "/events/22", Header: problem}},
		{"/events/{id}", 404, get("/events/999999")},
		{"/events/{id}", 400, apitest.Request{Path: "/events/10", Header: problem}},
		{"/events/{id}", 200, apitest.Request{Method: "PATCH", Path: "/events/17", As: "admin", JSON: object{"cost": nil, "venue": 10}}},
		{"/events/{id}", 400, apitest.Request{
			Method: "PUT", Path: "/events/17", As: "admin", Header: problem,
			JSON: object{"end_date": "2001-01-01"},
		}},
		{"/events/{id}", 200, apitest.Request{Method: "DELETE", Path: "/events/16", As: "admin"}},
		{"/events/{id}", 410, apitest.Request{Method: "DELETE", Path: "/events/21", As: "admin"}},
		{"/events/by-slug/{slug}", 200, get("/events/by-slug/winter-jazz-blues")},
		{"/events/by-slug/{slug}", 200, get("/events/by-slug/zimowy-jazz?ml_language=pl")},
		{"/events/by-slug/{slug}", 400, get("/events/by-slug/nobody")},
		{"/venues", 200, get("/venues")},
		{"/venues", 201, post("admin", "/venues", object{"venue": "Loft"})},
		{"/venues/{id}", 200, get("/venues/10")},
		{"/venues/{id}", 200, get("/venues/11")},
		{"/venues/{id}", 400, get("/venues/999999")},
		{"/venues/by-slug/{slug}", 200, get("/venues/by-slug/grand-hall")},
		{"/organizers", 200, get("/organizers")},
		{"/organizers", 404, get("/organizers?page=9")},
		{"/organizers", 201, post("admin", "/organizers", object{"organizer": "Carol"})},
		{"/organizers/{id}", 200, get("/organizers/12")},
		{"/organizers/by-slug/{slug}", 200, get("/organizers/by-slug/bob")},
		{"/categories", 200, get("/categories?hide_empty=0")},
		{"/categories", 201, post("admin", "/categories", object{"name": "Blues", "parent": 2})},
		{"/categories", 400, post("admin", "/categories", object{"name": "music"})},
		{"/categories/{id}", 200, get("/categories/3")},
		{"/tags", 200, get("/tags")},
		{"/tags/{id}", 200, get("/tags/4")},
		{"/tags/{id}", 200, apitest.Request{Method: "DELETE", Path: "/tags/4", As: "admin"}},
		{"/images", 200, apitest.Request{Path: "/images", As: "admin"}},
		{"/images", 401, get("/images")},
		{"/images", 400, post("admin", "/images", object{})},
		{"/images/{id}", 200, get("/images/14")},
		{"/images/{id}", 404, get("/images/99")},
	} {
		method := c.Method
		if method == "" {
			method = http.MethodGet
		}
		t.Run(method+" "+c.Path+" "+strconv.Itoa(c.status), func(t *testing.T) {
			res := api.Do(t, c.Request)
			if res.Status != c.status {
				t.Fatalf("got %d, want %d: %s", res.Status, c.status, res.Body)
			}
			if err := d.checkReply(method, c.template, res); err != nil {
				t.Error(err)
			}
		})
	}
}
