package server

import (
	"context"
	"database/sql"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/almanac-cal/almanac/internal/limit"
)

// Metrics counts what the server does, for Prometheus. A nil *Metrics counts nothing.
type Metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	bytes       *prometheus.CounterVec
	inFlight    prometheus.Gauge
	refused     *prometheus.CounterVec
	deadlines   prometheus.Counter
	connections *prometheus.CounterVec
	statements  *prometheus.HistogramVec
	failures    *prometheus.CounterVec
	replies     *prometheus.CounterVec
}

var (
	requestBuckets   = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 60}
	statementBuckets = []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
)

// NewMetrics returns the metrics of a build with the given version.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_http_requests_total", Help: "Requests answered, by method, route and status.",
		}, []string{"method", "route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "almanac_http_request_duration_seconds", Help: "Time from the whole request to the whole response.",
			Buckets: requestBuckets,
		}, []string{"method", "route", "class"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_http_response_bytes_total", Help: "Bytes of the bodies of responses.",
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "almanac_http_requests_in_flight", Help: "Requests that are not answered yet, those in line included.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_http_requests_refused_total", Help: "Requests that were turned away, by reason.",
		}, []string{"reason"}),
		deadlines: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "almanac_http_requests_late_total", Help: "Requests whose time was over before they were answered.",
		}),
		connections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_http_connections_refused_total", Help: "Connections that were refused, by limit.",
		}, []string{"limit"}),
		statements: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "almanac_sql_duration_seconds", Help: "Time until the database answers, by operation.",
			Buckets: statementBuckets,
		}, []string{"operation"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_sql_errors_total", Help: "Statements that failed, by operation.",
		}, []string{"operation"}),
		replies: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_cache_requests_total", Help: "Requests that the cache was asked for, by what came of it: hit; joined " +
				"one that was being answered; unchanged, which a write since has not touched; miss, and kept from then on; not_kept.",
		}, []string{"result"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "almanac_build_info", Help: "1, with the build as labels.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.durations, m.bytes, m.inFlight, m.refused, m.deadlines, m.connections,
		m.statements, m.failures, m.replies, build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// WithLabelValues creates each counter, so that it is reported as 0 from the start and not missing.
	for _, reason := range refusalReasons {
		m.refused.WithLabelValues(reason)
	}
	for _, why := range []limit.Reason{limit.TooMany, limit.TooManyFromAddress} {
		m.connections.WithLabelValues(string(why))
	}
	for _, result := range []string{"hit", "joined", "unchanged", "miss", "not_kept"} {
		m.replies.WithLabelValues(result)
	}
	for _, operation := range []string{"query", "exec", "begin", "commit", "rollback"} {
		m.statements.WithLabelValues(operation)
		m.failures.WithLabelValues(operation)
	}
	return m
}

// Pool adds metrics of a database connection pool, such as go_sql_open_connections. name is their label.
func (m *Metrics) Pool(name string, db *sql.DB) error {
	return m.registry.Register(collectors.NewDBStatsCollector(db, name))
}

// ReplicaState is the state of a replica of the database.
type ReplicaState struct {
	Address string
	Used    bool
	Lag     float64 // replication lag in seconds; NaN means unknown
}

// Replicas adds gauges of the database replicas. states must always return the same replicas in the same order.
func (m *Metrics) Replicas(states func() []ReplicaState) error {
	for i, r := range states() {
		labels := prometheus.Labels{"replica": r.Address, "number": strconv.Itoa(i + 1)}
		for _, g := range []struct {
			name, help string
			value      func(ReplicaState) float64
		}{
			{
				"almanac_replica_lag_seconds", "How far a replica is behind, NaN if that is not known.",
				func(r ReplicaState) float64 { return r.Lag },
			},
			{
				"almanac_replica_used", "Whether this process reads the replica.",
				func(r ReplicaState) float64 { return boolValue(r.Used) },
			},
		} {
			opts := prometheus.GaugeOpts{Name: g.name, Help: g.help, ConstLabels: labels}
			if err := m.registry.Register(prometheus.NewGaugeFunc(opts, func() float64 { return g.value(states()[i]) })); err != nil {
				return err
			}
		}
	}
	return nil
}

