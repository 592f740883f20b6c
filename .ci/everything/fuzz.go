package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// fuzz runs every fuzz target with some inputs, which shows that it works. `make fuzz` looks for faults. A package is built
// once for all its targets, and without the instruments that guide the fuzzer, because they need another build of everything.
func fuzz(j *job) {
	folders, err := j.output("go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}", "./...")
	j.check(err)
	count := 0
	for folder := range strings.FieldsSeq(folders) {
		targets := slices.DeleteFunc(slices.Sorted(maps.Keys(j.testBodies(folder))), func(name string) bool {
			return !strings.HasPrefix(name, "Fuzz")
		})
		if len(targets) == 0 {
			continue
		}
		j.in(folder).run("go", "test", "-c", "-o", j.path("fuzz.test"), ".")
		for _, target := range targets {
			j.in(folder).fuzzTarget(target)
			count++
		}
	}
	if count == 0 {
		j.fail("no fuzz target was found")
	}
	j.say("%d targets", count)
}

var fuzzInputs = regexp.MustCompile(`execs: [1-9][0-9]*`)

// fuzzTarget runs a target. Its seeds count among its inputs, so it needs more inputs than seeds.
func (j *job) fuzzTarget(name string) {
	for try := 1; ; try++ {
		out, err := j.output(j.path("fuzz.test"), "-test.run=^$", "-test.fuzz=^"+name+"$", "-test.fuzztime=600x",
			"-test.fuzzcachedir="+j.path("fuzz"+j.dir))
		if inputs := fuzzInputs.FindAllString(out, -1); err == nil && inputs != nil {
			j.say("%-28s %s", name, inputs[len(inputs)-1])
			return
		}
		// The fuzzer itself sometimes fails at the end of its time.
		if try == 2 || !strings.Contains(out, "context deadline exceeded") || strings.Contains(out, "Failing input written") {
			j.fail("%s in %s: %v\n%s", name, j.dir, err, out)
		}
	}
}
