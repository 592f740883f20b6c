package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// secret is part of all metadata of the test pictures. No stored file may have it.
const secret = "52.2297N-21.0122E"

// profile stands for a colour profile in test files. No decoder reads its content.
var profile = []byte("an ICC profile")

// locatedExif returns an EXIF block with an Orientation tag and a made-up location.
func locatedExif(turn uint16) []byte {
	return append(exifBlock(binary.LittleEndian, turn), secret...)
}

func segment(marker byte, body string) []byte { return appendSegment(nil, marker, []byte(body)) }

// taggedJPEG returns the JPEG plain with every kind of metadata, a colour profile, and an archive appended at the
// end.
func taggedJPEG(t testing.TB, plain []byte, turn uint16) []byte {
	t.Helper()
	scan := bytes.Index(plain, []byte{0xFF, jpegSOS})
	return bytes.Join([][]byte{
		plain[:2],
		segment(jpegAPP0, "JFIF\x00\x01\x02\x01\x00\x48\x00\x48\x01\x01"+secret[:3]),
		segment(jpegAPP0, "JFXX\x00\x10"+secret),
		segment(jpegAPP1, "Exif\x00\x00"+string(locatedExif(turn))),
		segment(jpegAPP1, "http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta>"+secret),
		segment(jpegAPP2, "MPF\x00"+secret),
		segment(jpegAPP2, string(jpegICC)+"\x01\x01"+string(profile)),
		segment(0xED, "Photoshop 3.0\x008BIM"+secret),
		plain[2:scan],
		segment(jpegCOM, secret),
		plain[scan:],
		[]byte("PK\x03\x04" + secret),
	}, nil)
}

func pngChunk(name, body string) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(out, name+body...)
	return binary.BigEndian.AppendUint32(out, crc([]byte(name+body)))
}

func taggedPNG(t testing.TB, plain []byte, turn uint16) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := w.Write(profile); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.Join([][]byte{
		plain[:pngHead],
		pngChunk("iCCP", "icc\x00\x00"+packed.String()),
		pngChunk("gAMA", "\x00\x00\xb1\x8f"),
		pngChunk("eXIf", string(locatedExif(turn))),
		pngChunk("tEXt", "Comment\x00"+secret),
		pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+secret),
		pngChunk("tIME", "\x07\xea\x0b\x16\x00\x00\x00"),
		pngChunk("prVt", secret),
		plain[pngHead:],
		[]byte("PK\x03\x04" + secret),
	}, nil)
}

func taggedGIF(plain []byte) []byte {
	screen := 13 + gifColours(plain[10])
	xmp := append([]byte{gifExtension, gifApplication, 11}, "XMP DataXMP"...)
	xmp = append(xmp, byte(len(secret)))
	xmp = append(append(xmp, secret...), 0)
	loop := append([]byte{gifExtension, gifApplication, 11}, "NETSCAPE2.0\x03\x01\x02\x00"...)
	loop = append(append(loop, byte(len(secret))), secret+"\x00"...)
	return bytes.Join([][]byte{
		plain[:screen], loop, xmp,
		{gifExtension, 0xFE, byte(len(secret))},
		[]byte(secret + "\x00"),
		plain[screen:],
		[]byte("PK\x03\x04" + secret),
	}, nil)
}

func taggedWebP(w, h int, turn uint16) []byte {
	head := append([]byte{webpXMP | webpEXIF | 1<<5, 0, 0, 0}, le24(w-1, h-1)...)
	file := riff(
		chunk("VP8X", head), chunk("ICCP", profile), vp8l(w, h, color.NRGBA{R: 200, G: 10, B: 60, A: 255}),
		chunk("EXIF", locatedExif(turn)), chunk("XMP ", []byte(secret)), chunk("prvt", []byte(secret)),
	)
	return append(file, "PK\x03\x04"+secret...)
}

