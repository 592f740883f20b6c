package edit

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// faultOf returns the fault f with the name of its parameter set. Nil stays nil.
func faultOf(name string, f *param.Fault) *param.Fault {
	if f != nil {
		f.Param = name
	}
	return f
}

// InvalidInput returns param.Invalid with all given faults that are not nil, in their order. It returns nil if all
// are nil.
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

// unknownTerms returns the fault of a parameter whose terms do not exist, for a caller who may not create terms.
func unknownTerms(name string, names []string) *param.Fault {
	return &param.Fault{
		Param: name, Reason: "unknown-terms", Key: "unknown-terms",
		Args: map[string]any{"Names": strings.Join(names, ", ")}, Data: map[string]any{"names": names},
	}
}

// InvalidLinked returns the fault of an event parameter that contains an invalid new venue or organizer. The index
// is its place in the list, from 0. Data["params"] is a []param.Fault with the inner faults. Package server
// translates them for the reply.
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

// idsWithout returns the ids of all that are not in some, in their order.
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
