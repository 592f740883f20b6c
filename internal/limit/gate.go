package limit

import (
	"context"
	"sync/atomic"
	"time"
)

// Gate bounds how much is done at once. Who finds it full waits a little, in a line of bounded length, and is refused
// early rather than late.
type Gate struct {
	slots   chan struct{}
	wait    time.Duration
	line    int64
	waiting atomic.Int64
}

// NewGate is a gate for that many at once, with a line of that many who wait that long at most.
func NewGate(slots, line int, wait time.Duration) *Gate {
	return &Gate{slots: make(chan struct{}, max(1, slots)), line: int64(line), wait: wait}
}

// Enter reports whether there is room, and takes it until Leave.
func (g *Gate) Enter(ctx context.Context) bool {
	select {
	case g.slots <- struct{}{}:
		return true
	default:
	}
	if g.waiting.Add(1) > g.line {
		g.waiting.Add(-1)
		return false
	}
	defer g.waiting.Add(-1)
	patience := time.NewTimer(g.wait)
	defer patience.Stop()
	select {
	case g.slots <- struct{}{}:
		return true
	case <-patience.C:
	case <-ctx.Done():
	}
	return false
}

// Leave makes room again. Each Enter that succeeded needs one.
func (g *Gate) Leave() { <-g.slots }

// Busy is how many are inside, Waiting how many are in line.
func (g *Gate) Busy() int { return len(g.slots) }

// Waiting is how many wait for room.
func (g *Gate) Waiting() int { return int(max(0, g.waiting.Load())) }
