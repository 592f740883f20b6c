package limit

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestGate(t *testing.T) {
	t.Parallel()
	g := NewGate(GateSize{Slots: 2, Line: 1, Wait: time.Hour})
	ctx := t.Context()
	for range 2 {
		if !g.Enter(ctx, "a") {
			t.Fatal("no room for two")
		}
	}
	entered := make(chan bool)
	go func() { entered <- g.Enter(ctx, "a") }()
	waitFor(t, func() bool { return g.Waiting() == 1 })
	if g.Enter(ctx, "a") {
		t.Error("a fourth has neither room nor a place in line")
	}
	g.Leave("a")
	if !<-entered {
		t.Error("the request that waited got no room")
	}
	ended, cancel := context.WithCancel(ctx)
	go func() { entered <- g.Enter(ended, "a") }()
	waitFor(t, func() bool { return g.Waiting() == 1 })
	cancel()
	if <-entered {
		t.Error("the request that gave up got room")
	}
	g.Leave("a")
	g.Leave("a")
	if g.Busy() != 0 || g.Waiting() != 0 || len(g.clients) != 0 {
		t.Errorf("%d busy, %d waiting, %d clients", g.Busy(), g.Waiting(), len(g.clients))
	}
}

func TestGateLosesPatience(t *testing.T) {
	t.Parallel()
	g := NewGate(GateSize{Slots: 1, Line: 100, Wait: time.Millisecond})
	g.Enter(t.Context(), "a")
	if g.Enter(t.Context(), "b") {
		t.Error("entered a full gate")
	}
}

func TestGateNeverLetsInMoreThanItHasRoomFor(t *testing.T) {
	t.Parallel()
	g := NewGate(GateSize{Slots: 3, SlotsPerClient: 2, Line: 1000, Wait: time.Minute})
	var mu sync.Mutex
	var all sync.WaitGroup
	inside, most, mostOf := map[string]int{}, 0, 0
	for i := range 60 {
		client := string(rune('a' + i%3))
		all.Go(func() {
			if !g.Enter(t.Context(), client) {
				t.Error("refused")
				return
			}
			mu.Lock()
			inside[client]++
			most, mostOf = max(most, inside["a"]+inside["b"]+inside["c"]), max(mostOf, inside[client])
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			inside[client]--
			mu.Unlock()
			g.Leave(client)
		})
	}
	all.Wait()
	if most > 3 || mostOf > 2 || len(g.clients) != 0 {
		t.Errorf("%d inside at once, %d of one client, %d clients left", most, mostOf, len(g.clients))
	}
}

// TestGateIsShared has one client with running requests in all slots and many more in line. Requests of other clients
// must get the next free slots.
func TestGateIsShared(t *testing.T) {
	t.Parallel()
	g := NewGate(GateSize{Slots: 4, Line: 100, Wait: time.Minute})
	order := make(chan string, 100)
	enter := func(client string, waiting int) {
		go func() {
			if g.Enter(t.Context(), client) {
				order <- client
			}
		}()
		waitFor(t, func() bool { return g.Waiting() == waiting })
	}
	for range 4 {
		g.Enter(t.Context(), "many")
	}
	for i := range 10 {
		enter("many", i+1)
	}
	enter("one", 11)
	enter("two", 12)
	enter("two", 13)
	var got []string
	for range 4 {
		g.Leave("many")
		got = append(got, <-order)
	}
	if want := []string{"one", "two", "many", "two"}; !slices.Equal(got, want) {
		t.Errorf("let in: %q, want %q", got, want)
	}
}

// TestGateKeepsRoomForOthers checks that one client gets at most SlotsPerClient slots.
func TestGateKeepsRoomForOthers(t *testing.T) {
	t.Parallel()
	g := NewGate(GateSize{Slots: 4, SlotsPerClient: 3, Line: 100, Wait: time.Millisecond})
	var got []bool
	for _, client := range []string{"many", "many", "many", "many", "one", "two"} {
		got = append(got, g.Enter(t.Context(), client))
	}
	if want := []bool{true, true, true, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("let in: %t, want %t", got, want)
	}
}

// TestGateLineIsShared checks that a full line still accepts a client with few waiting requests. The client with the
// most waiting requests loses one.
func TestGateLineIsShared(t *testing.T) {
	t.Parallel()
	g := NewGate(GateSize{Slots: 1, Line: 4, LinePerClient: 4, Wait: time.Minute})
	g.Enter(t.Context(), "many")
	type answer struct {
		client  string
		entered bool
	}
	answers := make(chan answer, 10)
	enter := func(client string, waiting int) {
		go func() { answers <- answer{client, g.Enter(t.Context(), client)} }()
		waitFor(t, func() bool { return g.Waiting() == waiting })
	}
	for i := range 4 {
		enter("many", i+1)
	}
	if g.Enter(t.Context(), "many") {
		t.Error("a fifth in line was let in")
	}
	enter("one", 4)
	if got := <-answers; got != (answer{"many", false}) {
		t.Errorf("got %v", got)
	}
	g.Leave("many")
	if got := <-answers; got != (answer{"one", true}) {
		t.Errorf("got %v", got)
	}
}

func waitFor(t *testing.T, met func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited a minute")
		}
	}
}

// listenerTrial is a test case of Listener: its limits, and the reason for which it refuses each of three
// connections.
type listenerTrial struct {
	name            string
	most, byAddress int
	exempt          func(netip.Addr) bool
	want            []Reason // reason for refusing each of three connections; "" means accepted
}

func TestListener(t *testing.T) {
	t.Parallel()
	for _, test := range []listenerTrial{
		{"no limit", 0, 0, nil, []Reason{"", "", ""}},
		{"in total", 2, 0, nil, []Reason{"", "", TooMany}},
		{"from an address", 0, 1, nil, []Reason{"", TooManyFromAddress, TooManyFromAddress}},
		{"exempt", 2, 1, Near, []Reason{"", "", TooMany}},
		{"exempt others", 0, 1, func(netip.Addr) bool { return false }, []Reason{"", TooManyFromAddress, TooManyFromAddress}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t)
		})
	}
}

// run opens three connections from one address, and closes the accepted ones at the end.
func (test listenerTrial) run(t *testing.T) {
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
}
