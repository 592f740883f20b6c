package server

import (
	"runtime"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/limit"
)

// gateWait is how long a request waits for a slot at a busy server. The constant gateLine is how many requests may
// wait for each slot.
const (
	gateWait = time.Second
	gateLine = 8
)

// newGate returns the gate for all requests. One client may occupy at most three quarters of its slots.
func newGate(slots int) *limit.Gate {
	return limit.NewGate(limit.GateSize{
		Slots: slots, SlotsPerClient: slots - slots/4, Line: gateLine * slots, Wait: gateWait,
	})
}

// largeBody is the body size in bytes above which a request waits at a gate of its own. Parsing a large body
// needs a processor. That gate keeps half of the processors free for other requests.
const largeBody = 64 << 10

func newLargeGate() *limit.Gate {
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	return limit.NewGate(limit.GateSize{Slots: slots, Line: 128 * slots, Wait: gateWait})
}

// mediaSlots to mediaRetry are the settings of the gate for requests that decode or download pictures. One such
// request may use most of a processor for many seconds.
const (
	mediaSlots       = 16
	mediaSlotsOfUser = 4
	mediaLine        = 256
	mediaLineOfUser  = 64
	mediaWait        = 10 * time.Second
	mediaRetry       = 5 * time.Second
)

func newMediaGate() *limit.Gate {
	return limit.NewGate(limit.GateSize{
		Slots: mediaSlots, SlotsPerClient: mediaSlotsOfUser, Line: mediaLine, LinePerClient: mediaLineOfUser, Wait: mediaWait,
	})
}

// seriesSlots to seriesRetry are the settings of the gate for requests that write many occurrences of a series.
// One such write may store 16 MiB in one transaction, and on SQLite other writers wait for it. They get their
// turn before the next such write, because a write leaves the gate after its transaction.
const (
	seriesSlots      = 1
	seriesLine       = 256
	seriesLineOfUser = 16
	seriesWait       = 10 * time.Second
	seriesRetry      = 5 * time.Second
)

func newSeriesGate() *limit.Gate {
	return limit.NewGate(limit.GateSize{Slots: seriesSlots, Line: seriesLine, LinePerClient: seriesLineOfUser, Wait: seriesWait})
}

// gateSlot is the slot that a request occupies at a gate. The zero value means that it has none.
type gateSlot struct {
	gate   *limit.Gate
	client string
}

// leaveGate frees the gate slot of a request, if it has one.
func (x *exchange) leaveGate() {
	if x.slot.gate != nil {
		x.slot.gate.Leave(x.slot.client)
		x.slot = gateSlot{}
	}
}

// changeGate frees the slot of a request, then waits for a slot at another gate. It returns the error full if there
// is none in time. The argument client is the key by which that gate counts slots.
func (x *exchange) changeGate(to *limit.Gate, client string, full *refusedError) error {
	if x.slot.gate == to {
		return nil
	}
	x.leaveGate()
	if !to.Enter(x.ctx, client) {
		return full
	}
	x.slot = gateSlot{to, client}
	return nil
}

// clientKey returns the key by which gates count slots: the user, or the address of an anonymous client.
func (x *exchange) clientKey() string {
	if x.caller.UserID != 0 {
		return "u:" + strconv.FormatInt(x.caller.UserID, 10)
	}
	return "a:" + limit.Key(x.client)
}

// enterGate sets the deadline of a request and waits for a slot at the gate for all requests.
func (s *Server) enterGate(c *fiber.Ctx) error {
	x := exchangeOf(c)
	x.setDeadline(c, s.Timeout)
	full := &refusedError{error: errBusy, retry: time.Second, reason: reasonBusy}
	if err := x.changeGate(s.gate, x.clientKey(), full); err != nil {
		return err
	}
	return c.Next()
}

// enterLargeGate makes a request with a large body wait for a slot at the gate for large bodies.
func (s *Server) enterLargeGate(c *fiber.Ctx) error {
	if len(c.BodyRaw()) > largeBody {
		x := exchangeOf(c)
		full := &refusedError{error: errBusy, retry: time.Second, reason: reasonLarge}
		if err := x.changeGate(s.large, x.clientKey(), full); err != nil {
			return err
		}
	}
	return c.Next()
}

// enterMediaGate waits for a slot to decode or download pictures. The request occupies the slot until its reply
// is complete. Sending the reply needs no slot.
func (s *Server) enterMediaGate(x *exchange) error {
	return x.changeGate(s.media, x.clientKey(), &refusedError{error: errBusy, retry: mediaRetry, reason: reasonMedia})
}

// enterSeriesGate waits for a slot to write many occurrences. The request occupies the slot until its reply is
// complete.
func (s *Server) enterSeriesGate(x *exchange) error {
	return x.changeGate(s.series, x.clientKey(), &refusedError{error: errBusy, retry: seriesRetry, reason: reasonSeries})
}
