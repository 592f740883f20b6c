package server

import (
	"runtime"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/limit"
)

// A request at a busy server waits up to gateWait. The line has room for gateLine requests per slot.
const (
	gateWait = time.Second
	gateLine = 8
)

// newGate returns the gate for all requests. One address leaves a quarter of its slots to others.
func newGate(slots int) *limit.Gate {
	return limit.NewGate(limit.GateSize{
		Slots: slots, SlotsPerClient: slots - slots/4, Line: gateLine * slots, Wait: gateWait,
	})
}

// largeBody is the size in bytes above which a body is parsed behind a gate of its own. Parsing needs a processor, and
// half of the processors stay free for other requests.
const largeBody = 64 << 10

func newLargeGate() *limit.Gate {
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	return limit.NewGate(limit.GateSize{Slots: slots, Line: 128 * slots, Wait: gateWait})
}

// Settings of the gate for requests that decode or download pictures. Such a request may take many seconds and most of
// a processor.
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

// gateSlot is the place of a request behind a gate. The zero value is none.
type gateSlot struct {
	gate   *limit.Gate
	client string
}

// leaveGate frees the slot of a request, if it has one.
func (x *exchange) leaveGate() {
	if x.slot.gate != nil {
		x.slot.gate.Leave(x.slot.client)
		x.slot = gateSlot{}
	}
}

// changeGate frees the slot of a request and waits for one at another gate. The request has no slot while it waits.
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

// clientKey returns the client that slots are counted for: a user, else an address.
func (x *exchange) clientKey() string {
	if x.caller.UserID != 0 {
		return "u:" + strconv.FormatInt(x.caller.UserID, 10)
	}
	return "a:" + limit.Key(x.client)
}

// enterGate sets the deadline of the work and waits for a slot.
func (s *Server) enterGate(c *fiber.Ctx) error {
	x := exchangeOf(c)
	x.setDeadline(c, s.Timeout)
	full := &refusedError{error: errBusy, retry: time.Second, reason: reasonBusy}
	if err := x.changeGate(s.gate, x.clientKey(), full); err != nil {
		return err
	}
	return c.Next()
}

// enterLargeGate has a request with a large body wait for a slot.
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

// enterMediaGate waits for a slot to decode or download pictures. The request occupies the slot until its reply is
// sent.
func (s *Server) enterMediaGate(x *exchange) error {
	return x.changeGate(s.media, x.clientKey(), &refusedError{error: errBusy, retry: mediaRetry, reason: reasonMedia})
}
