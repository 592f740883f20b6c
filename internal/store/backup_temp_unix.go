//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// locksFiles reports whether tryLock keeps other processes out.
const locksFiles = true

// tryLock locks a file until it is closed or its process ends, and reports whether it could.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return false, nil
	case err != nil:
		return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return true, nil
}
