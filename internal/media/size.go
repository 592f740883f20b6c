package media

import (
	"image"
	"image/draw"
)

// sizeBox is the box into which a smaller copy must fit.
type sizeBox struct {
	name string
	side int  // side of the square, in pixels
	crop bool // true if the copy fills the square, and what exceeds it is cut off evenly
	wide bool // true if side limits the width only
}

// sizeBoxes are the boxes of the smaller copies, the largest first. A picture that fits into a box gets no copy
// of that size.
var sizeBoxes = []sizeBox{
	{name: "large", side: 1024},
	{name: "medium_large", side: 768, wide: true},
	{name: "medium", side: 300},
	{name: "thumbnail", side: 150, crop: true},
}

// maxHeight is the largest height, in pixels, of a copy whose box limits the width only. It limits the memory.
const maxHeight = 4096

// isDue reports whether a picture of w by h pixels gets a copy of this size. The picture must exceed the box, and the
// copy must not be higher than maxHeight.
func (b sizeBox) isDue(w, h int) bool {
	if b.wide {
		return w > b.side && scaleRounded(h, b.side, w) <= maxHeight
	}
	return w > b.side || h > b.side
}

// dimensions returns the width and height of the copy of a picture of w by h pixels. The picture must exceed
// the box.
func (b sizeBox) dimensions(w, h int) (int, int) {
	switch {
	case b.crop:
		return min(w, b.side), min(h, b.side)
	case b.wide || w >= h:
		return b.side, max(1, scaleRounded(h, b.side, w))
	default:
		return max(1, scaleRounded(w, b.side, h)), b.side
	}
}

// scaleRounded returns n*num/den, rounded half up. It uses 64 bits, because products of a picture's sides
// exceed 32.
func scaleRounded(n, num, den int) int {
	return int((2*int64(n)*int64(num) + int64(den)) / (2 * int64(den)))
}

// centreCrop returns the largest rectangle in the middle of w by h pixels with the aspect ratio of tw by th.
func centreCrop(w, h, tw, th int) image.Rectangle {
	cw, ch := w, h
	if int64(tw)*int64(h) >= int64(th)*int64(w) {
		ch = min(h, max(1, scaleRounded(w, th, tw)))
	} else {
		cw = min(w, max(1, scaleRounded(h, tw, th)))
	}
	x, y := (w-cw)/2, (h-ch)/2
	return image.Rect(x, y, x+cw, y+ch)
}

// shrink returns a copy of the picture with tw by th pixels, which must not exceed the picture. It crops evenly
// to the new aspect ratio. Every pixel is the exact mean of its area, so the result is the same on every
// machine. It needs memory for a few rows only.
func (p picture) shrink(tw, th int) *image.RGBA {
	from := centreCrop(p.width, p.height, tw, th)
	sw, sh := from.Dx(), from.Dy()

	dst := image.NewRGBA(image.Rect(0, 0, tw, th))
	strip := image.NewRGBA(image.Rect(0, 0, sw, min(sh, 1+stripPixels/sw)))
	stripRows := strip.Bounds().Dy()
	at := from.Min.Sub(p.at).Add(p.img.Bounds().Min)

	row := make([]uint64, 4*tw) // one source row, narrowed to tw pixels; in units of 1/sw
	sum := make([]uint64, 4*tw) // sum of the source rows in a target row; in units of 1/(sw*sh)
	// A source row counts as th parts and a target row as sh parts, so that both add up to the same height.
	y, space := 0, sh
	for s := range sh {
		if s%stripRows == 0 {
			clear(strip.Pix) // the first frame may not cover the whole picture
			draw.Draw(strip, strip.Bounds(), p.img, at.Add(image.Pt(0, s)), draw.Src)
		}
		line := (s % stripRows) * strip.Stride
		addNarrowed(row, strip.Pix[line:line+4*sw], sw, tw)

		part := min(th, space)
		accumulate(sum, row, part)
		if space -= part; space > 0 {
			continue
		}
		meanOfSums(dst.Pix[y*dst.Stride:], sum, uint64(sw)*uint64(sh))
		clear(sum)
		accumulate(sum, row, th-part)
		y, space = y+1, sh-(th-part)
	}
	return dst
}

// stripPixels is the number of pixels that are converted to RGBA at once.
const stripPixels = 1 << 16

// addNarrowed sums a row of sw RGBA pixels into tw pixels. Each sum is sw times the mean of its area. A source
// pixel counts as tw parts and a target pixel as sw parts. As tw <= sw, a source pixel affects at most two
// target pixels.
func addNarrowed(dst []uint64, src []uint8, sw, tw int) {
	var r, g, b, a uint64
	i, space := 0, sw
	for x := 0; x < 4*sw; x += 4 {
		px := src[x : x+4 : x+4]
		part := uint64(min(tw, space))
		r += part * uint64(px[0])
		g += part * uint64(px[1])
		b += part * uint64(px[2])
		a += part * uint64(px[3])
		if space -= int(part); space > 0 {
			continue
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = r, g, b, a
		part = uint64(tw) - part
		r, g, b, a = part*uint64(px[0]), part*uint64(px[1]), part*uint64(px[2]), part*uint64(px[3])
		i, space = i+4, sw-int(part)
	}
}

func accumulate(sum, row []uint64, part int) {
	for i, v := range row {
		sum[i] += v * uint64(part)
	}
}

func meanOfSums(dst []uint8, sum []uint64, area uint64) {
	for i, v := range sum {
		dst[i] = uint8((v + area/2) / area)
	}
}
