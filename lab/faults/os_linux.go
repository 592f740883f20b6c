package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// raiseFiles raises the limit of open files of this process to its maximum.
func raiseFiles() error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("open files: %w", err)
	}
	l.Cur = l.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("open files: %w", err)
	}
	return nil
}

// mountSmall mounts a filesystem in memory at dir, with a size in bytes. unmount removes it.
func mountSmall(dir string, bytes int64) (unmount func() error, err error) {
	if err := unix.Mount("almanac-faults", dir, "tmpfs", 0, "size="+strconv.FormatInt(bytes, 10)); err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	return func() error {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w", dir, err)
		}
		return nil
	}, nil
}

// limitFiles limits the size of the files that a process may write, in bytes. 0 removes the limit.
func limitFiles(pid int, bytes uint64) error {
	l := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
	if bytes == 0 {
		l.Cur = unix.RLIM_INFINITY
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &l, nil); err != nil {
		return fmt.Errorf("size of files: %w", err)
	}
	return nil
}

// peakMemory returns the largest amount of memory that a process has had (resident set), in bytes.
func peakMemory(pid int) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("process %d: the system does not say how much memory it has", pid)
}

// setWindow sets the receive buffer of a socket in bytes, at least to the system's minimum. Errors are ignored.
func setWindow(fd uintptr, bytes int) {
	// Without it more of a reply is taken; what is measured is the same.
	_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, bytes)
}
