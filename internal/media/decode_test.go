package media

import (
	"image/color"
	"testing"
)

func TestSniff(t *testing.T) {
	tests := []struct {
		name string
		data []byte
		want *format
	}{
		{"JPEG", jpegFile(t, 1, 1), &jpegFormat},
		{"PNG", pngFile(t, 1, 1), &pngFormat},
		{"GIF", gifFile(t, 1, 1), &gifFormat},
		{"old GIF", []byte("GIF87a"), &gifFormat},
		{"WebP", webpFile(1, 1, color.NRGBA{}), &webpFormat},
		{"other RIFF", []byte("RIFF\x00\x00\x00\x00WAVE"), nil},
		{"short RIFF", []byte("RIFF\x00\x00\x00\x00WEB"), nil},
		{"nothing", nil, nil},
		{"space before", append([]byte(" "), pngFile(t, 1, 1)...), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sniff(tt.data); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
