//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// locksFiles is true because tryLock excludes other processes on this system.
const locksFiles = true

// tryLock locks a file until the file is closed or the process ends. It returns false if another process holds
// the lock.
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
