package picture

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"strings"
	"unicode"

	"github.com/mozillazg/go-unidecode"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

const (
	margin   = 90 // pixels between the text and the edges
	maxLines = 3
	// maxRunes is more than any three lines hold.
	maxRunes = 240
	ellipsis = '…'
)

// sizes of letters in pixels; the first that lets the title fit is taken.
var sizes = []int{104, 92, 80, 70, 60, 52}

var white = color.RGBA{0xff, 0xff, 0xff, 0xff}

// face is a typeface at a size. It is not for concurrent use.
type face struct {
	font *sfnt.Font
	buf  sfnt.Buffer
	size int // pixels
}

func openFace() (*face, error) {
	f, err := sfnt.Parse(gobold.TTF)
	if err != nil {
		return nil, fmt.Errorf("typeface: %w", err)
	}
	return &face{font: f, size: sizes[0]}, nil
}

func (f *face) ppem() fixed.Int26_6 { return fixed.I(f.size) }

// glyph is the number of a letter, 0 if the typeface lacks it.
func (f *face) glyph(r rune) (sfnt.GlyphIndex, error) { return f.font.GlyphIndex(&f.buf, r) }

// place calls put, if any, with the letters of a text and where they stand, and returns the width of all.
func (f *face) place(text string, put func(g sfnt.GlyphIndex, x fixed.Int26_6) error) (fixed.Int26_6, error) {
	x, last := fixed.Int26_6(0), sfnt.GlyphIndex(0)
	for _, r := range text {
		g, err := f.glyph(r)
		if err != nil {
			return 0, err
		}
		if last != 0 {
			kern, err := f.font.Kern(&f.buf, last, g, f.ppem(), font.HintingNone)
			if err == nil {
				x += kern
			} else if !errors.Is(err, sfnt.ErrNotFound) {
				return 0, err
			}
		}
		if put != nil {
			if err := put(g, x); err != nil {
				return 0, err
			}
		}
		advance, err := f.font.GlyphAdvance(&f.buf, g, f.ppem(), font.HintingNone)
		if err != nil {
			return 0, err
		}
		x, last = x+advance, g
	}
	return x, nil
}

// fits reports whether a text is not wider than the room between the margins.
func (f *face) fits(text string) (bool, error) {
	width, err := f.place(text, nil)
	return width <= fixed.I(Width-2*margin), err
}

// readable is a title in letters that the typeface has: others are transliterated or, if they stand for no
// letters, left out. White space is collapsed.
func (f *face) readable(title string) (string, error) {
	var out strings.Builder
	runes := 0
	// The invalid bytes of a text that is no UTF-8 become U+FFFD and are left out like any other symbol.
	for _, r := range norm.NFC.String(strings.ToValidUTF8(title, "\uFFFD")) {
		if runes++; runes > maxRunes {
			break
		}
		switch {
		case unicode.IsSpace(r):
			out.WriteByte(' ')
			continue
		case !unicode.IsPrint(r) || unicode.Is(unicode.Mn, r) || r == unicode.ReplacementChar:
			continue
		}
		g, err := f.glyph(r)
		if err != nil {
			return "", err
		}
		if g != 0 {
			out.WriteRune(r)
			continue
		}
		out.WriteString(unidecode.Unidecode(string(r))) // ASCII, all of which there is
	}
	return strings.Join(strings.Fields(out.String()), " "), nil
}

// lay chooses a size and breaks a text into lines. What does not fit even at the smallest size ends in an
// ellipsis.
func (f *face) lay(text string) ([]string, error) {
	for _, f.size = range sizes {
		lines, broken, err := f.wrap(text)
		if err != nil {
			return nil, err
		}
		// Words are broken at the smallest size only.
		if len(lines) <= maxLines && !broken {
			return lines, nil
		}
	}
	lines, _, err := f.wrap(text)
	if err != nil || len(lines) <= maxLines {
		return lines, err
	}
	lines = lines[:maxLines]
	last := []rune(lines[maxLines-1])
	for {
		cut := strings.TrimRight(string(last), " ,;:.-–—") + string(ellipsis)
		ok, err := f.fits(cut)
		if err != nil {
			return nil, err
		}
		if ok || len(last) == 0 {
			lines[maxLines-1] = cut
			return lines, nil
		}
		last = last[:len(last)-1]
	}
}

// wrap breaks a text between words, and words that are wider than a line wherever the line ends, which it
// reports.
func (f *face) wrap(text string) (lines []string, broken bool, err error) {
	line := ""
	for _, word := range strings.Fields(text) {
		joined := word
		if line != "" {
			joined = line + " " + word
		}
		ok, err := f.fits(joined)
		if err != nil {
			return nil, false, err
		}
		if ok {
			line = joined
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = ""
		for _, r := range word {
			ok, err := f.fits(line + string(r))
			if err != nil {
				return nil, false, err
			}
			if !ok && line != "" {
				lines, line, broken = append(lines, line), "", true
			}
			line += string(r)
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines, broken, nil
}

// write sets a title: left, its lines in the middle of the height together.
func write(img *image.RGBA, f *face, title string) error {
	text, err := f.readable(title)
	if err != nil {
		return err
	}
	lines, err := f.lay(text)
	if err != nil {
		return err
	}
	leading := f.size * 6 / 5
	// A letter stands a little above its baseline's middle: capitals are about 7/10 of the size.
	baseline := (Height-leading*(len(lines)-1))/2 + f.size*7/20
	for i, line := range lines {
		o := &outline{}
		_, err := f.place(line, func(g sfnt.GlyphIndex, x fixed.Int26_6) error {
			segments, err := f.font.LoadGlyph(&f.buf, g, f.ppem(), nil)
			if err != nil {
				return err
			}
			o.add(segments, fixed.I(margin)+x, fixed.I(baseline+i*leading))
			return nil
		})
		if err != nil {
			return err
		}
		o.fill(img, white)
	}
	return nil
}
