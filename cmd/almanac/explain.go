package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/openapi"
)

// explainCmd prints the declaration of a parameter or route of the API.
type explainCmd struct {
	What     []string `arg:"" name:"what" help:"A parameter, such as start_date, or a route, such as /events/{id} or 'GET /events/{id}'."`
	Language string   `default:"en" placeholder:"LANG" enum:"en,pl,es" help:"Language of the descriptions: en, pl or es. Default ${default}."`
	BaseURL  string   `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Public address of the REST root, for the examples. Default ${default}."`
	Mount    []string `placeholder:"PATH" help:"Path of the API in the examples. If there are several, the first counts. Default /cal/events/v1."`
}

// Run prints the explanation to standard output. For an unknown name, it returns an error with similar names.
func (c explainCmd) Run(s streams) error {
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
			return unknownName(api, strings.TrimSpace(method+" "+name), name)
		}
		return s.printRoutes(routes)
	}
	found := api.Explain(name)
	if len(found) == 0 || method != "" {
		return unknownName(api, strings.TrimSpace(method+" "+name), name)
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

// curlCommand returns a request as a curl command.
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

// unknownName returns the error for an unknown parameter or route. It suggests names with similar spelling.
func unknownName(api *openapi.API, asked, name string) error {
	near := similarNames(name, api.Explainable())
	if len(near) == 0 {
		return usageError{fmt.Errorf("there is no %q; a route such as /events lists its parameters", asked)}
	}
	return usageError{fmt.Errorf("there is no %q; did you mean %s?", asked, strings.Join(near, ", "))}
}

// similarNames returns at most three similar names, the most similar first. At most a third of the letters of
// each may differ. In a name of fewer than six letters, two may differ.
func similarNames(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var out []candidate
	for _, one := range names {
		if d := editDistance(strings.ToLower(name), one); d <= max(2, len(one)/3) {
			out = append(out, candidate{one, d})
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var likest []string
	for _, one := range out[:min(3, len(out))] {
		likest = append(likest, one.name)
	}
	return likest
}

// editDistance returns how many characters must be inserted, deleted or replaced to turn a into b (Levenshtein).
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			replaced := diagonal
			if x != y {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(to)]
}
