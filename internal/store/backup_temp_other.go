//go:build !unix

package store

import "os"

// locksFiles is false because tryLock does not exclude other processes on this system.
const locksFiles = false

// tryLock does not lock anything on this system. It always reports success.
func tryLock(*os.File) (bool, error) { return true, nil }