// Files adds a gauge that reports whether a database file was replaced while it was open.
func (m *Metrics) Files(replaced func(context.Context) bool) error {
	return m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "almanac_database_files_replaced",
		Help: "Whether a file of the SQLite database was removed or replaced while it was open: writes are refused then.",
	}, func() float64 { return boolValue(replaced(context.Background())) }))
}

// Series adds a gauge of how many endless series lack occurrences that should exist by now. It is NaN if the
// database does not answer.
func (m *Metrics) Series(overdue func(context.Context) (int, error)) error {
	return m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "almanac_series_overdue",
		Help: "Endless series whose next occurrences should have been made by now: NaN while the database does not answer.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
		defer cancel()
		n, err := overdue(ctx)
		if err != nil {
			return math.NaN()
		}
		return float64(n)
	}))
}

// countTimeout bounds how long a scrape waits for a count from the database.
const countTimeout = 5 * time.Second

// IndexStats reports the state of the index in memory.
type IndexStats interface {
	// Stats returns whether the index is ready, how many events it has, and the revision of the change log that
	// it has reached.
	Stats() (ready bool, events int, revision int64)
}

// Index adds gauges of the index in memory.
func (m *Metrics) Index(x IndexStats) error {
	gauge := func(name, help string, value func() float64) error {
		return m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	if err := gauge("almanac_index_ready", "Whether the index answers lists.", func() float64 {
		ready, _, _ := x.Stats()
		return boolValue(ready)
	}); err != nil {
		return err
	}
	if err := gauge("almanac_index_events", "Events in the index.", func() float64 {
		_, events, _ := x.Stats()
		return float64(events)
	}); err != nil {
		return err
	}
	return gauge("almanac_index_revision", "Revision of the change log that the index knows.", func() float64 {
		_, _, revision := x.Stats()
		return float64(revision)
	})
}

func boolValue(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// SQL is a hook for store.Watch that measures the duration of each statement and counts errors.
func (m *Metrics) SQL(ctx context.Context, operation, _ string) (context.Context, func(error)) {
	began := time.Now()
	return ctx, func(err error) {
		m.statements.WithLabelValues(operation).Observe(time.Since(began).Seconds())
		if err != nil {
			m.failures.WithLabelValues(operation).Inc()
		}
	}
}

// Handler returns the handler of /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// registerServer adds the gauges that read the state shared by the servers of a process.
func (m *Metrics) registerServer(p *process) error {
	for _, g := range []struct {
		name, which string
		gate        *limit.Gate
	}{
		{"requests", "Requests", p.gate},
		{"large", "Requests with a body over 64 KiB", p.large},
		{"media", "Requests that decode or download pictures", p.media},
		{"series", "Requests that write many occurrences", p.series},
	} {
		if err := m.registerGate("almanac_http_"+g.name, g.which, g.gate); err != nil {
			return err
		}
	}
	for _, g := range []struct {
		name, help string
		value      func() float64
	}{
		{"almanac_http_connections", "Open connections.", func() float64 {
			if ln := p.listener.Load(); ln != nil {
				return float64(ln.Open())
			}
			return 0
		}},
		{"almanac_http_sending_bytes", "Bytes of large responses that clients have not taken yet.", func() float64 {
			if ln := p.listener.Load(); ln != nil {
				return float64(ln.Sending())
			}
			return 0
		}},
		{"almanac_http_receiving_bytes", "Bytes of large requests that are there, or announced, and not answered yet.", func() float64 {
			if ln := p.listener.Load(); ln != nil {
				return float64(ln.Receiving())
			}
			return 0
		}},
		{"almanac_ready", "Whether the server should be sent requests, as /readyz says.", func() float64 {
			ready, _ := p.newest.Load().ready(context.Background(), false)
			return boolValue(ready)
		}},
		{"almanac_ready_write", "Whether the server can write, too, as /readyz/write says.", func() float64 {
			ready, _ := p.newest.Load().ready(context.Background(), true)
			return boolValue(ready)
		}},
		{"almanac_cache_bytes", "Size of the responses that are kept, about.", func() float64 {
			cache := p.newest.Load().cache
			if cache == nil {
				return 0
			}
			size, _ := cache.Stats()
			return float64(size)
		}},
		{"almanac_cache_replies", "Responses that are kept, about.", func() float64 {
			cache := p.newest.Load().cache
			if cache == nil {
				return 0
			}
			_, replies := cache.Stats()
			return float64(replies)
		}},
		{"almanac_record_cache_bytes", "Size of the records that are kept as lists show them, about.", func() float64 {
			size, _, _, _ := p.newest.Load().API.RecordCache.Stats()
			return float64(size)
		}},
		{"almanac_record_cache_records", "Records that are kept as lists show them, about.", func() float64 {
			_, records, _, _ := p.newest.Load().API.RecordCache.Stats()
			return float64(records)
		}},
	} {
		if err := m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: g.name, Help: g.help}, g.value)); err != nil {
			return err
		}
	}
	for result, count := range map[string]func() int64{
		"hit":  func() int64 { _, _, hits, _ := p.newest.Load().API.RecordCache.Stats(); return hits },
		"miss": func() int64 { _, _, _, made := p.newest.Load().API.RecordCache.Stats(); return made },
	} {
		opts := prometheus.CounterOpts{
			Name: "almanac_record_cache_requests_total", Help: "Records of lists, by what came of asking the cache of records: hit; miss.",
			ConstLabels: prometheus.Labels{"result": result},
		}
		if err := m.registry.Register(prometheus.NewCounterFunc(opts, func() float64 { return float64(count()) })); err != nil {
			return err
		}
	}
	return nil
}

