package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

var november = time.Date(2026, time.November, 30, 23, 30, 0, 0, time.UTC)

func TestSaveMakesTheSizesThatAreExceeded(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		want map[string]string // files and their dimensions and types
	}{
		{"as in the contract's example", pngFile(t, 640, 480), map[string]string{
			"pic.png": "640x480 png", "pic-150x150.png": "150x150 png", "pic-300x225.png": "300x225 png",
		}},
		{"smaller than all", pngFile(t, 10, 20), map[string]string{"pic.png": "10x20 png"}},
		{"exactly a thumbnail", pngFile(t, 150, 150), map[string]string{"pic.png": "150x150 png"}},
		{"one side over the thumbnail", pngFile(t, 151, 20), map[string]string{
			"pic.png": "151x20 png", "pic-150x20.png": "150x20 png",
		}},
		{"other side over the thumbnail", pngFile(t, 20, 151), map[string]string{
			"pic.png": "20x151 png", "pic-20x150.png": "20x150 png",
		}},
		{"exactly medium", pngFile(t, 300, 300), map[string]string{
			"pic.png": "300x300 png", "pic-150x150.png": "150x150 png",
		}},
		{"one over medium", pngFile(t, 200, 301), map[string]string{
			"pic.png": "200x301 png", "pic-150x150.png": "150x150 png", "pic-199x300.png": "199x300 png",
		}},
		{"exactly large", jpegFile(t, 1024, 768), map[string]string{
			"pic.jpg": "1024x768 jpeg", "pic-150x150.jpg": "150x150 jpeg", "pic-300x225.jpg": "300x225 jpeg",
			"pic-768x576.jpg": "768x576 jpeg",
		}},
		{"one over large", jpegFile(t, 1025, 400), map[string]string{
			"pic.jpg": "1025x400 jpeg", "pic-150x150.jpg": "150x150 jpeg", "pic-300x117.jpg": "300x117 jpeg",
			"pic-768x300.jpg": "768x300 jpeg", "pic-1024x400.jpg": "1024x400 jpeg",
		}},
		{"portrait", jpegFile(t, 800, 1600), map[string]string{
			"pic.jpg": "800x1600 jpeg", "pic-150x150.jpg": "150x150 jpeg", "pic-150x300.jpg": "150x300 jpeg",
			"pic-768x1536.jpg": "768x1536 jpeg", "pic-512x1024.jpg": "512x1024 jpeg",
		}},
		{"large and medium_large are one file", pngFile(t, 900, 1200), map[string]string{
			"pic.png": "900x1200 png", "pic-150x150.png": "150x150 png", "pic-225x300.png": "225x300 png",
			"pic-768x1024.png": "768x1024 png",
		}},
		{"one file of a JPEG", jpegFile(t, 900, 1200), map[string]string{
			"pic.jpg": "900x1200 jpeg", "pic-150x150.jpg": "150x150 jpeg", "pic-225x300.jpg": "225x300 jpeg",
			"pic-768x1024.jpg": "768x1024 jpeg",
		}},
		{"one file of a large JPEG", jpegFile(t, 1512, 2016), map[string]string{
			"pic.jpg": "1512x2016 jpeg", "pic-150x150.jpg": "150x150 jpeg", "pic-225x300.jpg": "225x300 jpeg",
			"pic-768x1024.jpg": "768x1024 jpeg",
		}},
		{"one file where both are rounded", pngFile(t, 1600, 2134), map[string]string{
			"pic.png": "1600x2134 png", "pic-150x150.png": "150x150 png", "pic-225x300.png": "225x300 png",
			"pic-768x1024.png": "768x1024 png",
		}},
		{"a thread stays a pixel wide", pngFile(t, 3000, 1), map[string]string{
			"pic.png": "3000x1 png", "pic-150x1.png": "150x1 png", "pic-300x1.png": "300x1 png",
			"pic-768x1.png": "768x1 png", "pic-1024x1.png": "1024x1 png",
		}},
		{"thumbnail higher than the large size", pngFile(t, 2048, 120), map[string]string{
			"pic.png": "2048x120 png", "pic-150x120.png": "150x120 png", "pic-300x18.png": "300x18 png",
			"pic-768x45.png": "768x45 png", "pic-1024x60.png": "1024x60 png",
		}},
		{"exactly as wide as medium_large", pngFile(t, 768, 10), map[string]string{
			"pic.png": "768x10 png", "pic-150x10.png": "150x10 png", "pic-300x4.png": "300x4 png",
		}},
		{"too high for medium_large", pngFile(t, 800, 4268), map[string]string{
			"pic.png": "800x4268 png", "pic-150x150.png": "150x150 png", "pic-56x300.png": "56x300 png",
			"pic-192x1024.png": "192x1024 png",
		}},
		{"sizes of a GIF are PNG", gifFile(t, 400, 200), map[string]string{
			"pic.gif": "400x200 gif", "pic-150x150.png": "150x150 png", "pic-300x150.png": "300x150 png",
		}},
		{"sizes of an opaque WebP are JPEG", webpFile(400, 200, color.NRGBA{R: 200, A: 255}), map[string]string{
			"pic.webp": "400x200 webp", "pic-150x150.jpg": "150x150 jpeg", "pic-300x150.jpg": "300x150 jpeg",
		}},
		{"sizes of a transparent WebP are PNG", webpFile(400, 200, color.NRGBA{R: 200, A: 99}), map[string]string{
			"pic.webp": "400x200 webp", "pic-150x150.png": "150x150 png", "pic-300x150.png": "300x150 png",
		}},
		{
			"animated WebP counts by its first frame", animatedWebP(400, 200, 100, 50, image.Pt(20, 40)),
			map[string]string{
				"pic.webp": "", "pic-150x150.png": "150x150 png", "pic-300x150.png": "300x150 png",
			},
		},
		{"camera held upright", turnedJPEG(t, 640, 480, 6), map[string]string{
			"pic.jpg": "480x640 jpeg", "pic-150x150.jpg": "150x150 jpeg", "pic-225x300.jpg": "225x300 jpeg",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, root := openDir(t)
			img, err := Save(t.Context(), nil, dir, "pic", tt.data, november)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, name := range files(t, root) {
				got[strings.TrimPrefix(name, "2026/11/")] = describe(t, root, name)
			}
			if tt.want["pic.webp"] == "" {
				delete(got, "pic.webp") // nothing here reads an animated one
				delete(tt.want, "pic.webp")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			checkFiles(t, dir, img)

			if err := Remove(t.Context(), dir, img); err != nil {
				t.Fatal(err)
			}
			if left := files(t, root); len(left) > 0 {
				t.Errorf("left after Remove: %v", left)
			}
			if err := Remove(t.Context(), dir, img); err != nil {
				t.Errorf("second Remove: %v", err)
			}
		})
	}
}

