package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/openapi"
)

// explainCmd prints the rules of a parameter or route of the API. It is hidden and will be removed in the next
// release. The API's index, the OpenAPI document and the reference at /docs say the same.
type explainCmd struct {
	What     []string `arg:"" name:"what" help:"A parameter, such as start_date, or a route, such as /events/{id} or 'GET /events/{id}'."`
	Language string   `default:"en" placeholder:"LANG" enum:"en,pl,es" help:"Language of the descriptions: en, pl or es. Default ${default}."`
	BaseURL  string   `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Public URL of the REST root, for the examples. Default ${default}."`
	Mount    []string `placeholder:"PATH" help:"Path of the API in the examples. If there are several, the first counts. Default /cal/events/v1."`
}

// Run prints the explanation to standard output. It prints a hint at other sources of it to standard error.
func (c explainCmd) Run(s streams) error {
	fmt.Fprintln(s.Err, "almanac explain goes in the next release. GET /cal/events/v1, 'almanac openapi' and /docs describe the API.")
	h, root, err := describedAPI(c.BaseURL, c.Mount)
	if err != nil {
		return err
	}
	api := h.Describe(clockNow(), root, calendar.Language(c.Language))
	method, name := "", c.What[0]
	switch {
	case len(c.What) == 2:
		method, name = strings.ToUpper(c.What[0]), c.What[1]
	case len(c.What) > 2:
		return usageError{fmt.Errorf("want a parameter or a route, not %d of them", len(c.What))}
	}
	if method == "" {
		if verb, path, ok := strings.Cut(name, " "); ok {
			method, name = strings.ToUpper(verb), path
		}
	}
	if strings.HasPrefix(name, "/") {
		routes := api.ExplainRoute(method, h.Template(name))
		if len(routes) == 0 {
			return usageError{fmt.Errorf("there is no %q", strings.TrimSpace(method+" "+name))}
		}
		return s.printRoutes(routes)
	}
	found := api.Explain(name)
	if len(found) == 0 || method != "" {
		return usageError{fmt.Errorf("there is no %q", strings.TrimSpace(method+" "+name))}
	}
	return s.printParameters(found, api.Address)
}

// printParameters prints each meaning that a parameter has.
func (s streams) printParameters(found []openapi.Explanation, api string) error {
	var b strings.Builder
	for _, x := range found {
		fmt.Fprintf(&b, "%s: %s, %s\n", x.Name, x.In, strings.Join(append([]string{x.Type}, x.Rules...), "; "))
		fmt.Fprintf(&b, "  %s\n", x.Description)
		fmt.Fprintf(&b, "  in %s\n", strings.Join(x.Operations, ", "))
		fmt.Fprintf(&b, "  %s\n\n", curlCommand(x.Sample))
	}
	fmt.Fprintf(&b, "API=%s\n", api)
	_, err := s.Out.Write([]byte(b.String()))
	return err
}

// curlCommand returns a sample request as a curl command.
func curlCommand(r openapi.Sample) string {
	var b strings.Builder
	b.WriteString("curl ")
	switch {
	case strings.HasPrefix(r.Body, "{"):
		fmt.Fprintf(&b, "-X %s -u USER:TOKEN --json '%s' ", r.Method, r.Body)
	case r.Body != "":
		fmt.Fprintf(&b, "-X %s -u USER:TOKEN -F %s ", r.Method, r.Body)
	case r.Method != http.MethodGet:
		fmt.Fprintf(&b, "-X %s -u USER:TOKEN ", r.Method)
	}
	if r.Header != "" {
		fmt.Fprintf(&b, "-H '%s' ", r.Header)
	}
	address := cmp.Or(r.Server, "$API") + r.Path
	if r.Query != "" {
		address += "?" + strings.NewReplacer(" ", "%20", "+", "%2B").Replace(r.Query)
	}
	return b.String() + `"` + address + `"`
}

// printRoutes prints each operation with one line per parameter.
func (s streams) printRoutes(routes []openapi.RouteExplanation) error {
	for i, route := range routes {
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		fmt.Fprintf(s.Out, "%s: %s\n", route.Operation, route.Summary)
		t := newTable(s.Out, "PARAMETER", "IN", "TYPE", "RULES", "DESCRIPTION")
		for _, x := range route.Parameters {
			t.row(x.Name, x.In, x.Type, strings.Join(x.Rules, "; "), x.Description)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}
