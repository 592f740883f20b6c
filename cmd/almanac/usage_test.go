package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/almanac-cal/almanac/proof/must"
)

func TestEveryCommandHasAnExampleThatParses(t *testing.T) {
	t.Parallel()
	parser := func() *kong.Kong {
		env := &environment{getenv: noEnvironment}
		k, err := kong.New(&cli{}, kong.Name("almanac"), kong.PostBuild(env.readFlags), kong.Exit(func(int) {}))
		must.Succeed(t, err)
		return k
	}
	unused := maps.Clone(exampleLines)
	var walk func(node *kong.Node)
	walk = func(node *kong.Node) {
		line, ok := unused[node.FullPath()]
		delete(unused, node.FullPath())
		if !ok {
			t.Errorf("%s has no example", node.FullPath())
		} else if _, err := parser().Parse(strings.Fields(line)[1:]); err != nil && !strings.Contains(err.Error(), "no such file") {
			t.Errorf("%s: %v", line, err)
		}
		for _, child := range node.Children {
			if !child.Hidden {
				walk(child)
			}
		}
	}
	walk(parser().Model.Node)
	if len(unused) > 0 {
		t.Errorf("examples of no command: %v", unused)
	}
}

func TestCompletions(t *testing.T) {
	t.Parallel()
	k, err := kong.New(&cli{}, kong.Name("almanac"))
	must.Succeed(t, err)
	for _, test := range []struct {
		words []string
		want  string
	}{
		{[]string{"ex"}, "export"},
		{[]string{"user", "p"}, "passwd"},
		{[]string{"user", "add", "--to"}, "--token-only"},
		{[]string{"user", "add", "ewa", "--role", "ed"}, "editor"},
		{[]string{"user", "add", "--role=ed"}, "editor"},
		{[]string{"user", "add", "--role", "=", "ed"}, "editor"},
		{[]string{"user", "role", "ewa", "adm"}, "administrator"},
		{[]string{"user", "role", "adm"}, ""},
		{[]string{"--db", "x", "nothing", ""}, ""},
		{[]string{"seed", "--scen"}, "--scenario"},
		{[]string{"serve", "--no-i"}, "--no-index"},
		{[]string{"export", "--db", "almanac.db", "--format", ""}, "ics csv json"},
		{[]string{"completion", ""}, "bash zsh fish"},
		{[]string{"manu"}, ""},
		{[]string{"migrate", "status", "extra", ""}, ""},
	} {
		if got := strings.Join(completions(k.Model.Node, test.words), " "); got != test.want {
			t.Errorf("%q: %q, want %q", test.words, got, test.want)
		}
	}
}

func TestNormalizeArgs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, want string }{
		{"", ""},
		{"help", "--help"},
		{"help seed remove", "seed remove --help"},
		{"--version", "version"},
		{"-v --licences", "version --licences"},
		{"openapi --version", "openapi --version"},
		{"seed --events -5", "seed --events=-5"},
		{"serve --timezone -05:00", "serve --timezone=-05:00"},
		{"seed --events=1 -5", "seed --events=1 -5"},
		{"seed remove -y", "seed remove -y"},
		{"backup -- -5", "backup -- -5"},
		{"user add --login ewa --role editor", "user add ewa --role editor"},
		{"user add --role editor --login=ewa", "user add ewa --role editor"},
		{"user role --login ewa editor", "user role ewa editor"},
		{"token add --login ewa", "token add ewa"},
		{"token add --login", "token add --login"},
		{"user --login", "user --login"},
		{"seed --login ewa", "seed --login ewa"},
	} {
		given := strings.Fields(test.given)
		kept := slices.Clone(given)
		if got := strings.Join(normalizeArgs(given), " "); got != test.want {
			t.Errorf("%q is %q, want %q", test.given, got, test.want)
		}
		if !slices.Equal(given, kept) {
			t.Errorf("%q was changed to %q", kept, given)
		}
	}
}

func TestNearestZone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, want string }{
		{"Warsaw", "Europe/Warsaw"},
		{"warszawa", "Europe/Warsaw"},
		{"Europe/Warszawa", "Europe/Warsaw"},
		{"New York", "America/New_York"},
		{"america/new york", "America/New_York"},
		{"Rome", "Europe/Rome"},
		{"CEST", ""},
		{"Mars/Olympus", ""},
		{"x", ""},
		{"", ""},
	} {
		if got := nearestZone(test.given); got != test.want {
			t.Errorf("%q: %q, want %q", test.given, got, test.want)
		}
	}
}

func TestDatabaseURL(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, want string }{
		{"events.db", "sqlite://events.db"},
		{"/var/lib/events.sqlite3?busy-timeout=3s", "sqlite:///var/lib/events.sqlite3?busy-timeout=3s"},
		{"../events.sqlite", "sqlite://../events.sqlite"},
		{"sqlite://events.db", "sqlite://events.db"},
		{"mysql://ewa@host/events.db", "mysql://ewa@host/events.db"},
		{"events", "events"},
		{"ewa:secret@tcp(host)/events", "ewa:secret@tcp(host)/events"},
		{"", ""},
	} {
		if got := databaseURL(test.given); got != test.want {
			t.Errorf("%q is %q, want %q", test.given, got, test.want)
		}
	}
}
