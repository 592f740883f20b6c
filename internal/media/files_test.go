package media

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/webp"
)

// failingStore is a Store that returns errors. The call of Create that counts left down to 0 returns the error
// create. Remove returns the error remove if it is set, for the path removeOnly or for all.
type failingStore struct {
	Store
	left       int
	create     error
	then       func()
	remove     error
	removeOnly string
}

func (s *failingStore) Create(ctx context.Context, path string, data []byte, mimeType string) error {
	if s.left--; s.left == 0 {
		if s.then != nil {
			s.then()
		}
		return s.create
	}
	return s.Store.Create(ctx, path, data, mimeType)
}

func (s *failingStore) Remove(ctx context.Context, path string) error {
	if s.remove != nil && (s.removeOnly == "" || s.removeOnly == path) {
		return s.remove
	}
	return s.Store.Remove(ctx, path)
}

// checkFiles checks that all files of an image exist, with the media types and dimensions that img has for them.
func checkFiles(t *testing.T, dir *Dir, img Image) {
	t.Helper()
	check := func(p, mimeType string, w, h int, n int64) {
		t.Helper()
		f, info, err := dir.Open(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size != n || int64(len(data)) != n || info.MIMEType != mimeType {
			t.Errorf("%s: stored %+v, said %d bytes of %s", p, info, n, mimeType)
		}
		if f := sniff(data); f == nil || f.mimeType != mimeType || !strings.HasSuffix(p, "."+f.ext) {
			t.Errorf("%s: holds %+v, said %s", p, f, mimeType)
		}
		c, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil || c.Width != w || c.Height != h {
			t.Errorf("%s: is %dx%d (%v), said %dx%d", p, c.Width, c.Height, err, w, h)
		}
	}
	check(img.Path, img.MIMEType, img.Width, img.Height, img.Filesize)
	for name, s := range img.Sizes {
		check(s.Path, s.MIMEType, s.Width, s.Height, s.Filesize)
		if s.Width > img.Width || s.Height > img.Height {
			t.Errorf("%s is larger than the picture", name)
		}
	}
}

func openDir(t testing.TB) (*Dir, string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "media")
	dir, err := OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir, root
}

// files returns the paths of all files below a folder, including hidden ones, sorted.
func files(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// describe returns the dimensions and type of an image file, such as "10x20 png".
func describe(t *testing.T, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := webp.DecodeConfig(bytes.NewReader(data)); err == nil {
		return fmt.Sprintf("%dx%d webp", c.Width, c.Height)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return fmt.Sprintf("%dx%d %s", c.Width, c.Height, format)
}

func readFile(t *testing.T, root, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readPNG(t *testing.T, root, name string) image.Image {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}
