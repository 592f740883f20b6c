package main

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// locatedJPEG returns a JPEG of 8 by 4 pixels. Its EXIF block has the given orientation and a position.
func locatedJPEG(t *testing.T, turn byte) []byte {
	t.Helper()
	var plain bytes.Buffer
	must.Succeed(t, jpeg.Encode(&plain, image.NewGray(image.Rect(0, 0, 8, 4)), nil))
	exif := "Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(turn) + "\x00\x00\x00\x00\x00\x00\x00" +
		"52.2297N-21.0122E"
	return append([]byte("\xFF\xD8\xFF\xE1\x00"+string(rune(len(exif)+2))+exif), plain.Bytes()[2:]...)
}

func TestImagesCleanRemovesMetadataOnce(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		folder := t.TempDir()
		almanac := func(args ...string) (code int, out, errs string) {
			var stderr bytes.Buffer
			code, out = almanacOn(t.Context(), url, &stderr, args...)
			return code, out, stderr.String()
		}
		if code, _, errs := almanac("migrate", "apply"); code != 0 {
			t.Fatal(errs)
		}
		st, err := store.Open(t.Context(), url)
		must.Succeed(t, err)
		defer st.Close()
		must.Succeed(t, os.MkdirAll(filepath.Join(folder, "2026", "10"), 0o755))
		add := func(path string, data []byte, w, h int) {
			t.Helper()
			addImage(t, st, folder, path, data, w, h)
		}
		add("2026/10/upright.jpg", locatedJPEG(t, 1), 8, 4)
		add("2026/10/turned.jpg", locatedJPEG(t, 6), 4, 8)
		add("", nil, 8, 4) // a reference to a picture elsewhere
		code, out, errs := almanac("images", "clean", "--media", folder)
		if code != 0 || out != "2 images, 2 cleaned\n" {
			t.Fatalf("%d %s %s", code, out, errs)
		}
		rows, err := st.Ent.Image.Query().All(t.Context())
		must.Succeed(t, err)
		for _, row := range rows {
			checkCleaned(t, folder, row)
		}
		if code, out, errs := almanac("images", "clean", "--media", folder); code != 0 || out != "2 images, 0 cleaned\n" {
			t.Errorf("once more: %d %s %s", code, out, errs)
		}
		add("2026/10/gone.jpg", nil, 8, 4)
		code, out, errs = almanac("images", "clean", "--media", folder)
		if code != 1 || out != "3 images, 0 cleaned\n" || !strings.Contains(errs, "2026/10/gone.jpg") {
			t.Errorf("a file that is gone: %d %s %s", code, out, errs)
		}
	})
}

// addImage adds an image with its file, unless data is nil.
func addImage(t *testing.T, st *store.Store, folder, path string, data []byte, w, h int) {
	t.Helper()
	if data != nil {
		must.Succeed(t, os.WriteFile(filepath.Join(folder, filepath.FromSlash(path)), data, 0o600))
	}
	record, err := st.Ent.Record.Create().SetKind(calendar.Image).Save(t.Context())
	must.Succeed(t, err)
	err = st.Ent.Image.Create().SetID(record.ID).SetPath(path).SetExtension("jpg").SetMimeType("image/jpeg").
		SetWidth(w).SetHeight(h).SetFilesize(int64(len(data))).SetSizes(map[string]calendar.ImageSize{}).
		SetCreatedAt(clockNow()).Exec(t.Context())
	must.Succeed(t, err)
}

// checkCleaned checks that the file of an image has no metadata, and that its size matches its record.
func checkCleaned(t *testing.T, folder string, row *ent.Image) {
	if row.Path == "" {
		return
	}
	data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(row.Path)))
	must.Succeed(t, err)
	if bytes.Contains(data, []byte("Exif")) || bytes.Contains(data, []byte("52.2297N")) {
		t.Errorf("%s has metadata", row.Path)
	}
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width != row.Width || c.Height != row.Height || row.Filesize != int64(len(data)) || row.Version != 2 {
		t.Errorf("%s: %v %+v, the record says %+v", row.Path, err, c, row)
	}
}
