package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A copy is written in a folder of its own beside its final place. The process locks a file there, so that the next backup
// can tell a folder in use from a folder that a killed process left. It does not lock the copy itself, because a network
// file system confuses such a lock with those of SQLite.
const (
	tempPrefix = ".almanac-backup-"
	tempLock   = "lock"
	tempCopy   = "copy.db"
)

// tempFolder is the folder of one copy.
type tempFolder struct {
	path string
	lock *os.File
}

// newTempFolder creates a tempFolder in dir, and removes those that killed processes left there.
func newTempFolder(dir string) (tempFolder, error) {
	if err := removeAbandoned(dir); err != nil {
		return tempFolder{}, err
	}
	// Another process may remove the folder as abandoned before it is locked.
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

// remove removes the folder. It closes the lock first, because some systems remove no open files.
func (f tempFolder) remove() error { return errors.Join(f.lock.Close(), os.RemoveAll(f.path)) }

// removeAbandoned removes the folders of copies whose processes have ended. It does nothing on systems where
// locks cannot show that.
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
			continue // another user's
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

// lockFolder locks a folder of a copy. It returns nil if another process holds the lock or has removed the folder.
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
		// The process that held the lock before may have removed the file.
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
