package markup

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLines(t *testing.T) {
	tests := []struct{ name, html, want string }{
		{"nothing", "", ""},
		{"text", "Jazz &amp; more", "Jazz & more"},
		{"white space is one blank", "  a \n\t b  ", "a b"},
		{"blocks end lines", "<h2>Doors</h2><p>At six.</p>\n<p>Bring <em>friends</em>.</p>", "Doors\nAt six.\nBring friends."},
		{"br ends a line", "one<br>two<br />\nthree", "one\ntwo\nthree"},
		{"several br are one empty line", "one<br><br><br>two", "one\n\ntwo"},
		{"items of a list", "<ul><li>one</li><li>two</li></ul>", "one\ntwo"},
		{"cells are words", "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"},
		{"inline tags part no words", "a<b>b</b>c", "abc"},
		{"preformatted", "<pre>one\n  two</pre>three\nfour", "one\ntwo\nthree four"},
		{"a link", `See <a href="https://a.example/?a=1&amp;b=2">the page</a>.`, "See the page (https://a.example/?a=1&b=2)."},
		{"a link that is its text", `<a href="https://a.example">https://a.example</a>`, "https://a.example"},
		{"a link without its scheme", `<a href="https://a.example">a.example</a>`, "a.example"},
		{"a link of a picture", `a <a href="https://a.example"><img src="x" alt="y"></a>`, "a https://a.example"},
		{"an e-mail address", `<a href="mailto:a@b.example">Anna</a>, <a href="mailto:a@b.example">a@b.example</a>`, "Anna (a@b.example), a@b.example"},
		{"a phone number", `<a href="tel:+48123">Call</a>`, "Call (+48123)"},
		{"a relative link", `<a href="/x">here</a>`, "here"},
		{"another scheme", `<a href="javascript:alert(1)">here</a>`, "here"},
		{"a link that is not closed", `<a href="https://a.example">here`, "here (https://a.example)"},
		{"a link in a link", `<a href="https://a.example">a<a href="https://b.example">b</a></a>`, "a (https://a.example)b (https://b.example)"},
		{"scripts and comments", "a<script>x</script><!-- y --><style>z</style>b", "ab"},
		{"a no-break space stays", "a&nbsp;b", "a\u00a0b"},
		{"a tag that does not end", "a <b", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Lines(tt.html, 1000); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLinesAreCut(t *testing.T) {
	long := strings.Repeat("Zażółć gęślą jaźń. ", 100)
	tests := []struct{ name, html, want string }{
		{"as long as may be", "<p>" + strings.Repeat("ł", 20) + "</p><p></p>", strings.Repeat("ł", 20)},
		{"one more", strings.Repeat("ł", 21), strings.Repeat("ł", 19) + "…"},
		{"at the end of a word", long, "Zażółć gęślą jaźń.…"},
		{"after tags only", strings.Repeat("<b></b>", 1000) + "a", "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Lines(tt.html, 20); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add(`<p>a<br>b <a href="https://a.example">c</a></p>`, 10)
	f.Add("<pre>\n\n\n</pre>\xff", 3)
	f.Add(strings.Repeat("<b>", 300), 1)
	f.Fuzz(func(t *testing.T, s string, characters int) {
		characters = 1 + (characters&0x7fffffff)%2000
		got := Lines(s, characters)
		if n := utf8.RuneCountInString(got); n > characters {
			t.Errorf("%d characters of %d: %q", n, characters, got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		if strings.Contains(got, "\n\n\n") {
			t.Errorf("more than one empty line: %q", got)
		}
	})
}

// TestHeadIsWhatLinesReads checks that Lines returns the same for the result of Head as for the whole text. Head must
// not return more than Lines reads.
func TestHeadIsWhatLinesReads(t *testing.T) {
	const characters = 10
	most := characters*bytesPerCharacter + len("…")
	for name, html := range map[string]string{
		"short":                      "<p>Jazz</p>",
		"as long as is read":         strings.Repeat("x", characters*bytesPerCharacter),
		"a byte longer":              strings.Repeat("x", characters*bytesPerCharacter+1),
		"tags alone":                 strings.Repeat("<b>", characters*bytesPerCharacter) + "text",
		"words after tags":           strings.Repeat("<b></b>", 30) + "one two three four",
		"a character that is cut":    strings.Repeat("a", most-1) + "ż and more",
		"a wide character that ends": strings.Repeat("😀", characters*bytesPerCharacter),
	} {
		head := Head(html, characters)
		if len(head) > most || !utf8.ValidString(head) || !strings.HasPrefix(html, head) {
			t.Errorf("%s: %d bytes, %q", name, len(head), head)
		}
		if len(html) <= most && head != html {
			t.Errorf("%s: cut to %q", name, head)
		}
		if got, want := Lines(head, characters), Lines(html, characters); got != want {
			t.Errorf("%s: %q, of the whole text %q", name, got, want)
		}
	}
}
