package limit

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/proof/must"
)

// pair returns both ends of a connection. server is the end that the listener accepted.
func pair(t *testing.T, l *Listener) (server, client net.Conn) {
	t.Helper()
	if l.Listener == nil {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		must.Succeed(t, err)
		t.Cleanup(func() { ln.Close() })
		l.Listener = ln
	}
	client, err := net.Dial("tcp", l.Addr().String())
	must.Succeed(t, err)
	t.Cleanup(func() { client.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server, client
}

func TestRequestsOnTheirWay(t *testing.T) {
	t.Parallel()
	l := &Listener{MostReceiving: 1 << 20, Exempt: func(netip.Addr) bool { return true }}
	a, toA := pair(t, l)
	b, toB := pair(t, l)
	want := func(bytes int64) {
		t.Helper()
		if got := l.Receiving(); got != bytes {
			t.Errorf("%d bytes are being received, want %d", got, bytes)
		}
	}
	// read has a server read into a buffer of some bytes, of which one comes.
	read := func(server, client net.Conn, size int, wanted error) {
		t.Helper()
		if _, err := client.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Read(make([]byte, size)); !errors.Is(err, wanted) {
			t.Fatalf("a buffer of %d bytes: %v, want %v", size, err, wanted)
		}
	}
	read(a, toA, 16<<10, nil)
	want(0)
	read(a, toA, 600<<10, nil)
	want(600<<10 + 1)
	read(a, toA, 600<<10-1, nil) // the rest of what was announced
	want(600<<10 + 1)
	read(b, toB, 500<<10, ErrFull)
	want(600<<10 + 1)
	if _, err := a.Write([]byte("reply")); err != nil {
		t.Fatal(err)
	}
	want(0)
	read(b, toB, 500<<10, nil)
	want(500 << 10)
	must.Succeed(t, b.Close())
	want(0)
	if _, err := b.Read(make([]byte, 500<<10)); err == nil {
		t.Error("read from a closed connection")
	}
	want(0)
}

// TestManySmallPieces sends a body of unknown length in small pieces. Together they must exceed the limit.
func TestManySmallPieces(t *testing.T) {
	t.Parallel()
	l := &Listener{MostReceiving: 256 << 10, Exempt: func(netip.Addr) bool { return true }}
	server, client := pair(t, l)
	go func() {
		_, _ = client.Write(make([]byte, 512<<10)) // until the other end is closed
	}()
	total, buf := 0, make([]byte, 4<<10)
	for {
		n, err := io.ReadFull(server, buf)
		total += n
		if err != nil {
			if !errors.Is(err, ErrFull) || total < 240<<10 || total > 256<<10 {
				t.Errorf("%v after %d bytes", err, total)
			}
			return
		}
	}
}

func TestShareOfAnAddress(t *testing.T) {
	t.Parallel()
	l := &Listener{MostReceiving: 1 << 20, MostReceivingPerAddress: 256 << 10}
	server, client := pair(t, l)
	if _, err := client.Write([]byte("xx")); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(make([]byte, 300<<10)); !errors.Is(err, ErrFull) {
		t.Errorf("more than its share: %v", err)
	}
	if _, err := server.Read(make([]byte, 200<<10)); err != nil {
		t.Errorf("less than its share: %v", err)
	}
}

// TestLinger refuses a request while the client is still sending. The client must be able to read the reply.
func TestLinger(t *testing.T) {
	t.Parallel()
	l := &Listener{}
	server, client := pair(t, l)
	if _, err := client.Write(make([]byte, 1<<10)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Write([]byte("no")); err != nil {
		t.Fatal(err)
	}
	server.(interface{ Linger() }).Linger()
	must.Succeed(t, server.Close())
	for range 16 {
		if _, err := client.Write(make([]byte, 64<<10)); err != nil {
			t.Fatal(err)
		}
	}
	must.Succeed(t, client.(*net.TCPConn).CloseWrite())
	if reply, err := io.ReadAll(client); err != nil || string(reply) != "no" {
		t.Errorf("got %q, %v", reply, err)
	}
	for range 100 {
		if l.Open() == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the connection is kept for ever")
}
