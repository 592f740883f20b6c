package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDimensions(t *testing.T) {
	fit, crop := sizeBox{side: 300}, sizeBox{side: 150, crop: true}
	tests := []struct {
		name         string
		box          sizeBox
		w, h         int
		wantW, wantH int
	}{
		{"landscape", fit, 640, 480, 300, 225},
		{"portrait", fit, 480, 640, 225, 300},
		{"square", fit, 999, 999, 300, 300},
		{"rounded down", fit, 1000, 334, 300, 100},
		{"rounded half up", fit, 600, 333, 300, 167},
		{"never nothing", fit, 40_000_000, 1, 300, 1},
		{"never nothing, upright", fit, 1, 40_000_000, 1, 300},
		{"never more than the side", fit, 301, 300, 300, 299},
		{"crop", crop, 640, 480, 150, 150},
		{"crop of a low one", crop, 640, 20, 150, 20},
		{"crop of a narrow one", crop, 20, 640, 20, 150},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if w, h := tt.box.dimensions(tt.w, tt.h); w != tt.wantW || h != tt.wantH {
				t.Errorf("got %dx%d, want %dx%d", w, h, tt.wantW, tt.wantH)
			}
		})
	}
}

func TestMiddle(t *testing.T) {
	tests := []struct {
		name         string
		w, h, tw, th int
		want         image.Rectangle
	}{
		{"landscape to square", 640, 480, 150, 150, image.Rect(80, 0, 560, 480)},
		{"portrait to square", 480, 640, 150, 150, image.Rect(0, 80, 480, 560)},
		{"same shape", 640, 480, 320, 240, image.Rect(0, 0, 640, 480)},
		{"no shrinking on one side", 640, 20, 150, 20, image.Rect(245, 0, 395, 20)},
		{"a thread", 40_000_000, 1, 300, 1, image.Rect(19_999_850, 0, 20_000_150, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := centreCrop(tt.w, tt.h, tt.tw, tt.th); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestShrinkIsTheMeanOfTheArea(t *testing.T) {
	tests := []struct {
		name     string
		w, h     int
		pix      []uint8
		toW, toH int
		want     []uint8
	}{
		{name: "same size", w: 2, h: 2, pix: []uint8{1, 2, 3, 4}, toW: 2, toH: 2, want: []uint8{1, 2, 3, 4}},
		{name: "whole pixels", w: 4, h: 2, toW: 2, toH: 1, want: []uint8{25, 45}, pix: []uint8{
			10, 20, 30, 40,
			30, 40, 50, 60,
		}},
		{name: "rounded half up", w: 2, h: 2, pix: []uint8{1, 1, 2, 2}, toW: 1, toH: 1, want: []uint8{2}},
		{name: "parts of pixels", w: 3, h: 3, toW: 2, toH: 2, want: []uint8{60, 140, 140, 60}, pix: []uint8{
			0, 90, 180,
			90, 180, 90,
			180, 90, 0,
		}},
		{name: "sides cut off", w: 4, h: 2, toW: 1, toH: 1, want: []uint8{80}, pix: []uint8{
			0, 70, 80, 0,
			0, 80, 90, 0,
		}},
		{name: "ends cut off", w: 1, h: 4, pix: []uint8{0, 7, 8, 0}, toW: 1, toH: 2, want: []uint8{7, 8}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			img := image.NewGray(image.Rect(5, 7, 5+tt.w, 7+tt.h)) // where a picture begins is of no matter
			copy(img.Pix, tt.pix)
			p := picture{img: img, width: tt.w, height: tt.h}
			if diff := cmp.Diff(tt.want, reds(p.shrink(tt.toW, tt.toH))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestShrinkGoesStripByStrip(t *testing.T) {
	// Every shape has more pixels than a strip.
	for _, size := range []image.Point{{3 * stripPixels, 1}, {1, 3 * stripPixels}, {1000, 333}} {
		img := image.NewUniform(color.NRGBA{R: 10, G: 20, B: 30, A: 255})
		whole := image.NewRGBA(image.Rectangle{Max: size})
		draw.Draw(whole, whole.Bounds(), img, image.Point{}, draw.Src)
		p := picture{img: whole, width: size.X, height: size.Y}
		w, h := sizeBoxes[0].dimensions(size.X, size.Y)
		got := p.shrink(min(w, size.X), min(h, size.Y))
		for i := 0; i < len(got.Pix); i += 4 {
			if [4]byte(got.Pix[i:]) != [4]byte{10, 20, 30, 255} {
				t.Fatalf("%v: pixel %d is %v", size, i/4, got.Pix[i:i+4])
			}
		}
	}
}

func TestShrinkLeavesWhatTheFrameDoesNotCoverTransparent(t *testing.T) {
	frame := image.NewPaletted(image.Rect(200, 100, 400, 300), color.Palette{color.NRGBA{R: 255, A: 255}})
	var buf bytes.Buffer
	err := gif.EncodeAll(&buf, &gif.GIF{
		Image: []*image.Paletted{frame}, Delay: []int{0},
		Config: image.Config{Width: 400, Height: 400},
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		data []byte
	}{
		{"GIF", buf.Bytes()},
		{"animated WebP", animatedWebP(400, 400, 200, 200, image.Pt(200, 100))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := openPicture(t, tt.data).shrink(40, 40)
			for y := range 40 {
				for x := range 40 {
					inside := x >= 20 && y >= 10 && y < 30
					if covered := got.RGBAAt(x, y).A == 255; covered != inside {
						t.Fatalf("pixel %d,%d: covered %t, want %t", x, y, covered, inside)
					}
				}
			}
		})
	}
}

func TestTurn(t *testing.T) {
	// 1 2 3
	// 4 5 6
	src := image.NewRGBA(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		src.Pix[4*i] = uint8(i + 1)
	}
	tests := []struct {
		name string
		turn turn
		w    int
		want []uint8
	}{
		{"not noted", 0, 3, []uint8{1, 2, 3, 4, 5, 6}},
		{"upright", 1, 3, []uint8{1, 2, 3, 4, 5, 6}},
		{"mirrored", 2, 3, []uint8{3, 2, 1, 6, 5, 4}},
		{"upside down", 3, 3, []uint8{6, 5, 4, 3, 2, 1}},
		{"mirrored upside down", 4, 3, []uint8{4, 5, 6, 1, 2, 3}},
		{"sides swapped", 5, 2, []uint8{1, 4, 2, 5, 3, 6}},
		{"to be turned right", 6, 2, []uint8{4, 1, 5, 2, 6, 3}},
		{"sides swapped the other way", 7, 2, []uint8{6, 3, 5, 2, 4, 1}},
		{"to be turned left", 8, 2, []uint8{3, 6, 2, 5, 1, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := tt.turn.apply(src).(*image.RGBA)
			if got.Bounds().Dx() != tt.w {
				t.Errorf("width %d, want %d", got.Bounds().Dx(), tt.w)
			}
			if diff := cmp.Diff(tt.want, reds(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestExifTurn(t *testing.T) {
	big := exifBlock(binary.BigEndian, 6)
	farDirectory := exifBlock(binary.BigEndian, 6)
	binary.BigEndian.PutUint32(farDirectory[4:], 0xFFFFFFFF)
	manyEntries := exifBlock(binary.BigEndian, 0)
	binary.BigEndian.PutUint16(manyEntries[8:], 0xFFFF)
	tests := []struct {
		name string
		data []byte
		want turn
	}{
		{"big-endian", big, 6},
		{"little-endian", exifBlock(binary.LittleEndian, 8), 8},
		{"out of range", exifBlock(binary.BigEndian, 9), turnUpright},
		{"zero", exifBlock(binary.BigEndian, 0), turnUpright},
		{"cut off before the value", big[:len(big)-12], turnUpright},
		{"cut off in the header", big[:7], turnUpright},
		{"directory outside", farDirectory, turnUpright},
		{"fewer entries than said", manyEntries, turnUpright},
		{"neither byte order", append([]byte("XX"), big[2:]...), turnUpright},
		{"nothing", nil, turnUpright},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := exifTurn(tt.data); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestTurnOfJPEG(t *testing.T) {
	turned := turnedJPEG(t, 8, 8, 3)
	tests := []struct {
		name string
		data []byte
		want turn
		err  error
	}{
		{name: "noted", data: turned, want: 3},
		{name: "after another block", data: append([]byte("\xFF\xD8\xFF\xE0\x00\x04ab"), turned[2:]...), want: 3},
		{name: "after filling", data: append([]byte("\xFF\xD8\xFF\xFF"), turned[2:]...), want: 3},
		{name: "not noted", data: jpegFile(t, 8, 8), want: turnUpright},
		{name: "after the end", data: append(jpegFile(t, 8, 8), turned[2:]...), want: turnUpright},
		{name: "block too short", data: append([]byte("\xFF\xD8\xFF\xE0\x00\x01"), turned[2:]...), err: ErrType},
		{name: "cut off", data: turned[:30], err: ErrType},
		{name: "signature only", data: turned[:3], err: ErrType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if c, err := cleanJPEG(tt.data); c.turn != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %d and %v, want %d and %v", c.turn, err, tt.want, tt.err)
			}
		})
	}
}

// openPicture decodes a picture file. If the file is invalid, the test fails.
func openPicture(t testing.TB, data []byte) picture {
	t.Helper()
	f, c, size, err := inspect(data, maxPixels)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.picture(c, size)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reds returns the red values of all pixels, row by row.
func reds(img *image.RGBA) []uint8 {
	var rs []uint8
	for i := 0; i < len(img.Pix); i += 4 {
		rs = append(rs, img.Pix[i])
	}
	return rs
}
