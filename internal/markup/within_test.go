package markup

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// textPieces are parts of titles whose length is hard to count.
var textPieces = []string{
	"a", " ", "ł", "\u00a0", "&", ";", "#", "&amp;", "&amp", "am", "p;", "lt;", "&lt;", "&#32;", "&#x", "41;", "&nbsp;", "&#0;", "<", ">", "</", "3",
	"<b>", "</b>", "<b ", "x=\">\"", "<!--", "-->", "<script>", "</script>", "<style>", "</style>", "<textarea>", "\n", "&NotEqualTilde;", "-",
}

// checkLimited checks that TextLimited returns the same text as Text, unless the text exceeds the limit.
func checkLimited(t *testing.T, s string, characters int) {
	t.Helper()
	full, wantErr := Text(s)
	got, ok, err := TextLimited(s, characters)
	if err != wantErr { //nolint:errorlint // it is returned as it is
		t.Fatalf("TextLimited(%q): %v, Text: %v", s, err, wantErr)
	}
	if fits := err == nil && utf8.RuneCountInString(full) <= characters; ok != fits || ok && got != full {
		t.Errorf("TextLimited(%q, %d) = %q, %t; the text is %q", s, characters, got, ok, full)
	}
}

func TestTextLimitedAgreesWithText(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		var b strings.Builder
		for range chance.IntN(12) {
			b.WriteString(textPieces[chance.IntN(len(textPieces))])
		}
		checkLimited(t, b.String(), chance.IntN(8))
	}
}

func FuzzTextLimited(f *testing.F) {
	f.Add("&am<b>p;</b>", 0)
	f.Add(" <script>a</script>&nbsp;", 1)
	f.Fuzz(func(t *testing.T, s string, characters int) {
		if characters >= 0 {
			checkLimited(t, s, characters)
		}
	})
}

// TestTextLimitedStopsEarly checks that TextLimited does not parse the rest of a large text once the text is
// certainly too long.
func TestTextLimitedStopsEarly(t *testing.T) {
	for name, s := range map[string]string{
		"prose": strings.Repeat("a ", 500_000), "brackets": strings.Repeat("<", 1_000_000), "tags and prose": strings.Repeat("<b>a</b>", 125_000),
	} {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(1, func() {
				if _, ok, err := TextLimited(s, 500); ok || err != nil {
					t.Errorf("%t, %v", ok, err)
				}
			}); n > 2000 {
				t.Errorf("%.0f allocations", n)
			}
		})
	}
}

// deadline is a context that ends after a number of calls of Err. left is that number.
type deadline struct {
	context.Context //nolint:containedctx // it is one
	left            int
}

func (d *deadline) Err() error {
	if d.left--; d.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestHTMLChecksItsDeadline counts how often HTMLContext checks its context, which must be about once per buffer. It
// then lets the context end at one of these checks. HTMLContext must return at once with the context's error.
func TestHTMLChecksItsDeadline(t *testing.T) {
	for name, piece := range map[string]string{"tags": "<b>", "prose": "An evening & <b>more</b>. ", "entities": "<p>&amp;"} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(piece, 100_000/len(piece))
			all := &deadline{t.Context(), 1 << 30}
			want, err := HTMLContext(all, text)
			if full, fullErr := HTML(text); err != nil || fullErr != nil || full != want {
				t.Fatalf("%v, %v", err, fullErr)
			}
			checks := 1<<30 - all.left
			if least := 3 * len(text) / 8192; checks < least {
				t.Errorf("%d checks in %d bytes, at least %d", checks, len(text), least)
			}
			for _, left := range []int{0, 1, checks / 3, checks / 2, checks - 1} {
				d := &deadline{t.Context(), left}
				if got, err := HTMLContext(d, text); !errors.Is(err, context.DeadlineExceeded) || got != "" {
					t.Errorf("time for %d of %d checks: %v, %d bytes", left, checks, err, len(got))
				}
				if d.left < -1 {
					t.Errorf("time for %d of %d checks: went on after the end", left, checks)
				}
			}
		})
	}
}