// registerGate adds the gauges of a gate. Their names begin with name, and their help texts with which.
func (m *Metrics) registerGate(name, which string, gate *limit.Gate) error {
	for suffix, g := range map[string]struct {
		help  string
		value func() int
	}{
		"_working": {" that are worked on.", gate.Busy},
		"_waiting": {" in line until there is room.", gate.Waiting},
		"_limit":   {" that are worked on at most.", gate.Slots},
	} {
		opts := prometheus.GaugeOpts{Name: name + suffix, Help: which + g.help}
		if err := m.registry.Register(prometheus.NewGaugeFunc(opts, func() float64 { return float64(g.value()) })); err != nil {
			return err
		}
	}
	return nil
}

// countCacheResult counts a request by its result in the cache, such as "hit" or "miss".
func (m *Metrics) countCacheResult(result string) {
	if m != nil {
		m.replies.WithLabelValues(result).Inc()
	}
}

func (m *Metrics) requestStarted() {
	if m != nil {
		m.inFlight.Inc()
	}
}

func (m *Metrics) requestEnded(x *exchange, method string, status, bytes int, took time.Duration) {
	if m == nil {
		return
	}
	m.inFlight.Dec()
	route := x.route
	switch {
	case x.kind == kindHealth:
		route = "health"
	case route == "":
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(method, route, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
	m.bytes.WithLabelValues(route).Add(float64(bytes))
	if reason := refusalReason(x.failed); reason != "" {
		m.refused.WithLabelValues(reason).Inc()
	}
	if x.ctx.Err() != nil && x.failed != nil {
		m.deadlines.Inc()
	}
}

func (m *Metrics) countRefusedConnection(why limit.Reason) {
	if m != nil {
		m.connections.WithLabelValues(string(why)).Inc()
	}
}
