package endpoint

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/openapi"
	"github.com/almanac-cal/almanac/internal/param"
)

// HeaderPrefer to HeaderIgnored are the headers about unknown request parameters (contract, section 3).
const (
	HeaderPrefer            = "Prefer" // RFC 7240
	HeaderPreferenceApplied = "Preference-Applied"
	// HeaderIgnored lists the parameters without effect, such as "category; did-you-mean=categories".
	HeaderIgnored = "X-Almanac-Ignored"
)

// strictHandling is the value of Preference-Applied if unknown request parameters were refused. Clients request
// that with Prefer.
const strictHandling = "handling=strict"

// PrefersStrict reports whether values of the Prefer header ask for strict handling. If the preference is
// repeated, the first one counts.
func PrefersStrict(values [][]byte) bool {
	for _, value := range values {
		for preference := range strings.SplitSeq(string(value), ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, word, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(name), "handling") {
				return strings.EqualFold(strings.Trim(word, " \t\""), "strict")
			}
		}
	}
	return false
}

// maxUndeclared is how many unknown parameters a reply reports at most, and how many repeated keys. The constant
// maxUndeclaredName is the largest length of a reported name, in bytes. The constant maxIgnoredHeader is the
// largest length of the header X-Almanac-Ignored, because proxies limit headers.
const (
	maxUndeclared     = 20
	maxUndeclaredName = 64
	maxIgnoredHeader  = 1000
)

// genericParameters are accepted on every route, even if they have no effect there (contract, sections 3, 13, 17
// and 18).
var genericParameters = []string{
	"_fields", "_envelope", "_embed", "_jsonp", "_locale", "_method", "context", "ml_language", "password", "rest_route",
}

// undeclaredParameter is a sent parameter that the route does not know. meant is the known parameter with a
// similar name. "" means that there is none.
type undeclaredParameter struct{ name, meant string }

// undeclaredParameters returns the sent parameters that the route does not know, sorted by name, at most
// maxUndeclared. A write also accepts the keys of its representation, because clients may send that back.
func (r *Request) undeclaredParameters(m *Match, values map[string]any) []undeclaredParameter {
	var names []string
	for name := range values {
		known := r.Params.Declares(name) || slices.Contains(genericParameters, name) ||
			m.Endpoint.In == param.InBody && openapi.HasKey(m.Pattern.Kind(), name)
		if !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := make([]undeclaredParameter, min(len(names), maxUndeclared))
	for i := range out {
		name := names[i]
		if len(name) > maxUndeclaredName {
			name = strings.ToValidUTF8(name[:maxUndeclaredName], "")
		}
		out[i] = undeclaredParameter{name, nearestName(name, r.Params.Names())}
	}
	return out
}

// parse parses and checks the parameters of the request. If strict is true, unknown parameters and repeated keys
// are parameter errors, and Preference-Applied is set. Otherwise they have no effect, and the result ignored
// names them, for the header X-Almanac-Ignored.
func (r *Request) parse(c *fiber.Ctx, m *Match, values map[string]any, duplicates []string, strict bool) (ignored string, err error) {
	unknown := r.undeclaredParameters(m, values)
	err = r.Params.Parse(r.Ctx)
	if !strict {
		return ignoredHeader(unknown, duplicates), err
	}
	c.Set(HeaderPreferenceApplied, strictHandling)
	var invalid param.Invalid
	if len(unknown)+len(duplicates) == 0 || err != nil && !errors.As(err, &invalid) {
		return "", err
	}
	for _, u := range unknown {
		invalid.Faults = append(invalid.Faults, u.fault())
	}
	for _, name := range duplicates {
		invalid.Faults = append(invalid.Faults, param.Fault{
			Param: name, Reason: "duplicate-key", Key: "duplicate-key", Args: map[string]any{"Param": name}, Data: map[string]any{},
		})
	}
	return "", invalid
}

// fault returns the parameter error that a strict client gets for an unknown parameter.
func (u undeclaredParameter) fault() param.Fault {
	f := param.Fault{
		Param: u.name, Reason: "unknown-parameter", Key: "unknown-parameter",
		Args: map[string]any{"Param": u.name}, Data: map[string]any{"did_you_mean": nil},
	}
	if u.meant != "" {
		f.Key, f.Args["Meant"], f.Data["did_you_mean"] = "unknown-parameter-meant", u.meant, u.meant
	}
	return f
}

// ignoredHeader returns the value of X-Almanac-Ignored, or "" if nothing was ignored. Names are percent-encoded
// as in a query. Parameters and keys that do not fit are left out.
func ignoredHeader(unknown []undeclaredParameter, duplicates []string) string {
	var items []string
	for _, u := range unknown {
		item := url.QueryEscape(u.name)
		if u.meant != "" {
			item += "; did-you-mean=" + url.QueryEscape(u.meant)
		}
		items = append(items, item)
	}
	for _, name := range duplicates {
		items = append(items, url.QueryEscape(name)+"; reason=duplicate-key")
	}
	var value string
	for _, item := range items {
		if value != "" {
			item = ", " + item
		}
		if len(value)+len(item) > maxIgnoredHeader {
			break
		}
		value += item
	}
	return value
}

// nearestName returns the candidate that becomes name with the fewest changed letters, ignoring case. It returns
// "" if none is similar enough. At most a third of the longer name may change, rounded to the nearest number.
// The changes must also be fewer than the letters of name.
func nearestName(name string, candidates []string) (nearest string) {
	least := len(name)
	for _, candidate := range candidates {
		longest := max(len(name), len(candidate))
		if n := letterChanges(strings.ToLower(name), candidate); n < least && 3*n <= longest+1 {
			nearest, least = candidate, n
		}
	}
	return nearest
}

// letterChanges returns how many bytes must be inserted, removed or replaced to turn a into b.
func letterChanges(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], changed
		}
	}
	return row[len(b)]
}
