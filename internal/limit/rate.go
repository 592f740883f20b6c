// Package limit protects a service from overload. It counts requests by key, in memory or in Redis. It finds
// the client address behind proxies, and limits concurrent requests and connections. It does not depend on
// calendars.
package limit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate allows one request every Interval on average, and up to Burst requests at once after a pause. The zero
// value means no limit.
type Rate struct {
	Interval time.Duration
	Burst    int
}

// maxBurst is the largest Burst, and the largest number of requests per unit of time. It keeps Window within the
// range of a time.Duration. ParseRate limits the time until a full burst to seven days.
const maxBurst = 1_000_000

var errRate = errors.New("want a rate such as 100/s, 600/m or 100/s burst 200, or off")

// ParseRate parses "100/s", "600/m burst 50" or "5000/h", and "off" for no limit. The default burst is the number of
// requests per unit of time.
func ParseRate(text string) (Rate, error) {
	fields := strings.Fields(strings.ToLower(text))
	if len(fields) == 1 && fields[0] == "off" {
		return Rate{}, nil
	}
	if len(fields) != 1 && (len(fields) != 3 || fields[1] != "burst") {
		return Rate{}, errRate
	}
	number, unit, ok := strings.Cut(fields[0], "/")
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	n, err := strconv.Atoi(number)
	if !ok || per == 0 || err != nil || n < 1 || n > maxBurst {
		return Rate{}, errRate
	}
	r := Rate{Interval: per / time.Duration(n), Burst: n}
	if len(fields) == 3 {
		if r.Burst, err = strconv.Atoi(fields[2]); err != nil || r.Burst < 1 || r.Burst > maxBurst {
			return Rate{}, errRate
		}
	}
	if r.Window() > 7*24*time.Hour {
		return Rate{}, fmt.Errorf("%w; the burst may be what seven days allow", errRate)
	}
	return r, nil
}

// Off reports whether there is no limit.
func (r Rate) Off() bool { return r.Interval <= 0 || r.Burst <= 0 }

// Window returns the time after which a full burst is allowed again.
func (r Rate) Window() time.Duration { return r.Interval * time.Duration(r.Burst) }

// Decision is a limiter's decision about one request.
type Decision struct {
	Allowed   bool
	Remaining int           // number of further requests that are allowed now
	Reset     time.Duration // time until a full burst is allowed
	Retry     time.Duration // time until the next request is allowed; 0 means now
	local     bool          // true if this process decided alone although the counts are shared
}

// Limiter counts requests by key. An error means that the shared counts are unavailable; the decision is then
// based on the counts of this process.
type Limiter interface {
	// Take counts one request, if it is allowed.
	Take(ctx context.Context, key string, r Rate) (Decision, error)
	// Look returns the decision about a request without counting it. Remaining and Reset are those before the
	// request.
	Look(ctx context.Context, key string, r Rate) (Decision, error)
	// Refund undoes a Take with the given decision: it brings the next full burst of the key forward by part,
	// which is at most the interval of the rate.
	Refund(ctx context.Context, key string, taken Decision, part time.Duration) error
}

// decide implements the generic cell rate algorithm. Times are in nanoseconds. The parameter due is the time of
// the key's next full burst before this request, and the result next the one after it. The cost is 1 for a
// request, and 0 for a look, which changes nothing.
func decide(now, due int64, r Rate, cost int64) (next int64, d Decision) {
	interval, window := int64(r.Interval), int64(r.Window())
	due = max(due, now)
	next = due + cost*interval
	// A look (cost 0) also tells whether a request would be allowed.
	if wait := due + interval - window - now; wait > 0 {
		return due, Decision{Reset: time.Duration(due - now), Retry: time.Duration(wait)}
	}
	return next, Decision{
		Allowed: true, Remaining: int((window - (next - now)) / interval), Reset: time.Duration(next - now),
	}
}
