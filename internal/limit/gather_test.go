package limit

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorder is a connection that records each write. Reads return io.EOF.
type recorder struct {
	net.Conn
	writes []string
	err    error
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	r.writes = append(r.writes, string(b))
	return len(b), nil
}

func (r *recorder) Read([]byte) (int, error) { return 0, io.EOF }

func TestHeadAndBodyLeaveTogether(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
	for _, test := range []struct {
		name   string
		body   int
		writes []string
		before int // how many have left before the server reads again
	}{
		{"in two pieces", 10, []string{head + "0123", "456789"}, 2},
		{"in three", 10, []string{head + "0", "1234", "56789"}, 3},
		{"in one", 10, []string{head + "0123456789"}, 1},
		{"the head alone", 10, []string{head, "0123456789"}, 2},
		{"of no use", 0, []string{head + "0123", "456789"}, 2},
		{"no head", 10, []string{"0123", "456789"}, 2},
		{"a long piece", 20000, []string{head + strings.Repeat("x", 10000), strings.Repeat("y", 10000)}, 2},
		{"less than was said", 10, []string{head + "0123"}, 0},
		{"after one that was put together with it", 10, []string{"HTTP/1.1 304 Not Modified\r\n\r\n" + head + "01", "23456789"}, 2},
	} {
		to := &recorder{}
		c := &conn{Conn: to, of: &Listener{}}
		c.Gather(test.body)
		for _, piece := range test.writes {
			if n, err := c.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("%s: %d, %v", test.name, n, err)
			}
		}
		if len(to.writes) != test.before {
			t.Errorf("%s: %d pieces have left, want %d", test.name, len(to.writes), test.before)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Join(test.writes, ""), strings.Join(to.writes, "")); diff != "" {
			t.Errorf("%s: (-written +sent):\n%s", test.name, diff)
		}
		// The next reply is one by itself.
		if _, err := c.Write([]byte(head)); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(to.writes, head) {
			t.Errorf("%s: the next reply waits", test.name)
		}
	}
}

func TestWhatWaitedFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, last := range []func(*conn) (int, error){
		func(c *conn) (int, error) { return c.Write([]byte("rest")) },
		func(c *conn) (int, error) { return c.Read(make([]byte, 1)) },
	} {
		c := &conn{Conn: &recorder{err: broken}, of: &Listener{}}
		c.Gather(10)
		if n, err := c.Write([]byte("head\r\n\r\n")); n != 8 || err != nil {
			t.Fatal(n, err)
		}
		if n, err := last(c); n != 0 || !errors.Is(err, broken) {
			t.Errorf("%d, %v", n, err)
		}
	}
}
