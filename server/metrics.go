package server

import (
	"context"
	"database/sql"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/almanac-cal/almanac/internal/limit"
)

// Metrics count what the server does, for Prometheus. All methods may be called on nil, which counts nothing.
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

// NewMetrics is metrics of a build: the version as it is printed.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_http_requests_total", Help: "Requests answered, by method, route and status.",
		}, []string{"method", "route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "almanac_http_request_duration_seconds", Help: "Time from the whole request to the whole reply.",
			Buckets: requestBuckets,
		}, []string{"method", "route", "class"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_http_response_bytes_total", Help: "Bytes of the bodies of replies.",
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
				"one that was being answered; miss, and kept from then on; not_kept.",
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
	// What has not happened yet is 0, not missing.
	for _, reason := range reasons {
		m.refused.WithLabelValues(reason)
	}
	for _, why := range []limit.Reason{limit.TooMany, limit.TooManyFromAddress} {
		m.connections.WithLabelValues(string(why))
	}
	for _, result := range []string{"hit", "joined", "miss", "not_kept"} {
		m.replies.WithLabelValues(result)
	}
	for _, operation := range []string{"query", "exec", "begin", "commit", "rollback"} {
		m.statements.WithLabelValues(operation)
		m.failures.WithLabelValues(operation)
	}
	return m
}

// Register adds metrics of others, such as those of a cache.
func (m *Metrics) Register(c prometheus.Collector) error { return m.registry.Register(c) }

// Pool adds the connections of a database, under a name for the pool: go_sql_open_connections and others.
func (m *Metrics) Pool(name string, db *sql.DB) error {
	return m.registry.Register(collectors.NewDBStatsCollector(db, name))
}

// IndexStats is an index that tells its state.
type IndexStats interface {
	// Stats is whether it answers now, how many events it has and up to which revision of the change log.
	Stats() (ready bool, events int, revision int64)
}

// Index adds the state of the index.
func (m *Metrics) Index(x IndexStats) error {
	gauge := func(name, help string, value func() float64) error {
		return m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	if err := gauge("almanac_index_ready", "Whether the index answers lists.", func() float64 {
		ready, _, _ := x.Stats()
		return oneIf(ready)
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

func oneIf(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// SQL times a statement, in the form that store.Watch takes.
func (m *Metrics) SQL(ctx context.Context, operation, _ string) (context.Context, func(error)) {
	began := time.Now()
	return ctx, func(err error) {
		m.statements.WithLabelValues(operation).Observe(time.Since(began).Seconds())
		if err != nil {
			m.failures.WithLabelValues(operation).Inc()
		}
	}
}

// Handler answers with the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// watch adds what a server knows of itself.
func (m *Metrics) watch(s *Server) error {
	for _, g := range []struct {
		name, help string
		value      func() float64
	}{
		{"almanac_http_requests_working", "Requests that are worked on.", func() float64 { return float64(s.gate.Busy()) }},
		{"almanac_http_requests_waiting", "Requests in line until there is room.", func() float64 {
			return float64(s.gate.Waiting())
		}},
		{"almanac_http_requests_limit", "Requests that are worked on at most.", func() float64 {
			return float64(s.Concurrent)
		}},
		{"almanac_http_connections", "Open connections.", func() float64 {
			if ln := s.listener.Load(); ln != nil {
				return float64(ln.Open())
			}
			return 0
		}},
		{"almanac_http_sending_bytes", "Bytes of large replies that clients have not taken yet.", func() float64 {
			if ln := s.listener.Load(); ln != nil {
				return float64(ln.Sending())
			}
			return 0
		}},
		{"almanac_http_receiving_bytes", "Bytes of large requests that are there, or announced, and not answered yet.", func() float64 {
			if ln := s.listener.Load(); ln != nil {
				return float64(ln.Receiving())
			}
			return 0
		}},
		{"almanac_ready", "Whether the server should be sent requests, as /readyz says.", func() float64 {
			ready, _ := s.ready(context.Background())
			return oneIf(ready)
		}},
		{"almanac_cache_bytes", "Size of the replies that are kept, about.", func() float64 {
			if s.cache == nil {
				return 0
			}
			return float64(s.cache.replies.WeightedSize())
		}},
		{"almanac_cache_replies", "Replies that are kept, about.", func() float64 {
			if s.cache == nil {
				return 0
			}
			return float64(s.cache.replies.EstimatedSize())
		}},
	} {
		if err := m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: g.name, Help: g.help}, g.value)); err != nil {
			return err
		}
	}
	return nil
}

// cached counts a request by what came of asking the cache.
func (m *Metrics) cached(result string) {
	if m != nil {
		m.replies.WithLabelValues(result).Inc()
	}
}

func (m *Metrics) began() {
	if m != nil {
		m.inFlight.Inc()
	}
}

func (m *Metrics) ended(x *exchange, method string, status, bytes int, took time.Duration) {
	if m == nil {
		return
	}
	m.inFlight.Dec()
	route := x.route
	switch {
	case x.probe:
		route = "health"
	case route == "":
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(method, route, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
	m.bytes.WithLabelValues(route).Add(float64(bytes))
	if reason := reasonOf(x.failed); reason != "" {
		m.refused.WithLabelValues(reason).Inc()
	}
	if x.ctx.Err() != nil && x.failed != nil {
		m.deadlines.Inc()
	}
}

func (m *Metrics) refusedConnection(why limit.Reason) {
	if m != nil {
		m.connections.WithLabelValues(string(why)).Inc()
	}
}
