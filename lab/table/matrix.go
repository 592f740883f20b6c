package main

import (
	"context"
	"fmt"
	"time"

	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/drive"
	"github.com/almanac-cal/almanac/lab/proc"
)

// cell contains the measurements of one target, one path and one number of clients.
type cell struct {
	rates   []float64       // replies per second in a closed loop, by round
	cpu     []time.Duration // CPU time of the server per request, by round
	store   []time.Duration // CPU time of the database per request, by round; nil if unknown
	half    drive.Result    // open loop at half of the rate, all rounds
	closed  drive.Result    // closed loop, all rounds
	memory  int64           // peak memory in bytes
	private int64           // largest number of bytes outside mapped files
}

// key identifies a cell by target, path and number of clients.
type key struct {
	target  string // name with the database engine
	path    string
	clients int
}

// effort contains the flags that set the number of clients and how often and how long they are measured.
type effort struct {
	Clients  []int         `help:"Numbers of clients." default:"1,8,64,512"`
	Rounds   int           `help:"Times to measure each, in turn, so that what else the machine does hits all alike." default:"3"`
	Time     time.Duration `help:"How long to measure each time." default:"500ms"`
	Warm     time.Duration `help:"How long to ask before." default:"150ms"`
	Arrivals string        `help:"How requests at a fixed rate come: ${enum}." enum:"even,poisson" default:"even"`
	Seed     uint64        `help:"Of what is random." default:"1"`
	MySQLPID int           `name:"mysql-pid" help:"Process of the MySQL server, if it is on this machine: its CPU time is told, too." placeholder:"PID"`
}

// loadOn returns the configuration of a closed loop with a number of clients, for a path of a target.
func (e effort) loadOn(t *target, path string, clients int) drive.Config {
	return drive.Config{
		Address: t.Address, Request: drive.Each(t.requests[path], e.Seed), Clients: clients, Warm: e.Warm, Length: e.Time,
		Seed: e.Seed, Poisson: e.Arrivals == "poisson",
	}
}

// minRequests is the number of requests that an open loop aims at. For that it may last maxRuns times as long.
const (
	minRequests = 300
	maxRuns     = 3
)

// matrix measures every target and path with every number of clients, in several rounds. Targets without requests for
// a path are skipped.
func (e effort) matrix(ctx context.Context, o command.Output, all []*target) (map[key]*cell, error) {
	cells := make(map[key]*cell)
	for round := range e.Rounds {
		for _, path := range paths {
			for _, clients := range e.Clients {
				for _, t := range all {
					if t.requests[path] == nil {
						continue
					}
					k := key{t.String(), path, clients}
					if cells[k] == nil {
						cells[k] = &cell{}
					}
					if err := e.cell(ctx, t, path, clients, cells[k]); err != nil {
						return nil, fmt.Errorf("%s, %s, %d clients: %w", t, path, clients, err)
					}
				}
				fmt.Fprintf(o.Err, "round %d of %d: GET %s by %d clients\n", round+1, e.Rounds, path, clients)
			}
		}
	}
	return cells, nil
}

// cell measures one round of a target, a path and a number of clients, and adds the results to c.
func (e effort) cell(ctx context.Context, t *target, path string, clients int, c *cell) error {
	pid := t.PID()
	if err := proc.ResetPeak(pid); err != nil {
		return err
	}
	config := e.loadOn(t, path, clients)
	config.Least = max(minP99Requests/4, 2*clients)
	r, used, err := e.watched(ctx, t, config)
	if err != nil {
		return err
	}
	c.rates = append(c.rates, r.Rate())
	c.cpu = append(c.cpu, used.server/time.Duration(max(r.All, 1)))
	if e.MySQLPID != 0 && t.engine == "MySQL" {
		c.store = append(c.store, used.store/time.Duration(max(r.All, 1)))
	}
	c.closed.Merge(r)
	if rate := r.Rate() / 2; rate > 0 {
		config.Rate, config.Seed = rate, e.Seed+uint64(len(c.rates))
		config.Length = min(max(e.Time, time.Duration(minRequests/rate*float64(time.Second))), maxRuns*e.Time)
		half, _, err := e.watched(ctx, t, config)
		if err != nil {
			return err
		}
		c.half.Merge(half)
	}
	u, err := proc.Read(pid)
	if err != nil {
		return err
	}
	c.memory, c.private = max(c.memory, u.Peak), max(c.private, u.Anonymous)
	return nil
}

// cpuTime is the CPU time of the server and of its database. That of the database is 0 if unknown.
type cpuTime struct{ server, store time.Duration }

// watched runs a load and also returns the CPU time that server and database used meanwhile.
func (e effort) watched(ctx context.Context, t *target, config drive.Config) (*drive.Result, cpuTime, error) {
	before, err := e.usage(t)
	if err != nil {
		return nil, cpuTime{}, err
	}
	r, err := drive.Run(ctx, config)
	if err != nil {
		return nil, cpuTime{}, err
	}
	after, err := e.usage(t)
	if err != nil {
		return nil, cpuTime{}, err
	}
	return r, cpuTime{after.server - before.server, after.store - before.store}, t.Alive()
}

func (e effort) usage(t *target) (cpuTime, error) {
	u, err := proc.Read(t.PID())
	if err != nil || e.MySQLPID == 0 {
		return cpuTime{server: u.CPU}, err
	}
	store, err := proc.Read(e.MySQLPID)
	return cpuTime{u.CPU, store.CPU}, err
}

func (c *cell) rate() float64 { return drive.Median(c.rates) }

// all returns the median CPU time per request, including that of the database if it is known.
func (c *cell) all() time.Duration { return drive.Median(c.cpu) + drive.Median(c.store) }

// spread returns the ratio of p99 to p50 at half of the maximum rate. It returns 0 without measurements.
func (c *cell) spread() float64 {
	p50 := c.half.Took.At(0.5)
	if p50 == 0 {
		return 0
	}
	return float64(c.half.Took.At(0.99)) / float64(p50)
}

// generatorLate reports whether the load generator was late for over 1 % of the requests. p99 then measures the
// generator rather than the server.
func generatorLate(r *drive.Result) bool { return r.Late*100 > r.Due }

// bestThroughput returns the cell with a target's greatest throughput on a path, and its number of clients. best is
// nil if nothing was measured.
func bestThroughput(cells map[key]*cell, target, path string, clients []int) (best *cell, at int) {
	for _, n := range clients {
		if c := cells[key{target, path, n}]; c != nil && (best == nil || c.rate() > best.rate()) {
			best, at = c, n
		}
	}
	return best, at
}
