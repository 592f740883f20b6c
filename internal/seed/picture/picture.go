// Package picture draws the pictures of made-up events: the title on a gradient with a few soft shapes.
//
// The same title and seed give the same bytes on every machine. All arithmetic is on integers: products of
// floating-point numbers are fused with sums on some processors and not on others, which is why the outlines of
// letters, too, are filled here and not by a library.
package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
)

// Width and Height of a picture in pixels: what pages that show a link in a box ask for.
const (
	Width  = 1200
	Height = 630
)

// quality of the JPEG: no rings are seen around letters, and a picture stays below 60 KB.
const quality = 75

// theme is a pair of colours that the background runs between, and one of the shapes on it. All are so dark, or
// laid on so thinly, that white letters have a contrast of at least 4.5 on whatever comes of them.
type theme struct{ from, to, shape color.RGBA }

var themes = []theme{
	{rgb(0x16213e), rgb(0x3b1d5e), rgb(0x5b6cd9)}, // night
	{rgb(0x0b3d3a), rgb(0x14304f), rgb(0x1f9e8f)}, // harbour
	{rgb(0x4a1529), rgb(0x2a1a4a), rgb(0xd0587e)}, // velvet
	{rgb(0x3d2410), rgb(0x571c24), rgb(0xd08a3c)}, // ember
	{rgb(0x17351f), rgb(0x10333f), rgb(0x67a84a)}, // park
	{rgb(0x1d2733), rgb(0x33283f), rgb(0x7d8fa6)}, // slate
	{rgb(0x102a54), rgb(0x0d4757), rgb(0x3f9bd6)}, // river
	{rgb(0x45173f), rgb(0x5a2320), rgb(0xc95fb4)}, // fair
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// Draw returns a JPEG of Width by Height pixels. The seed chooses colours and shapes, the title is set in at most
// three lines, the last one cut if need be. Letters that the typeface lacks are transliterated, and what has no
// letters, such as an emoji, is left out.
func Draw(title string, seed uint64) ([]byte, error) {
	f, err := openFace()
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(image.Rect(0, 0, Width, Height))
	paint(img, rand.New(rand.NewPCG(seed, 0x616c6d616e6163)))
	if err := write(img, f, title); err != nil {
		return nil, fmt.Errorf("title %q: %w", title, err)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return out.Bytes(), nil
}

// paint fills a picture with a background.
func paint(img *image.RGBA, r *rand.Rand) {
	t := themes[r.IntN(len(themes))]
	if r.IntN(2) == 1 {
		t.from, t.to = t.to, t.from
	}
	gradient(img, t.from, t.to, r.IntN(Height))
	for range 3 + r.IntN(4) {
		radius := 90 + r.IntN(310)
		at := image.Pt(r.IntN(Width), r.IntN(Height))
		if strength := 40 + r.IntN(60); r.IntN(3) == 0 {
			disc(img, at, radius*2/3, t.shape, strength/3)
		} else {
			glow(img, at, radius, t.shape, strength)
		}
	}
}

// gradient runs from one colour at the left edge to another at the right one, slanted by so many pixels from the
// top to the bottom.
func gradient(img *image.RGBA, from, to color.RGBA, slant int) {
	whole := Width + slant
	for y := range Height {
		row := img.Pix[y*img.Stride:][:Width*4]
		for x := range Width {
			at := x + y*slant/Height
			row[x*4] = between(from.R, to.R, at, whole)
			row[x*4+1] = between(from.G, to.G, at, whole)
			row[x*4+2] = between(from.B, to.B, at, whole)
			row[x*4+3] = 0xff
		}
	}
}

// between is the value at a part of the way from a to b, rounded.
func between(a, b uint8, at, whole int) uint8 {
	return uint8((int(a)*(whole-at) + int(b)*at + whole/2) / whole)
}

// glow lays a colour on that is strongest, of 255, in the middle and fades to nothing at the radius.
func glow(img *image.RGBA, at image.Point, radius int, c color.RGBA, strength int) {
	square := radius * radius
	each(img, at, radius, func(p []uint8, distance int) {
		// (1 - d²/r²)² in parts of 1024 has no edge at the radius.
		part := (square - distance) * 1024 / square
		blend(p, c, strength*part*part>>20)
	})
}

// disc lays a colour on evenly, with an edge of two pixels.
func disc(img *image.RGBA, at image.Point, radius int, c color.RGBA, strength int) {
	inner := (radius - 2) * (radius - 2)
	edge := radius*radius - inner
	each(img, at, radius, func(p []uint8, distance int) {
		blend(p, c, strength*min(edge, radius*radius-distance)/edge)
	})
}

// each calls do with every pixel nearer to a point than the radius, and the square of its distance.
func each(img *image.RGBA, at image.Point, radius int, do func(p []uint8, distance int)) {
	area := image.Rect(at.X-radius, at.Y-radius, at.X+radius+1, at.Y+radius+1).Intersect(img.Rect)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			distance := (x-at.X)*(x-at.X) + (y-at.Y)*(y-at.Y)
			if distance < radius*radius {
				i := img.PixOffset(x, y)
				do(img.Pix[i:i+3:i+3], distance)
			}
		}
	}
}

// blend lays a colour over a pixel with an opacity of 0 to 255.
func blend(p []uint8, c color.RGBA, opacity int) {
	p[0] = between(p[0], c.R, opacity, 255)
	p[1] = between(p[1], c.G, opacity, 255)
	p[2] = between(p[2], c.B, opacity, 255)
}