// progressiveJPEG returns a progressive JPEG of w by h pixels whose scan has only zero bits. sampling is the sampling
// factor of the first component.
func progressiveJPEG(w, h int, sampling byte) []byte {
	frame := binary.BigEndian.AppendUint16([]byte{8}, uint16(h))
	frame = binary.BigEndian.AppendUint16(frame, uint16(w))
	frame = append(frame, 3, 1, sampling, 0, 2, 0x11, 0, 3, 0x11, 0)
	out := []byte{0xFF, 0xD8}
	out = appendSegment(out, jpegDQT, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...))
	out = appendSegment(out, jpegSOF2, frame)
	// One code of one bit, for a difference of nothing.
	out = appendSegment(out, jpegDHT, append([]byte{0x00, 1}, make([]byte, 16)...))
	out = appendSegment(out, jpegSOS, []byte{3, 1, 0, 2, 0, 3, 0, 0, 0, 0})
	hs, vs := int(sampling>>4), int(sampling&15)
	blocks := ceilDiv(w, 8*hs) * ceilDiv(h, 8*vs) * int64(hs*vs+2)
	out = append(out, make([]byte, blocks/8+1)...)
	return append(out, 0xFF, jpegEOI)
}

func asRGBA(img image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out
}

// animatedGIF returns a GIF animation of two frames.
func animatedGIF(t testing.TB) []byte {
	t.Helper()
	frames := &gif.GIF{Delay: []int{5, 7}, LoopCount: -1}
	for i := range 2 {
		img := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.Black, color.White})
		img.SetColorIndex(i, i, 1)
		frames.Image = append(frames.Image, img)
	}
	var buf bytes.Buffer
	if err := gif.EncodeAll(&buf, frames); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestStoredPicturesHaveNoMetadata(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		kept []string // parts of the file that stay
	}{
		{"JPEG", taggedJPEG(t, jpegFile(t, 40, 20), 1), []string{string(jpegICC), string(profile), "JFIF"}},
		{"turned JPEG", taggedJPEG(t, jpegFile(t, 40, 20), 6), []string{string(jpegICC), string(profile)}},
		{"PNG", taggedPNG(t, pngFile(t, 40, 20), 1), []string{"iCCP", "gAMA"}},
		{"turned PNG", taggedPNG(t, pngFile(t, 40, 20), 3), []string{"iCCP", "gAMA"}},
		{"GIF", taggedGIF(animatedGIF(t)), []string{"NETSCAPE2.0"}},
		{"WebP", taggedWebP(40, 20, 1), []string{"ICCP", string(profile)}},
		{"turned WebP", taggedWebP(40, 20, 8), []string{"iCCP"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !bytes.Contains(tt.data, []byte(secret)) {
				t.Fatal("the picture has no metadata to begin with")
			}
			dir, root := openDir(t)
			img, err := Save(t.Context(), nil, dir, "pic", tt.data, november)
			if err != nil {
				t.Fatal(err)
			}
			checkFiles(t, dir, img)
			data := readFile(t, root, img.Path)
			for _, gone := range []string{secret[:3], "Exif", "EXIF", "eXIf", "XMP", "xmp", "JFXX", "MPF", "8BIM", "tEXt", "tIME", "PK\x03\x04", "prvt"} {
				if bytes.Contains(data, []byte(gone)) {
					t.Errorf("it has %q", gone)
				}
			}
			for _, kept := range tt.kept {
				if !bytes.Contains(data, []byte(kept)) {
					t.Errorf("it has lost %q", kept)
				}
			}
			again, err := Save(t.Context(), nil, dir, "again", data, november)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(readFile(t, root, again.Path), data) {
				t.Error("a stored picture is changed when it is stored once more")
			}
		})
	}
}

