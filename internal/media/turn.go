package media

import (
	"bytes"
	"encoding/binary"
	"image"
)

// turn is how a camera noted that a picture is to be turned or mirrored before it is shown: the Exif tag
// Orientation, 1 to 8.
type turn uint16

const upright turn = 1

// swapsSides reports whether a picture changes its width for its height.
func (t turn) swapsSides() bool { return t >= 5 }

// apply returns the picture as it is to be shown.
func (t turn) apply(src *image.RGBA) *image.RGBA {
	if t <= upright {
		return src
	}
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	dst := image.NewRGBA(src.Bounds())
	if t.swapsSides() {
		dst = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range dst.Bounds().Dy() {
		for x := range dst.Bounds().Dx() {
			sx, sy := x, y
			switch t {
			case 2:
				sx = w - 1 - x
			case 3:
				sx, sy = w-1-x, h-1-y
			case 4:
				sy = h - 1 - y
			case 5:
				sx, sy = y, x
			case 6:
				sx, sy = y, h-1-x
			case 7:
				sx, sy = w-1-y, h-1-x
			case 8:
				sx, sy = w-1-y, x
			}
			copy(dst.Pix[dst.PixOffset(x, y):][:4], src.Pix[src.PixOffset(sx, sy):][:4])
		}
	}
	return dst
}

// jpegTurn reads the turn of a JPEG file. One that says nothing readable about it is upright.
func jpegTurn(data []byte) turn {
	const (
		startOfScan = 0xDA
		app1        = 0xE1
	)
	for i := 2; i+4 <= len(data) && data[i] == 0xFF; {
		marker := data[i+1]
		if marker == 0xFF { // filling
			i++
			continue
		}
		end := i + 2 + int(binary.BigEndian.Uint16(data[i+2:]))
		if marker == startOfScan || end < i+4 || end > len(data) {
			break
		}
		if exif, ok := bytes.CutPrefix(data[i+4:end], []byte("Exif\x00\x00")); ok && marker == app1 {
			return exifTurn(exif)
		}
		i = end
	}
	return upright
}

// exifTurn looks for the tag in the first directory of an Exif block, which is a TIFF file.
func exifTurn(tiff []byte) turn {
	const (
		header      = 8
		entry       = 12
		orientation = 0x0112
		short       = 3
	)
	if len(tiff) < header {
		return upright
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return upright
	}
	start := uint64(order.Uint32(tiff[4:]))
	if start+2 > uint64(len(tiff)) {
		return upright
	}
	directory := tiff[start:]
	count := int(order.Uint16(directory))
	for directory = directory[2:]; count > 0 && len(directory) >= entry; count-- {
		if order.Uint16(directory) == orientation && order.Uint16(directory[2:]) == short {
			if t := turn(order.Uint16(directory[8:])); t >= upright && t <= 8 {
				return t
			}
			return upright
		}
		directory = directory[entry:]
	}
	return upright
}
