package calendar

import "testing"

func TestEscape(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"Rock & Roll", "Rock &amp; Roll"},
		{"<b>1 > 2</b>", "&lt;b&gt;1 &gt; 2&lt;/b&gt;"},
		{"&amp;", "&amp;amp;"},
		{`"quoted" 'n' … – Łódź`, `"quoted" 'n' … – Łódź`},
	}
	for _, test := range tests {
		if got := Escape(test.in); got != test.want {
			t.Errorf("Escape(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}