func TestCleanKeepsThePicture(t *testing.T) {
	jpegs, pngs := jpegFile(t, 40, 20), pngFile(t, 40, 20)
	tests := []struct {
		name           string
		tagged, plain  []byte
		decode         func(io.Reader) (image.Image, error)
		framesOfTagged int
	}{
		{"JPEG", taggedJPEG(t, jpegs, 1), jpegs, jpeg.Decode, 0},
		{"progressive JPEG", taggedJPEG(t, progressiveJPEG(40, 20, 0x22), 1), progressiveJPEG(40, 20, 0x22), jpeg.Decode, 0},
		{"PNG", taggedPNG(t, pngs, 1), pngs, png.Decode, 0},
		{"GIF", taggedGIF(animatedGIF(t)), animatedGIF(t), gif.Decode, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := sniff(tt.tagged)
			c, err := f.clean(tt.tagged)
			if err != nil {
				t.Fatal(err)
			}
			want, err := tt.decode(bytes.NewReader(tt.plain))
			if err != nil {
				t.Fatal(err)
			}
			got, err := tt.decode(bytes.NewReader(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(asRGBA(got).Pix, asRGBA(want).Pix) {
				t.Error("the pixels are others")
			}
			if tt.framesOfTagged > 0 {
				all, err := gif.DecodeAll(bytes.NewReader(c.data))
				if err != nil || len(all.Image) != tt.framesOfTagged || all.Delay[1] != 7 || all.LoopCount != 2 {
					t.Errorf("the animation is not the one it was: %v %+v", err, all)
				}
			}
		})
	}
}

func TestTurnIsApplied(t *testing.T) {
	// Red grows to the right and green downwards, in the file.
	tests := []struct {
		name       string
		data       []byte
		w, h       int
		kind       string
		redAt      image.Point // where red is strongest, in eighths
		greenAt    image.Point
		mimeSuffix string
	}{
		{"JPEG turned right", taggedJPEG(t, jpegFile(t, 160, 80), 6), 80, 160, "jpg", image.Pt(4, 7), image.Pt(0, 4), "jpeg"},
		{"JPEG turned left, odd sides", taggedJPEG(t, jpegFile(t, 161, 81), 8), 81, 161, "jpg", image.Pt(4, 0), image.Pt(7, 4), "jpeg"},
		{"JPEG upside down", taggedJPEG(t, jpegFile(t, 160, 80), 3), 160, 80, "jpg", image.Pt(0, 4), image.Pt(4, 0), "jpeg"},
		{"PNG turned right", taggedPNG(t, pngFile(t, 160, 80), 6), 80, 160, "png", image.Pt(4, 7), image.Pt(0, 4), "png"},
		{"PNG mirrored", taggedPNG(t, pngFile(t, 160, 80), 2), 160, 80, "png", image.Pt(0, 4), image.Pt(4, 7), "png"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, root := openDir(t)
			img, err := Save(t.Context(), nil, dir, "pic", tt.data, november)
			if err != nil {
				t.Fatal(err)
			}
			if img.Width != tt.w || img.Height != tt.h || img.Extension != tt.kind || !strings.HasSuffix(img.MIMEType, tt.mimeSuffix) {
				t.Errorf("got %+v", img)
			}
			p := asRGBA(openPicture(t, readFile(t, root, img.Path)).img)
			at := func(eighths image.Point) color.RGBA {
				return p.RGBAAt((2*eighths.X+1)*tt.w/16, (2*eighths.Y+1)*tt.h/16)
			}
			if red, other := at(tt.redAt).R, at(image.Pt(7, 7).Sub(tt.redAt)).R; red < 180 || other > red-60 {
				t.Errorf("red is %d, and %d on the other side", red, other)
			}
			if green, other := at(tt.greenAt).G, at(image.Pt(7, 7).Sub(tt.greenAt)).G; green < 180 || other > green-60 {
				t.Errorf("green is %d, and %d on the other side", green, other)
			}
		})
	}
}

func TestTurnedWebPIsStoredAsPNG(t *testing.T) {
	dir, root := openDir(t)
	img, err := Save(t.Context(), nil, dir, "pic", taggedWebP(40, 20, 6), november)
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(t, root, img.Path); got != "20x40 png" || img.Width != 20 || img.Extension != "png" {
		t.Errorf("got %s, %+v", got, img)
	}
}

