package limit

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

func TestGate(t *testing.T) {
	t.Parallel()
	g := NewGate(2, 1, time.Hour)
	ctx := t.Context()
	for range 2 {
		if !g.Enter(ctx) {
			t.Fatal("no room for two")
		}
	}
	entered := make(chan bool)
	go func() { entered <- g.Enter(ctx) }()
	for g.Waiting() != 1 {
		time.Sleep(time.Millisecond)
	}
	if g.Enter(ctx) {
		t.Error("a fourth has neither room nor a place in line")
	}
	g.Leave()
	if !<-entered {
		t.Error("who waited got no room")
	}
	ended, cancel := context.WithCancel(ctx)
	go func() { entered <- g.Enter(ended) }()
	for g.Waiting() != 1 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if <-entered {
		t.Error("who gave up got room")
	}
	g.Leave()
	g.Leave()
	if g.Busy() != 0 || g.Waiting() != 0 {
		t.Errorf("%d busy, %d waiting", g.Busy(), g.Waiting())
	}
}

func TestGateLosesPatience(t *testing.T) {
	t.Parallel()
	g := NewGate(1, 100, time.Millisecond)
	g.Enter(t.Context())
	if g.Enter(t.Context()) {
		t.Error("entered a full gate")
	}
}

func TestGateNeverLetsInMoreThanItHasRoomFor(t *testing.T) {
	t.Parallel()
	g := NewGate(3, 1000, time.Minute)
	var mu sync.Mutex
	var all sync.WaitGroup
	inside, most := 0, 0
	for range 50 {
		all.Go(func() {
			if !g.Enter(t.Context()) {
				t.Error("refused")
				return
			}
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			inside--
			mu.Unlock()
			g.Leave()
		})
	}
	all.Wait()
	if most > 3 {
		t.Errorf("%d inside at once", most)
	}
}

func TestListener(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name            string
		most, byAddress int
		exempt          func(netip.Addr) bool
		want            []Reason // of three connections; "" is kept
	}{
		{"no limit", 0, 0, nil, []Reason{"", "", ""}},
		{"in total", 2, 0, nil, []Reason{"", "", TooMany}},
		{"from an address", 0, 1, nil, []Reason{"", TooManyFromAddress, TooManyFromAddress}},
		{"exempt", 2, 1, Near, []Reason{"", "", TooMany}},
		{"exempt others", 0, 1, func(netip.Addr) bool { return false }, []Reason{"", TooManyFromAddress, TooManyFromAddress}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inner, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			refused := make(chan Reason, 1)
			l := &Listener{
				Listener: inner, Most: test.most, MostPerAddress: test.byAddress, Exempt: test.exempt,
				Refuse: func(_ net.Conn, why Reason) { refused <- why },
			}
			accepted := make(chan net.Conn)
			go func() {
				defer close(accepted)
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					accepted <- c
				}
			}()
			var kept []net.Conn
			for i, want := range test.want {
				c, err := net.Dial("tcp", inner.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				var got Reason
				select {
				case got = <-refused:
				case c := <-accepted:
					kept = append(kept, c)
				}
				if got != want {
					t.Errorf("connection %d: got %q, want %q", i, got, want)
				}
			}
			if l.Open() != len(kept) {
				t.Errorf("%d open, want %d", l.Open(), len(kept))
			}
			for _, c := range kept {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				_ = c.Close() // a second time counts nothing
			}
			l.mu.Lock()
			left := len(l.from)
			l.mu.Unlock()
			if l.Open() != 0 || left != 0 {
				t.Errorf("%d open, from %d addresses, after all are closed", l.Open(), left)
			}
			c, err := net.Dial("tcp", inner.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			select {
			case why := <-refused:
				t.Errorf("refused for %s though there is room again", why)
			case c := <-accepted:
				l.Hurry(time.Millisecond)
				if _, err := c.Read(make([]byte, 1)); err == nil {
					t.Error("read from who says nothing")
				}
				c.Close()
			}
			if err := inner.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
