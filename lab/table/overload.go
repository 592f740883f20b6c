package main

import (
	"context"
	"fmt"
	"time"

	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/drive"
)

// flood is the result for a target that got requests at twice its maximum rate.
type flood struct {
	target string
	rate   float64 // it can answer
	*drive.Result
}

const (
	overloadFactor = 2
	// overloadClients is how many connections there are then: more than the service works on and keeps in line together, so
	// that it is the service that turns requests away and not the generator that holds them back.
	overloadClients = 1024
	// maxWait is how long who is accepted may wait: a second in line, and one to be worked on.
	maxWait = 2 * time.Second
	// maxWaitGrowth is how much longer they may wait in the second half than in the first.
	maxWaitGrowth = 1.5
)

// floods sends each of the service's targets twice as many list requests as it can answer.
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

// strange returns the number of requests that failed for another reason than being turned away (429, 503) or not
// sent.
func (f flood) strange() int {
	return f.Bad() - f.Status[503] - f.Status[429] - f.Faults[drive.Unsent]
}

// accepted returns the durations of the answered requests, in total and by half. due reports whether they count from
// when a request was due. If the generator was late, they count from when it was sent.
func (f flood) accepted() (all drive.Times, halves [2]drive.Times, due bool) {
	if generatorLate(f.Result) {
		return f.Served, [2]drive.Times{f.Halves[0].Served, f.Halves[1].Served}, false
	}
	return f.Took, [2]drive.Times{f.Halves[0].Took, f.Halves[1].Took}, true
}

// bounded reports whether answered requests wait at most maxWait (p99), and not much longer in the second half than
// in the first.
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