func TestTurnKeepsTheKindOfSamples(t *testing.T) {
	palette := color.Palette{color.Black, color.White}
	pictures := []image.Image{
		image.NewGray(image.Rect(0, 0, 3, 2)), image.NewGray16(image.Rect(0, 0, 3, 2)), image.NewPaletted(image.Rect(0, 0, 3, 2), palette),
		image.NewRGBA64(image.Rect(0, 0, 3, 2)), image.NewNRGBA(image.Rect(0, 0, 3, 2)), image.NewNRGBA64(image.Rect(0, 0, 3, 2)),
		image.NewYCbCr(image.Rect(0, 0, 3, 2), image.YCbCrSubsampleRatio444), image.NewYCbCr(image.Rect(0, 0, 3, 2), image.YCbCrSubsampleRatio422),
		image.NewYCbCr(image.Rect(0, 0, 3, 2), image.YCbCrSubsampleRatio440), image.NewYCbCr(image.Rect(0, 0, 3, 2), image.YCbCrSubsampleRatio420),
		image.NewYCbCr(image.Rect(0, 0, 9, 2), image.YCbCrSubsampleRatio411), image.NewNYCbCrA(image.Rect(0, 0, 3, 2), image.YCbCrSubsampleRatio420),
		image.NewCMYK(image.Rect(0, 0, 3, 2)),
	}
	for _, img := range pictures {
		if c, ok := img.(*image.YCbCr); ok {
			c.Y[0] = 250
		}
		if c, ok := img.(draw.Image); ok {
			c.Set(0, 0, color.White)
		}
		for turn := turn(2); turn <= 8; turn++ {
			got := turn.apply(img)
			w, h := img.Bounds().Dx(), img.Bounds().Dy()
			want, _ := turn.apply(asRGBA(img)).(*image.RGBA)
			if turn.swapsSides() {
				w, h = h, w
			}
			if got.Bounds() != image.Rect(0, 0, w, h) {
				t.Errorf("%T turned %d: %v", img, turn, got.Bounds())
			}
			if diff := bytes.Compare(asRGBA(got).Pix, want.Pix); diff != 0 && got.Bounds().Dx()%2 == 0 && got.Bounds().Dy()%2 == 0 {
				t.Errorf("%T turned %d has other pixels", img, turn)
			}
		}
	}
}

// FuzzClean checks that a cleaned file decodes to the same pixels as the original. Cleaning it again must change
// nothing.
func FuzzClean(f *testing.F) {
	f.Add(taggedJPEG(f, jpegFile(f, 9, 5), 1))
	f.Add(taggedJPEG(f, progressiveJPEG(9, 5, 0x22), 6))
	f.Add(taggedPNG(f, pngFile(f, 9, 5), 1))
	f.Add(taggedGIF(animatedGIF(f)))
	f.Add(taggedWebP(9, 5, 1))
	f.Add(animatedWebP(40, 20, 20, 10, image.Pt(4, 2)))
	f.Fuzz(func(t *testing.T, data []byte) {
		f, c, size, err := inspect(data, 1<<16)
		if err != nil {
			return
		}
		again, err := f.clean(c.data)
		if err != nil || !bytes.Equal(again.data, c.data) {
			t.Fatalf("cleaned once more, it is another file: %v", err)
		}
		if need := f.memoryFor(c, size); need <= 0 {
			t.Fatalf("it takes %d bytes", need)
		}
		before, beforeErr := f.decode(data, size)
		after, err := f.decode(c.data, size)
		if err != nil {
			return // refused: it is never stored
		}
		if beforeErr == nil && !bytes.Equal(asRGBA(before.img).Pix, asRGBA(after.img).Pix) {
			t.Fatal("the pixels are others")
		}
	})
}

