package handlers_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/almanac-cal/almanac/proof/apitest"
)

// TestExamplesOfBodiesAreTaken sends the example body of every write, as a user of the reference page would. The
// bodies contain no ids, since these differ between calendars.
func TestExamplesOfBodiesAreTaken(t *testing.T) {
	t.Parallel()
	api := newSweepAPI(t)
	doc := valid(t, api.Do(t, get("/doc")).Body, openapi3.EnableExamplesValidation())
	operations := doc.Paths.Map()
	sent := 0
	for _, path := range doc.Paths.InMatchingOrder() {
		item := operations[path]
		for _, method := range []string{"POST", "PUT", "PATCH"} {
			op := item.GetOperation(method)
			if op == nil {
				continue
			}
			t.Run(method+" "+path, func(t *testing.T) {
				example := op.RequestBody.Value.Content["application/json"].Example
				body, ok := example.(map[string]any)
				if !ok || len(body) == 0 {
					t.Fatalf("the example is %v", example)
				}
				if path == "/images" { // the address is one of the world outside
					return
				}
				sent++
				res := api.Do(t, apitest.Request{Method: method, Path: targets.Replace(path), As: "admin", JSON: body})
				if res.Status != 200 && res.Status != 201 {
					t.Errorf("got %d: %s", res.Status, res.Body)
				}
			})
		}
	}
	if sent < 20 {
		t.Errorf("%d bodies were sent", sent)
	}
}
