// Package picture draws pictures of generated events: a pattern that represents the kind of event. They carry no words,
// because those would be in one language and show no letter of some names.
//
// The same picture has the same bytes on every machine. All arithmetic for pixels uses integers, because some
// processors fuse floating-point products with sums and others do not. For the same reason this package fills
// outlines itself instead of using a library.
package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math/rand/v2"
)

// Width and Height are the size of a picture in pixels.
const (
	Width  = 1024
	Height = 768
)

// cell is the width and height of a tile of the pattern.
const cell = 128

// quality is the JPEG quality, of at most 100.
const quality = 60

// Poster describes a picture to draw.
type Poster struct {
	Motif string // name of one of Motifs
	Seed  uint64 // selects the colours and the arrangement of the motif
}

// palette has the colours of a poster.
type palette struct{ ground, first, second, third, paper, ink color.RGBA }

var palettes = []palette{
	// light
	{rgb(0xf6e7cb), rgb(0xe2725b), rgb(0x2a4d69), rgb(0xf0b35b), rgb(0xfffaf0), rgb(0x1d2b3a)},
	{rgb(0xdcebe4), rgb(0x2f7f73), rgb(0xf2a65a), rgb(0x9fc8b8), rgb(0xfbfffd), rgb(0x12352f)},
	{rgb(0xfbdcd4), rgb(0xd1495b), rgb(0x30638e), rgb(0xf7a488), rgb(0xfffdfb), rgb(0x2b1a2f)},
	{rgb(0xe3e6f5), rgb(0x4f5bd5), rgb(0xf4b942), rgb(0xa3aef0), rgb(0xffffff), rgb(0x1b1f4b)},
	{rgb(0xf3edd2), rgb(0x6a994e), rgb(0xbc4749), rgb(0xa7c957), rgb(0xfffef6), rgb(0x22361a)},
	{rgb(0xe8e2dc), rgb(0x3b3a3e), rgb(0xe4572e), rgb(0xb8aca0), rgb(0xfdfbf8), rgb(0x1e1d20)},
	// dark
	{rgb(0x16213e), rgb(0xe94560), rgb(0x53a7d8), rgb(0x30476f), rgb(0x0f1730), rgb(0xf8f4ec)},
	{rgb(0x0b3d3a), rgb(0xf2c14e), rgb(0x4fb89f), rgb(0x1a5c56), rgb(0x072b29), rgb(0xfdf8e7)},
	{rgb(0x3b1730), rgb(0xf08a5d), rgb(0xd05c8f), rgb(0x62264f), rgb(0x2a0f22), rgb(0xfff3e6)},
	{rgb(0x2b2d42), rgb(0xef8354), rgb(0xbfc0c0), rgb(0x4f5d75), rgb(0x1e2031), rgb(0xffffff)},
	{rgb(0x1f3a2d), rgb(0xd9ae61), rgb(0x8fbf88), rgb(0x33584a), rgb(0x14281f), rgb(0xfaf6ea)},
	{rgb(0x17143a), rgb(0xffd166), rgb(0x8f7bee), rgb(0x332c70), rgb(0x0f0d29), rgb(0xfbf7ff)},
}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// Draw draws a picture of Width by Height pixels and returns its pixels and its JPEG file. It returns an error for an
// unknown motif.
func Draw(p Poster) (img *image.RGBA, file []byte, err error) {
	m, ok := motifs[p.Motif]
	if !ok {
		return nil, nil, fmt.Errorf("picture: no motif %q", p.Motif)
	}
	img = image.NewRGBA(image.Rect(0, 0, Width, Height))
	r := rand.New(rand.NewPCG(p.Seed, 0x616c6d616e6163))
	colours := palettes[r.IntN(len(palettes))]
	pattern(img, m, colours, r)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, nil, fmt.Errorf("encode a picture of %q: %w", p.Motif, err)
	}
	return img, out.Bytes(), nil
}

// pattern fills a picture with tiles of a motif.
func pattern(img *image.RGBA, m motif, colours palette, r *rand.Rand) {
	tiles := make([]*image.RGBA, m.variants)
	for i := range tiles {
		t := tile{RGBA: image.NewRGBA(image.Rect(0, 0, cell, cell)), colours: colours}
		draw.Draw(t.RGBA, t.Rect, image.NewUniform(colours.ground), image.Point{}, draw.Src)
		m.draw(&t, i)
		tiles[i] = t.RGBA
	}
	shift := r.IntN(m.variants)
	for y := -cell / 2; y < Height; y += cell {
		row := (y + cell/2) / cell
		for x := 0; x < Width; x += cell {
			at := (x/cell + row + shift) % m.variants
			if m.random {
				at = r.IntN(m.variants)
			}
			to := image.Rect(x, y, x+cell, y+cell)
			draw.Draw(img, to, tiles[at], image.Point{}, draw.Src)
		}
	}
}

// interpolate returns a rounded value between a and b: a if at is 0, b if at equals whole.
func interpolate(a, b uint8, at, whole int) uint8 {
	return uint8((int(a)*(whole-at) + int(b)*at + whole/2) / whole)
}

// blend mixes a colour into the pixel p. The opacity is from 0, which leaves p unchanged, to 255.
func blend(p []uint8, c color.RGBA, opacity int) {
	p[0] = interpolate(p[0], c.R, opacity, 255)
	p[1] = interpolate(p[1], c.G, opacity, 255)
	p[2] = interpolate(p[2], c.B, opacity, 255)
}
