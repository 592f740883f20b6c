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

// Store keeps files under slash paths such as 2026/11/pic-150x150.png, of lower-case ASCII letters, digits and
// "_-./", with no part that is empty or begins with a dot. The picture of a file never changes.
type Store interface {
	// Create stores a file, whole or not at all. It returns fs.ErrExist when the path is taken, and of several
	// calls for one path at the same time lets one succeed.
	Create(ctx context.Context, path string, data []byte, mimeType string) error
	// Open returns a file, which the caller closes, or fs.ErrNotExist; this too for a path no file can have.
	Open(ctx context.Context, path string) (io.ReadSeekCloser, Info, error)
	// Replace puts other bytes in the place of a file, at once, or returns fs.ErrNotExist. Readers that have the file open
	// go on with the old bytes.
	Replace(ctx context.Context, path string, data []byte) error
	// Remove removes a file, or returns fs.ErrNotExist.
	Remove(ctx context.Context, path string) error
}

// Info describes a file.
type Info struct {
	Size     int64 // bytes
	ModTime  time.Time
	MIMEType string
}

// Dir is a Store in a folder of the local file system. Neither a path nor a symbolic link leads out of it.
type Dir struct{ root *os.Root }

var _ Store = (*Dir)(nil)

// OpenDir opens a folder as a Store, and makes it when it is missing. The caller closes it.
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

// Close lets go of the folder. Files that are open stay so.
func (d *Dir) Close() error { return d.root.Close() }

// Create implements Store. All users may read the file. mimeType is not stored, since the extension determines it. If
// the process dies, a hidden file ending in .tmp may remain. It is never served.
func (d *Dir) Create(ctx context.Context, name string, data []byte, _ string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !validPath(name) {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrInvalid}
	}
	// The link below decides who is first; this only spares the writing in the usual case.
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

// Replace implements Store.
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

// tempFor is a hidden name beside a file, which is never served.
func tempFor(name string) string { return path.Join(path.Dir(name), "."+rand.Text()+".tmp") }

// link gives a written file its name, if the name is free.
func (d *Dir) link(temp, name string) error {
	err := d.root.Link(temp, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.claim(temp, name)
}

// claim is link for file systems without hard links: an empty file takes the name until the rename.
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

// Remove implements Store. Folders stay.
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

// asNotExist makes fs.ErrNotExist of the error for a path that goes on below a file.
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

// validPath keeps to names that mean one and the same file on every file system and in every URL.
func validPath(name string) bool {
	const longest = 255 // bytes; what file systems take for one part
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
