package apitest

import (
	"maps"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// Exercise counts how requests of tests used an operation of the API: statuses, parameters, and names that are no
// parameters.
type Exercise struct {
	Statuses   map[string]int // replies by status, or by default
	Parameters map[string]int // successful requests by the parameters that they used
	Strangers  map[string]int // successful requests by names that are no parameters of the operation
}

// exerciseLog collects the Exercise of each operation over all tests of a process.
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

// Exercised returns how tests of this process have used operations so far. Keys are a method and a path template:
// PATCH /events/{id}.
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

// Described returns all operations of the interface description, by keys like those of Exercised.
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

// Operation is an operation of the interface description. Parameters include the fields of its body. Headers are
// those of requests.
type Operation struct {
	Statuses, Parameters, Headers []string

	Feed bool // the path is below the base URL, not below the API's root
}
