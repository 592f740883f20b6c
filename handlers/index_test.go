package handlers_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// onSQLite returns a service on an empty SQLite database, for tests that do not depend on the engine.
func onSQLite(t testing.TB) *apitest.API {
	t.Helper()
	return apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
}

// comparePublished compares JSON with the file name below testdata, including the order of keys. With -update it
// writes the file.
func comparePublished(t *testing.T, name string, body []byte) {
	t.Helper()
	got := indentJSON(t, body)
	file := filepath.Join(apitest.Root(), "testdata", name)
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		must.Succeed(t, os.WriteFile(file, got, 0o644))
		return
	}
	want, err := os.ReadFile(file)
	must.Succeed(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func indentJSON(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(body), "", "  "); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// indexDocument is the body of the API index. It keeps each route as raw JSON.
type indexDocument struct {
	Namespace string                     `json:"namespace"`
	Routes    map[string]json.RawMessage `json:"routes"`
	Links     json.RawMessage            `json:"_links"`
}

func TestIndexIsPublished(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	res := api.Do(t, get(""))
	if res.Status != 200 {
		t.Fatalf("got %d: %s", res.Status, res.Body)
	}
	comparePublished(t, "index.json", res.Body)
}

func TestIndexIsThatOfTheContract(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(apitest.Root(), "testdata", "golden", "index_excerpt.json"))
	must.Succeed(t, err)
	var want, got indexDocument
	must.Succeed(t, json.Unmarshal(data, &want))
	onSQLite(t).Do(t, get("")).Into(t, &got)
	if got.Namespace != want.Namespace {
		t.Errorf("got namespace %q, want %q", got.Namespace, want.Namespace)
	}
	if diff := cmp.Diff(string(indentJSON(t, want.Links)), string(indentJSON(t, got.Links))); diff != "" {
		t.Errorf("_links (-want +got):\n%s", diff)
	}
	for _, route := range []string{"/cal/events/v1/events", `/cal/events/v1/events/(?P<id>\d+)`} {
		if want.Routes[route] == nil || got.Routes[route] == nil {
			t.Errorf("%s is not in both", route)
			continue
		}
		if diff := cmp.Diff(string(indentJSON(t, want.Routes[route])), withoutLaterArgs(t, want.Routes[route], got.Routes[route])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", route, diff)
		}
	}
}

// withoutLaterArgs returns a route of the API index without arguments that were added after the contract's example
// was written. The same route in that example is example.
func withoutLaterArgs(t *testing.T, example, route json.RawMessage) string {
	t.Helper()
	type endpoint struct {
		Args json.RawMessage `json:"args"`
	}
	var shown, all struct {
		Endpoints []endpoint `json:"endpoints"`
	}
	for raw, to := range map[*json.RawMessage]any{&example: &shown, &route: &all} {
		must.Succeed(t, json.Unmarshal(*raw, to))
	}
	text := string(route)
	for i, e := range all.Endpoints {
		if i == len(shown.Endpoints) {
			break
		}
		args := map[string]json.RawMessage{}
		must.Succeed(t, json.Unmarshal(e.Args, &args))
		kept := string(e.Args)
		for _, name := range slices.Concat(laterFields(), strings.Fields(addedFilters())) {
			if raw, ok := args[name]; ok && !slices.Contains(keys(t, shown.Endpoints[i].Args), name) {
				kept = strings.Replace(kept, `,"`+name+`":`+string(raw), "", 1)
			}
		}
		text = strings.Replace(text, string(e.Args), kept, 1)
	}
	return string(indentJSON(t, json.RawMessage(text)))
}

func TestIndexFollowsItsRoot(t *testing.T) {
	t.Parallel()
	api := onSQLite(t)
	api.Run(t, []apitest.Case{
		{
			Name: "parameters have no effect", Request: get("?namespace=other&context=edit"), Status: 200,
			Check: func(t *testing.T, r apitest.Response) {
				if diff := cmp.Diff(api.Do(t, get("")).Body, r.Body); diff != "" {
					t.Error(diff)
				}
			},
		},
		{Name: "with a slash", Request: get("/"), Status: 200},
		{
			Name:    "the language of the path is in the links",
			Request: apitest.Request{Path: "/pl/cal/events/v1", Absolute: true}, Status: 200,
			Check: func(t *testing.T, r apitest.Response) {
				for want, path := range map[string][]any{
					apitest.BaseURL + "/pl/": {"_links", "up", 0, "href"},
					apitest.BaseURL + "/pl/cal/events/v1/doc": {
						"routes", "/cal/events/v1/doc", "_links", "self", 0, "href",
					},
				} {
					if got := r.Get(t, path...); got != want {
						t.Errorf("got %v, want %s", got, want)
					}
				}
			},
		},
		{
			Name: "paths with captures have no link", Request: get(""), Status: 200,
			Check: func(t *testing.T, r apitest.Response) {
				if got := r.Get(t, "routes", `/cal/events/v1/events/(?P<id>\d+)`, "_links"); got != nil {
					t.Errorf("got %v", got)
				}
			},
		},
		{Name: "unknown language", Request: get("?ml_language=de"), Status: 400, Code: "rest_invalid_param"},
	})
}
