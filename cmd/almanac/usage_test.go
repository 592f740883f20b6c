package main

import (
	"slices"
	"strings"
	"testing"
)

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
