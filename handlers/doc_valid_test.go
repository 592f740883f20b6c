package handlers_test

import (
	"bytes"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestInterfaceDescriptionIsValid validates the description and its examples in every language with an OpenAPI
// library. At another mount, only the URLs may differ. With -short, it reads English alone, since
// TestDescriptionsDifferInTextsForPeopleAlone compares the other languages with English.
func TestInterfaceDescriptionIsValid(t *testing.T) {
	t.Parallel()
	const first, other = "/" + handlers.Namespace, "/wp-json/tribe/events/v1"
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)), func(c *handlers.Config) { c.Mounts = []string{other} })
	for _, lang := range calendar.Languages {
		if testing.Short() && lang != calendar.English {
			continue
		}
		t.Run(string(lang), func(t *testing.T) {
			body := api.Do(t, apitest.Request{Path: "/" + string(lang) + first + "/doc", Absolute: true}).Body
			valid(t, body, openapi3.EnableExamplesValidation())
			at := api.Do(t, apitest.Request{Path: "/" + string(lang) + other + "/doc", Absolute: true}).Body
			if got := bytes.ReplaceAll(at, []byte(other), []byte(first)); !bytes.Equal(got, body) {
				t.Error(cmp.Diff(string(body), string(got)))
			}
		})
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

// TestEveryReplyHasAnExample checks that the description has an example for every status, including errors.
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
