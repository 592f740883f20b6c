package media

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// Store stores files under slash-separated paths, such as 2026/11/pic-150x150.png. A path has lower-case ASCII
// letters, digits and "_-./". Its parts are not empty and do not begin with a dot. The picture in a file never
// changes.
type Store interface {
	// Create stores a file completely or not at all. It returns fs.ErrExist if the path is taken. If several
	// calls use one path at the same time, exactly one succeeds.
	Create(ctx context.Context, path string, data []byte, mimeType string) error
	// Open opens a file; the caller must close it. It returns fs.ErrNotExist if there is no such file, or if
	// the path is invalid.
	Open(ctx context.Context, path string) (io.ReadSeekCloser, Info, error)
	// Replace replaces the content of a file atomically, or returns fs.ErrNotExist. Readers that have the file
	// open continue to read the old content.
	Replace(ctx context.Context, path string, data []byte) error
	// Remove deletes a file, or returns fs.ErrNotExist.
	Remove(ctx context.Context, path string) error
}

// Info describes a file.
type Info struct {
	Size     int64 // bytes
	ModTime  time.Time
	MIMEType string
}

// Dir is a Store in a folder of the local file system. No path and no symbolic link leads out of the folder.
type Dir struct{ root *os.Root }

var _ Store = (*Dir)(nil)

// OpenDir opens a folder as a Store. It creates the folder if it is missing. The caller must close the Dir.
func OpenDir(name string) (*Dir, error) {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Dir{root: root}, nil
}

// Close closes the folder. Files that are open stay open.
func (d *Dir) Close() error { return d.root.Close() }

// Create implements Store. All users of the machine may read the file. mimeType is not stored, because the
// extension determines it. If the process dies, a hidden file ending in .tmp may remain, which is never served.
// On file systems without hard links, an empty file may also remain under the name.
func (d *Dir) Create(ctx context.Context, name string, data []byte, _ string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !validPath(name) {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrInvalid}
	}
	// The link below decides which of several calls succeeds. This check only avoids writing the file in the
	// usual case.
	switch _, err := d.root.Lstat(name); {
	case err == nil:
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := d.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	temp := tempFor(name)
	err := d.write(temp, data)
	if err == nil {
		err = d.link(temp, name)
	}
	if rerr := d.root.Remove(temp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

func (d *Dir) write(name string, data []byte) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Replace implements Store. It writes a temporary file and renames it.
func (d *Dir) Replace(ctx context.Context, name string, data []byte) error {
	f, _, err := d.Open(ctx, name)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	temp := tempFor(name)
	err = d.write(temp, data)
	if err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		if rerr := d.root.Remove(temp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// tempFor returns the path of a new temporary file in the same folder as name. It begins with a dot, so it is never
// served.
func tempFor(name string) string { return path.Join(path.Dir(name), "."+rand.Text()+".tmp") }

// link makes a written temporary file available as name. If a file of that name exists, it returns fs.ErrExist.
// The caller removes the temporary name, which may still exist.
func (d *Dir) link(temp, name string) error {
	err := d.root.Link(temp, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.claim(temp, name)
}

// claim renames a written temporary file to name, on file systems without hard links. It first reserves the
// name with an empty file. It returns fs.ErrExist if the name is taken.
func (d *Dir) claim(temp, name string) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = f.Close()
	if err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, d.root.Remove(name))
	}
	return nil
}

// Open implements Store.
func (d *Dir) Open(ctx context.Context, name string) (io.ReadSeekCloser, Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, Info{}, err
	}
	missing := &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	if !validPath(name) {
		return nil, Info{}, missing
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, Info{}, asNotExist(err)
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, Info{}, errors.Join(err, f.Close())
	}
	if !fi.Mode().IsRegular() {
		return nil, Info{}, errors.Join(missing, f.Close())
	}
	return f, Info{Size: fi.Size(), ModTime: fi.ModTime(), MIMEType: mimeByName(name)}, nil
}

// Remove implements Store. It does not delete folders.
func (d *Dir) Remove(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	missing := &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	if !validPath(name) {
		return missing
	}
	fi, err := d.root.Lstat(name)
	if err != nil {
		return asNotExist(err)
	}
	if fi.IsDir() {
		return missing
	}
	return asNotExist(d.root.Remove(name))
}

// asNotExist returns fs.ErrNotExist instead of the error for a path below a file, such as pic.png/x. It returns
// other errors unchanged.
func asNotExist(err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return errors.Join(fs.ErrNotExist, err)
	}
	return err
}

func mimeByName(name string) string {
	ext := strings.TrimPrefix(path.Ext(name), ".")
	for _, f := range formats {
		if f.ext == ext {
			return f.mimeType
		}
	}
	return "application/octet-stream"
}

// validPath reports whether a path follows the rules of Store. Such a path is valid in every file system and in
// every URL.
func validPath(name string) bool {
	const longest = 255 // bytes; the limit of file systems for one part
	if len(name) > longest || !fs.ValidPath(name) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./", r)
	})
}
