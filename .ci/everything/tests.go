package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// statements matches the tests of handlers that write, search and list at random, and those with several writers. Together
// they send every statement.
const statements = "Behaves|FollowsEveryWrite|FollowEveryWrite|ContractSelects|LeaveTheOthersAlone|Search|Racers|InTheOrderOfCommits|Keys$"

// onSQLite matches the subtests on SQLite. Step "Check" runs them.
const onSQLite = "/^sqlite$|//^sqlite$"

// test runs go test once for each list of arguments. One summary reads all output.
func (j *job) test(flags []string, runs ...[]string) {
	summary := j.in(j.root).command("go", append([]string{"run", "./.ci/summary", "-add", j.path("counts")}, flags...)...)
	in, err := summary.StdinPipe()
	j.check(err)
	j.check(summary.Start())
	for _, args := range runs {
		tests := j.command("go", append([]string{"test", "-vet=off", "-json", "-timeout=20m"}, args...)...)
		tests.Stdout = in
		if err = tests.Start(); err == nil {
			err = finish(tests)
		}
		if err != nil {
			break
		}
	}
	j.check(errors.Join(err, in.Close(), finish(summary)))
}

// testOn runs go test with a server, without the subtests on SQLite. It fails if no test used the server.
func (j *job) testOn(url string, runs ...[]string) {
	for i := range runs {
		runs[i] = append([]string{"-skip", onSQLite}, runs[i]...)
	}
	j.with("ALMANAC_TEST_MYSQL="+url).test([]string{"-engine", "mysql", "-skips"}, runs...)
}

// wantServer returns the names and the packages of the tests that want a MySQL server, for packages whose import path
// matches the first pattern and not the second. Other tests are the same on every engine.
func (j *job) wantServer(packages, except string) (names, paths []string) {
	file := j.path("unserved")
	if !exists(file) {
		j.say("no step before has noted which tests want a server; the short ones on SQLite:")
		j.test([]string{"-unserved", file}, []string{"-short", "./..."})
	}
	text, err := os.ReadFile(file)
	j.check(err)
	in, notIn := regexp.MustCompile(packages), regexp.MustCompile(except)
	for line := range strings.Lines(string(text)) {
		path, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && in.MatchString(path) && !notIn.MatchString(path) {
			names, paths = append(names, name), append(paths, path)
		}
	}
	if len(names) == 0 {
		j.fail("no test of the packages %s wants a server", packages)
	}
	return names, paths
}

// served returns the arguments of go test for the tests that wantServer finds.
func (j *job) served(packages, except string, flags ...string) []string {
	names, paths := j.wantServer(packages, except)
	return slices.Concat(flags, []string{"-run", anyOf(names)}, unique(paths))
}

func unique(words []string) []string { return slices.Compact(slices.Sorted(slices.Values(words))) }

// anyOf returns a pattern of go test for the tests with some names.
func anyOf(names []string) string { return "^(" + strings.Join(unique(names), "|") + ")$" }

// named ends the step if a word of a pattern is in no name of a test of the package, because the test was renamed.
func (j *job) named(pkg, pattern string) {
	tests, err := j.output("go", "test", "-list", ".", pkg)
	j.check(err)
	for word := range strings.SplitSeq(pattern, "|") {
		if !regexp.MustCompile("(?m)^Test.*" + word).MatchString(tests) {
			j.fail("no test of %s is named %s", pkg, word)
		}
	}
}

func testsOnMySQL(j *job) {
	startMySQL(j)
	j.testOn(j.mysql, j.served("", "^$"))
}

// testsOnMariaDB runs the tests of the packages that write SQL themselves, and the tests of handlers that send every
// statement. Short: step "Tests on MySQL" runs what that leaves out.
func testsOnMariaDB(j *job) {
	startSecond(j)
	if j.mariadb == "" {
		j.say("skipped: no second server")
		return
	}
	j.named("./handlers", statements)
	j.testOn(j.mariadb,
		j.served("/(store|migrate|auth|edit|edit/bulk|edit/series|upkeep|cmd/almanac)$", "^$", "-short"),
		[]string{"-short", "-run", statements, "./handlers"})
}

