package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/jpeg"
	"testing"

	"github.com/almanac-cal/almanac/proof/must"
)

// drawPoster draws a poster. It returns the decoded picture and the bytes of its file.
func drawPoster(t testing.TB, p Poster) (*image.YCbCr, []byte) {
	t.Helper()
	_, data, err := Draw(p)
	must.Succeed(t, err)
	img, err := jpeg.Decode(bytes.NewReader(data))
	must.Succeed(t, err)
	return img.(*image.YCbCr), data
}

// TestBytes compares the checksum of each picture. It changes if a picture is drawn differently, and may change with
// the JPEG encoder of another Go release. It never depends on the machine.
func TestBytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		poster Poster
		sum    string
	}{
		{Poster{"record", 0}, "70fbeb717655f912"},
		{Poster{"film", 1}, "6629ff1176e72038"},
		{Poster{"leaf", 2}, "580b4db6a502f3c6"},
		{Poster{"arch", 1 << 63}, "de40a7450ad864ab"},
	}
	for _, tt := range tests {
		_, data := drawPoster(t, tt.poster)
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:8]); got != tt.sum {
			t.Errorf("%+v: sum %s, want %s", tt.poster, got, tt.sum)
		}
	}
}

// TestPicturesAreSmall checks the dimensions of each picture, and that its file is small enough to load quickly.
func TestPicturesAreSmall(t *testing.T) {
	t.Parallel()
	for _, m := range Motifs() {
		img, data := drawPoster(t, Poster{Motif: m, Seed: 7})
		if got := img.Bounds(); got != image.Rect(0, 0, Width, Height) {
			t.Errorf("%s: bounds %v", m, got)
		}
		if len(data) >= 150_000 {
			t.Errorf("%s: %d bytes", m, len(data))
		}
	}
}

func TestMotifsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, m := range Motifs() {
		_, data := drawPoster(t, Poster{Motif: m, Seed: 4})
		if other := seen[string(data)]; other != "" {
			t.Errorf("%s and %s are the same", m, other)
		}
		seen[string(data)] = m
	}
	if _, _, err := Draw(Poster{Motif: "unicorn"}); err == nil {
		t.Error("a motif that there is not is drawn")
	}
}

func BenchmarkDraw(b *testing.B) {
	for b.Loop() {
		if _, _, err := Draw(Poster{"record", 3}); err != nil {
			b.Fatal(err)
		}
	}
}
