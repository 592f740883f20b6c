package media

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// blankPNG returns a PNG file whose samples are all zero. depth is in bits per sample, and kind is the colour type.
func blankPNG(t testing.TB, w, h int, depth, kind byte, interlaced bool) []byte {
	t.Helper()
	channels := map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
	lines := func(w, h int) int { return h * (1 + (w*channels*int(depth)+7)/8) }
	total := lines(w, h)
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	head = append(head, depth, kind, 0, 0, 0)
	if interlaced {
		head[12] = 1
		total = 0
		for _, p := range [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
			total += lines((w-p[0]+p[2]-1)/p[2], (h-p[1]+p[3]-1)/p[3])
		}
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(make([]byte, total)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := []byte("\x89PNG\r\n\x1a\n")
	file = append(file, pngChunk("IHDR", string(head))...)
	if kind == 3 {
		file = append(file, pngChunk("PLTE", "\x01\x02\x03")...)
	}
	return append(append(file, pngChunk("IDAT", packed.String())...), pngChunk("IEND", "")...)
}

// noise returns a picture of random pixels, which no encoder can compress.
func noise(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	source := rand.NewChaCha8([32]byte{1})
	for i := range img.Pix {
		img.Pix[i] = byte(source.Uint64())
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

func noisyJPEG(t testing.TB, w, h int) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, noise(w, h), &jpeg.Options{Quality: 75}); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// manyTrees returns a lossless WebP file that needs the most memory. It has as many groups of Huffman trees as
// decoders accept, and each tree has the largest size.
func manyTrees(w, h int) []byte {
	const groups = 2600
	var b bitWriter
	// A full tree: the first symbols have codes of some length, and others of one bit more.
	tree := func(length, short, long int) {
		order := []int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12}
		b.write(0, 1)
		b.write(len(order)-4, 4)
		for _, symbol := range order {
			used := symbol == length || symbol == length+1 && long > 0
			b.write(map[bool]int{true: 1}[used], 3)
		}
		b.write(0, 1) // all symbols have a length
		if long == 0 {
			return // each length takes no bits
		}
		for i := range short + long {
			b.write(map[bool]int{true: 1}[i >= short], 1)
		}
	}
	single := func() { // a tree of the symbol 0, which takes no bits
		b.write(1, 1)
		b.write(0, 1)
		b.write(0, 1)
		b.write(0, 1)
	}
	b.write(0x2F, 8)
	b.write(w-1, 14)
	b.write(h-1, 14)
	b.write(0, 1+3+1) // alpha, version, no transform
	b.write(1, 1)     // a cache of colours
	b.write(11, 4)    // with 2048 of them
	b.write(1, 1)     // several groups
	b.write(0, 3)     // one for each 4 by 4 pixels
	b.write(0, 1)     // of which a picture without cache tells
	tree(8, 232, 48)  // green: the lower byte of a number
	tree(8, 256, 0)   // red: the upper byte
	single()
	single()
	single()
	code := func(v, width int) {
		for i := width - 1; i >= 0; i-- {
			b.write(v>>i&1, 1)
		}
	}
	for i := range int(ceilDiv(w, 4) * ceilDiv(h, 4)) {
		if low := i % groups & 255; low < 232 {
			code(low, 8)
		} else {
			code(464+low-232, 9)
		}
		code(i%groups>>8, 8)
	}
	for range groups {
		tree(11, 1768, 560)
		tree(8, 256, 0)
		tree(8, 256, 0)
		tree(8, 256, 0)
		tree(5, 24, 16)
	}
	for range w * h {
		b.write(0, 11+3*8)
	}
	return riff(chunk("VP8L", b.bytes))
}

// peakOf returns how much the memory in use grows at most while f runs, in bytes.
func peakOf(t *testing.T, f func()) int64 {
	t.Helper()
	live := func() int64 {
		runtime.GC()
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	before := live()
	done, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := before
		for {
			select {
			case <-done:
				peak <- most - before
				return
			default:
				most = max(most, live())
			}
		}
	}()
	f()
	close(done)
	return <-peak
}

func TestEstimateBoundsMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes large pictures")
	}
	const w, h = 1001, 703
	withTurn := func(data []byte) []byte {
		exif := append([]byte("Exif\x00\x00"), exifBlock(binary.BigEndian, 6)...)
		return bytes.Join([][]byte{data[:2], appendSegment(nil, jpegAPP1, exif), data[2:]}, nil)
	}
	tests := []struct {
		name string
		data []byte
	}{
		{name: "JPEG", data: jpegFile(t, w, h)},
		{name: "JPEG of noise", data: noisyJPEG(t, w, h)},
		{name: "turned JPEG", data: withTurn(noisyJPEG(t, w, h))},
		{name: "progressive JPEG, colours in quarters", data: progressiveJPEG(w, h, 0x22)},
		{name: "progressive JPEG, all colours", data: progressiveJPEG(w, h, 0x11)},
		{name: "progressive JPEG, colours in eighths", data: progressiveJPEG(w, h, 0x42)},
		{name: "turned progressive JPEG, colours in eighths", data: withTurn(progressiveJPEG(w, h, 0x42))},
		{name: "PNG of noise", data: encodePNG(t, noise(w, h))},
		{name: "PNG, gray", data: blankPNG(t, w, h, 8, 0, false)},
		{name: "PNG, 1 bit", data: blankPNG(t, w, h, 1, 0, false)},
		{name: "PNG, gray with alpha", data: blankPNG(t, w, h, 8, 4, false)},
		{name: "PNG, palette", data: blankPNG(t, w, h, 4, 3, false)},
		{name: "PNG, colours", data: blankPNG(t, w, h, 8, 2, false)},
		{name: "PNG, 16 bits", data: blankPNG(t, w, h, 16, 6, false)},
		{name: "PNG, 16 bits gray", data: blankPNG(t, w, h, 16, 0, false)},
		{name: "PNG, interlaced", data: blankPNG(t, w, h, 8, 6, true)},
		{name: "PNG, interlaced, 16 bits", data: blankPNG(t, w, h, 16, 2, true)},
		{name: "turned PNG", data: taggedPNG(t, encodePNG(t, noise(w, h)), 6)},
		{name: "GIF", data: gifFile(t, w, h)},
		{name: "WebP, lossless", data: webpFile(w, h, color.NRGBA{R: 9, A: 255})},
		{name: "WebP, lossless, many trees", data: manyTrees(401, 301)},
		{name: "turned WebP", data: taggedWebP(w, h, 6)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			var estimate int64
			peak := peakOf(t, func() {
				var f *format
				var c cleanedFile
				var size image.Point
				if f, c, size, err = inspect(tt.data, maxPixels); err == nil {
					estimate = f.memoryFor(c, size)
					_, err = makeFiles(t.Context(), f, c, size)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("took %.1f MB, estimate %.1f MB", float64(peak)/1e6, float64(estimate)/1e6)
			if peak > estimate {
				t.Errorf("took %d bytes, estimate %d", peak, estimate)
			}
		})
	}
}

func TestEstimates(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		want int64 // bytes for decoding alone
	}{
		// 16 by 16 pixels are 4 blocks of luma, and one each of blue and red.
		{"progressive JPEG, colours in quarters", progressiveJPEG(16, 16, 0x22), 6*64 + 6*256},
		{"progressive JPEG, begun units", progressiveJPEG(17, 16, 0x22), 2 * (6*64 + 6*256)},
		{"progressive JPEG, all colours", progressiveJPEG(16, 16, 0x11), 4 * (3*64 + 3*256)},
		{"JPEG", jpegFile(t, 16, 16), 6 * 64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, c, size, err := inspect(tt.data, maxPixels)
			if err != nil {
				t.Fatal(err)
			}
			if fp := f.footprint(c.data, size); fp.image+fp.extra != tt.want {
				t.Errorf("got %d, want %d", fp.image+fp.extra, tt.want)
			}
		})
	}
}

