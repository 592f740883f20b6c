package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// slowWriter holds each write up until it is let go.
type slowWriter struct {
	began chan struct{}
	letGo chan struct{}

	mu     sync.Mutex
	writes []string
	err    error
}

func (w *slowWriter) Write(b []byte) (int, error) {
	if w.began != nil {
		w.began <- struct{}{}
		<-w.letGo
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, string(b))
	return len(b), w.err
}

func (w *slowWriter) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.writes, "")
}

func TestLinesThatComeTogetherAreWrittenTogether(t *testing.T) {
	t.Parallel()
	to := &slowWriter{began: make(chan struct{}, 10), letGo: make(chan struct{})}
	l := newLines(to)
	write := func(n int) {
		t.Helper()
		if _, err := fmt.Fprintf(l, "line %d\n", n); err != nil {
			t.Fatal(err)
		}
	}
	write(0)
	<-to.began // at once, by itself
	var want strings.Builder
	for n := range 50 {
		if n > 0 {
			write(n) // while the first is written
		}
		fmt.Fprintf(&want, "line %d\n", n)
	}
	to.letGo <- struct{}{}
	<-to.began
	close(to.letGo)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), to.text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(to.writes) != 2 {
		t.Errorf("%d writes", len(to.writes))
	}
}

func TestLinesOfManyKeepTheirOrder(t *testing.T) {
	t.Parallel()
	to := &slowWriter{}
	l := newLines(to)
	var all sync.WaitGroup
	for who := range 4 {
		all.Go(func() {
			for n := range 5000 {
				if _, err := fmt.Fprintf(l, "%d %d %s\n", who, n, strings.Repeat("x", 100)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	next := [4]int{}
	for line := range strings.Lines(to.text()) {
		var who, n int
		if _, err := fmt.Sscanf(line, "%d %d", &who, &n); err != nil || n != next[who] {
			t.Fatalf("%q: want %d (%v)", line, next[who], err)
		}
		next[who]++
	}
	if next != [4]int{5000, 5000, 5000, 5000} {
		t.Errorf("lines: %v", next)
	}
	if len(to.writes) >= 20000 {
		t.Error("each line was written by itself")
	}
}

func TestLinesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	l := newLines(&slowWriter{err: full})
	if _, err := l.Write([]byte("a\n")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("said twice: %v", err)
	}
}
