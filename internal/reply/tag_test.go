package reply

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

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
		if got := Tag([]byte(c.body), c.version); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestHeadersOfTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       TagList
	}{
		{"one", `"a"`, TagList{tags: []string{`"a"`}}},
		{"weak one", `W/"a"`, TagList{tags: []string{`W/"a"`}}},
		{"several", "\"a\" ,W/\"b\",\t\"c\"", TagList{tags: []string{`"a"`, `W/"b"`, `"c"`}}},
		{"comma and space of W inside", `"a,W/b", "c"`, TagList{tags: []string{`"a,W/b"`, `"c"`}}},
		{"nothing inside", `""`, TagList{tags: []string{`""`}}},
		{"other letters", `"ąę"`, TagList{tags: []string{`"ąę"`}}},
		{"backslashes escape nothing", `"a\"`, TagList{tags: []string{`"a\"`}}},
		{"empty elements", `, "a",, ,"b",`, TagList{tags: []string{`"a"`, `"b"`}}},
		{"any", ` * `, TagList{any: true}},

		{"nothing", "", TagList{}},
		{"commas", ",,,", TagList{}},
		{"no quotes", "a", TagList{}},
		{"no end", `"a`, TagList{}},
		{"no beginning", `a"`, TagList{}},
		{"only a mark", "W/", TagList{}},
		{"small mark", `w/"a"`, TagList{}},
		{"space after the mark", `W/ "a"`, TagList{}},
		{"space inside", `"a b"`, TagList{}},
		{"NUL inside", "\"a\x00\"", TagList{}},
		{"no comma between", `"a" "b"`, TagList{}},
		{"garbage behind a tag", `"a"b`, TagList{}},
		{"garbage behind a comma", `"a", b`, TagList{}},
		{"any among tags", `"a", *`, TagList{}},
		{"tags behind any", `*, "a"`, TagList{}},
		{"any in quotes is a tag", `"*"`, TagList{tags: []string{`"*"`}}},
		{"as many as are read", strings.Repeat(`"a",`, maxTags+10), TagList{tags: slices.Repeat([]string{`"a"`}, maxTags)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ParseTags(c.text), cmp.AllowUnexported(TagList{})); diff != "" {
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
		list := ParseTags(c.header)
		if strong, weak := list.HasStrong(c.tag), list.HasWeak(c.tag); strong != c.strong || weak != c.weak {
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
		list := ParseTags(c.header)
		if diff := cmp.Diff([]calendar.Versions{c.strong, c.weak}, []calendar.Versions{*list.Versions(false), *list.Versions(true)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.header, diff)
		}
	}
}

// FuzzTags parses a header as a list of tags. It formats the result, parses it again and expects the same list.
func FuzzTags(f *testing.F) {
	for _, seed := range []string{
		"", "*", `"a"`, `W/"a"`, `"a", W/"b"`, `"a,b"`, `, ,"a",`, `"a`, `a"`, `W/`, `"3-` + digest + `"`, `*, "a"`, "\"\x00\"", `"a""b"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list := ParseTags(text)
		if len(list.tags) > maxTags || list.any && list.tags != nil {
			t.Fatalf("%q: got %v", text, list)
		}
		for _, tag := range list.tags {
			if !strings.Contains(text, tag) || tagLength(tag) != len(tag) {
				t.Fatalf("%q: got %q", text, tag)
			}
			if !list.HasWeak(tag) || list.HasStrong(tag) == strings.HasPrefix(tag, "W/") {
				t.Fatalf("%q: %q is not found", text, tag)
			}
		}
		if again := ParseTags(strings.Join(list.tags, ", ")); !slices.Equal(again.tags, list.tags) {
			t.Fatalf("%q: got %q, then %q", text, list.tags, again.tags)
		}
		if versions := list.Versions(true); len(versions.List) > len(list.tags) || slices.ContainsFunc(versions.List, func(v int64) bool { return v < 1 }) {
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
				Tag(body, calendar.ShownVersion{Number: 7})
			}
		})
	}
}