// testsOnTiDB runs the tests that want a MySQL server on TiDB, if the machine has one. Of handlers it runs the same tests as
// testsOnMariaDB. Short: a schema change takes TiDB many times as long.
func testsOnTiDB(j *job) {
	if !j.hasUp("tidb") {
		j.say("skipped: this machine has no TiDB server")
		return
	}
	j.named("./handlers", statements)
	port := freePort()
	// With its own lease, of 45 s, the tests of upkeep took about twice as long.
	pid, err := j.up("tidb", j.path("tidb"), port, "-lease", "1s")
	j.check(err)
	j.testOn(urlOf(port),
		// The lock of migrations is one for all databases of a server, and TiDB does not grant it in the order of the requests: of
		// several tests that migrate, one waited for more than a minute.
		j.served("", "/handlers$", "-p", "1", "-parallel", "1", "-short"),
		[]string{"-short", "-run", statements, "./handlers"})
	j.check(syscall.Kill(pid, syscall.SIGKILL))
}

// testsBeforeMigration runs the tests of the program before the last migration on the schema after it. In a rolling
// deployment, that program serves the new schema for a while.
func testsBeforeMigration(j *job) {
	before := j.git("rev-parse", "HEAD")
	if j.git("status", "--porcelain", "--", "migrations/*.sql") == "" {
		before = j.git("log", "-1", "--diff-filter=A", "--format=%H^", "--", "migrations/*.sql")
	}
	title := j.git("log", "-1", "--format=%h %s", before)
	if before == "" || j.git("show", before+":migrations/mysql/atlas.sum") == "" {
		j.say("skipped: the program before the last migration is not in this clone")
		return
	}
	if !j.to(&strings.Builder{}).appended(before) {
		j.say("skipped: the migrations began anew after %s", title)
		return
	}
	startMySQL(j)
	j.say("the program of %s", title)
	dir := j.path("before")
	j.run("bash", "-euo", "pipefail", "-c", `mkdir "$1" && git archive "$2" | tar -x -C "$1" && cd migrations &&
		rm -rf "$1"/migrations/{mysql,sqlite,states} && cp -R mysql sqlite states "$1/migrations/"`, "bash", dir, before)
	run := []string{"-short"}
	// Packages have moved since some of these programs.
	for _, folder := range []string{"auth", "internal/auth", "edit", "internal/load", "internal/upkeep"} {
		if exists(filepath.Join(dir, folder)) {
			run = append(run, "./"+folder+"/...")
		}
	}
	// Short: the properties ran in all their rounds when that program was the current one. Of handlers, the tests that send every
	// statement. What it made of a real calendar says nothing of the tables, and an older comparison may not know all of its own
	// members. Neither do tests that compare replies of that program with other replies of it.
	const comparisons = "^Test(CachesFollowEveryWrite|WritesInOneLanguageLeaveTheOthersAlone|Samples.*|.*Description.*)$"
	j.in(dir).with("ALMANAC_REAL_CALENDAR=").testOn(j.mysql, run,
		[]string{"-short", "-run", statements, "-skip", onSQLite + "|" + comparisons, "./handlers"})
}

// measurements builds and tests the module of the measurements. What they measure takes minutes and is not part of CI,
// except for the rows that anonymous reads examine.
func measurements(j *job) {
	startMySQL(j)
	lab := j.in(filepath.Join(j.root, "lab"))
	lab.run("go", "vet", "./...")
	lab.with("ALMANAC_TEST_MYSQL="+j.mysql).test(nil, []string{"-timeout=30m", "./..."})
	j.check(lab.quietly("go", "test", "-run=^$", "-bench=.", "-benchtime=1x", "."))
}
