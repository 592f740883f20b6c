package media

import (
	"image/color"
	"testing"
)

func TestSniff(t *testing.T) {
	type answer struct {
		Ext, MIME string
		OK        bool
	}
	tests := []struct {
		name string
		data []byte
		want answer
	}{
		{"JPEG", jpegFile(t, 1, 1), answer{"jpg", "image/jpeg", true}},
		{"PNG", pngFile(t, 1, 1), answer{"png", "image/png", true}},
		{"GIF", gifFile(t, 1, 1), answer{"gif", "image/gif", true}},
		{"old GIF", []byte("GIF87a"), answer{"gif", "image/gif", true}},
		{"WebP", webpFile(1, 1, color.NRGBA{}), answer{"webp", "image/webp", true}},
		{"other RIFF", []byte("RIFF\x00\x00\x00\x00WAVE"), answer{}},
		{"short RIFF", []byte("RIFF\x00\x00\x00\x00WEB"), answer{}},
		{"nothing", nil, answer{}},
		{"space before", append([]byte(" "), pngFile(t, 1, 1)...), answer{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got answer
			got.Ext, got.MIME, got.OK = Sniff(tt.data)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