func TestSaveDescribesWhatItStored(t *testing.T) {
	dir, _ := openDir(t)
	data := pngFile(t, 640, 480)
	got, err := Save(t.Context(), nil, dir, "pic.png", data, november)
	if err != nil {
		t.Fatal(err)
	}
	want := Image{
		Path: "2026/11/pic.png", Extension: "png", MIMEType: "image/png",
		Width: 640, Height: 480, Filesize: int64(len(data)),
		Sizes: map[string]calendar.ImageSize{
			"thumbnail": {Path: "2026/11/pic-150x150.png", MIMEType: "image/png", Width: 150, Height: 150},
			"medium":    {Path: "2026/11/pic-300x225.png", MIMEType: "image/png", Width: 300, Height: 225},
		},
	}
	for name, size := range want.Sizes {
		size.Filesize = got.Sizes[name].Filesize
		want.Sizes[name] = size
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f, info, err := dir.Open(t.Context(), got.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stored, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, data) || info.Size != int64(len(data)) || info.MIMEType != "image/png" {
		t.Errorf("the original is not stored as it came: %+v", info)
	}
}

// TestSaveDrawnMakesCopiesFromThePixels checks that SaveDrawn stores the same files as Save, except for the copies.
// These must come from the pixels in img. The test passes a file of one colour, so that a copy made from the file
// would differ.
func TestSaveDrawnMakesCopiesFromThePixels(t *testing.T) {
	dir, root := openDir(t)
	file := jpegFile(t, 1024, 768)
	want, err := Save(t.Context(), nil, dir, "pic", file, november)
	if err != nil {
		t.Fatal(err)
	}
	drawn := image.NewRGBA(image.Rect(0, 0, 1024, 768))
	draw.Draw(drawn, drawn.Rect, image.NewUniform(color.RGBA{R: 200, G: 30, B: 90, A: 255}), image.Point{}, draw.Src)
	got, err := SaveDrawn(t.Context(), dir, "drawn", drawn, file, november)
	if err != nil {
		t.Fatal(err)
	}
	checkFiles(t, dir, got)
	if !bytes.Equal(readFile(t, root, got.Path), file) {
		t.Error("the file is not stored as it came")
	}
	if len(got.Sizes) != 3 {
		t.Errorf("%d copies", len(got.Sizes))
	}
	for name, size := range got.Sizes {
		img, err := jpeg.Decode(bytes.NewReader(readFile(t, root, size.Path)))
		if err != nil {
			t.Fatal(err)
		}
		r, g, b, _ := img.At(size.Width/2, size.Height/2).RGBA()
		if r>>8 < 195 || r>>8 > 205 || g>>8 < 25 || g>>8 > 35 || b>>8 < 85 || b>>8 > 95 {
			t.Errorf("%s has the colour %d, %d, %d", name, r>>8, g>>8, b>>8)
		}
		size.Path = strings.Replace(size.Path, "drawn", "pic", 1)
		size.Filesize = want.Sizes[name].Filesize
		got.Sizes[name] = size
	}
	got.Path = strings.Replace(got.Path, "drawn", "pic", 1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-Save +SaveDrawn):\n%s", diff)
	}
	// The picture is not drawn upon.
	if c := drawn.RGBAAt(5, 5); c != (color.RGBA{R: 200, G: 30, B: 90, A: 255}) {
		t.Errorf("the picture has the colour %v afterwards", c)
	}
}

