package picture

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mozillazg/go-unidecode"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

const (
	margin   = 40 // pixels between the text and the edges of the label
	maxLines = 5
	// maxRunes is more than five lines can hold.
	maxRunes = 240
	ellipsis = '…'
	noBreak  = '\u00a0'

	lineSize = 30 // size of the letters of the line below the title, in pixels
	rule     = 4  // thickness of the bar between title and line, in pixels
	gap      = 34 // distance from title to bar and from bar to line, in pixels
)

// sizes are the sizes of letters in pixels. The first that lets the title fit is used.
var sizes = []int{76, 66, 58, 50, 44, 38, 34}

// face is a typeface at a size. It is not safe for concurrent use.
type face struct {
	font *sfnt.Font
	buf  sfnt.Buffer
	size int // pixels
}

// typeface returns the typeface, which is parsed once. It is safe for concurrent use, unlike the buffer of a
// face.
var typeface = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(gobold.TTF) })

func openFace() (*face, error) {
	f, err := typeface()
	if err != nil {
		return nil, fmt.Errorf("typeface: %w", err)
	}
	return &face{font: f, size: sizes[0]}, nil
}

func (f *face) ppem() fixed.Int26_6 { return fixed.I(f.size) }

// glyph returns the index of a letter in the typeface. 0 means that the typeface lacks it.
func (f *face) glyph(r rune) (sfnt.GlyphIndex, error) { return f.font.GlyphIndex(&f.buf, r) }

// place computes the positions of the letters of a text, and returns the width of the text. It calls put for
// each letter unless put is nil.
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

// fits reports whether a text fits the width of the label without its margins.
func (f *face) fits(text string) (bool, error) {
	width, err := f.place(text, nil)
	return width <= fixed.I(label.Dx()-2*margin), err
}

// readable returns a title in letters that the typeface has. Other letters are transliterated. Characters
// without letters are left out. White space is collapsed.
func (f *face) readable(title string) (string, error) {
	var out strings.Builder
	runes := 0
	// Invalid UTF-8 becomes U+FFFD, which is left out like other symbols.
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
		out.WriteString(unidecode.Unidecode(string(r))) // ASCII, which the typeface has completely
	}
	words := strings.Fields(out.String())
	out.Reset()
	for i, word := range words {
		if i > 0 {
			// A word of one letter, such as "w" in Polish, must not end a line.
			if utf8.RuneCountInString(words[i-1]) == 1 && unicode.IsLetter([]rune(words[i-1])[0]) {
				out.WriteRune(noBreak)
			} else {
				out.WriteByte(' ')
			}
		}
		out.WriteString(word)
	}
	return out.String(), nil
}

// lay chooses a size and breaks a text into lines. If the text does not fit at the smallest size, it ends with
// an ellipsis.
func (f *face) lay(text string) ([]string, error) {
	for _, f.size = range sizes {
		lines, broken, err := f.wrap(text)
		if err != nil {
			return nil, err
		}
		// Only at the smallest size may words be broken.
		if len(lines) <= maxLines && !broken && len(lines)*f.leading() <= maxHeight {
			return lines, nil
		}
	}
	lines, _, err := f.wrap(text)
	if err != nil || len(lines) <= maxLines {
		return lines, err
	}
	// Five lines at the smallest size fit the height.
	lines = lines[:maxLines]
	lines[maxLines-1], err = f.cut(lines[maxLines-1], true)
	return lines, err
}

// cut shortens a text until it fits with an ellipsis. If always is false, it returns a text that fits
// unchanged.
func (f *face) cut(text string, always bool) (string, error) {
	if ok, err := f.fits(text); err != nil || ok && !always {
		return text, err
	}
	for last := []rune(text); ; last = last[:len(last)-1] {
		short := strings.TrimRight(string(last), " ,;:.-–—") + string(ellipsis)
		if ok, err := f.fits(short); err != nil || ok || len(last) == 0 {
			return short, err
		}
	}
}

// wrap breaks a text between words. It breaks words that are wider than a line anywhere, and then reports
// broken.
func (f *face) wrap(text string) (lines []string, broken bool, err error) {
	return f.wrapTo(text, label.Dx()-2*margin)
}

// wrapTo is wrap with lines of room pixels.
func (f *face) wrapTo(text string, room int) (lines []string, broken bool, err error) {
	fits := func(text string) (bool, error) {
		width, err := f.place(text, nil)
		return width <= fixed.I(room), err
	}
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		joined := word
		if line != "" {
			joined = line + " " + word
		}
		ok, err := fits(joined)
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
			ok, err := fits(line + string(r))
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

// maxHeight is the maximum height of a title in pixels. It leaves room for the line below on the label.
const maxHeight = 228

func (f *face) leading() int { return f.size * 23 / 20 }

// balance breaks a text again into the same number of lines, of nearly equal width. It leaves a text of maxLines
// lines unchanged.
func (f *face) balance(text string, lines []string) ([]string, error) {
	if len(lines) < 2 || len(lines) == maxLines {
		return lines, nil
	}
	best := lines
	for room := label.Dx() - 2*margin; room > 0; room -= 12 {
		narrow, broken, err := f.wrapTo(text, room)
		if err != nil {
			return nil, err
		}
		if broken || len(narrow) > len(lines) {
			break
		}
		best = narrow
	}
	return best, nil
}

// write draws a label in the middle of a picture, with a title and a line below it, both centred. Without a
// title there is no label.
func write(img *image.RGBA, colours palette, title, line string) error {
	f, err := openFace()
	if err != nil {
		return err
	}
	text, err := f.readable(title)
	if err != nil || text == "" {
		return err
	}
	lines, err := f.lay(text)
	if err != nil {
		return err
	}
	if lines, err = f.balance(text, lines); err != nil {
		return err
	}
	draw.Draw(img, label, image.NewUniform(colours.paper), image.Point{}, draw.Src)
	if line, err = f.readable(line); err != nil {
		return err
	}
	// The height of capitals is about 7/10 of the size. The text is centred by its capitals.
	leading, capital := f.leading(), f.size*7/10
	height := capital + leading*(len(lines)-1)
	if line != "" {
		height += 2*gap + lineSize*7/10
	}
	baseline := (Height-height)/2 + capital
	for i, text := range lines {
		if err := f.centre(img, text, baseline+i*leading, colours.ink); err != nil {
			return err
		}
	}
	if line == "" {
		return nil
	}
	baseline += (len(lines) - 1) * leading
	bar := image.Rect(Width/2-32, baseline+gap-rule/2, Width/2+32, baseline+gap+rule-rule/2)
	draw.Draw(img, bar, image.NewUniform(colours.accent), image.Point{}, draw.Src)
	f.size = lineSize
	if line, err = f.cut(line, false); err != nil {
		return err
	}
	return f.centre(img, line, baseline+2*gap+lineSize*7/10, colours.accent)
}

// centre draws a line of text that is centred horizontally.
func (f *face) centre(img *image.RGBA, text string, baseline int, c color.RGBA) error {
	width, err := f.place(text, nil)
	if err != nil {
		return err
	}
	left := fixed.I(Width/2) - width/2
	o := &outline{}
	_, err = f.place(text, func(g sfnt.GlyphIndex, x fixed.Int26_6) error {
		segments, err := f.font.LoadGlyph(&f.buf, g, f.ppem(), nil)
		if err != nil {
			return err
		}
		o.add(segments, left+x, fixed.I(baseline))
		return nil
	})
	if err != nil {
		return err
	}
	o.fill(img, c)
	return nil
}
