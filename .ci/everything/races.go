package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// races runs what is concurrent with the race detector: small packages completely, and of others the tests that do several
// things at a time. On MySQL, where transactions of one process run at the same time, it runs those that write. Short: steps
// before run the properties in all rounds.
func races(j *job) {
	const writers, readers = "Racers|InTheOrderOfCommits|Keys$|CachesFollowEveryWrite", "Replica"
	const states, processes = "SeveralProcesses|Locked|Waited|Cancelled|Deadline", "Restart|Interrupted|Backups|Share"
	startMySQL(j)
	j.named("./handlers", writers+"|"+readers)
	j.named("./cmd/almanac", processes)
	j.named("./internal/migrate", states)
	race := func(server string, args ...string) {
		raced := j.with("CGO_ENABLED=1", "ALMANAC_TEST_MYSQL="+server)
		raced.run("go", append([]string{"test", "-race", "-vet=off", "-short", "-timeout=20m"}, args...)...)
	}
	race("", "./internal/limit", "./edit/bulk", "./internal/idempotency")
	some := strings.Fields("./edit ./edit/series ./server ./internal/reply ./internal/store ./internal/media ./internal/index ./internal/auth")
	pattern := strings.Join([]string{writers, readers, processes, states, anyOf(j.concurrentTests(some...))}, "|")
	race("", append([]string{"-run", pattern, "./handlers", "./cmd/almanac", "./internal/migrate"}, some...)...)
	// The others of these packages are the same on every engine.
	written := []string{"./edit", "./edit/series", "./internal/store"}
	names, _ := j.wantServer("", "^$")
	several := slices.DeleteFunc(j.concurrentTests(written...), func(name string) bool { return !slices.Contains(names, name) })
	race(j.mysql, append([]string{"-skip", onSQLite, "-run", writers + "|" + anyOf(several), "./handlers"}, written...)...)
}

// concurrentTests returns the names of the tests that start goroutines or processes, themselves or in a function of the
// tests beside them.
func (j *job) concurrentTests(folders ...string) []string {
	var found []string
	for _, folder := range folders {
		bodies, before := j.testBodies(folder), len(found)
		pattern := `RunConcurrently\(|go func|\.Go\(|sync\.WaitGroup|startWriter`
		for range 2 {
			starts := regexp.MustCompile(pattern)
			for name, body := range bodies {
				if !strings.HasPrefix(name, "Test") && starts.MatchString(body) {
					pattern += `|[^A-Za-z]` + name + `\(`
				}
			}
		}
		starts := regexp.MustCompile(pattern)
		for name, body := range bodies {
			if strings.HasPrefix(name, "Test") && starts.MatchString(body) {
				found = append(found, name)
			}
		}
		if len(found) == before {
			j.fail("%s: no test starts a goroutine", folder)
		}
	}
	return found
}

// testBodies returns the source of the functions in a package's tests, by name.
func (j *job) testBodies(folder string) map[string]string {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	j.check(err)
	bodies := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		j.check(err)
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
		j.check(err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				bodies[f.Name.Name] += string(source[set.Position(f.Body.Pos()).Offset:set.Position(f.Body.End()).Offset])
			}
		}
	}
	return bodies
}
