package server

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

const digest = "0123456789abcdef"

func TestTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		body    string
		version calendar.ShownVersion
		want    string
	}{
		{"record", `{"id":1}`, calendar.ShownVersion{Number: 1}, `"1-b7885ee991dfe823"`},
		{"the same in another version", `{"id":1}`, calendar.ShownVersion{Number: 2}, `"2-b7885ee991dfe823"`},
		{"another body", `{"id":2}`, calendar.ShownVersion{Number: 1}, `"1-c7896249b95ef3fe"`},
		{"largest version", "", calendar.ShownVersion{Number: math.MaxInt64}, `"9223372036854775807-ef46db3751d8e999"`},
		{"record as the public sees it", `{"id":1}`, calendar.ShownVersion{Number: 1, Public: true}, `"1p-b7885ee991dfe823"`},
		{"list", `{"id":1}`, calendar.ShownVersion{}, `W/"b7885ee991dfe823"`},
	} {
		if got := entityTag([]byte(c.body), c.version); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestHeadersOfTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       tagList
	}{
		{"one", `"a"`, tagList{tags: []string{`"a"`}}},
		{"weak one", `W/"a"`, tagList{tags: []string{`W/"a"`}}},
		{"several", "\"a\" ,W/\"b\",\t\"c\"", tagList{tags: []string{`"a"`, `W/"b"`, `"c"`}}},
		{"comma and space of W inside", `"a,W/b", "c"`, tagList{tags: []string{`"a,W/b"`, `"c"`}}},
		{"nothing inside", `""`, tagList{tags: []string{`""`}}},
		{"other letters", `"ąę"`, tagList{tags: []string{`"ąę"`}}},
		{"backslashes escape nothing", `"a\"`, tagList{tags: []string{`"a\"`}}},
		{"empty elements", `, "a",, ,"b",`, tagList{tags: []string{`"a"`, `"b"`}}},
		{"any", ` * `, tagList{any: true}},

		{"nothing", "", tagList{}},
		{"commas", ",,,", tagList{}},
		{"no quotes", "a", tagList{}},
		{"no end", `"a`, tagList{}},
		{"no beginning", `a"`, tagList{}},
		{"only a mark", "W/", tagList{}},
		{"small mark", `w/"a"`, tagList{}},
		{"space after the mark", `W/ "a"`, tagList{}},
		{"space inside", `"a b"`, tagList{}},
		{"NUL inside", "\"a\x00\"", tagList{}},
		{"no comma between", `"a" "b"`, tagList{}},
		{"garbage behind a tag", `"a"b`, tagList{}},
		{"garbage behind a comma", `"a", b`, tagList{}},
		{"any among tags", `"a", *`, tagList{}},
		{"tags behind any", `*, "a"`, tagList{}},
		{"any in quotes is a tag", `"*"`, tagList{tags: []string{`"*"`}}},
		{"as many as are read", strings.Repeat(`"a",`, maxTags+10), tagList{tags: slices.Repeat([]string{`"a"`}, maxTags)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, parseTags(c.text), cmp.AllowUnexported(tagList{})); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func TestTagsAreCompared(t *testing.T) {
	t.Parallel()
	// The table of RFC 9110, section 8.8.3.2, and what it leaves out.
	for _, c := range []struct {
		header, tag  string
		strong, weak bool
	}{
		{`W/"1"`, `W/"1"`, false, true},
		{`W/"1"`, `W/"2"`, false, false},
		{`W/"1"`, `"1"`, false, true},
		{`"1"`, `W/"1"`, false, true},
		{`"1"`, `"1"`, true, true},
		{`"2", "1"`, `"1"`, true, true},
		{`"W/1"`, `"1"`, false, false},
		{"*", `W/"1"`, true, true},
		{"1", `"1"`, false, false},
		{"", `"1"`, false, false},
	} {
		list := parseTags(c.header)
		if strong, weak := list.matchStrong(c.tag), list.matchWeak(c.tag); strong != c.strong || weak != c.weak {
			t.Errorf("%s and %s: strong %v, weak %v; want %v and %v", c.header, c.tag, strong, weak, c.strong, c.weak)
		}
	}
}

func TestVersionsOfTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header       string
		strong, weak calendar.Versions
	}{
		{`"3-` + digest + `", W/"4-` + digest + `"`, calendar.Versions{List: []int64{3}}, calendar.Versions{List: []int64{3, 4}}},
		{
			`"3p-` + digest + `", W/"4p-` + digest + `", "5-` + digest + `"`,
			calendar.Versions{List: []int64{5}, Public: []int64{3}},
			calendar.Versions{List: []int64{5}, Public: []int64{3, 4}},
		},
		{`"p-` + digest + `"`, calendar.Versions{}, calendar.Versions{}},
		{`"3pp-` + digest + `"`, calendar.Versions{}, calendar.Versions{}},
		{"*", calendar.Versions{Any: true}, calendar.Versions{Any: true}},
		{`"3"`, calendar.Versions{}, calendar.Versions{}},
		{`"3-` + digest[1:] + `"`, calendar.Versions{}, calendar.Versions{}},
		{`"3-` + strings.ToUpper(digest) + `"`, calendar.Versions{}, calendar.Versions{}},
		{`"03-` + digest + `"`, calendar.Versions{}, calendar.Versions{}},
		{`"+3-` + digest + `"`, calendar.Versions{}, calendar.Versions{}},
		{`"0-` + digest + `"`, calendar.Versions{}, calendar.Versions{}},
		{`"-3-` + digest + `"`, calendar.Versions{}, calendar.Versions{}},
		{`"9223372036854775808-` + digest + `"`, calendar.Versions{}, calendar.Versions{}},
		{`W/"` + digest + `"`, calendar.Versions{}, calendar.Versions{}},
		{`3-` + digest, calendar.Versions{}, calendar.Versions{}},
	} {
		list := parseTags(c.header)
		if diff := cmp.Diff([]calendar.Versions{c.strong, c.weak}, []calendar.Versions{*list.versions(false), *list.versions(true)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.header, diff)
		}
	}
}

