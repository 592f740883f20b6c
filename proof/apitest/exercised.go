package apitest

import (
	"maps"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// Exercise counts what the tests of a package have used of an operation: statuses, parameters, and names that are no
// parameters.
type Exercise struct {
	Statuses   map[string]int // replies by status, as described: 200, or default
	Parameters map[string]int // requests that were answered with success and had the parameter, by name
	Strangers  map[string]int // the same for names that are no parameters of the operation
}

// exerciseLog collects over all tests of a process.
var exerciseLog = struct {
	sync.Mutex
	by map[string]*Exercise
}{by: make(map[string]*Exercise)}

// recordExchange adds a request and its reply to the Exercise of its operation.
func recordExchange(x *exchange) {
	exerciseLog.Lock()
	defer exerciseLog.Unlock()
	one := exerciseLog.by[x.operation]
	if one == nil {
		one = &Exercise{map[string]int{}, map[string]int{}, map[string]int{}}
		exerciseLog.by[x.operation] = one
	}
	one.Statuses[x.status]++
	for _, name := range x.parameters {
		one.Parameters[name]++
	}
	for _, name := range x.strangers {
		one.Strangers[name]++
	}
}

// Exercised returns the operations that tests have requested so far. Keys are a method and a path: PATCH
// /events/{id}.
func Exercised() map[string]Exercise {
	exerciseLog.Lock()
	defer exerciseLog.Unlock()
	out := make(map[string]Exercise, len(exerciseLog.by))
	for name, one := range exerciseLog.by {
		out[name] = Exercise{maps.Clone(one.Statuses), maps.Clone(one.Parameters), maps.Clone(one.Strangers)}
	}
	return out
}

// ExampleNames returns the names of the examples of the interface description, sorted.
func ExampleNames() ([]string, error) {
	d, err := description()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(d.whole.Components.Examples)), nil
}

// Described returns all operations of the interface description, for comparing with Exercised. Each has its statuses,
// its parameters, including the fields of the body, and the headers of requests.
func Described() (map[string]Operation, error) {
	d, err := description()
	if err != nil {
		return nil, err
	}
	out := make(map[string]Operation)
	for path, item := range d.whole.Paths.Map() {
		for method, op := range item.Operations() {
			one := Operation{Statuses: slices.Sorted(maps.Keys(op.Responses.Map())), Feed: len(item.Servers) > 0}
			names := map[string]bool{}
			for _, p := range op.Parameters {
				if p.Value.In == openapi3.ParameterInHeader {
					one.Headers = append(one.Headers, p.Value.Name)
					continue
				}
				names[p.Value.Name] = true
			}
			if op.RequestBody != nil {
				for _, content := range op.RequestBody.Value.Content {
					for name := range content.Schema.Value.Properties {
						names[name] = true
					}
				}
			}
			one.Parameters = slices.Sorted(maps.Keys(names))
			out[method+" "+path] = one
		}
	}
	return out, nil
}

// Operation is one operation of the interface description.
type Operation struct {
	Statuses, Parameters, Headers []string

	Feed bool // the path is below the base URL
}