func TestCleanOfStoredPictures(t *testing.T) {
	tests := []struct {
		name, path string
		data       []byte
		want       string // where it is then, and what
		sizes      int
	}{
		{"upright JPEG", "2026/10/a.jpg", taggedJPEG(t, jpegFile(t, 200, 100), 1), "2026/10/a.jpg 200x100 jpeg", 0},
		{"turned JPEG", "2026/10/b.jpg", taggedJPEG(t, jpegFile(t, 200, 100), 6), "2026/10/b.jpg 100x200 jpeg", 0},
		{"upright WebP", "2026/10/c.webp", taggedWebP(200, 100, 1), "2026/10/c.webp 200x100 webp", 0},
		{"turned PNG", "2026/10/d.png", taggedPNG(t, pngFile(t, 200, 100), 6), "2026/10/d-2.png 100x200 png", 1},
		{"turned WebP", "2026/10/e.webp", taggedWebP(200, 100, 6), "2026/10/e.png 100x200 png", 1},
		{"without metadata", "2026/10/f.png", pngFile(t, 200, 100), "2026/10/f.png 200x100 png", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, root := openDir(t)
			if err := dir.Create(t.Context(), tt.path, tt.data, ""); err != nil {
				t.Fatal(err)
			}
			first, err := Clean(t.Context(), nil, dir, Image{Path: tt.path})
			if err != nil {
				t.Fatal(err)
			}
			if got := first.Path + " " + describe(t, root, first.Path); got != tt.want || len(first.Sizes) != tt.sizes {
				t.Errorf("got %s with %d sizes, want %s", got, len(first.Sizes), tt.want)
			}
			data := readFile(t, root, first.Path)
			if bytes.Contains(data, []byte(secret)) || first.Filesize != int64(len(data)) {
				t.Errorf("it has metadata, or not the %d bytes that it says", first.Filesize)
			}
			again, err := Clean(t.Context(), nil, dir, first)
			if err != nil || again.Path != first.Path || again.Filesize != first.Filesize || !bytes.Equal(readFile(t, root, first.Path), data) {
				t.Errorf("cleaned once more: %+v, %v", again, err)
			}
			for _, name := range files(t, root) {
				if strings.HasSuffix(name, ".tmp") {
					t.Errorf("left behind: %s", name)
				}
			}
		})
	}
	dir, _ := openDir(t)
	if _, err := Clean(t.Context(), nil, dir, Image{Path: "2026/10/gone.png"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
	if err := dir.Replace(t.Context(), "2026/10/gone.png", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("replacing a file that is gone: %v", err)
	}
}

// TestCleanMakesMissingSizes calls Clean for a picture that was stored before the program had one of its sizes.
func TestCleanMakesMissingSizes(t *testing.T) {
	dir, root := openDir(t)
	img, err := Save(t.Context(), nil, dir, "pic", pngFile(t, 1200, 400), november)
	if err != nil {
		t.Fatal(err)
	}
	made := img.Sizes["medium_large"]
	if err := dir.Remove(t.Context(), made.Path); err != nil {
		t.Fatal(err)
	}
	// Another picture took the usual name meanwhile.
	if err := dir.Create(t.Context(), made.Path, []byte("other"), "image/png"); err != nil {
		t.Fatal(err)
	}
	old := img
	old.Sizes = maps.Clone(img.Sizes)
	delete(old.Sizes, "medium_large")
	first, err := Clean(t.Context(), nil, dir, old)
	if err != nil {
		t.Fatal(err)
	}
	want := made
	want.Path = "2026/11/pic-2-768x256.png"
	if diff := cmp.Diff(want, first.Sizes["medium_large"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := describe(t, root, want.Path); got != "768x256 png" {
		t.Errorf("the file is %s", got)
	}
	if diff := cmp.Diff([]string{want.Path}, Added(old, first)); diff != "" || len(old.Sizes) != 3 {
		t.Errorf("added (-want +got):\n%s\nbefore %v", diff, old.Sizes)
	}
	again, err := Clean(t.Context(), nil, dir, first)
	if diff := cmp.Diff(first, again); diff != "" || err != nil {
		t.Errorf("%v, second (-first +second):\n%s", err, diff)
	}
}

// TestCleanSharesTheFileOfASize calls Clean for pictures of 3 by 4. Two of their sizes have the same dimensions, and
// one or both are missing. Both must then share one file.
func TestCleanSharesTheFileOfASize(t *testing.T) {
	for _, tt := range []struct {
		name    string
		missing []string
		added   int // files
	}{
		{"medium large", []string{"medium_large"}, 0},
		{"both", []string{"large", "medium_large"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, _ := openDir(t)
			img, err := Save(t.Context(), nil, dir, "pic", jpegFile(t, 900, 1200), november)
			if err != nil {
				t.Fatal(err)
			}
			old := img
			old.Sizes = maps.Clone(img.Sizes)
			for _, name := range tt.missing {
				delete(old.Sizes, name)
			}
			if tt.added > 0 {
				if err := dir.Remove(t.Context(), img.Sizes["large"].Path); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Clean(t.Context(), nil, dir, old)
			if diff := cmp.Diff(img, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if added := Added(old, got); len(added) != tt.added {
				t.Errorf("added %q", added)
			}
		})
	}
}
