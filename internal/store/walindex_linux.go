package store

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// walIndex is the index of SQLite's write-ahead log, a file that every commit of any process changes. Its first bytes
// are a header, twice: https://sqlite.org/walformat.html#the_wal_index_header.
type walIndex struct {
	fd    int
	inode uint64
}

// walIndexes are the open indexes, by path. None is ever closed: SQLite's locks on the file belong to the process, and
// closing any descriptor of it releases them all (https://sqlite.org/howtocorrupt.html, section 2.2). The price is a
// descriptor for each database that a process has opened a Question on.
var walIndexes = struct {
	mu   sync.Mutex
	open map[string]walIndex
}{open: map[string]walIndex{}}

// openWALIndex opens the index of a database file. The caller has a connection that has read from the database and stays
// open, so that the index exists. ok is false if there is none.
func openWALIndex(file string) (w walIndex, ok bool) {
	path, err := filepath.EvalSymlinks(file)
	if err != nil {
		return walIndex{}, false
	}
	if path, err = filepath.Abs(path); err != nil {
		return walIndex{}, false
	}
	path += "-shm"
	walIndexes.mu.Lock()
	defer walIndexes.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return walIndex{}, false
	}
	is, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return walIndex{}, false
	}
	if w, known = walIndexes.open[path]; known && w.inode == is.Ino {
		return w, true
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return walIndex{}, false
	}
	var opened syscall.Stat_t
	if err := syscall.Fstat(fd, &opened); err != nil || opened.Ino != is.Ino {
		return walIndex{}, false // another process has just replaced it; the descriptor stays open
	}
	w = walIndex{fd: fd, inode: is.Ino}
	walIndexes.open[path] = w
	return w, true
}

// read returns the header. ok is false while a process writes it, and if it is invalid.
func (w walIndex) read() (h walHeader, ok bool) {
	const initialised = 12 // the offset of the flag
	var both [2]walHeader
	var raw [2 * len(h)]byte
	n, err := syscall.Pread(w.fd, raw[:], 0)
	if err != nil || n != len(raw) {
		return h, false
	}
	copy(both[0][:], raw[:len(h)])
	copy(both[1][:], raw[len(h):])
	return both[0], both[0] == both[1] && both[0][initialised] == 1
}
