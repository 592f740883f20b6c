package media

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDirKeepsFiles(t *testing.T) {
	dir, root := openDir(t)
	if err := dir.Create(t.Context(), "2026/11/a.png", []byte("one"), "image/png"); err != nil {
		t.Fatal(err)
	}
	if err := dir.Create(t.Context(), "2026/11/a.png", []byte("two"), "image/png"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second file of the name: %v", err)
	}
	f, info, err := dir.Open(t.Context(), "2026/11/a.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(1, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != "ne" || info.Size != 3 || info.MIMEType != "image/png" || info.ModTime.IsZero() {
		t.Errorf("got %q, %+v", data, info)
	}
	fi, err := os.Stat(filepath.Join(root, "2026", "11", "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	if fi.Mode().Perm()&0o133 != 0 || fi.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("mode %v, want 0644 less the umask", fi.Mode())
	}
	if diff := cmp.Diff([]string{"2026/11/a.png"}, files(t, root)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if err := dir.Remove(t.Context(), "2026/11/a.png"); err != nil {
		t.Fatal(err)
	}
	if err := dir.Remove(t.Context(), "2026/11/a.png"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("second removal: %v", err)
	}
	if _, _, err := dir.Open(t.Context(), "2026/11/a.png"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open of what was removed: %v", err)
	}
}

func TestDirTellsTypesByExtension(t *testing.T) {
	dir, _ := openDir(t)
	for name, want := range map[string]string{
		"a.jpg": "image/jpeg", "a.gif": "image/gif", "a.webp": "image/webp",
		"a.html": "application/octet-stream", "a": "application/octet-stream", "a-png": "application/octet-stream",
	} {
		if err := dir.Create(t.Context(), name, nil, "text/html"); err != nil {
			t.Fatal(err)
		}
		f, info, err := dir.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if info.MIMEType != want {
			t.Errorf("%s: got %s, want %s", name, info.MIMEType, want)
		}
	}
}

func TestDirHasNoOtherPaths(t *testing.T) {
	dir, root := openDir(t)
	outside := filepath.Join(filepath.Dir(root), "secret.png")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".hidden.tmp"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.Create(t.Context(), "2026/11/a.png", []byte("one"), "image/png"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"", ".", "/", "..", "../secret.png", "2026/../../secret.png", "2026/11/../11/a.png", "./2026/11/a.png",
		"/2026/11/a.png", outside, "2026//11/a.png", "2026/11/", `..\secret.png`, `2026\11\a.png`,
		".hidden.tmp", "2026/11/A.PNG", "2026/11/a.png\x00", "2026/11/a.png\n", "c:/secret.png", "a.png:stream",
		"2026/11/\xff.png", "2026/11/%2e%2e", strings.Repeat("a", 256), strings.Repeat("a/", 200) + "a",
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := dir.Open(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Open: %v", err)
			}
			if err := dir.Remove(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Remove: %v", err)
			}
			if err := dir.Create(t.Context(), name, nil, "image/png"); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("Create: %v", err)
			}
		})
	}
	for _, name := range []string{"2026", "2026/11", "2026/11/a.png/b.png", "2027/11/a.png"} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := dir.Open(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Open: %v", err)
			}
			if err := dir.Remove(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Remove: %v", err)
			}
		})
	}
	if diff := cmp.Diff([]string{".hidden.tmp", "2026/11/a.png"}, files(t, root)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestDirFollowsNoLinkOutOfTheFolder(t *testing.T) {
	dir, root := openDir(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "a.png"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "2026")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if f, _, err := dir.Open(t.Context(), "2026/a.png"); err == nil {
		t.Errorf("opened; close: %v", f.Close())
	}
	if err := dir.Create(t.Context(), "2026/b.png", nil, "image/png"); err == nil {
		t.Error("created")
	}
	if err := dir.Remove(t.Context(), "2026/a.png"); err == nil {
		t.Error("removed")
	}
	if diff := cmp.Diff([]string{"a.png"}, files(t, outside)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestDirLetsOneOfSeveralCreate(t *testing.T) {
	dir, root := openDir(t)
	// Both ways to give a file its name.
	ways := map[string]func(name, data string) error{
		"link": func(name, data string) error { return dir.Create(t.Context(), name, []byte(data), "image/png") },
		"claim": func(name, data string) error {
			temp := "." + data + ".tmp"
			if err := dir.write(temp, []byte(data)); err != nil {
				return err
			}
			return dir.claim(temp, name)
		},
	}
	for way, create := range ways {
		t.Run(way, func(t *testing.T) {
			var (
				wg   sync.WaitGroup
				errs [8]error
			)
			name := way + ".png"
			for i := range errs {
				wg.Go(func() { errs[i] = create(name, strings.Repeat("x", i+1)) })
			}
			wg.Wait()
			size := 0
			for i, err := range errs {
				switch {
				case err == nil && size == 0:
					size = i + 1
				case err == nil:
					t.Error("two succeeded")
				case !errors.Is(err, fs.ErrExist):
					t.Error(err)
				}
			}
			data, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			if len(data) != size {
				t.Errorf("holds %d bytes, the winner wrote %d", len(data), size)
			}
		})
	}
}

func TestDirHeedsACancelledContext(t *testing.T) {
	dir, _ := openDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := dir.Create(ctx, "a.png", nil, "image/png"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, err := dir.Open(ctx, "a.png"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := dir.Remove(ctx, "a.png"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOpenDirNeedsAFolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if dir, err := OpenDir(name); err == nil {
		t.Errorf("opened a file as a folder; close: %v", dir.Close())
	}
}

// FuzzOpenStaysInside opens files by arbitrary names. Only files in the folder of the store may open.
func FuzzOpenStaysInside(f *testing.F) {
	dir, root := openDir(f)
	top := filepath.Dir(root)
	inside := map[string]string{"2026/11/a.png": "one", "b.gif": "two"}
	for name, text := range inside {
		if err := dir.Create(f.Context(), name, []byte(text), ""); err != nil {
			f.Fatal(err)
		}
		f.Add(name)
	}
	for _, name := range []string{"secret.png", "media/.hidden"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte("secret"), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "secret.png"), filepath.Join(root, "link.png")); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"", ".", "/", "../secret.png", "2026/../../secret.png", "link.png", ".hidden", "2026/11", "2026//11/a.png", "b.gif/", "B.GIF", "b.gif\x00", `..\secret.png`} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		file, info, err := dir.Open(t.Context(), name)
		if err != nil {
			if _, known := inside[name]; known {
				t.Errorf("%q: %v", name, err)
			}
			return
		}
		defer file.Close()
		data, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		if want := inside[name]; string(data) != want || info.Size != int64(len(want)) {
			t.Errorf("%q opens %q of %d bytes", name, data, info.Size)
		}
	})
}
