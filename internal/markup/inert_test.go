package markup

import (
	"runtime"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestInert(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty stays empty", "", ""},
		{"plain text stays", "Fish & Chips, ul. Łódzka 5", "Fish & Chips, ul. Łódzka 5"},
		{"comparisons stay", "1 < 2 and 3 > 2", "1 < 2 and 3 > 2"},
		{"hearts stay", "we <3 you", "we <3 you"},
		{"entities are decoded", "Fish &amp; Chips", "Fish & Chips"},
		{"entities are decoded to the end", "Fish &amp;amp;amp;#38; Chips", "Fish & Chips"},
		{"an encoded comparison stays", "1 &lt; 2", "1 < 2"},
		{"encoded tags go", "&lt;b&gt;Main&lt;/b&gt; St", "Main St"},
		{"tags that were encoded twice go", "&amp;lt;img src=x onerror=alert(1)&amp;gt;St", "St"},
		{"numeric entities go", "&#60;i&#x3e;St", "St"},
		{"entities without semicolon go", "&ltb&gtSt", "St"},
		{"encoded scripts go with content", "a&lt;script&gt;alert(1)&lt;/script&gt;b", "ab"},
		{"encoded comments go", "a&lt;!-- b --&gt;c", "ac"},
		{"tags that removing makes go", "a<<b>script>x</<b>script>b", "ab"},
		{"entities that removing makes are decoded", "&<b>lt;i>St", "St"},
		{"entities made of entities are decoded", "&#38;lt;b&#38;gt;&&#108;t;i>St", "St"},
		{"a tag that nothing closes loses its start", "Room <A", "Room A"},
		{"and so does one in the next field", "<img src=x onerror=alert(1) ", "img src=x onerror=alert(1)"},
		{"a comment that nothing closes", "a <!-- b", "a !-- b"},
		{"a bogus comment", "I </3 you > me", "I /3 you > me"},
		{"a less-than at the end goes", "a <", "a"},
		{"and one before white space at the end", "a &lt;&nbsp;", "a"},
		{"entities that lost starts make are decoded", "&<lt;b St", "b St"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Inert(tt.in); got != tt.want {
				t.Errorf("Inert(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// TestInertTakesFewPasses measures the allocated bytes, which grow with the number of passes. Nested entities must
// not cost more than other text of the same length.
func TestInertTakesFewPasses(t *testing.T) {
	const size = 1 << 18
	for name, unit := range map[string][3]string{
		"ampersands":   {"&", "amp;", "lt;b&gt;"},
		"numbers":      {"&", "#38;", "#60;b>"},
		"digits":       {"", "&#5", "6;"},
		"tags":         {"", "<b", ">"},
		"less-than":    {"", "<", "b>"},
		"broken names": {"&", "ampamp", ";"},
	} {
		in := unit[0] + strings.Repeat(unit[1], size/len(unit[1])) + unit[2]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := Inert(in)
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(in)); each > 32*(inertPasses+1) {
			t.Errorf("%s: %d bytes allocated for each byte", name, each)
		}
		if hasMarkup(t, got) {
			t.Errorf("%s: %.100q is markup", name, got)
		}
	}
}

// hasMarkup reports whether a browser would find markup in a text that is inserted into a page.
func hasMarkup(t *testing.T, s string) bool {
	t.Helper()
	for _, after := range []string{"", "x>", "</p><p title='>'>"} {
		z := html.NewTokenizer(strings.NewReader(s + after))
		for z.Next() == html.TextToken {
			continue
		}
		rest := string(z.Raw())
		if after == "" && z.Err() == nil || after == "x>" && z.Err() == nil ||
			after == "</p><p title='>'>" && rest != "</p>" {
			return true
		}
	}
	return false
}

func FuzzInert(f *testing.F) {
	for _, s := range []string{
		"", "a < b", "&lt;b&gt;", "&amp;lt;b>", "&<lt;b", "<<b>i>", "&#6&#48;;b>", "</3", "<!--", "a <", "&lt", "<b", "&amp;amp;", "<script>x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s, err := Text(s)
		if err != nil {
			return
		}
		got := Inert(s)
		if hasMarkup(t, got) {
			t.Fatalf("Inert(%q) = %q is markup", s, got)
		}
		if again := Inert(got); again != got {
			t.Fatalf("Inert(%q) = %q, and then %q", s, got, again)
		}
		if text, err := Text(got); err != nil || text != got {
			t.Fatalf("Inert(%q) = %q, as text %q, %v", s, got, text, err)
		}
		if len(got) > len(s)+len("\ufffd")*strings.Count(s, "&") {
			t.Fatalf("Inert(%q) = %q is longer", s, got)
		}
	})
}
