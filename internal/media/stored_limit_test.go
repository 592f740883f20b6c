package media

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"
)

// noiseOfColours returns a PNG picture with a palette of random colours. It takes one byte per pixel, while its
// smaller copies take four.
func noiseOfColours(t *testing.T, w, h int) []byte {
	t.Helper()
	source := rand.NewChaCha8([32]byte{2})
	palette := make(color.Palette, 256)
	for i := range palette {
		n := source.Uint64()
		palette[i] = color.NRGBA{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}
	}
	img := image.NewPaletted(image.Rect(0, 0, w, h), palette)
	for i := range img.Pix {
		img.Pix[i] = byte(source.Uint64())
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestCopiesAreBounded makes copies of pictures whose copies would be larger than the picture itself. The copies
// beyond the limit must be left out.
func TestCopiesAreBounded(t *testing.T) {
	t.Parallel()
	noisy := noise(770, 3900)
	var opaque bytes.Buffer
	if err := png.Encode(&opaque, noisy); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		data []byte
		made []string // names of the copies
	}{
		{"a copy of more than a file may have", noiseOfColours(t, 800, 4200), []string{"large", "medium", "thumbnail"}},
		{"a copy as large as the file", opaque.Bytes(), []string{"large", "medium", "thumbnail"}},
		{"few colours", noiseOfColours(t, 1030, 1030), []string{"large", "medium_large", "medium", "thumbnail"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, _ := openDir(t)
			img, err := Save(t.Context(), nil, dir, "pic", tt.data, november)
			if err != nil {
				t.Fatal(err)
			}
			total := img.Filesize
			var made []string
			for _, b := range sizeBoxes {
				if s, ok := img.Sizes[b.name]; ok {
					made, total = append(made, b.name), total+s.Filesize
				}
			}
			if !slices.Equal(made, tt.made) || total > maxStored {
				t.Errorf("%v with %d bytes of %d, want %v", made, total, len(tt.data), tt.made)
			}
		})
	}
}
