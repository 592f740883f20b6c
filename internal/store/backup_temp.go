package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tempPrefix begins the name of the temporary folder that a backup creates beside its target. The folder has the files
// tempLock and tempCopy. The process locks the first, so that other backups can distinguish a folder in use from an
// abandoned one. It does not lock the copy, because network file systems confuse such a lock with SQLite's locks.
const (
	tempPrefix = ".almanac-backup-"
	tempLock   = "lock"
	tempCopy   = "copy.db"
)

// tempFolder is a temporary folder in which Backup writes one copy. The lock shows other processes that it is in use.
type tempFolder struct {
	path string
	lock *os.File
}

// newTempFolder creates a tempFolder in dir. It also removes the folders that killed processes left there.
func newTempFolder(dir string) (tempFolder, error) {
	if err := removeAbandoned(dir); err != nil {
		return tempFolder{}, err
	}
	// Before the folder is locked, another process may take it for abandoned and remove it. A few attempts
	// suffice.
	for range 10 {
		path, err := os.MkdirTemp(dir, tempPrefix)
		if err != nil {
			return tempFolder{}, err
		}
		lock, err := lockFolder(path)
		if err != nil {
			return tempFolder{}, errors.Join(err, os.RemoveAll(path))
		}
		if lock != nil {
			return tempFolder{path, lock}, nil
		}
	}
	return tempFolder{}, fmt.Errorf("%s: every folder for the copy is taken by another process", dir)
}

func (f tempFolder) file() string { return filepath.Join(f.path, tempCopy) }

// remove deletes the folder. It closes the lock first, because some systems do not delete open files.
func (f tempFolder) remove() error { return errors.Join(f.lock.Close(), os.RemoveAll(f.path)) }

// removeAbandoned deletes the folders of copies whose processes have ended. It does nothing on systems without
// file locks.
func removeAbandoned(dir string) error {
	if !locksFiles {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) || !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		lock, err := lockFolder(path)
		if errors.Is(err, fs.ErrPermission) {
			continue // the folder belongs to another user
		}
		if err != nil {
			return err
		}
		if lock != nil {
			if err := (tempFolder{path, lock}).remove(); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockFolder locks the folder of a copy. It returns nil if another process holds the lock or has deleted the
// folder.
func lockFolder(path string) (*os.File, error) {
	name := filepath.Join(path, tempLock)
	lock, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // removed
	}
	if err != nil {
		return nil, err
	}
	locked, err := tryLock(lock)
	if err == nil && locked {
		// The process that had the lock may have deleted the file.
		var opened, there os.FileInfo
		if opened, err = lock.Stat(); err == nil {
			if there, err = os.Stat(name); err == nil && os.SameFile(opened, there) {
				return lock, nil
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return nil, errors.Join(err, lock.Close())
}
