package limit

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Gate bounds how many requests run concurrently and shares the slots between clients. A request without a slot waits
// briefly in a line of bounded length, so that it is refused early.
//
// A free slot goes to the client with the fewest running requests. If the line is full, the client with the most
// waiting requests loses its last one to a client with fewer. So a client with a hundred connections delays others by
// one request.
type Gate struct {
	size GateSize

	mu      sync.Mutex
	inside  int
	waiting int
	clients map[string]*gateClient
	steps   int64 // requests that came and were let in, so far
}

// GateSize configures a gate. Slots is required.
type GateSize struct {
	Slots          int           // at once
	SlotsPerClient int           // of one client; 0 means all slots
	Line           int           // that wait
	LinePerClient  int           // of one client; 0 means the whole line
	Wait           time.Duration // at most
}

// gateClient is a client with requests inside or in line.
type gateClient struct {
	inside int
	line   []*gateWaiter
	last   int64 // Gate.steps when one was let in last; 0 means never
}

// gateWaiter is a request in line.
type gateWaiter struct {
	answer chan bool // buffered; the answer is sent once, under Gate.mu
	done   bool      // answered
	came   int64     // Gate.steps when it joined the line
}

// NewGate makes an empty gate.
func NewGate(size GateSize) *Gate {
	size.Slots = max(1, size.Slots)
	if size.SlotsPerClient == 0 {
		size.SlotsPerClient = size.Slots
	}
	if size.LinePerClient == 0 {
		size.LinePerClient = size.Line
	}
	return &Gate{size: size, clients: make(map[string]*gateClient)}
}

// Enter waits for a slot for a request of the client. It reports whether the request got one, which it has until Leave.
func (g *Gate) Enter(ctx context.Context, client string) bool {
	w, entered := g.join(client)
	if w == nil {
		return entered
	}
	patience := time.NewTimer(g.size.Wait)
	defer patience.Stop()
	select {
	case entered = <-w.answer:
		return entered
	case <-patience.C:
	case <-ctx.Done():
	}
	return g.giveUp(client, w)
}

// join gives a request a slot or puts it in line. A nil waiter means that the result is final.
func (g *Gate) join(client string) (w *gateWaiter, entered bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.clients[client]
	if c == nil {
		c = &gateClient{}
		g.clients[client] = c
	}
	defer g.forget(client, c)
	// A request with room before it in line is one whose client has all the slots it may have.
	if len(c.line) == 0 && g.hasRoom(c) {
		g.take(c)
		return nil, true
	}
	if len(c.line) >= g.size.LinePerClient || g.waiting >= g.size.Line && !g.dropLast(len(c.line)) {
		return nil, false
	}
	g.steps++
	w = &gateWaiter{answer: make(chan bool, 1), came: g.steps}
	c.line = append(c.line, w)
	g.waiting++
	return w, false
}

func (g *Gate) take(c *gateClient) {
	g.steps++
	c.last = g.steps
	c.inside++
	g.inside++
}

func (g *Gate) hasRoom(c *gateClient) bool {
	return g.inside < g.size.Slots && c.inside < g.size.SlotsPerClient
}

// dropLast refuses the last waiting request of the client with the longest line. It does so only if a client with fewer
// requests, plus one, would still have a shorter line.
func (g *Gate) dropLast(fewer int) bool {
	var longest *gateClient
	var name string
	for key, c := range g.clients {
		if longest == nil || len(c.line) > len(longest.line) {
			longest, name = c, key
		}
	}
	if longest == nil || len(longest.line) <= fewer+1 {
		return false
	}
	last := longest.line[len(longest.line)-1]
	g.remove(longest, last)
	g.forget(name, longest)
	last.finish(false)
	return true
}

// giveUp removes a request from the line. It reports whether the request got a slot meanwhile.
func (g *Gate) giveUp(client string, w *gateWaiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.done {
		return <-w.answer
	}
	c := g.clients[client]
	g.remove(c, w)
	g.forget(client, c)
	return false
}

// Leave makes room again for a request of the client. Each Enter that succeeded needs one.
func (g *Gate) Leave(client string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.clients[client]
	c.inside--
	g.inside--
	for g.letIn() {
	}
	g.forget(client, c)
}

// letIn gives a free slot to the client with the fewest running requests. Among equals it chooses the client that got a
// slot longest ago.
func (g *Gate) letIn() bool {
	var next *gateClient
	for _, c := range g.clients {
		if len(c.line) == 0 || !g.hasRoom(c) {
			continue
		}
		if next == nil || c.before(next) {
			next = c
		}
	}
	if next == nil {
		return false
	}
	w := next.line[0]
	g.remove(next, w)
	g.take(next)
	w.finish(true)
	return true
}

// before reports whether a client with requests in line is let in before another.
func (c *gateClient) before(other *gateClient) bool {
	return cmp.Or(
		cmp.Compare(c.inside, other.inside),
		cmp.Compare(c.last, other.last),
		cmp.Compare(c.line[0].came, other.line[0].came),
	) < 0
}

func (g *Gate) remove(c *gateClient, w *gateWaiter) {
	if i := slices.Index(c.line, w); i >= 0 {
		c.line = slices.Delete(c.line, i, i+1)
		g.waiting--
	}
}

// forget drops a client without requests.
func (g *Gate) forget(client string, c *gateClient) {
	if c.inside == 0 && len(c.line) == 0 {
		delete(g.clients, client)
	}
}

func (w *gateWaiter) finish(entered bool) {
	w.done = true
	w.answer <- entered
}

// Busy returns how many requests are inside.
func (g *Gate) Busy() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside
}

// Waiting returns how many requests are in line.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}

// Slots returns how many requests may run concurrently.
func (g *Gate) Slots() int { return g.size.Slots }
