package main

import (
	"os"
	"slices"
	"strings"
)

// check runs what developers run before a push. Its tests on SQLite note which tests want a MySQL server.
// check runs the tests with the proxies of moves, which other machines may lack.
func check(j *job) {
	if !has("nginx") || !has("caddy") {
		j.check(j.install("nginx-light", "caddy"))
	}
	j.run("env", "ALMANAC_TEST_PROXIES=1", "bash", ".ci/check", j.tmp)
}

func modules(j *job) {
	j.run("go", "mod", "verify")
	j.run("go", "mod", "tidy", "-diff")
	j.run("go", "-C", "lab", "mod", "tidy", "-diff")
}

// licences lists the licences of what is linked into the program. It fails if one is not allowed or if the list was out of date.
func licences(j *job) {
	files := []string{"THIRD_PARTY.md", "cmd/almanac/notices.txt"}
	status := append([]string{"status", "--porcelain", "--"}, files...)
	before := j.git(status...)
	j.run("bash", ".ci/release/licences")
	if j.git(status...) != before {
		j.fail("%s were out of date; commit what .ci/release/licences wrote", strings.Join(files, " and "))
	}
}

// migrations checks both histories: they result in the schema, their checksums are right, none loses data or locks tables
// without an annotation, and they only grow. Tests apply them, to an empty database and to earlier versions with rows.
func migrations(j *job) {
	startMySQL(j)
	dev := []string{"--dev", j.mysql + "almanac_dev"}
	if j.engine != "mysql" {
		// MariaDB plans the same schema in other words.
		j.say("no MySQL: the migrations of SQLite alone are compared with the schema")
		dev = nil
	}
	j.run("go", append([]string{"run", "./cmd/almanac", "migrate", "diff", "check", "--check"}, dev...)...)
	j.run("go", append([]string{"run", "./cmd/almanac", "migrate", "lint"}, dev...)...)
	for _, base := range j.earlierCommits() {
		if !j.appended(base) {
			j.fail("the migrations of %.12s were changed: follow a migration, never change it", base)
		}
		j.run("git", "--no-pager", "log", "-1", "--format=appended to those of %h %s", base)
	}
}

// earlierCommits returns the commits that migrations are compared with: this one, the one before, where its branch began,
// and the last release. A clone without history has fewer.
func (j *job) earlierCommits() []string {
	commits := []string{
		j.git("rev-parse", "--verify", "-q", "HEAD^{commit}"),
		j.git("rev-parse", "--verify", "-q", "HEAD~1^{commit}"),
		j.git("merge-base", "HEAD", "@{upstream}"),
		j.git("merge-base", "HEAD", "origin/HEAD"),
		j.git("rev-parse", "--verify", "-q", j.git("describe", "--tags", "--abbrev=0")+"^{commit}"),
	}
	slices.Sort(commits)
	return slices.DeleteFunc(slices.Compact(commits), func(c string) bool { return c == "" })
}

// appended reports whether the migrations begin with those of a commit. Each line of atlas.sum after the first is the
// checksum of a file and of all before it, and lint has compared the last ones with the files.
func (j *job) appended(commit string) bool {
	for _, file := range []string{"migrations/mysql/atlas.sum", "migrations/sqlite/atlas.sum"} {
		_, before, found := strings.Cut(j.git("show", commit+":"+file), "\n")
		text, err := os.ReadFile(file)
		j.check(err)
		if _, now, _ := strings.Cut(string(text), "\n"); found && !strings.HasPrefix(now, before+"\n") {
			j.say("%s of %s:\n%s\nnow:\n%s", file, commit, before, now)
			return false
		}
	}
	return true
}

// recipes follows CONTRIBUTING's recipes in a copy of the tree. MariaDB plans other migrations, so SQLite is alone there.
func recipes(j *job) {
	startMySQL(j)
	args := []string{"run", "./.ci/recipes"}
	if j.engine == "mysql" {
		args = append(args, "-mysql", j.mysql)
	}
	j.run("go", args...)
}
