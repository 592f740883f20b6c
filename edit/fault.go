package edit

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// faultOf sets the name of the parameter in the error f, and returns f. Nil stays nil.
func faultOf(name string, f *param.Fault) *param.Fault {
	if f != nil {
		f.Param = name
	}
	return f
}

// InvalidInput returns param.Invalid with all given parameter errors that are not nil, in their order. It returns
// nil if all are nil.
func InvalidInput(found ...*param.Fault) error {
	var all param.Invalid
	for _, f := range found {
		if f != nil {
			all.Faults = append(all.Faults, *f)
		}
	}
	if all.Faults == nil {
		return nil
	}
	return all
}

// unknownTerms returns the error of a parameter with terms that do not exist, if the caller cannot create terms.
func unknownTerms(name string, names []string) *param.Fault {
	return &param.Fault{
		Param: name, Reason: "unknown-terms", Key: "unknown-terms",
		Args: map[string]any{"Names": strings.Join(names, ", ")}, Data: map[string]any{"names": names},
	}
}

// InvalidLinked returns the error of an event parameter that contains an invalid new venue or organizer. The index
// is its place in the list, from 0. Data["params"] is a []param.Fault with the inner errors. Package server
// translates them for the response.
func InvalidLinked(name string, index int, faults []param.Fault) *param.Fault {
	return &param.Fault{
		Param: name, Reason: "invalid-linked-record", Key: "invalid-linked-record",
		Args: map[string]any{"Number": index + 1},
		Data: map[string]any{"index": index, "params": faults},
	}
}

// kindTitle returns the name of the request parameter for the title or name of a record. It is "title" for an
// event, the kind for a named record such as a venue, and "name" for a term.
func kindTitle(k calendar.Kind) string {
	switch {
	case k == calendar.Event:
		return "title"
	case k.IsNamed():
		return string(k)
	}
	return "name"
}

// uniqueIDs returns the ids without repeats, in the order of their first occurrence.
func uniqueIDs(ids []int64) []int64 {
	out := make([]int64, 0, len(ids))
	seen := make(map[int64]bool, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// idsWithout returns the ids in the list all that are not in the list some. It keeps their order.
func idsWithout(all, some []int64) []int64 {
	drop := make(map[int64]bool, len(some))
	for _, id := range some {
		drop[id] = true
	}
	var out []int64
	for _, id := range all {
		if !drop[id] {
			out = append(out, id)
		}
	}
	return out
}
