package main

import (
	"io"
	"sync"
	"time"
)

// Writing each line of the log by itself took 7 % of what a reply from the cache took.

const (
	// linesWait is how long a line waits for others at most. The first one after a pause does not wait.
	linesWait = 10 * time.Millisecond
	// maxWaitingLines is how many bytes wait. Whoever logs more is held up until some have been written.
	maxWaitingLines = 1 << 20
)

// lineWriter is a writer of lines that are written together when they come in quick succession. It is for concurrent use.
type lineWriter struct {
	to io.Writer

	writing sync.Mutex // held while something is written, so that it is in order

	mu      sync.Mutex
	room    sync.Cond // there is some again
	waiting []byte
	spare   []byte
	busy    bool  // a goroutine writes what comes
	err     error // of the last write
}

func newLines(to io.Writer) *lineWriter {
	l := &lineWriter{to: to}
	l.room.L = &l.mu
	return l
}

// Write takes a line. Its error is one of a line before.
func (l *lineWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) >= maxWaitingLines {
		l.room.Wait()
	}
	l.waiting = append(l.waiting, line...)
	if !l.busy {
		l.busy = true
		go l.run()
	}
	if err := l.err; err != nil {
		l.err = nil
		return 0, err
	}
	return len(line), nil
}

// run writes what comes, until nothing has come for a while.
func (l *lineWriter) run() {
	for {
		l.flush()
		time.Sleep(linesWait)
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.busy = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
	}
}

// flush writes what waits.
func (l *lineWriter) flush() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	out := l.waiting
	l.waiting, l.spare = l.spare[:0], nil
	l.mu.Unlock()
	if len(out) == 0 {
		return
	}
	_, err := l.to.Write(out)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = out
	if err != nil {
		l.err = err
	}
	l.room.Broadcast()
}

// Close writes what still waits, and returns the error of that. Lines can be written afterwards.
func (l *lineWriter) Close() error {
	l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.err
	l.err = nil
	return err
}
