package edit

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// faultOf names the parameter of a fault; nil stays nil.
func faultOf(name string, f *param.Fault) *param.Fault {
	if f != nil {
		f.Param = name
	}
	return f
}

// invalidInput returns the error of the faults found, in their order; nil when there is none.
func invalidInput(found ...*param.Fault) error {
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

// unknownTerms returns the fault of names that the caller may not make terms of.
func unknownTerms(name string, names []string) *param.Fault {
	return &param.Fault{
		Param: name, Reason: "unknown-terms", Key: "unknown-terms",
		Args: map[string]any{"Names": strings.Join(names, ", ")}, Data: map[string]any{"names": names},
	}
}

// InvalidLinked returns the fault of an invalid venue or organizer that was sent with an event, at index in its
// list, from 0. Its "params" are []param.Fault. Package server turns them into sentences by name, for the body
// and for the argument Reasons of the message.
func InvalidLinked(name string, index int, faults []param.Fault) *param.Fault {
	return &param.Fault{
		Param: name, Reason: "invalid-linked-record", Key: "invalid-linked-record",
		Args: map[string]any{"Number": index + 1},
		Data: map[string]any{"index": index, "params": faults},
	}
}

// kindTitle returns what a kind's title is called among its parameters.
func kindTitle(k calendar.Kind) string {
	switch k {
	case calendar.Event:
		return "title"
	case calendar.Venue, calendar.Organizer:
		return string(k)
	}
	return "name"
}

// uniqueIDs drops repeats and keeps the order.
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

// idsWithout returns the ids of all that are not in some, in order.
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
