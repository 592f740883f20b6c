package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListIsComplete compares the list of third-party software with the modules in use. It fails if a module was
// added, changed or removed, or has a licence that is not allowed. To write the list again, run go generate
// ./cmd/almanac, which also reports faults.
func TestListIsComplete(t *testing.T) {
	t.Parallel()
	const root = "../.."
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("%s is out of date, run go generate ./cmd/almanac (-want +got):\n%.3000s", name, diff)
		}
	}
	list := string(files["THIRD_PARTY.md"])
	for _, line := range []string{"| Go standard library and runtime | from ", "| modernc.org/sqlite | v", "| github.com/go-sql-driver/mysql | v"} {
		if !strings.Contains(list, line) {
			t.Errorf("the list has no line %q", line)
		}
	}
	for _, ours := range []string{"golangci", "rapid", "kin-openapi", "github.com/almanac-cal"} {
		if strings.Contains(list, ours) {
			t.Errorf("%s is listed, and is not linked", ours)
		}
	}
}

func TestRecognise(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	own := string(data)
	terms, _, _ := strings.Cut(own, "APPENDIX")
	bsd2, bsd3 := plainPattern(bsdGrant+bsdEnd), plainPattern(bsdGrant+bsdNames+bsdEnd)
	for _, test := range []struct {
		name, text string
		want       []string
		fault      string
	}{
		{"Apache", own, []string{"Apache-2.0"}, ""},
		{"Apache without its appendix", terms, []string{"Apache-2.0"}, ""},
		{"Apache, and another", own + "\n---\nCopyright 2009 The Go Authors.\n" + bsd3, []string{"Apache-2.0", "BSD-3-Clause"}, ""},
		{"MIT with its title and holder", "The MIT License (MIT)\n\nCopyright (c) 2020 Ewa\nAll rights reserved.\n\n" + mit + ".\n", []string{"MIT"}, ""},
		{"MIT wrapped otherwise, with signs", strings.ReplaceAll(strings.ToUpper(mit), " ", "\n * "), []string{"MIT"}, ""},
		{"ISC", "ISC License\n\n(c) Ewa\n" + isc, []string{"ISC"}, ""},
		{"two clauses", "Copyright (c) 2013 Ewa\n" + bsd2, []string{"BSD-2-Clause"}, ""},
		{"three clauses", "BSD 3-Clause License\n" + bsd3, []string{"BSD-3-Clause"}, ""},

		{"nothing", "Copyright 2020 Ewa", nil, ""},
		{"a condition more", mit + "\nThe Software shall be used for Good, not Evil.", nil, "software shall be used for good"},
		{"a condition in front", "Not for sale.\n" + mit, nil, "not for sale"},
		{"a word less", strings.Replace(mit, "without restriction", "", 1), nil, "permission is hereby"},
		{"four clauses", strings.Replace(bsd3, "neither the name", "all advertising materials must say so neither the name", 1), nil, "redistribution"},
		{"GPL", "GNU GENERAL PUBLIC LICENSE Version 3, 29 June 2007", nil, "gnu general public"},
		{"Apache with a changed term", strings.Replace(own, "perpetual", "temporary", 1), nil, "version 2 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := recognise(test.text)
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Fatalf("got %q and error %v, want one with %q", got, err, test.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// plainPattern returns one text that a licence pattern of this package matches.
func plainPattern(pattern string) string {
	return strings.NewReplacer("(?:1 )?", "", "(?:2 )?", "", "(?:3 )?", "", "names? of", "name of", "(?:[a-z0-9]+ ){1,10}", "Google Inc. ",
		"(?:its |the )?(?:[a-z]+ )?(?:authors or )?", "its ", "(?:the copyright holders and contributors|[a-z0-9 ]{1,60})",
		"the copyright holders and contributors", "(?:the copyright (?:owner|holder|holders)(?: or contributors)?|[a-z0-9 ]{1,60})",
		"the copyright owner or contributors").Replace(pattern)
}

func TestLicencesThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		found []string
		want  string
		fault bool
	}{
		{[]string{"MIT"}, "MIT", false},
		{[]string{"MIT", "Apache-2.0", "MIT"}, "Apache-2.0 AND MIT", false},
		{[]string{"MIT", "GPL-3.0-only"}, "", true},
		{nil, "", true},
	} {
		m := module{Path: "example.org/m"}
		if err := m.conclude(test.found); m.licence != test.want || (err != nil) != test.fault {
			t.Errorf("%q: got %q and %v", test.found, m.licence, err)
		}
	}
}
