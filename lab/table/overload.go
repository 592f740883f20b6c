package main

import (
	"context"
	"fmt"
	"time"

	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/drive"
)

// flood is the result of sending a target requests at twice its maximum rate.
type flood struct {
	target string
	rate   float64 // maximum rate of the target, in replies per second
	*drive.Result
}

const (
	overloadFactor = 2
	// overloadClients is the number of connections during an overload. It exceeds the requests that the service runs
	// and queues together. So the service refuses requests, and the generator does not hold them back.
	overloadClients = 1024
	// maxWait limits the latency of accepted requests: a second in the queue, and one to run.
	maxWait = 2 * time.Second
	// maxWaitGrowth limits the ratio of their latency in the second half to that in the first.
	maxWaitGrowth = 1.5
)

// floods sends each target that is the service twice as many list requests as it can answer. Targets without a
// measured rate are skipped.
func (e effort) floods(ctx context.Context, o command.Output, all []*target, cells map[key]*cell, length time.Duration) ([]flood, error) {
	var out []flood
	for _, t := range all {
		if t.kind != cachedTarget && t.kind != uncachedTarget {
			continue
		}
		best, _ := bestThroughput(cells, t.String(), list, e.Clients)
		if best == nil || best.rate() == 0 {
			continue
		}
		config := e.loadOn(t, list, overloadClients)
		config.Rate, config.Length, config.Warm = overloadFactor*best.rate(), length, time.Second
		r, err := drive.Run(ctx, config)
		if err == nil {
			err = t.Alive()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
		out = append(out, flood{t.String(), best.rate(), r})
		fmt.Fprintf(o.Err, "%s at twice its rate\n", t)
	}
	return out, nil
}

// strange returns the number of requests that failed for another reason than a refusal (429, 503) or not being sent.
func (f flood) strange() int {
	return f.Bad() - f.Status[503] - f.Status[429] - f.Faults[drive.Unsent]
}

// accepted returns the latencies of successful requests, in total and by half. due reports whether they count from
// when a request was due. If the generator was late, they count from when it was sent.
func (f flood) accepted() (all drive.Times, halves [2]drive.Times, due bool) {
	if generatorLate(f.Result) {
		return f.Served, [2]drive.Times{f.Halves[0].Served, f.Halves[1].Served}, false
	}
	return f.Took, [2]drive.Times{f.Halves[0].Took, f.Halves[1].Took}, true
}

// bounded reports whether the p99 of successful requests is at most maxWait, and hardly grows between the halves. It
// is false without successful requests.
func (f flood) bounded() bool {
	all, halves, due := f.accepted()
	if due && f.Faults[drive.Unsent] > 0 {
		return false
	}
	first, second := halves[0].At(0.99), halves[1].At(0.99)
	// Below a tenth of the bound it is noise that grows.
	grows := float64(second) > maxWaitGrowth*float64(first) && second > maxWait/10
	return len(all) > 0 && all.At(0.99) <= maxWait && !grows
}
