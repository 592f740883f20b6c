package markup

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty stays empty", "", ""},
		{"plain text stays", "Zażółć gęślą jaźń – ñandú 🎷", "Zażółć gęślą jaźń – ñandú 🎷"},
		{"quotes stay", `Director’s "quoted" it's`, `Director’s "quoted" it's`},
		{"outer white space goes", " \t\n Jazz  Night\u00a0\r\n", "Jazz  Night"},
		{"white space of an entity goes too", "&nbsp;Jazz&#32;", "Jazz"},
		{"inner line breaks stay", "1 Main St\r\nFloor 2", "1 Main St\r\nFloor 2"},
		{"tags go", "<b>Bold</b> x", "Bold x"},
		{"tags with attributes go", `<a href="x>y" title='a>b'>link</a>`, "link"},
		{"tags of any case go", "<B>a</B><bR/>b", "ab"},
		{"unknown tags go", "<x-y>a</x-y><o:p>b</o:p>", "ab"},
		{"script goes with content", "a<script>alert('<b>')</script>b", "ab"},
		{"style goes with content", "a<STYLE type=x>p{}</STYLE >b", "ab"},
		{"script that claims to be empty goes with content", "a<script/>alert(1)</script>b", "ab"},
		{"script without end goes to the end", "a<script>alert(1)", "a"},
		{"tags in the content of others go", "<textarea><script>x</script>a<b>b</b></textarea>", "ab"},
		{"tags in iframe go", "<iframe><b>a</b></iframe><noscript><i>b</i></noscript><xmp><u>c</u>", "abc"},
		{"tags after plaintext go", "a<plaintext>b<b>c</b>", "abc"},
		{"comments go", "a<!-- b -->c<!---->d<!-- > -->e", "acde"},
		{"doctype and instructions go", "<!DOCTYPE html><?xml version='1.0'?>a<![CDATA[b]]>", "a"},
		{"nested script leaves no tag", "<scr<script>ipt>alert(1)</scr</script>ipt>", "ipt>alert(1)ipt>"},
		{"tag with an open quote goes to the end", `a<img alt="<b>c`, "a"},
		{"entities are decoded", "Fish &amp; Chips &lt;3 &quot;x&quot; &#39;y&#x27; &copy; &hellip;", `Fish & Chips <3 "x" 'y' © …`},
		{"entities are decoded once", "&amp;lt;b&amp;gt;", "&lt;b&gt;"},
		{"decoded tags are text", "&lt;b&gt;a&lt;/b&gt;", "<b>a</b>"},
		{"entities are decoded after tags are gone", "&am<b>p;</b>lt;", "&lt;"},
		{"what is no entity stays", "R&D AT&T & Q&A &; &#; &nosuch;", "R&D AT&T & Q&A &; &#; &nosuch;"},
		{"an entity for NUL is no NUL", "a&#0;b", "a\ufffdb"},
		{"less-than stays", "a < b", "a < b"},
		{"less-than before a digit stays", "1 <3 and 2 <= 3 > 1", "1 <3 and 2 <= 3 > 1"},
		{"less-than that nothing closes stays", "if x<y then", "if x<y then"},
		{"less-than at the end stays", "<b>a</b> <", "a <"},
		{"less-than after the last tag stays", "<b>a</b> </ <!-- <b", "a </ <!-- <b"},
		{"broken heart stays", "I </3 <b>you</b>", "I </3 you"},
		{"empty end tag goes", "a</>b", "ab"},
		{"doubled less-than is one character and a tag", "<<b>a</b>", "<a"},
		{"only tags is empty", " <p> <br> </p> ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Text(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Text(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestUnstorable(t *testing.T) {
	for _, in := range []string{"\x00", "a\x00b", "<b>\x00</b>", "a\xff", "\xc3", "<b title='\xc3('>x</b>", "\xed\xa0\x80"} {
		if got, err := Text(in); !errors.Is(err, ErrText) || got != "" {
			t.Errorf("Text(%q) = %q, %v; want ErrText", in, got, err)
		}
		if got, err := HTML(in); !errors.Is(err, ErrText) || got != "" {
			t.Errorf("HTML(%q) = %q, %v; want ErrText", in, got, err)
		}
	}
}

func TestPlain(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty stays empty", "", ""},
		{"text stays", "Hello world", "Hello world"},
		{"white space is collapsed", "  a\n\n b\t\u00a0 c ", "a b c"},
		{"inline tags do not part words", "<b>b</b>old <a href='x'>li</a>nk", "bold link"},
		{"blocks part words", "<p>One</p><p>Two</p><ul><li>a</li><li>b</li></ul>", "One Two a b"},
		{"line breaks part words", "a<br>b<br />c", "a b c"},
		{"cells part words", "<table><tr><td>a</td><td>b</td></tr></table>", "a b"},
		{"entities are decoded once", "Fish &amp; Chips &amp;lt; &lt;3", "Fish & Chips &lt; <3"},
		{"script goes with content", "a<script>b</script>c", "a c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Plain(tt.in)); diff != "" {
				t.Errorf("Plain(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a < b", "<b>x</b>", "&amp;lt;", "<script>x", "<", "</", "</3", "<!--", "<a b='>", "\x00", "\xff", "&#0;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Text(s)
		storable := utf8.ValidString(s) && !strings.Contains(s, "\x00")
		if storable != (err == nil) {
			t.Fatalf("Text(%q): %v", s, err)
		}
		if !utf8.ValidString(got) || strings.Contains(got, "\x00") || strings.TrimSpace(got) != got {
			t.Fatalf("Text(%q) = %q", s, got)
		}
		// Without entities and tags there is nothing to change but the white space around.
		if storable && !strings.ContainsAny(s, "<&") && got != strings.TrimSpace(s) {
			t.Fatalf("Text(%q) = %q", s, got)
		}
	})
}
