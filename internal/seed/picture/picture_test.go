package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// drawPoster is a poster, decoded, and the bytes.
func drawPoster(t testing.TB, p Poster) (*image.YCbCr, []byte) {
	t.Helper()
	_, data, err := Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img.(*image.YCbCr), data
}

// TestBytes has a sum for each picture. They change with what is drawn, and may change with the JPEG encoder of
// another Go release; never with the machine.
func TestBytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		poster Poster
		sum    string
	}{
		{Poster{"", "", "record", 0}, "7b4a43e499eeced9"},
		{Poster{"Zażółć gęślą jaźń", "28.11.2026 · 19:30", "film", 1}, "a9a87815ae3f0598"},
		{Poster{"¿Mañana? ¡Sí, señor! Übung à l’œuvre", "28/11/2026", "leaf", 2}, "6e939ffe4a51b1f0"},
		{Poster{"An evening of short films from the harbour towns, with a talk and a bowl of soup for everybody", "London", "arch", 1 << 63}, "58758d8744c12995"},
	}
	for _, tt := range tests {
		_, data := drawPoster(t, tt.poster)
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:8]); got != tt.sum {
			t.Errorf("%+v: sum %s, want %s", tt.poster, got, tt.sum)
		}
	}
}

func TestDrawing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, title string
		visible     bool
	}{
		{"short", "Jazz", true},
		{"no title", "", false},
		{"white space", " \t\n\u00a0", false},
		{"Polish", "Święto Łąki", true},
		{"decomposed letters", "Za\u0307z\u0307o\u0301ł\u0107", true},
		{"Cyrillic", "Ярмарка", true},
		{"right to left", "שוק הספרים", true},
		{"Arabic", "سوق الكتب", true},
		{"Chinese", "東京の夏祭り", true},
		{"an emoji beside words", "Party 🎉 tonight", true},
		{"emoji alone", "🎉👩‍👩‍👧", false},
		{"one very long word", strings.Repeat("Donaudampfschifffahrt", 20), true},
		{"many words", strings.Repeat("and so on ", 400), true},
		{"control characters", "\x00\x1b[31m", true},
		{"no UTF-8", "\xff\xfe", false},
		{"marks without letters", strings.Repeat("\u0301", 1000), false},
	}
	empty, _ := drawPoster(t, Poster{Motif: "leaf", Seed: 7})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			img, data := drawPoster(t, Poster{tt.title, tt.title, "leaf", 7})
			if got := img.Bounds(); got != image.Rect(0, 0, Width, Height) {
				t.Errorf("bounds %v", got)
			}
			if len(data) >= 150_000 {
				t.Errorf("%d bytes", len(data))
			}
			if got := changedPixels(empty, img, img.Bounds()) > 500; got != tt.visible {
				t.Errorf("label visible: %t, want %t", got, tt.visible)
			}
			// All of a title can be seen in a square, 16:9 and 3:4.
			for _, crop := range []image.Point{{Height, Height}, {Width, Width * 9 / 16}, {Height * 3 / 4, Height}} {
				inside := image.Rectangle{Max: crop}.Add(image.Pt((Width-crop.X)/2, (Height-crop.Y)/2))
				if whole := changedPixels(empty, img, img.Bounds()); whole != changedPixels(empty, img, inside) {
					t.Errorf("the label is cut in a crop of %v", crop)
				}
			}
		})
	}
}

// changedPixels counts the pixels that differ much in brightness.
func changedPixels(a, b *image.YCbCr, area image.Rectangle) int {
	n := 0
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if d := int(b.Y[b.YOffset(x, y)]) - int(a.Y[a.YOffset(x, y)]); d > 60 || d < -60 {
				n++
			}
		}
	}
	return n
}

// TestContrast holds the colours against what WCAG asks of text: 7 for titles, 4.5 for the line below.
func TestContrast(t *testing.T) {
	t.Parallel()
	light := 0
	for i, p := range palettes {
		if got := contrast(p.ink, p.paper); got < 7 {
			t.Errorf("palette %d: contrast %.1f of the title", i, got)
		}
		if got := contrast(p.accent, p.paper); got < 4.5 {
			t.Errorf("palette %d: contrast %.1f of the line", i, got)
		}
		if luminance(p.paper) > 0.5 {
			light++
		}
	}
	if light*2 != len(palettes) {
		t.Errorf("%d of %d palettes are light", light, len(palettes))
	}
}

func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		if part := float64(v) / 255; part > 0.04045 {
			return math.Pow((part+0.055)/1.055, 2.4)
		}
		return float64(v) / 255 / 12.92
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func contrast(a, b color.RGBA) float64 {
	high, low := max(luminance(a), luminance(b)), min(luminance(a), luminance(b))
	return (high + 0.05) / (low + 0.05)
}

func TestMotifsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, m := range Motifs() {
		_, data := drawPoster(t, Poster{Motif: m, Seed: 4})
		if other := seen[string(data)]; other != "" {
			t.Errorf("%s and %s are the same", m, other)
		}
		seen[string(data)] = m
	}
	if _, _, err := Draw(Poster{Motif: "unicorn"}); err == nil {
		t.Error("a motif that there is not is drawn")
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, title, want string
	}{
		{"one line", "Jazz", "Jazz"},
		{"words are kept whole", "Noc muzeów w Łodzi i okolicach miasta", "Noc muzeów|w\u00a0Łodzi|i\u00a0okolicach|miasta"},
		{"typography is kept", "“Ça va?” – it’s 5 €…", "“Ça va?” –|it’s 5 €…"},
		{"transliterated", "Grüße aus 東京", "Grüße aus|Dong Jing"},
		{"emoji leave no gap", "Party 🎉 tonight", "Party|tonight"},
	}
	for _, tt := range tests {
		f, err := openFace()
		if err != nil {
			t.Fatal(err)
		}
		text, err := f.readable(tt.title)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := f.lay(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(lines, "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// FuzzLayout has no title laid out in more lines than a label has room for, in lines too wide, or in letters there are not.
func FuzzLayout(f *testing.F) {
	for _, s := range []string{"", "Jazz", "Zażółć gęślą jaźń", "🎉", "שוק", "\xff", strings.Repeat("W", 300), "a b\u2028c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, title string) {
		face, err := openFace()
		if err != nil {
			t.Fatal(err)
		}
		text, err := face.readable(title)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := face.lay(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) > maxLines {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if ok, err := face.fits(line); !ok || err != nil {
				t.Errorf("%q does not fit: %v", line, err)
			}
			for _, r := range line {
				if g, err := face.glyph(r); err != nil || (g == 0 && r != ' ' && r != noBreak) {
					t.Errorf("no letter for %q: %v", r, err)
				}
			}
			if !utf8.ValidString(line) {
				t.Errorf("%q is no UTF-8", line)
			}
		}
	})
}

func BenchmarkDraw(b *testing.B) {
	for b.Loop() {
		if _, _, err := Draw(Poster{"Zażółć gęślą jaźń na wielkim placu w Łodzi", "28.11.2026 · 19:30", "record", 3}); err != nil {
			b.Fatal(err)
		}
	}
}
