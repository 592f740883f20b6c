package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/jpeg"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// draw is Draw, decoded, and the bytes.
func draw(t testing.TB, title string, seed uint64) (*image.YCbCr, []byte) {
	t.Helper()
	data, err := Draw(title, seed)
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
		title string
		seed  uint64
		sum   string
	}{
		{"", 0, "1bac3032a8284fb1"},
		{"Zażółć gęślą jaźń", 1, "ea4792b5cc9bc28e"},
		{"¿Mañana? ¡Sí, señor! Übung à l’œuvre", 2, "f219cd2ff6030469"},
		{"An evening of short films from the harbour towns, with a talk and a bowl of soup for everybody", 1 << 63, "35fd2dd92f5c2b56"},
	}
	for _, tt := range tests {
		_, data := draw(t, tt.title, tt.seed)
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:8]); got != tt.sum {
			t.Errorf("%q, seed %d: sum %s, want %s", tt.title, tt.seed, got, tt.sum)
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
	empty, _ := draw(t, "", 7)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			img, data := draw(t, tt.title, 7)
			if got := img.Bounds(); got != image.Rect(0, 0, Width, Height) {
				t.Errorf("bounds %v", got)
			}
			if len(data) >= 60_000 {
				t.Errorf("%d bytes", len(data))
			}
			if got := changed(empty, img, img.Bounds()) > 500; got != tt.visible {
				t.Errorf("text visible: %t, want %t", got, tt.visible)
			}
			for _, edge := range []image.Rectangle{
				image.Rect(0, 0, margin/2, Height), image.Rect(Width-margin/2, 0, Width, Height),
				image.Rect(0, 0, Width, margin/2), image.Rect(0, Height-margin/2, Width, Height),
			} {
				if n := changed(empty, img, edge); n != 0 {
					t.Errorf("%d pixels of text at the edge %v", n, edge)
				}
			}
		})
	}
}

// changed counts the pixels that became much lighter.
func changed(a, b *image.YCbCr, area image.Rectangle) int {
	n := 0
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if int(b.Y[b.YOffset(x, y)]) > int(a.Y[a.YOffset(x, y)])+60 {
				n++
			}
		}
	}
	return n
}

// TestContrast looks at every pixel of many backgrounds: white on a grey of 118 has a contrast of 4.5.
func TestContrast(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for seed := range uint64(16) {
		img, data := draw(t, "", seed)
		seen[string(data)] = true
		brightest := slices.Max(img.Y)
		if brightest > 118 {
			t.Errorf("seed %d: a pixel of grey %d", seed, brightest)
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d different pictures of 16 seeds", len(seen))
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, title, want string
	}{
		{"one line", "Jazz", "Jazz"},
		{"words are kept whole", "Noc muzeów w Łodzi i okolicach miasta", "Noc muzeów w|Łodzi i okolicach|miasta"},
		{"typography is kept", "“Ça va?” – it’s 5 €…", "“Ça va?” – it’s 5 €…"},
		{"transliterated", "Grüße aus 東京", "Grüße aus Dong|Jing"},
		{"emoji leave no gap", "Party 🎉 tonight", "Party tonight"},
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

// FuzzLayout has no title laid out in more than three lines, in lines too wide, or in letters there are not.
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
				if g, err := face.glyph(r); err != nil || (g == 0 && r != ' ') {
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
		if _, err := Draw("Zażółć gęślą jaźń na wielkim placu w Łodzi", 3); err != nil {
			b.Fatal(err)
		}
	}
}
