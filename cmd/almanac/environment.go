package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// environment reads settings from ALMANAC_ variables. Each flag of serve has a variable. It also applies to other
// commands with that flag, and accepts as many values. A flag overrides its variable, and a variable overrides
// the default. An empty variable counts as unset. The flag --site-language of other commands has ALMANAC_LANGUAGE,
// which kong reads itself. Other flags have no variable, so no password can come from the environment by accident.
type environment struct {
	getenv   func(string) string
	settings map[string]string // variables by flag name
	lists    map[string]bool   // names of flags that take several values
	used     []string          // names of the variables that were used
}

// readFlags reads the names of settings from the flags of serve.
func (e *environment) readFlags(k *kong.Kong) error {
	e.settings, e.lists = map[string]string{}, map[string]bool{}
	for _, command := range k.Model.Children {
		if command.Name != "serve" {
			continue
		}
		for _, f := range command.Flags {
			e.settings[f.Name] = "ALMANAC_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
			e.lists[f.Name] = f.IsSlice()
		}
	}
	return nil
}

// Validate implements kong.Resolver.
func (*environment) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver. kong calls it for flags that are not on the command line.
func (e *environment) Resolve(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
	variable := e.variable(f)
	if variable == "" {
		return nil, nil
	}
	value := e.getenv(variable)
	if value == "" {
		return nil, nil
	}
	e.used = append(e.used, variable)
	return value, nil
}

// variable returns the variable of a flag, or "" if it has none. --language takes one value in serve and several
// in seed, which therefore ignores the variable.
func (e *environment) variable(f *kong.Flag) string {
	if e.lists[f.Name] != f.IsSlice() {
		return ""
	}
	return e.settings[f.Name]
}

// help returns the description of a flag with the name of its variable.
func (e *environment) help(v *kong.Value) string {
	if v.Flag == nil || e.variable(v.Flag) == "" {
		return v.Help
	}
	return v.Help + " [$" + e.variable(v.Flag) + "]"
}

// unknownVariables returns the names of ALMANAC_ variables that are no settings, sorted. Its argument has the
// form NAME=VALUE.
func (e *environment) unknownVariables(variables []string) []string {
	known := slices.Collect(maps.Values(e.settings))
	var out []string
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "ALMANAC_") || value == "" || slices.Contains(known, name) ||
			name == "ALMANAC_REAL_CALENDAR" || strings.HasPrefix(name, "ALMANAC_TEST_") ||
			// Kubernetes sets these variables for a service named almanac.
			strings.HasPrefix(name, "ALMANAC_SERVICE_") || name == "ALMANAC_PORT" || strings.HasPrefix(name, "ALMANAC_PORT_") {
			continue
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// printUsedVariables prints the names of the environment variables that were used. That helps to find a wrong
// value that is not on the command line.
func (e *environment) printUsedVariables(w io.Writer) {
	if len(e.used) > 0 {
		fmt.Fprintln(w, "From the environment:", strings.Join(e.used, ", "))
	}
}
