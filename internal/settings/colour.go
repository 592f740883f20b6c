package settings

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// Colour is a colour in the form #rrggbb, in lower case.
type Colour string

// lightPaper and darkPaper are the background colours of the pages.
const (
	lightPaper Colour = "#ffffff"
	darkPaper  Colour = "#14171c"
)

// leastContrast is the minimum contrast of text by WCAG 2.2, level AA.
const leastContrast = 4.5

var colourForm = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// Contrast returns the contrast ratio of two colours, from 1 to 21, as WCAG 2.2 computes it.
func Contrast(a, b Colour) float64 {
	light, dark := a.luminance(), b.luminance()
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

// luminance returns the relative luminance by WCAG 2.2. An invalid colour counts as black.
func (c Colour) luminance() float64 {
	if !colourForm.MatchString(string(c)) {
		return 0
	}
	channel := func(hex Colour) float64 {
		n, err := strconv.ParseUint(string(hex), 16, 8)
		if err != nil {
			return 0
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(c[1:3]) + 0.7152*channel(c[3:5]) + 0.0722*channel(c[5:7])
}

// check returns an error if the colour is malformed, or if its contrast with the background paper is below
// leastContrast.
func (c Colour) check(paper Colour) error {
	if !colourForm.MatchString(string(c)) {
		return fmt.Errorf("%q; want a colour such as #0b57d0", c)
	}
	// The ratio is rounded down, so that the message never shows the required contrast for a lower one.
	if ratio := math.Floor(Contrast(c, paper)*100) / 100; ratio < leastContrast {
		return fmt.Errorf("the contrast of %s with the paper %s is %.2f; want at least %.1f", c, paper, ratio, leastContrast)
	}
	return nil
}
