package main

import (
	"os"
	"syscall"
)

// enlarge makes room in a pipe, for who writes faster than we read.
func enlarge(f *os.File) {
	const setPipeSize = 1031
	// As it was before, it works as well, only slower.
	_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setPipeSize, 1<<20)
}
