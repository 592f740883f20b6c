package limit

import (
	"errors"
	"io"
	"testing"
)

func TestRepliesOnTheirWay(t *testing.T) {
	t.Parallel()
	l := &Listener{MostSending: 100 << 10}
	a, b := &conn{Conn: closable{&recorder{}}, of: l}, &conn{Conn: closable{&recorder{}}, of: l}
	want := func(bytes int64) {
		t.Helper()
		if got := l.Sending(); got != bytes {
			t.Errorf("%d bytes are on their way, want %d", got, bytes)
		}
	}
	reserve := func(c *conn, size int, ok bool) {
		t.Helper()
		if got := c.Reserve(size); got != ok {
			t.Errorf("%d bytes: %v", size, got)
		}
	}
	reserve(a, 60<<10, true)
	reserve(b, 1<<10, true) // a small one does not count
	want(60 << 10)
	reserve(b, 60<<10, false)
	want(60 << 10)
	reserve(b, 40<<10, true)
	want(100 << 10)
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	want(40 << 10)
	reserve(b, 30<<10, true) // instead of the one before
	want(30 << 10)
	for range 2 {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want(0)
	any := &conn{Conn: &recorder{}, of: &Listener{}}
	reserve(any, 1<<30, true)
}

// closable is a recorder with a Close method that does nothing.
type closable struct{ *recorder }

func (closable) Close() error { return nil }
