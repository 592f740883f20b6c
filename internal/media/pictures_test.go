package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

// gradient returns a picture in which red grows to the right and green grows downwards.
func gradient(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(255 * x / w), G: uint8(255 * y / h), B: 40, A: 255})
		}
	}
	return img
}

func pngFile(t testing.TB, w, h int) []byte {
	t.Helper()
	return encodePNG(t, gradient(w, h))
}

func solidPNG(t testing.TB, w, h int, c color.NRGBA) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, c)
		}
	}
	return encodePNG(t, img)
}

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func jpegFile(t testing.TB, w, h int) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, gradient(w, h), nil); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func gifFile(t testing.TB, w, h int) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := gif.Encode(&buf, gradient(w, h), nil); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// crc is the checksum of a PNG chunk.
func crc(chunk []byte) uint32 { return crc32.ChecksumIEEE(chunk) }

// turnedJPEG returns a JPEG of a gradient with an Exif block. turn is the value of the Orientation tag.
func turnedJPEG(t testing.TB, w, h int, turn uint16) []byte {
	t.Helper()
	plain := jpegFile(t, w, h)
	exif := append([]byte("Exif\x00\x00"), exifBlock(binary.BigEndian, turn)...)
	app1 := binary.BigEndian.AppendUint16([]byte{0xFF, 0xE1}, uint16(len(exif)+2))
	return bytes.Join([][]byte{plain[:2], app1, exif, plain[2:]}, nil)
}

// exifBlock returns an Exif block with two tags: some other tag, and Orientation with the value turn.
func exifBlock(order binary.AppendByteOrder, turn uint16) []byte {
	b := []byte("MM\x00*")
	if order.AppendUint16(nil, 1)[0] == 1 {
		b = []byte("II*\x00")
	}
	b = order.AppendUint32(b, 8) // where the directory begins
	b = order.AppendUint16(b, 2) // its entries
	for _, e := range [][2]uint16{{0x0100, 9}, {0x0112, turn}} {
		b = order.AppendUint16(b, e[0])
		b = order.AppendUint16(b, 3) // of 16 bits
		b = order.AppendUint32(b, 1) // one of them
		b = order.AppendUint16(b, e[1])
		b = order.AppendUint16(b, 0)
	}
	return order.AppendUint32(b, 0)
}

// webpFile returns a lossless WebP picture of one colour.
func webpFile(w, h int, c color.NRGBA) []byte {
	return riff(vp8l(w, h, c))
}

// animatedWebP returns a WebP animation of one opaque frame of fw by fh pixels. The coordinates of its position must
// be even.
func animatedWebP(w, h, fw, fh int, at image.Point) []byte {
	const animation = 1 << 1
	head := append([]byte{animation, 0, 0, 0}, le24(w-1, h-1)...)
	frame := append(le24(at.X/2, at.Y/2, fw-1, fh-1, 100), 0)
	frame = append(frame, vp8l(fw, fh, color.NRGBA{R: 250, A: 255})...)
	return riff(chunk("VP8X", head), chunk("ANIM", make([]byte, 6)), chunk("ANMF", frame))
}

// vp8l returns a WebP chunk with a lossless picture of one colour. Each channel has only one value, so the pixels
// need no bits.
func vp8l(w, h int, c color.NRGBA) []byte {
	var b bitWriter
	b.write(0x2F, 8)
	b.write(w-1, 14)
	b.write(h-1, 14)
	b.write(1, 1) // alpha counts
	b.write(0, 3) // version
	b.write(0, 3) // no transform, no colour cache, no meta prefix codes
	for _, v := range []uint8{c.G, c.R, c.B, c.A, 0} {
		b.write(1, 1) // a simple code
		b.write(0, 1) // of one symbol
		b.write(1, 1) // of eight bits
		b.write(int(v), 8)
	}
	return chunk("VP8L", b.bytes)
}

func riff(chunks ...[]byte) []byte {
	return chunk("RIFF", append([]byte("WEBP"), bytes.Join(chunks, nil)...))
}

func chunk(name string, body []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body)))
	b = append(b, body...)
	if len(body)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

func le24(values ...int) []byte {
	var b []byte
	for _, v := range values {
		b = append(b, byte(v), byte(v>>8), byte(v>>16))
	}
	return b
}

// bitWriter collects numbers of a few bits each into bytes. The lowest bit comes first.
type bitWriter struct {
	bytes []byte
	n     int
}

func (b *bitWriter) write(v, width int) {
	for i := range width {
		if b.n%8 == 0 {
			b.bytes = append(b.bytes, 0)
		}
		b.bytes[b.n/8] |= byte(v>>i&1) << (b.n % 8)
		b.n++
	}
}
