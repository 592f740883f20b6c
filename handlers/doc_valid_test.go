package handlers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/apitest"
	"github.com/almanac-cal/almanac/internal/storetest"
)

// TestInterfaceDescriptionIsValid loads every edition with a library that knows OpenAPI, examples included.
func TestInterfaceDescriptionIsValid(t *testing.T) {
	t.Parallel()
	const other = "/wp-json/tribe/events/v1"
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) { c.Mounts = []string{other} })
	for _, mount := range []string{"/" + handlers.Namespace, other} {
		for _, lang := range calendar.Languages {
			t.Run(mount+" "+string(lang), func(t *testing.T) {
				res := api.Do(t, apitest.Request{Path: "/" + string(lang) + mount + "/doc", Absolute: true})
				valid(t, res.Body, openapi3.EnableExamplesValidation())
			})
		}
	}
}

func valid(t *testing.T, body []byte, options ...openapi3.ValidationOption) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(body)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), options...); err != nil {
		t.Error(err)
	}
	return doc
}

// TestEveryReplyHasAnExample looks at all statuses, those of errors too.
func TestEveryReplyHasAnExample(t *testing.T) {
	t.Parallel()
	doc := valid(t, onSQLite(t).Do(t, get("/doc")).Body, openapi3.DisableExamplesValidation())
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, reply := range op.Responses.Map() {
				if status != "304" && len(reply.Value.Content) == 0 {
					t.Errorf("%s %s: %s has no content", method, path, status)
				}
				for kind, content := range reply.Value.Content {
					if kind != "application/problem+json" && len(content.Examples) == 0 {
						t.Errorf("%s %s: %s of %s has no example", method, path, kind, status)
					}
				}
			}
		}
	}
}

func TestInterfaceDescriptionInLaterVersion(t *testing.T) {
	t.Parallel()
	h := offlineAPI(t)
	for _, lang := range calendar.Languages {
		body, err := h.Describe(apitest.Now, usualRoot, lang).Document31()
		if err != nil {
			t.Fatal(err)
		}
		valid(t, body, openapi3.DisableExamplesValidation()) // they are those of 3.0
		for _, old := range []string{`"nullable":`, `"exclusiveMinimum":true`, `"format":"binary"`} {
			if strings.Contains(string(body), old) {
				t.Errorf("%s: %s is of 3.0", lang, old)
			}
		}
	}
	body, err := h.Describe(apitest.Now, usualRoot, calendar.English).Document31()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		OpenAPI    string `json:"openapi"`
		Dialect    string `json:"jsonSchemaDialect"`
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		} `json:"components"`
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name   string
					Schema json.RawMessage
				}
			}
		}
	}
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	if d.OpenAPI != "3.1.0" || d.Dialect != "https://spec.openapis.org/oas/3.1/dialect/base" {
		t.Errorf("got openapi %s, dialect %s", d.OpenAPI, d.Dialect)
	}
	radius := ""
	for _, p := range d.Paths["/events"].Get.Parameters {
		if p.Name == "geoloc_radius" {
			radius = string(p.Schema)
		}
	}
	for _, c := range []struct{ name, got, want string }{
		{"null beside a type", string(d.Components.Schemas["VenueUpdate"].Properties["city"]), `{"type":["string","null"],"maxLength":255,"description":"City"}`},
		{"null in a list of words", string(d.Components.Schemas["OrganizerCreate"].Properties["status"]), `{"type":["string","null"],"enum":["publish","future","draft","pending","private","trash",null],"description":"Status"}`},
		{"null in an alternative", string(d.Components.Schemas["EventUpdate"].Properties["cost"]), `{"anyOf":[{"type":["string","null"]},{"type":"number","minimum":0},{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number","minimum":0}]}}],"description":"Cost"}`},
		{"a file", string(d.Components.Schemas["ImageCreateFile"].Properties["file"]), `{"contentMediaType":"application/octet-stream","description":"Image file, multipart"}`},
		{"a bound that is excluded", radius, `{"type":"number","format":"double","exclusiveMinimum":0,"maximum":500,"default":25}`},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
