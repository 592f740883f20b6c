package manual

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlocks(t *testing.T) {
	t.Parallel()
	page := "# Title\n\n```sh server\nalmanac demo\n```\n\n- in a list\n\n  ```json\n  {\n    \"a\": 1\n  }\n  ```\n\n```\nplain\n```\n"
	got, err := Blocks(page)
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{
		{3, "sh", "server", "almanac demo\n"},
		{9, "json", "", "{\n  \"a\": 1\n}\n"},
		{15, "", "", "plain\n"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if _, err := Blocks("a\n```sh\nb\n"); !errors.Is(err, ErrOpen) || !strings.HasPrefix(err.Error(), "line 2") {
		t.Errorf("an open block: %v", err)
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	named := func(name string) (string, error) {
		if name == "bad" {
			return "", errors.New("no such part")
		}
		return "made of " + name + "\n", nil
	}
	for _, test := range []struct{ name, page, want, err string }{
		{"nothing is generated", "a\nb\n", "a\nb\n", ""},
		{
			"a part is replaced",
			"a\n<!-- generated: GET /x -->\nold\n<!-- /generated -->\nb\n",
			"a\n<!-- generated: GET /x -->\n\nmade of GET /x\n\n<!-- /generated -->\nb\n", "",
		},
		{"a part is open", "<!-- generated: x -->\nold\n", "", "line 1: the generated part is not closed"},
		{"a part is in a part", "<!-- generated: x -->\n<!-- generated: y -->\n", "", "line 1: the generated part is not closed"},
		{"there is no such part", "\n<!-- generated: bad -->\n<!-- /generated -->\n", "", "line 2: no such part"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Fill(test.page, named)
			if got != test.want || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got %q and error %v, want %q and %q", got, err, test.want, test.err)
			}
			if err != nil {
				return
			}
			if again, err := Fill(got, named); again != got || err != nil {
				t.Errorf("filled twice: %q, %v", again, err)
			}
		})
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	page := "<!-- checked: sums -->\n\n" + Table([]string{"Sent", "Got"}, [][]string{{"`1 | 2`", "`3`"}, {"`a` or `b`", ""}}) +
		"\n| other | table |\n|---|---|\n| x | y |\n"
	want := []Examples{{
		Line: 1, Name: "sums", Head: []string{"Sent", "Got"},
		Rows: []Row{{5, []string{"1 | 2", "3"}}, {6, []string{"`a` or `b`", ""}}},
	}}
	if diff := cmp.Diff(want, Tables(page)); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, lang, shown, got string
		want                   bool
	}{
		{"the same text", "text", "a\nb\n", "a \r\nb\n\n", true},
		{"another text", "text", "a\n", "ab\n", false},
		{"a part of a line", "text", "user 1, token alm_…\n", "user 1, token alm_x9\n", true},
		{"a part is no line break", "text", "a…\n", "ab\nc\n", false},
		{"left out lines", "text", "a\n…\nz\n", "a\nb\nc\nz\n", true},
		{"left out lines that are none", "text", "a\n…\nz\n", "a\nz\n", true},
		{"signs are no expression", "text", "a.c\n", "abc\n", false},
		{"JSON in another form", "json", `{ "a": [1, 2] }`, `{"a":[1,2]}`, true},
		{"white space in a string", "json", `{"a": "b c"}`, `{"a":"bc"}`, false},
		{"a part of a string", "json", `{"a": "2026-…", "b": 1}`, `{"a":"2026-11-21","b":1}`, true},
		{"a string ends", "json", `{"a": "x…"}`, `{"a":"x","b":"y"}`, false},
		{"an escaped quote is in the string", "json", `{"a": "x…y"}`, `{"a":"x\"y"}`, true},
		{"values left out", "json", `{"events": [{"id": …, …}, …], "total": 2}`, `{"events":[{"id":1,"b":2},{"id":2}],"total":2}`, true},
		{"another value", "json", `{"total": 2, …}`, `{"total":3,"pages":1}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if err := Match(test.lang, test.shown, test.got); (err == nil) != test.want {
				t.Errorf("matches: %t, want %t: %v", err == nil, test.want, err)
			}
		})
	}
}
