package media

import (
	"encoding/binary"
	"image"
	"image/draw"
)

// turn is the rotation or mirroring of a picture before display. It has the values 1 to 8 of the Exif tag
// Orientation.
type turn uint16

const turnUpright turn = 1

// swapsSides reports whether the turn exchanges width and height.
func (t turn) swapsSides() bool { return t >= 5 }

// apply returns the turned picture. It keeps the sample format if that format can be turned.
func (t turn) apply(img image.Image) image.Image {
	if t <= turnUpright {
		return img
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	rect := image.Rect(0, 0, w, h)
	if t.swapsSides() {
		rect = image.Rect(0, 0, h, w)
	}
	switch p := img.(type) {
	case *image.Gray:
		return &image.Gray{Pix: t.plane(p.Pix, p.Stride, w, h, 1), Stride: rect.Dx(), Rect: rect}
	case *image.Paletted:
		return &image.Paletted{Pix: t.plane(p.Pix, p.Stride, w, h, 1), Stride: rect.Dx(), Rect: rect, Palette: p.Palette}
	case *image.Gray16:
		return &image.Gray16{Pix: t.plane(p.Pix, p.Stride, w, h, 2), Stride: 2 * rect.Dx(), Rect: rect}
	case *image.RGBA:
		return &image.RGBA{Pix: t.plane(p.Pix, p.Stride, w, h, 4), Stride: 4 * rect.Dx(), Rect: rect}
	case *image.NRGBA:
		return &image.NRGBA{Pix: t.plane(p.Pix, p.Stride, w, h, 4), Stride: 4 * rect.Dx(), Rect: rect}
	case *image.RGBA64:
		return &image.RGBA64{Pix: t.plane(p.Pix, p.Stride, w, h, 8), Stride: 8 * rect.Dx(), Rect: rect}
	case *image.NRGBA64:
		return &image.NRGBA64{Pix: t.plane(p.Pix, p.Stride, w, h, 8), Stride: 8 * rect.Dx(), Rect: rect}
	case *image.YCbCr:
		if turned := t.ycbcr(p, rect); turned != nil {
			return turned
		}
	case *image.NYCbCrA:
		straight := image.NewNRGBA(image.Rect(0, 0, w, h))
		draw.Draw(straight, straight.Rect, p, p.Rect.Min, draw.Src)
		return t.apply(straight)
	}
	mixed := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(mixed, mixed.Rect, img, img.Bounds().Min, draw.Src)
	return t.apply(mixed)
}

// ycbcr turns a picture in YCbCr. It returns nil for the subsampling ratios 4:1:1 and 4:1:0. For exchanged sides
// their counterparts do not exist.
func (t turn) ycbcr(p *image.YCbCr, rect image.Rectangle) image.Image {
	ratio := p.SubsampleRatio
	cw, ch := p.Rect.Dx(), p.Rect.Dy()
	switch ratio {
	case image.YCbCrSubsampleRatio444:
	case image.YCbCrSubsampleRatio422:
		cw = (cw + 1) / 2
		if t.swapsSides() {
			ratio = image.YCbCrSubsampleRatio440
		}
	case image.YCbCrSubsampleRatio440:
		ch = (ch + 1) / 2
		if t.swapsSides() {
			ratio = image.YCbCrSubsampleRatio422
		}
	case image.YCbCrSubsampleRatio420:
		cw, ch = (cw+1)/2, (ch+1)/2
	default:
		return nil
	}
	out := &image.YCbCr{
		Y:  t.plane(p.Y, p.YStride, p.Rect.Dx(), p.Rect.Dy(), 1),
		Cb: t.plane(p.Cb, p.CStride, cw, ch, 1),
		Cr: t.plane(p.Cr, p.CStride, cw, ch, 1),

		YStride: rect.Dx(), CStride: cw, SubsampleRatio: ratio, Rect: rect,
	}
	if t.swapsSides() {
		out.CStride = ch
	}
	return out
}

// plane returns the turned copy of w by h samples of n bytes each. stride is the number of bytes between two rows of
// src.
func (t turn) plane(src []byte, stride, w, h, n int) []byte {
	dst := make([]byte, w*h*n)
	// first is the offset of the top left sample of the turned picture. right and down are the distances to the
	// next samples.
	first, right, down := 0, n, stride
	switch t {
	case 2:
		first, right = (w-1)*n, -n
	case 3:
		first, right, down = (h-1)*stride+(w-1)*n, -n, -stride
	case 4:
		first, down = (h-1)*stride, -stride
	case 5:
		right, down = stride, n
	case 6:
		first, right, down = (h-1)*stride, -stride, n
	case 7:
		first, right, down = (h-1)*stride+(w-1)*n, -stride, -n
	case 8:
		first, right, down = (w-1)*n, stride, -n
	}
	if t.swapsSides() {
		w, h = h, w
	}
	at := 0
	for y := range h {
		from := first + y*down
		for range w {
			if n == 1 {
				dst[at] = src[from]
			} else {
				copy(dst[at:at+n], src[from:from+n])
			}
			at += n
			from += right
		}
	}
	return dst
}

// exifTurn reads the Orientation tag from the first directory of an Exif block, which is a TIFF file. Without
// the tag it returns turnUpright.
func exifTurn(tiff []byte) turn {
	const (
		header      = 8
		entry       = 12
		orientation = 0x0112
		short       = 3
	)
	if len(tiff) < header {
		return turnUpright
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return turnUpright
	}
	start := uint64(order.Uint32(tiff[4:]))
	if start+2 > uint64(len(tiff)) {
		return turnUpright
	}
	directory := tiff[start:]
	count := int(order.Uint16(directory))
	for directory = directory[2:]; count > 0 && len(directory) >= entry; count-- {
		if order.Uint16(directory) == orientation && order.Uint16(directory[2:]) == short {
			if t := turn(order.Uint16(directory[8:])); t >= turnUpright && t <= 8 {
				return t
			}
			return turnUpright
		}
		directory = directory[entry:]
	}
	return turnUpright
}
