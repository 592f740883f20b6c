package markup

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParagraphs(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty stays empty", "", ""},
		{"white space is empty", " \n\r\n\t ", ""},
		{"text is one paragraph", "Hello world", "<p>Hello world</p>"},
		{"inline tags do not matter", "Hello <b>world</b>", "<p>Hello <b>world</b></p>"},
		{"result is trimmed", "\n\n a \n\n", "<p>a</p>"},
		{"blank line parts paragraphs", "a\n\nb", "<p>a</p>\n<p>b</p>"},
		{"several blank lines are one", "a\n\n\n\nb", "<p>a</p>\n<p>b</p>"},
		{"blank line with spaces", "a\n \t\nb", "<p>a</p>\n<p>b</p>"},
		{"CRLF", "a\r\n\r\nb\r\nc", "<p>a</p>\n<p>b<br />\nc</p>"},
		{"CRLF with spaces on the blank line", "a\r\n  \r\nb", "<p>a</p>\n<p>b</p>"},
		{"single line breaks", "a\nb\nc", "<p>a<br />\nb<br />\nc</p>"},
		{"white space at the end of a line goes", "a  \nb \n\n c", "<p>a<br />\nb</p>\n<p>c</p>"},
		{"indentation of a line stays", "a\n  b", "<p>a<br />\n  b</p>"},
		{"br at the end of a line is not doubled", "a<br>\nb<br/>\nc<BR />\nd", "<p>a<br>\nb<br/>\nc<BR />\nd</p>"},
		{"br before a blank line stays", "a<br>\n\nb", "<p>a<br></p>\n<p>b</p>"},
		{"br inside a line", "a<br />b", "<p>a<br />b</p>"},
		{"other tag at the end of a line", "<b>a</b>\nb", "<p><b>a</b><br />\nb</p>"},
		{"empty line inside an inline element", "<b>a\n\nb</b>", "<p><b>a<br />\n<br />\nb</b></p>"},
		{"no-break space makes a spacer", "a\n\n\u00a0\n\nb", "<p>a</p>\n<p>\u00a0</p>\n<p>b</p>"},
		{"paragraphs stay", "<p>a</p>\n\n<p>b</p>", "<p>a</p>\n\n<p>b</p>"},
		{"text with blocks is trimmed", " \n<p>a</p>\n ", "<p>a</p>"},
		{"block with attributes", "a\n\n<div dir=\"rtl\">b</div>", "a\n\n<div dir=\"rtl\">b</div>"},
		{"block in upper case", "a\n\n<DIV>b</DIV>", "a\n\n<DIV>b</DIV>"},
		{"block at the end", "a\n\nb<hr>", "a\n\nb<hr>"},
		{"rule with slash", "a\n<hr/>", "a\n<hr/>"},
		{"names that begin like a block", "a\n<preface>\n<pa>\n<h7>\n<h>", "<p>a<br />\n<preface><br />\n<pa><br />\n<h7><br />\n<h></p>"},
		{"escaped tags are text", "&lt;p&gt;\n\na < p >", "<p>&lt;p&gt;</p>\n<p>a < p ></p>"},
		{"tag cut off", "a\n<p", "<p>a<br />\n<p</p>"},
		{"end tags do not count", "a</p>\n\nb", "<p>a</p></p>\n<p>b</p>"},
		{"line breaks inside an element that is closed", "<b>a</b>\n\nb", "<p><b>a</b></p>\n<p>b</p>"},
		{"an image opens nothing", "<img src=\"a\">\n\nb<br>\n\nc", "<p><img src=\"a\"></p>\n<p>b<br></p>\n<p>c</p>"},
	}
	for _, name := range strings.Fields("address blockquote dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody td tfoot th thead tr ul") {
		s := "a\n\n<" + name + ">b"
		tests = append(tests, struct{ name, in, want string }{name + " is a block", s, s})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Paragraphs(tt.in)); diff != "" {
				t.Errorf("Paragraphs(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestParagraphsOfStoredAttributes(t *testing.T) {
	stored, err := HTML("<b title='one\n\ntwo'>a</b>\n\nb")
	if err != nil {
		t.Fatal(err)
	}
	want := "<p><b title=\"one&#10;&#10;two\">a</b></p>\n<p>b</p>"
	if diff := cmp.Diff(want, Paragraphs(stored)); diff != "" {
		t.Errorf("line breaks in an attribute (-want +got):\n%s", diff)
	}
}

func TestParagraphsAllocates(t *testing.T) {
	const line = "Some words about an evening with <b>music</b> and <a href=\"https://example.org/\">more</a>."
	for _, tt := range []struct {
		name, in string
		want     float64
	}{
		{"nothing for text with blocks", strings.Repeat("<p>"+line+"</p>\n", 20), 0},
		{"the result for text without", strings.Repeat(line+"\n"+line+"\n\n", 20), 1},
	} {
		if got := testing.AllocsPerRun(10, func() { Paragraphs(tt.in) }); got > tt.want {
			t.Errorf("%s: %v allocations, want at most %v", tt.name, got, tt.want)
		}
	}
}

func FuzzParagraphs(f *testing.F) {
	for _, s := range []string{"", "a\n\nb", "a\r\n \r\nb\nc", "<p>a</p>\n\nb", "a<br>\nb", "<b>a\n\nb</b>", "<a title='\n\n'>x</a>", "<", "\u00a0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		Paragraphs(s) // whatever it is, no panic
		stored, err := HTML(s)
		if err != nil {
			return
		}
		got := Paragraphs(stored)
		if strings.TrimSpace(got) != got {
			t.Fatalf("Paragraphs(%q) = %q is not trimmed", stored, got)
		}
		if again := Paragraphs(got); again != got {
			t.Fatalf("Paragraphs(%q) = %q, and again %q", stored, got, again)
		}
		if want, text := Plain(stored), Plain(got); want != text {
			t.Fatalf("Paragraphs(%q) = %q changes the text %q to %q", stored, got, want, text)
		}
	})
}

func BenchmarkParagraphs(b *testing.B) {
	const line = "Some words about an evening with <b>music</b> and <a href=\"https://example.org/\">more</a>."
	for _, bb := range []struct{ name, in string }{
		{"blocks", strings.Repeat(line+"\n", 10) + "<p>" + line + "</p>"},
		{"text", strings.Repeat(line+"\n"+line+"\n\n", 5)},
		{"short", "Hello world"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.in)))
			for b.Loop() {
				Paragraphs(bb.in)
			}
		})
	}
}
