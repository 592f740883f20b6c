package handlers_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/proof/apitest"
)

// TestMain checks, after a run of all tests, that they exercised everything in the interface description. With
// -update it copies the golden files that the program embeds as examples.
func TestMain(m *testing.M) {
	// The models make a third of the rounds that are usual for rapid, and a fifth of these with -short. A command line may
	// say otherwise: m.Run parses it.
	if err := flag.Set("rapid.checks", "30"); err != nil {
		os.Exit(report(err))
	}
	code := m.Run()
	if code == 0 && isSet("update") {
		code = report(copyExamples())
	}
	if isWhole() {
		faults := unexercised()
		for _, fault := range faults {
			fmt.Println("not exercised:", fault)
		}
		if len(faults) > 0 {
			code = 1
		}
	}
	os.Exit(code)
}

func report(err error) int {
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// isWhole reports whether this run includes all tests of the package, and no benchmarks or fuzzing.
func isWhole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz", "test.bench"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return !testing.Short() && !isSet("test.fuzzworker")
}

func isSet(name string) bool {
	f := flag.Lookup(name)
	return f != nil && f.Value.String() == "true"
}

// carriedExamples is the folder of the examples that the program carries.
var carriedExamples = filepath.Join(apitest.Root(), "internal", "openapi", "examples")

// copyExamples copies the golden files that the interface description names as examples.
func copyExamples() error {
	names, err := apitest.ExampleNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(apitest.Root(), "testdata", "golden", name+".json"))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(carriedExamples, name+".json"), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// notExercised lists the described replies that no test of this package can cause, with the reason.
var notExercised = []struct{ status, reason string }{
	{"503", "the database does not go away; the tests of package server make it, and one example shows the body"},
	{"429", "rates are set by the deployment, and come before any operation; one example shows the body"},
	{"default", "500 is for faults nobody knows of; one example shows the body"},
}

// undescribed are names that tests send, and that succeed without being described, with the reason.
var undescribed = func() map[string]string {
	out := make(map[string]string)
	for _, one := range []struct{ names, reason string }{
		{"colour foo force meta nothing taxonomy urls venue_id", "unknown names are ignored"},
		{"context _embed _envelope _jsonp _locale", "names of other servers are ignored"},
		{"_method", "stands for a method, as a header does"},
		{"ml_language", "is described in the query, and may be in the body"},
		{"id", "the path names the record, and a list ignores it"},
		{"slug", "in the query of a path with a slug it is ignored"},
		{"password", "the other ways to a protected event describe it"},
		{"hide_empty parent excerpt format", "are parameters of other resources"},
		{
			"cost_details count custom_fields end_date_details global_id global_id_lineage json_ld language modified " +
				"modified_utc rest_url start_date_details timezone_abbr translations url utc_end_date utc_end_date_details " +
				"utc_start_date utc_start_date_details generated_until next phases series text total",
			"a representation may be sent back as it is; what cannot be written is ignored",
		},
	} {
		for name := range strings.FieldsSeq(one.names) {
			out[name] = one.reason
		}
	}
	return out
}()

// unexercised lists the operations, statuses and parameters of the description that no test exercised. It also
// lists exercised parameters that are not described. Undescribed statuses are left out, because they fail their
// own test.
func unexercised() []string {
	described, err := apitest.Described()
	if err != nil {
		return []string{err.Error()}
	}
	did := apitest.Exercised()
	var out []string
	strangers := map[string]string{}
	for name, operation := range described {
		one, ok := did[name]
		if !ok {
			out = append(out, name)
			continue
		}
		for _, status := range operation.Statuses {
			if one.Statuses[status] == 0 && !isException(status) {
				out = append(out, name+": status "+status)
			}
		}
		for _, parameter := range slices.Concat(operation.Parameters, operation.Headers) {
			if one.Parameters[parameter] == 0 {
				out = append(out, name+": parameter "+parameter)
			}
		}
		for stranger := range one.Strangers {
			strangers[stranger] = name
		}
	}
	for stranger, name := range strangers {
		if _, ok := undescribed[stranger]; !ok {
			out = append(out, fmt.Sprintf("%q was sent to %s, and is no parameter of it", stranger, name))
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(out, func(fault string) bool { return strings.TrimSpace(fault) == "" })
}

func isException(status string) bool {
	for _, one := range notExercised {
		if one.status == status {
			return true
		}
	}
	return false
}