func TestSaveTurnsWidthAndHeightOfATurnedPicture(t *testing.T) {
	dir, _ := openDir(t)
	img, err := Save(t.Context(), nil, dir, "pic", turnedJPEG(t, 64, 48, 8), november)
	if err != nil {
		t.Fatal(err)
	}
	if img.Width != 48 || img.Height != 64 {
		t.Errorf("%dx%d, want 48x64", img.Width, img.Height)
	}
	if img.Sizes == nil {
		t.Error("Sizes is nil without sizes")
	}
}

func TestSaveNames(t *testing.T) {
	tests := []struct{ name, want string }{
		{"pic.png", "pic.png"},
		{"pic", "pic.png"},
		{"Summer Fair (1).JPG", "summer-fair-1.png"},
		{"Łódź.jpeg", "lodz.png"},
		{"../../etc/passwd", "passwd.png"},
		{`C:\fakepath\Photo.PNG`, "photo.png"},
		{"a/b/", "image.png"},
		{".png", "image.png"},
		{"", "image.png"},
		{"!!!", "image.png"},
		{"pic\x00\xff.png", "pic.png"},
		{"..", "image.png"},
		{strings.Repeat("x", 300) + ".png", strings.Repeat("x", 100) + ".png"},
		{strings.Repeat("x", 99) + "-y.png", strings.Repeat("x", 99) + ".png"},
	}
	data := pngFile(t, 2, 2)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, _ := openDir(t)
			img, err := Save(t.Context(), nil, dir, tt.name, data, november)
			if err != nil {
				t.Fatal(err)
			}
			if img.Path != "2026/11/"+tt.want {
				t.Errorf("got %s, want %s", img.Path, tt.want)
			}
		})
	}
}

func TestSaveFilesUnderTheMonthOfTheZone(t *testing.T) {
	dir, _ := openDir(t)
	img, err := Save(t.Context(), nil, dir, "pic", pngFile(t, 2, 2), november.In(time.FixedZone("", 3600)))
	if err != nil {
		t.Fatal(err)
	}
	if img.Path != "2026/12/pic.png" {
		t.Error(img.Path)
	}
}