func TestHowLongRepliesAreKept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name          string
		left          time.Duration // until the reply changes by itself; 0 means never
		maxAge, stale time.Duration
		want          string
	}{
		{"nothing", 0, 0, 0, "public, max-age=0"},
		{"as it is without a word", 0, 0, 10 * time.Second, "public, max-age=0, stale-while-revalidate=10"},
		{"both", 0, time.Minute, time.Hour, "public, max-age=60, stale-while-revalidate=3600"},
		{"enough is left", 71 * time.Second, time.Minute, 10 * time.Second, "public, max-age=60, stale-while-revalidate=10"},
		{"less is stale", 66 * time.Second, time.Minute, 10 * time.Second, "public, max-age=60, stale-while-revalidate=5"},
		{"nothing is stale", 61 * time.Second, time.Minute, 10 * time.Second, "public, max-age=60"},
		{"less is fresh", 31 * time.Second, time.Minute, 10 * time.Second, "public, max-age=30"},
		{"a second", time.Second, time.Minute, 10 * time.Second, "public, max-age=0"},
		{"parts of a second", 2*time.Second + 999*time.Millisecond, 0, time.Minute, "public, max-age=0, stale-while-revalidate=1"},
		{"it has changed", -time.Hour, time.Minute, 10 * time.Second, "public, max-age=0"},
	} {
		var until time.Time
		if c.left != 0 {
			until = now.Add(c.left)
		}
		if got := cacheControl(now, until, c.maxAge, c.stale); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPreflightsGetWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ asked, want string }{
		{"", ""},
		{"authorization,content-type,x-other", ""},
		{"if-match", ", If-Match"},
		{"content-type, IF-NONE-MATCH ,if-match,if-match", ", If-Match, If-None-Match"},
		{"if-matches", ""},
	} {
		if got := preflightHeaders(c.asked); got != allowedHeaders+c.want {
			t.Errorf("%s: got %s", c.asked, got)
		}
	}
}

// FuzzTags reads a header as a list of tags; what was read, written again, is read as the same.
func FuzzTags(f *testing.F) {
	for _, seed := range []string{
		"", "*", `"a"`, `W/"a"`, `"a", W/"b"`, `"a,b"`, `, ,"a",`, `"a`, `a"`, `W/`, `"3-` + digest + `"`, `*, "a"`, "\"\x00\"", `"a""b"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list := parseTags(text)
		if len(list.tags) > maxTags || list.any && list.tags != nil {
			t.Fatalf("%q: got %v", text, list)
		}
		for _, tag := range list.tags {
			if !strings.Contains(text, tag) || tagLength(tag) != len(tag) {
				t.Fatalf("%q: got %q", text, tag)
			}
			if !list.matchWeak(tag) || list.matchStrong(tag) == strings.HasPrefix(tag, "W/") {
				t.Fatalf("%q: %q is not found", text, tag)
			}
		}
		if again := parseTags(strings.Join(list.tags, ", ")); !slices.Equal(again.tags, list.tags) {
			t.Fatalf("%q: got %q, then %q", text, list.tags, again.tags)
		}
		if versions := list.versions(true); len(versions.List) > len(list.tags) || slices.ContainsFunc(versions.List, func(v int64) bool { return v < 1 }) {
			t.Fatalf("%q: versions %v", text, versions)
		}
	})
}

func BenchmarkTag(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
	}{{"event", 6 << 10}, {"page", 60 << 10}} {
		body := bytes.Repeat([]byte("x"), c.size)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			for b.Loop() {
				entityTag(body, calendar.ShownVersion{Number: 7})
			}
		})
	}
}