func TestSaveRefusesWhatTheBudgetDoesNotHold(t *testing.T) {
	data := progressiveJPEG(2000, 2000, 0x11)
	f, c, size, err := inspect(data, maxPixels)
	if err != nil {
		t.Fatal(err)
	}
	need := f.memoryFor(c, size)
	dir, root := openDir(t)
	if _, err := Save(t.Context(), NewBudget(need-1), dir, "pic", data, november); !errors.Is(err, ErrMemory) || !errors.Is(err, ErrUnusable) {
		t.Errorf("got %v", err)
	}
	if left := files(t, root); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := Save(t.Context(), NewBudget(need), dir, "pic", data, november); err != nil {
		t.Error(err)
	}
}

func TestBudgetIsShared(t *testing.T) {
	b := NewBudget(10)
	first, err := b.take(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.take(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := b.take(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without room: %v", err)
	}
	second()
	third, err := b.take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	first()
	third()
	if all, err := b.take(t.Context(), 10); err != nil {
		t.Error(err)
	} else {
		all()
	}
	if _, err := b.take(t.Context(), 11); !errors.Is(err, ErrMemory) {
		t.Errorf("more than all: %v", err)
	}
}

// TestMegapixelsThatFit checks the table in the manual of the largest pictures of each kind. The pictures are in
// files of 4 MiB.
func TestMegapixelsThatFit(t *testing.T) {
	jpegHead := func(marker byte, components int, sampling byte) func(w, h int) []byte {
		return func(w, h int) []byte {
			frame := []byte{8, byte(h >> 8), byte(h), byte(w >> 8), byte(w), byte(components)}
			for i := range components {
				if i > 0 && i < 3 {
					frame = append(frame, byte(i), 0x11, 0)
				} else {
					frame = append(frame, byte(i), sampling, 0)
				}
			}
			return append(appendSegment([]byte{0xFF, 0xD8}, marker, frame), 0xFF, jpegEOI)
		}
	}
	pngHeadOf := func(depth, kind, interlaced byte) func(w, h int) []byte {
		return func(int, int) []byte {
			return append(make([]byte, pngSignature+8+8), depth, kind, 0, 0, interlaced, 0, 0, 0, 0)
		}
	}
	webpOf := func(name string, flags byte) func(w, h int) []byte {
		return func(int, int) []byte { return riff(chunk(name, []byte{flags, 0})) }
	}
	tests := []struct {
		name   string
		format *format
		head   func(w, h int) []byte
		turn   turn
		plenty float64 // megapixels at 512 MiB
		inAPod float64 // at 184 MiB
	}{
		{name: "JPEG", format: &jpegFormat, head: jpegHead(jpegSOF0, 3, 0x22), plenty: 40, inAPod: 40},
		{name: "JPEG to be turned", format: &jpegFormat, head: jpegHead(jpegSOF0, 3, 0x22), turn: 6, plenty: 40, inAPod: 40},
		{name: "JPEG, all colours", format: &jpegFormat, head: jpegHead(jpegSOF0, 3, 0x11), plenty: 40, inAPod: 40},
		{name: "progressive JPEG, colours in quarters", format: &jpegFormat, head: jpegHead(jpegSOF2, 3, 0x22), plenty: 40, inAPod: 22},
		{name: "progressive JPEG, all colours", format: &jpegFormat, head: jpegHead(jpegSOF2, 3, 0x11), plenty: 34, inAPod: 11},
		{name: "JPEG of four inks", format: &jpegFormat, head: jpegHead(jpegSOF0, 4, 0x11), plenty: 40, inAPod: 21},
		{name: "PNG", format: &pngFormat, head: pngHeadOf(8, 6, 0), plenty: 40, inAPod: 40},
		{name: "PNG, 16 bits", format: &pngFormat, head: pngHeadOf(16, 6, 0), plenty: 40, inAPod: 21},
		{name: "PNG, interlaced", format: &pngFormat, head: pngHeadOf(8, 6, 1), plenty: 40, inAPod: 24},
		{name: "PNG, interlaced, 16 bits", format: &pngFormat, head: pngHeadOf(16, 6, 1), plenty: 36, inAPod: 12},
		{name: "GIF", format: &gifFormat, head: func(int, int) []byte { return nil }, plenty: 40, inAPod: 40},
		{name: "WebP", format: &webpFormat, head: webpOf("VP8 ", 0), plenty: 40, inAPod: 40},
		{name: "WebP, lossless", format: &webpFormat, head: webpOf("VP8L", 0), plenty: 40, inAPod: 3},
		{name: "WebP, transparent", format: &webpFormat, head: webpOf("ALPH", 1), plenty: 40, inAPod: 3},
	}
	for _, tt := range tests {
		fits := func(budget int64) float64 {
			most := 0.0
			for millions := 0.5; millions <= 40; millions += 0.5 {
				h := int(866 * math.Sqrt(millions))
				w := int(millions * 1e6 / float64(h))
				if tt.format.memoryFor(cleanedFile{data: tt.head(w, h), turn: max(tt.turn, turnUpright)}, image.Pt(w, h))+4<<20 <= budget {
					most = millions
				}
			}
			return most
		}
		if plenty, inAPod := fits(512<<20), fits(184<<20); math.Floor(plenty) != tt.plenty || math.Floor(inAPod) != tt.inAPod {
			t.Errorf("%s: %v and %v megapixels, the manual says %v and %v", tt.name, plenty, inAPod, tt.plenty, tt.inAPod)
		}
	}
}
