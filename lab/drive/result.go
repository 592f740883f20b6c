package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Fault is the reason why a request got no complete reply, "" if it got one.
type Fault string

// Unsent to Other are the reasons why a request got no complete reply.
const (
	Unsent    Fault = "unsent" // no connection was free until long after the end
	TimedOut  Fault = "timed out"
	Closed    Fault = "closed" // by the server, before the reply was complete
	Refused   Fault = "refused"
	Cancelled Fault = "cancelled"
	Garbled   Fault = "garbled" // no HTTP
	Other     Fault = "other"
)

func faultOf(err error) Fault {
	var timeout net.Error
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errGarbled):
		return Garbled
	case errors.Is(err, context.Canceled), errors.Is(err, net.ErrClosed):
		return Cancelled
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return TimedOut
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return Closed
	}
	return Other
}

// Sample is the outcome of one request. Times count from the start of the load.
type Sample struct {
	Due    time.Duration // when it should be sent; in a closed loop, when the client is free
	Told   time.Duration // when the generator passed it to a client
	Sent   time.Duration // when a connection was free for it
	Done   time.Duration // when the reply was complete, or the fault occurred
	Status int           // 0 means no reply
	Fault  Fault
}

// maxLateness is how late a request may be passed to a client, or sent, without counting as late.
const maxLateness = time.Millisecond

// Result is the outcome of a load. Unless a comment says otherwise, counts are of requests that were due after the
// warm-up. It stores all durations, so percentiles are exact.
type Result struct {
	Wanted float64       // requests per second of an open loop; 0 for a closed one
	Length time.Duration // duration of measuring

	All     int // replies of the whole load, by which CPU time is divided
	Due     int // requests that were due
	Done    int // replies 2xx that came while it was measured, whenever they were due
	Status  map[int]int
	Faults  map[Fault]int
	Late    int // requests passed to a client over a millisecond late, because the generator was too slow
	Waited  int // requests that waited over a millisecond for a free connection
	LateMax time.Duration

	Took   Times   // durations until replies 2xx, from when requests were due
	Served Times   // durations until the same replies, from when requests were sent
	Halves [2]Took // those of requests due in the first half of the time, and in the second
}

// Took contains the durations until replies 2xx, for requests in one half of a load. They count from when requests
// were due (Took) or sent (Served).
type Took struct{ Took, Served Times }

// Times are durations in ascending order.
type Times []time.Duration

// At returns a percentile: the smallest duration that a share (0 to 1) of all durations does not exceed. It returns 0
// for no durations.
func (t Times) At(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	n := int(share * float64(len(t)))
	if float64(n) < share*float64(len(t)) {
		n++
	}
	return t[min(max(n-1, 0), len(t)-1)]
}

// add counts a sample of a load that is measured between the times from and to. All counts every reply, and Done
// those that came within the time. The other counts are of requests that were due within it.
func (r *Result) add(s Sample, from, to time.Duration) {
	if s.Status != 0 {
		r.All++
	}
	ok := s.Fault == "" && s.Status >= 200 && s.Status < 300
	if ok && s.Done >= from && s.Done < to {
		r.Done++
	}
	if s.Due < from || s.Due >= to {
		return
	}
	r.Due++
	if late := s.Told - s.Due; late > maxLateness {
		r.Late++
		r.LateMax = max(r.LateMax, late)
	}
	switch {
	case s.Fault != "":
		if r.Faults == nil {
			r.Faults = make(map[Fault]int)
		}
		r.Faults[s.Fault]++
	default:
		if r.Status == nil {
			r.Status = make(map[int]int)
		}
		r.Status[s.Status]++
	}
	if s.Fault != Unsent && s.Sent-s.Told > maxLateness {
		r.Waited++
	}
	if !ok {
		return
	}
	half := &r.Halves[0]
	if s.Due >= from+(to-from)/2 {
		half = &r.Halves[1]
	}
	r.Took, half.Took = append(r.Took, s.Done-s.Due), append(half.Took, s.Done-s.Due)
	r.Served, half.Served = append(r.Served, s.Done-s.Sent), append(half.Served, s.Done-s.Sent)
}

func (r *Result) sort() {
	for _, t := range []Times{
		r.Took, r.Served, r.Halves[0].Took, r.Halves[0].Served, r.Halves[1].Took, r.Halves[1].Served,
	} {
		slices.Sort(t)
	}
}

// Rate returns the number of replies with a status 2xx per second.
func (r *Result) Rate() float64 { return float64(r.Done) / r.Length.Seconds() }

// Bad returns the number of requests without a complete reply or with another status than 2xx.
func (r *Result) Bad() (n int) {
	for status, count := range r.Status {
		if status < 200 || status > 299 {
			n += count
		}
	}
	for _, count := range r.Faults {
		n += count
	}
	return n
}

// Errors summarises the requests that Bad counts, such as "503: 12, timed out: 1". It returns "none" for no such
// request.
func (r *Result) Errors() string {
	var out []string
	for _, status := range slices.Sorted(maps.Keys(r.Status)) {
		if status < 200 || status > 299 {
			out = append(out, fmt.Sprintf("%d: %d", status, r.Status[status]))
		}
	}
	for _, fault := range slices.Sorted(maps.Keys(r.Faults)) {
		out = append(out, fmt.Sprintf("%s: %d", fault, r.Faults[fault]))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// Merge adds the result of another run of the same load. Rate then is the rate over both runs.
func (r *Result) Merge(o *Result) {
	r.Length += o.Length
	r.All, r.Due, r.Done = r.All+o.All, r.Due+o.Due, r.Done+o.Done
	r.Late, r.Waited, r.LateMax = r.Late+o.Late, r.Waited+o.Waited, max(r.LateMax, o.LateMax)
	if r.Status == nil {
		r.Status = make(map[int]int)
	}
	if r.Faults == nil {
		r.Faults = make(map[Fault]int)
	}
	for status, n := range o.Status {
		r.Status[status] += n
	}
	for fault, n := range o.Faults {
		r.Faults[fault] += n
	}
	r.Took, r.Served = append(r.Took, o.Took...), append(r.Served, o.Served...)
	for i := range r.Halves {
		r.Halves[i].Took = append(r.Halves[i].Took, o.Halves[i].Took...)
		r.Halves[i].Served = append(r.Halves[i].Served, o.Halves[i].Served...)
	}
	r.sort()
}

// Median returns the median of values. It is the lower of two, and the zero value for an empty list.
func Median[T cmp.Ordered](values []T) (m T) {
	if len(values) == 0 {
		return m
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
