package limit

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Gate limits the number of concurrent requests. A slot is the right to run one request, and the gate shares
// the slots between clients. A request without a slot waits for a short time in a line of limited length. When
// the line is full, requests are refused at once.
//
// A free slot goes to the client with the fewest running requests. If the line is full, a new request may replace
// the last one of the client with the most waiting requests. The new request's client must have at least two fewer.
// So a client with a hundred connections delays others by one request.
type Gate struct {
	size GateSize

	mu      sync.Mutex
	inside  int // number of running requests
	waiting int // number of waiting requests
	clients map[string]*gateClient
	steps   int64 // counter of arrivals and admissions
}

// GateSize configures a gate. Slots must be set.
type GateSize struct {
	Slots          int           // concurrent requests
	SlotsPerClient int           // concurrent requests of one client; 0 means Slots
	Line           int           // waiting requests
	LinePerClient  int           // waiting requests of one client; 0 means Line
	Wait           time.Duration // longest wait of a request
}

// gateClient is a client with running or waiting requests.
type gateClient struct {
	inside int
	line   []*gateWaiter
	last   int64 // Gate.steps at the last admission; 0 means never
}

// gateWaiter is a waiting request.
type gateWaiter struct {
	answer chan bool // buffered; receives one answer, sent under Gate.mu
	done   bool      // true after the answer was sent
	came   int64     // Gate.steps when the request joined the line
}

// NewGate returns a gate without requests.
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

// Enter waits for a slot for a request of the client. It reports whether the request got one. If so, the caller
// must call Leave.
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

// join gives a request a slot, puts it in line, or refuses it. If w is not nil, the request is in line and must
// wait for w.answer. Otherwise entered reports whether it got a slot.
func (g *Gate) join(client string) (w *gateWaiter, entered bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.clients[client]
	if c == nil {
		c = &gateClient{}
		g.clients[client] = c
	}
	defer g.forget(client, c)
	// A client may have waiting requests while slots are free, if it already has all slots that it may have.
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

// dropLast refuses the last waiting request of the client with the longest line, to make room. The new request's
// client has the given number (fewer) of waiting requests. Unless the longest line exceeds fewer+1, dropLast does
// nothing. It reports whether it refused a request.
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

// giveUp removes a request from the line after its wait. It returns true if the request got a slot in the
// meantime.
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

// Leave releases the slot of a request of the client. Each successful Enter requires one call.
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

// letIn gives a free slot to the waiting client with the fewest running requests. Among equal clients it chooses the
// one that got a slot longest ago. It reports whether a request got a slot.
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

// before reports whether c gets a free slot before another waiting client.
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

// forget removes a client without running and waiting requests from the map.
func (g *Gate) forget(client string, c *gateClient) {
	if c.inside == 0 && len(c.line) == 0 {
		delete(g.clients, client)
	}
}

func (w *gateWaiter) finish(entered bool) {
	w.done = true
	w.answer <- entered
}

// Busy returns the number of running requests.
func (g *Gate) Busy() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside
}

// Waiting returns the number of waiting requests.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}

// Slots returns the number of requests that may run concurrently.
func (g *Gate) Slots() int { return g.size.Slots }
