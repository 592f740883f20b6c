// Summary reads the output of `go test -json`, prints what go test itself would print, and counts the tests.
//
//	go test -json ./... | go run ./.ci/summary -add counts [-skips] [-engine mysql] [-unserved file]
//	go run ./.ci/summary -total counts
//
// The first form prints a line per package, the output of failed tests and the slowest tests, and adds its
// counts to the file. It ends with status 1 if a test or a package failed, or if no test ran. With -skips it
// prints each skipped test with its reason. With -engine it fails if no subtest with that name passed. With
// -unserved it writes the tests that were skipped, even in part, because ALMANAC_TEST_MYSQL names no server, as
// lines "package test". The second form prints the sum of the file as the line "N passed, N failed, N skipped".
// Subtests count, and a test with subtests counts too.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

func main() {
	add := flag.String("add", "", "file to add the counts of standard input to")
	skips := flag.Bool("skips", false, "print the skipped tests with their reasons")
	engine := flag.String("engine", "", "name of subtests of which one has to pass")
	unserved := flag.String("unserved", "", "file to write the tests to that want a MySQL server")
	total := flag.String("total", "", "file to print the sum of")
	flag.Parse()
	var err error
	switch {
	case *add != "":
		err = read(*add, os.Stdin, os.Stdout, options{*skips, *engine, *unserved})
	case *total != "":
		err = sum(*total, os.Stdout)
	default:
		err = errors.New("one of -add and -total is needed")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
}

// event is a line of the output of `go test -json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64 // seconds

	ImportPath  string // set for build-output and build-fail
	FailedBuild string // set for fail
}

// Up to slowTests tests are printed that took at least slowTest seconds.
const (
	slowTests = 12
	slowTest  = 5
)

type counts struct{ passed, failed, skipped int }

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// name identifies a test. An empty test means the whole package.
type name struct{ pkg, test string }

// options are the flags for reading test output. The zero value disables all of them.
type options struct {
	skips    bool
	engine   string
	unserved string
}

// noServer is the reason of tests that are skipped because there is no MySQL server.
const noServer = "ALMANAC_TEST_MYSQL names no server"

func read(file string, in io.Reader, out io.Writer, o options) error {
	var c counts
	used := o.engine == ""
	broken := 0 // packages that failed without a failed test: the build failed, or TestMain ended
	failedIn := map[string]bool{}
	held := map[name]*strings.Builder{}
	var slow []event
	unserved := map[string]bool{} // "package test"
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) || json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(out, lines.Text()) // other output in the same stream
			continue
		}
		n := name{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			fmt.Fprint(out, e.Output)
		case "output":
			if strings.HasPrefix(e.Output, "=== ") {
				continue // RUN, PAUSE, CONT, NAME: of -v
			}
			if held[n] == nil {
				held[n] = &strings.Builder{}
			}
			held[n].WriteString(e.Output)
		case "pass", "skip", "fail":
			text := ""
			if b := held[n]; b != nil {
				text = b.String()
				delete(held, n)
			}
			if e.Test == "" {
				if e.Action == "fail" && !failedIn[e.Package] {
					broken++
				}
				fmt.Fprint(out, packageLines(e.Action, text))
				continue
			}
			if e.Elapsed >= slowTest && !strings.Contains(e.Test, "/") {
				slow = append(slow, e)
			}
			switch e.Action {
			case "pass":
				c.passed++
				used = used || slices.Contains(strings.Split(e.Test, "/"), o.engine)
			case "skip":
				c.skipped++
				why := reason(text)
				if o.skips {
					fmt.Fprintf(out, "skipped %s %s: %s\n", path.Base(e.Package), e.Test, why)
				}
				if why == noServer {
					test, _, _ := strings.Cut(e.Test, "/")
					unserved[e.Package+" "+test] = true
				}
			case "fail":
				c.failed++
				failedIn[e.Package] = true
				fmt.Fprint(out, text)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	for n, b := range held { // tests that a panic or a timeout ended
		if n.test != "" {
			c.failed++
		}
		fmt.Fprint(out, b.String())
	}
	slices.SortFunc(slow, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	for _, e := range slow[:min(len(slow), slowTests)] {
		fmt.Fprintf(out, "%6.1f s  %s %s\n", e.Elapsed, path.Base(e.Package), e.Test)
	}
	c.failed += broken
	fmt.Fprintf(out, "(%s)\n", c)
	if err := appendTo(file, c); err != nil {
		return err
	}
	if o.unserved != "" {
		lines := slices.Sorted(maps.Keys(unserved))
		if err := os.WriteFile(o.unserved, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			return err
		}
	}
	switch {
	case c.failed > 0:
		return errors.New("tests failed")
	case c.passed == 0:
		return errors.New("no test ran")
	case !used:
		return fmt.Errorf("no test ran on %s", o.engine)
	}
	return nil
}

// reason returns why a test was skipped: the first line of its output without file and line number.
func reason(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if _, after, ok := strings.Cut(first, ".go:"); ok {
		_, first, _ = strings.Cut(after, ": ")
	}
	return first
}

// packageLines returns the part of a package's output that go test also prints without -v. action is that of the test
// event.
func packageLines(action, text string) string {
	if action == "fail" {
		return text
	}
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "ok ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func appendTo(file string, c counts) (err error) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = fmt.Fprintf(f, "%d %d %d\n", c.passed, c.failed, c.skipped)
	return err
}

func sum(file string, out io.Writer) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var all counts
	for line := range strings.Lines(string(text)) {
		var c counts
		if _, err := fmt.Sscanf(line, "%d %d %d", &c.passed, &c.failed, &c.skipped); err != nil {
			return fmt.Errorf("%s: %q: %w", file, line, err)
		}
		all.passed += c.passed
		all.failed += c.failed
		all.skipped += c.skipped
	}
	_, err = fmt.Fprintln(out, all)
	return err
}
