package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// ReplicaOptions are the settings for using replicas.
type ReplicaOptions struct {
	// Revision is the query for the number of the newest change. No row means 0.
	Revision string
	// MaxLag is the largest replication lag at which a replica is still used.
	MaxLag time.Duration
	// Check returns an error for a replica that must not be used. It is called before the first use of a
	// replica, and again until it returns nil.
	Check func(context.Context, *Store) error
}

// OpenReplicas opens a store for reads only. It reads from one of the replicas with the given URLs, and from s
// while no replica is usable. A replica that is unavailable or lags too far behind is skipped until it recovers
// (decision 049). A replica that cannot be used without a change makes OpenReplicas fail. The caller must close
// the result before s.
func (s *Store) OpenReplicas(ctx context.Context, urls []string, o ReplicaOptions) (*Store, error) {
	locations, err := s.replicaLocations(urls)
	if err != nil {
		return nil, err
	}
	all := make([]*member, len(locations))
	shown := make([]string, len(locations))
	for i, l := range locations {
		if all[i], err = l.replica(o); err != nil {
			return nil, err
		}
		shown[i] = l.String()
	}
	own, err := s.member(o.Revision)
	if err != nil {
		return nil, err
	}
	first := locations[0]
	first.shown = strings.Join(shown, ",")
	servers := newMembers(append(all, own))
	choice := &replicaChoice{maxLag: o.MaxLag, begin: rand.IntN(len(all)), usable: make([]int, len(all))} //nolint:gosec // it spreads processes
	servers.choose = func(states []memberState, current int) int { return choice.choose(time.Now(), states, current) }
	servers.start(ctx)
	reading := newStore(first.pooledForReading(servers), first)
	reading.members = servers
	if err := servers.misconfigured(); err != nil {
		return nil, closeAfter(reading, err)
	}
	return reading, nil
}

// replicaLocations parses the URLs of replicas.
func (s *Store) replicaLocations(urls []string) ([]location, error) {
	out := make([]location, len(urls))
	for i, text := range urls {
		l, err := parseURL(text)
		switch {
		case err != nil:
			return nil, err
		case l.mysql == nil || s.url.mysql == nil:
			return nil, fmt.Errorf("%w: replicas are of MySQL", ErrURL)
		case l.hosts != nil:
			return nil, fmt.Errorf("%w: want one host for each replica", ErrURL)
		}
		l.limit = s.url.limit
		out[i] = l
	}
	return out, nil
}

// pooledForReading returns a connection pool with the location's limits. Its connections are used for reading only.
func (l location) pooledForReading(connector *members) *sql.DB {
	db := sql.OpenDB(preparingConnector{connector, &useCounter{after: l.prepareAfter}, true})
	l.pool.limit(db)
	return db
}

// member returns the primary database as a server of the group that OpenReplicas reads from. revision is the query
// for the calendar's revision.
func (s *Store) member(revision string) (*member, error) {
	m := &member{address: "the database itself", connector: s.members, close: func() error { return nil }}
	if s.members == nil {
		var err error
		if m.connector, err = s.url.connector(); err != nil {
			return nil, err
		}
	}
	m.ask = func(ctx context.Context) (state memberState) {
		state.revision, state.err = askRevision(ctx, s.DB, revision)
		return state
	}
	return m, nil
}

// replica returns the replica at a location as a server of the group that OpenReplicas reads from.
func (l location) replica(o ReplicaOptions) (*member, error) {
	l.mysql.Timeout = min(l.mysql.Timeout, memberTimeout)
	connector, err := l.connector()
	if err != nil {
		return nil, err
	}
	db := openProbe(connector)
	one := newStore(db, l)
	checked := false
	ask := func(ctx context.Context) (s memberState) {
		if !checked {
			if s.err = o.Check(ctx, one); s.err != nil {
				return s
			}
			checked = true
		}
		s.revision, s.err = askRevision(ctx, db, o.Revision)
		return s
	}
	return &member{address: l.mysql.Addr, connector: connector, ask: ask, close: db.Close}, nil
}

func askRevision(ctx context.Context, db *sql.DB, query string) (n int64, err error) {
	if err = db.QueryRowContext(ctx, query).Scan(&n); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return n, err
}

// settledRounds is the number of successive polls at which a replica must be usable before a process reads
// older data from it than it read before.
const settledRounds = 10