func TestSaveNumbersTakenNames(t *testing.T) {
	tests := []struct {
		name  string
		saves []string
		data  [][]byte
		want  []string
	}{
		{
			"the same name",
			[]string{"pic", "pic", "pic"},
			[][]byte{pngFile(t, 2, 2), pngFile(t, 2, 2), pngFile(t, 2, 2)},
			[]string{"pic.png", "pic-2.png", "pic-3.png"},
		},
		{
			"another type",
			[]string{"pic", "pic"},
			[][]byte{pngFile(t, 2, 2), jpegFile(t, 2, 2)},
			[]string{"pic.png", "pic.jpg"},
		},
		{
			"another type with sizes of the same name",
			[]string{"pic", "pic"},
			[][]byte{pngFile(t, 200, 200), gifFile(t, 200, 200)},
			[]string{"pic.png", "pic-2.gif"},
		},
		{
			"a name like a size, before",
			[]string{"pic-150x150", "pic"},
			[][]byte{pngFile(t, 2, 2), pngFile(t, 200, 200)},
			[]string{"pic-150x150.png", "pic-2.png"},
		},
		{
			"a name like a size, after",
			[]string{"pic", "pic-150x150"},
			[][]byte{pngFile(t, 200, 200), pngFile(t, 2, 2)},
			[]string{"pic.png", "pic-150x150-2.png"},
		},
		{
			"a name like a number",
			[]string{"pic-2", "pic", "pic"},
			[][]byte{pngFile(t, 2, 2), pngFile(t, 2, 2), pngFile(t, 2, 2)},
			[]string{"pic-2.png", "pic.png", "pic-3.png"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, root := openDir(t)
			var got []string
			count := 0
			for i, name := range tt.saves {
				img, err := Save(t.Context(), nil, dir, name, tt.data[i], november)
				if err != nil {
					t.Fatal(err)
				}
				checkFiles(t, dir, img)
				got = append(got, strings.TrimPrefix(img.Path, "2026/11/"))
				count += 1 + len(img.Sizes)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if left := files(t, root); len(left) != count {
				t.Errorf("%d files, want %d: %v", len(left), count, left)
			}
		})
	}
}

func TestSaveFindsANameWhenHundredsAreTaken(t *testing.T) {
	dir, root := openDir(t)
	folder := filepath.Join(root, "2026", "11")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 2*maxTries + 1 {
		name := "pic.png"
		if i > 0 {
			name = fmt.Sprintf("pic-%d.png", i+1)
		}
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// One request may bring hundreds, all at the same time by its clock.
	for range 2*maxTries + 1 {
		img, err := Save(t.Context(), nil, dir, "pic", pngFile(t, 2, 2), november)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(img.Path, "2026/11/pic-") {
			t.Error(img.Path)
		}
	}
}

func TestSaveAtTheSameTimeGivesEachItsFiles(t *testing.T) {
	const savers = 12
	dir, root := openDir(t)
	var (
		wg   sync.WaitGroup
		imgs [savers]Image
		errs [savers]error
		data [savers][]byte
	)
	for i := range savers {
		data[i] = solidPNG(t, 160, 160, color.NRGBA{R: uint8(i), A: 255})
	}
	for i := range savers {
		wg.Go(func() { imgs[i], errs[i] = Save(t.Context(), nil, dir, "pic", data[i], november) })
	}
	wg.Wait()
	var paths []string
	for i, img := range imgs {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		checkFiles(t, dir, img)
		paths = append(paths, img.Path, img.Sizes["thumbnail"].Path)
		for _, p := range []string{img.Path, img.Sizes["thumbnail"].Path} {
			if r, _, _, _ := readPNG(t, root, p).At(80, 80).RGBA(); int(r>>8) != i {
				t.Errorf("%s holds a picture of another", p)
			}
		}
	}
	slices.Sort(paths)
	if diff := cmp.Diff(paths, files(t, root)); diff != "" {
		t.Errorf("files (-reported +stored):\n%s", diff)
	}
}

func TestSaveRefuses(t *testing.T) {
	huge := pngFile(t, 1, 1)
	binary.BigEndian.PutUint32(huge[16:], 8000)
	binary.BigEndian.PutUint32(huge[20:], 5001)
	binary.BigEndian.PutUint32(huge[29:], crc(huge[12:29]))

	frameOutside := animatedWebP(400, 200, 100, 50, image.Pt(302, 0))
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"nothing", nil, ErrType},
		{"text", []byte("<html></html>"), ErrType},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`), ErrType},
		{"a type of image not taken", []byte("BM\x1e\x00\x00\x00"), ErrType},
		{"half a PNG", pngFile(t, 200, 200)[:100], ErrType},
		{"a PNG of a signature", []byte("\x89PNG\r\n\x1a\n"), ErrType},
		{"half a JPEG", jpegFile(t, 200, 200)[:300], ErrType},
		{"half a GIF", gifFile(t, 200, 200)[:20], ErrType},
		{"half a WebP", webpFile(200, 200, color.NRGBA{})[:22], ErrType},
		{"animated WebP with a frame outside", frameOutside, ErrType},
		{"animated WebP without a frame", frameOutside[:30], ErrType},
		{"more than 40 megapixels in few bytes", huge, ErrPixels},
		{"more than 10 MiB", append(pngFile(t, 2, 2), make([]byte, MaxBytes)...), ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, root := openDir(t)
			img, err := Save(t.Context(), nil, dir, "pic", tt.data, november)
			if !errors.Is(err, tt.want) || !errors.Is(err, ErrUnusable) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if diff := cmp.Diff(Image{}, img); diff != "" {
				t.Error(diff)
			}
			if left := files(t, root); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestSaveTakesExactlyTheLimits(t *testing.T) {
	dir, _ := openDir(t)
	data := pngFile(t, 2, 2)
	data = append(data, make([]byte, MaxBytes-len(data))...)
	if _, err := Save(t.Context(), nil, dir, "bytes", data, november); err != nil {
		t.Error(err)
	}
	if _, err := save(t.Context(), nil, dir, "pixels", pngFile(t, 4, 3), november, 12); err != nil {
		t.Error(err)
	}
	if _, err := save(t.Context(), nil, dir, "pixels", pngFile(t, 4, 3), november, 11); !errors.Is(err, ErrPixels) {
		t.Error(err)
	}
}

func TestSaveLeavesNothingWhenTheStoreFails(t *testing.T) {
	full := errors.New("disk full")
	for fail := 1; fail <= 3; fail++ {
		t.Run(fmt.Sprintf("at file %d", fail), func(t *testing.T) {
			dir, root := openDir(t)
			ctx, cancel := context.WithCancel(t.Context())
			st := &failingStore{Store: dir, left: fail, create: full, then: cancel}
			if _, err := Save(ctx, nil, st, "pic", pngFile(t, 640, 480), november); !errors.Is(err, full) {
				t.Errorf("got %v", err)
			} else if errors.Is(err, ErrUnusable) {
				t.Errorf("the client is blamed: %v", err)
			}
			if left := files(t, root); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestSaveTellsWhatItCouldNotUndo(t *testing.T) {
	stuck := errors.New("stuck")
	for _, cause := range []error{errors.New("disk full"), fs.ErrExist} {
		t.Run(cause.Error(), func(t *testing.T) {
			dir, _ := openDir(t)
			st := &failingStore{Store: dir, left: 2, create: cause, remove: stuck}
			if _, err := Save(t.Context(), nil, st, "pic", pngFile(t, 640, 480), november); !errors.Is(err, stuck) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSaveHeedsACancelledContext(t *testing.T) {
	dir, root := openDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, side := range []int{2, 200} {
		if _, err := Save(ctx, nil, dir, "pic", pngFile(t, side, side), november); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if left := files(t, root); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRemoveGoesOnAfterAFailureAndKeepsToOurFiles(t *testing.T) {
	dir, root := openDir(t)
	img, err := Save(t.Context(), nil, dir, "pic", pngFile(t, 640, 480), november)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := Image{Sizes: map[string]calendar.ImageSize{"thumbnail": {Path: "https://example.org/a.png"}}}
	if err := Remove(t.Context(), &failingStore{Store: dir, remove: errors.New("asked")}, elsewhere); err != nil {
		t.Errorf("picture elsewhere: %v", err)
	}
	stuck := errors.New("stuck")
	st := &failingStore{Store: dir, remove: stuck, removeOnly: img.Path}
	if err := Remove(t.Context(), st, img); !errors.Is(err, stuck) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{img.Path}, files(t, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzSave(f *testing.F) {
	for _, data := range [][]byte{
		pngFile(f, 3, 2),
		pngFile(f, 301, 151),
		jpegFile(f, 160, 20),
		turnedJPEG(f, 160, 20, 6),
		gifFile(f, 160, 3),
		webpFile(160, 9, color.NRGBA{G: 7, A: 9}),
		animatedWebP(200, 100, 20, 10, image.Pt(4, 2)),
		[]byte("RIFF\xff\xff\xff\xffWEBPVP8X\x0a\x00\x00\x00"),
		[]byte("\xFF\xD8\xFF\xE1\x00\x10Exif\x00\x00II*\x00"),
	} {
		f.Add("pic.png", data)
	}
	f.Add("../Ł\x00\\x.", []byte{})
	dir, root := openDir(f)
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		img, err := save(t.Context(), nil, dir, name, data, november, 1<<18)
		if err != nil {
			if !errors.Is(err, ErrUnusable) {
				t.Fatalf("not the picture's fault: %v", err)
			}
			return
		}
		checkFiles(t, dir, img)
		if err := Remove(t.Context(), dir, img); err != nil {
			t.Fatal(err)
		}
		if left := files(t, root); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	})
}
