package process

import (
	"os"
	"syscall"
)

// enlargePipe enlarges the buffer of a pipe to 1 MiB, for a process that writes faster than tail reads. Errors are
// ignored.
func enlargePipe(f *os.File) {
	const setPipeSize = 1031
	// A pipe of the usual size works as well, only slower.
	_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setPipeSize, 1<<20)
}
