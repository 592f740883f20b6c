// Everything runs the steps that a change must pass. bash .ci/run builds and starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// step is a part of the run. Steps beside another run in the background, one by one, during the next step that is not.
type step struct {
	title  string
	run    func(*job)
	beside bool
}

// steps returns all steps in their order.
func steps() []step {
	return []step{
		{title: "What is needed", run: prepare},
		{title: "A Redis server", run: startRedis},
		{title: "Check", run: check},
		{title: "Modules", run: modules},
		{title: "Licences", run: licences},
		{title: "A MySQL server", run: startMySQL},
		{title: "A MariaDB server", run: startSecond},
		{title: "Programs that copy databases", run: installDumpPrograms},
		{title: "Windows time zones", run: script(".ci/windows-zones", "--check")},
		{title: "Migrations", run: migrations},
		{title: "Interface description", run: script(".ci/openapi-lint")},
		{title: "Typed clients", run: script(".ci/clients")},
		{title: "Examples", run: script(".ci/examples")},
		{title: "Calendar files through ical.js", run: script(".ci/ical-roundtrip")},
		{title: "Tables through LibreOffice", run: script(".ci/sheets-roundtrip")},
		{title: "Feeds through readers of others", run: script(".ci/feed-readers")},
		// A browser does not use two processors.
		{title: "A release, for this system, beside the pages", run: release, beside: true},
		{title: "Known vulnerabilities, beside the pages", run: vulnerabilities, beside: true},
		{title: "Pages in a browser", run: script(".ci/web", "--all")},
		{title: "Recipes", run: recipes},
		{title: "Tests on MySQL", run: testsOnMySQL},
		{title: "Tests on MariaDB", run: testsOnMariaDB},
		{title: "The program before the last migration, on the schema after it", run: testsBeforeMigration},
		{title: "Race detector", run: races},
		{title: "Measurements", run: measurements},
		// The scenarios of faults mostly wait.
		{title: "Tests on TiDB, beside the faults", run: testsOnTiDB, beside: true},
		{title: "Fuzz targets, 600 inputs each, beside the faults", run: fuzz, beside: true},
		{title: "Faults", run: faults},
		{title: "The demo, in a fresh clone", run: demo},
	}
}

// script returns a step that runs a script. Arguments of the command line follow those of the step.
func script(file string, args ...string) func(*job) {
	return func(j *job) { j.run("bash", append(append([]string{file}, args...), j.args...)...) }
}

func main() {
	tmp := flag.String("tmp", "", "folder for temporary files; it is removed at the end")
	only := flag.String("only", "", "run the steps whose titles begin so")
	list := flag.Bool("list", false, "print the titles of the steps")
	flag.Parse()
	status := everything(*tmp, *only, *list)
	_ = os.RemoveAll(*tmp) // what is left is in the folder for temporary files
	os.Exit(status)
}

// everything runs the chosen steps and returns the exit status.
func everything(tmp, only string, list bool) int {
	var chosen []step
	for _, s := range steps() {
		if strings.HasPrefix(s.title, only) {
			s.beside = s.beside && only == ""
			chosen = append(chosen, s)
		}
		if list {
			fmt.Println(s.title)
		}
	}
	root, err := os.Getwd()
	if list || err != nil || tmp == "" || len(chosen) == 0 {
		if !list {
			fmt.Fprintln(os.Stderr, "no such step; the titles are printed by: bash .ci/run -list")
			return 2
		}
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := &machine{root: root, shared: filepath.Join(filepath.Dir(root), "shared"), tmp: tmp, alone: only != ""}
	defer m.end()
	m.setEnvironment()
	return m.perform(ctx, chosen, flag.Args())
}

// setEnvironment sets the environment of all commands. ALMANAC_ variables that are exported outside would change the tests.
func (m *machine) setEnvironment() {
	set := func(name, value string) { _ = os.Setenv(name, value) } // fails for an empty name only
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "ALMANAC_") {
			_ = os.Unsetenv(name) // it is a name
		}
	}
	set("TMPDIR", m.tmp)
	set("DEBIAN_FRONTEND", "noninteractive")
	// Debian's PATH of an ordinary user lacks the folder of servers.
	set("PATH", m.path("clients/bin")+":"+os.Getenv("PATH")+":/usr/sbin")
	// Without paths, a package is compiled once for this tree, a clone and the program before the last migration.
	set("GOFLAGS", "-trimpath -count=1")
	if calendar := filepath.Join(m.shared, "data", "beltline-events.json"); exists(calendar) {
		set("ALMANAC_REAL_CALENDAR", calendar)
	}
}