// replicaChoice chooses the server to read from: one of the replicas, or the primary database, which is the
// last server.
type replicaChoice struct {
	maxLag time.Duration
	begin  int // index at which the search for a replica starts; differs between processes
	usable []int
	past   revisionHistory
	shown  int64 // newest revision that was read, as of the previous poll
}

// choose returns the index of the server to read from. It keeps a replica as long as it is usable. If a replica lacks
// changes that were already read, it is chosen only after settledRounds polls, because readers then see an older
// state once. If the primary database does not answer, it is chosen at once.
func (c *replicaChoice) choose(now time.Time, states []memberState, current int) int {
	itself := len(states) - 1
	if states[itself].err == nil {
		c.past.add(now, states[itself].revision)
	}
	for i := range c.usable {
		c.rate(now, &states[i], i)
	}
	next := itself
	switch {
	case current >= 0 && current < itself && c.usable[current] > 0:
		next = current
	default:
		for k := range c.usable {
			i := (c.begin + k) % len(c.usable)
			fresh := states[i].revision >= c.shown || states[itself].err != nil
			if c.usable[i] > 0 && fresh || c.usable[i] >= settledRounds {
				next = i
				break
			}
		}
	}
	if states[next].err == nil {
		c.shown = states[next].revision
	}
	return next
}

// rate sets s.lag and whether replica i lags too far behind. It also counts the successive polls at which the
// replica was usable.
func (c *replicaChoice) rate(now time.Time, s *memberState, i int) {
	if s.err != nil {
		c.usable[i] = 0
		return
	}
	s.lag, s.lagKnown = c.past.lag(now, s.revision)
	most := c.maxLag
	if c.usable[i] == 0 {
		most /= 2 // half the limit, so that a replica near the limit does not alternate between used and skipped
	}
	s.leftOut = s.lag > most
	if s.leftOut || !s.lagKnown {
		c.usable[i] = 0
		return
	}
	c.usable[i]++
}

// revisionHistory records at which time the database reached which revision. It yields the lag of a replica
// without the privileges that the replica's own status requires. The lag is 0 for a calendar that does not
// change.
type revisionHistory struct {
	samples []revisionSample // sorted by time and by revision
}

type revisionSample struct {
	at       time.Time
	revision int64
}

// maxSamples is the number of recorded samples. At one per second they cover more than a quarter of an hour.
const maxSamples = 1000

func (h *revisionHistory) add(now time.Time, revision int64) {
	n := len(h.samples)
	switch {
	case n > 0 && revision == h.samples[n-1].revision:
		return
	case n > 0 && revision < h.samples[n-1].revision:
		h.samples = h.samples[:0] // a failover has lost writes
	case n == maxSamples:
		h.samples = append(h.samples[:0], h.samples[1:]...)
	}
	h.samples = append(h.samples, revisionSample{now, revision})
}

// lag returns the time since the first change that a replica at the given revision lacks. The result known is false
// if that change is older than all samples. The lag is then a lower bound.
func (h *revisionHistory) lag(now time.Time, revision int64) (lag time.Duration, known bool) {
	for i, s := range h.samples {
		if s.revision > revision {
			return now.Sub(s.at), i > 0
		}
	}
	return 0, len(h.samples) > 0
}

// ReplicaState is the state of a replica at the last poll.
type ReplicaState struct {
	Address string
	Used    bool
	// Lag is the replication lag. LagKnown is false if it is unknown, for example if the replica is
	// unavailable.
	Lag      time.Duration
	LagKnown bool
}

// ServerChanges returns a number that changes when connections switch to another server. If it is equal before and
// after some statements, one server executed them all. Otherwise later ones may show an older state. It is always 0
// for a single server.
func (s *Store) ServerChanges() int64 {
	if s.members == nil {
		return 0
	}
	return s.members.moves.Load()
}

// Replicas returns the states of the replicas. The store must come from OpenReplicas.
func (s *Store) Replicas() []ReplicaState {
	states, current := s.members.snapshot()
	out := make([]ReplicaState, len(states)-1)
	for i := range out {
		out[i] = ReplicaState{
			Address: s.members.all[i].address, Used: i == current, Lag: states[i].lag,
			LagKnown: states[i].err == nil && states[i].lagKnown,
		}
	}
	return out
}
