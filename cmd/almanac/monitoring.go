package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os"

	"go.opentelemetry.io/otel/trace"

	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

// monitoring has the limits, metrics and traces of a running server.
type monitoring struct {
	limits  server.Limits
	metrics *server.Metrics
	tracer  trace.Tracer
	close   []func() error
}

// openMonitoring creates the limits, metrics and traces of a server. It also measures and traces the SQL
// statements.
func (f operateFlags) openMonitoring(
	ctx context.Context, log *slog.Logger, st databases, at net.Addr,
) (o *monitoring, err error) {
	o = &monitoring{}
	if o.limits, err = f.limits(at); err != nil {
		return nil, err
	}
	if f.RateRedis != "" {
		shared, err := limit.NewRedis(f.RateRedis, "almanac:rate:", limit.NewMemory(countedLocal))
		if err != nil {
			return nil, fmt.Errorf("--rate-redis: %w", err)
		}
		o.limits.Rates.Counter = shared
		o.close = append(o.close, shared.Close)
	}
	var watches []store.Watch
	if f.MetricsListen != "" {
		if o.metrics, err = newMetrics(st); err != nil {
			return nil, errors.Join(fmt.Errorf("metrics: %w", err), o.end())
		}
		watches = append(watches, o.metrics.SQL)
	}
	collector, err := f.collector(os.Getenv)
	if err != nil {
		return nil, errors.Join(err, o.end())
	}
	if collector != nil {
		if err := o.trace(ctx, log, collector); err != nil {
			return nil, errors.Join(fmt.Errorf("--otlp-endpoint: %w", err), o.end())
		}
		watches = append(watches, server.SQLSpans(o.tracer, st.Engine()))
	}
	if len(watches) > 0 {
		st.Watch(watches...)
		if st.replicas != nil {
			st.replicas.Watch(watches...)
		}
	}
	return o, nil
}

// newMetrics returns the metrics of a server and its databases.
func newMetrics(st databases) (*server.Metrics, error) {
	m := server.NewMetrics(buildVersion())
	if err := m.Pool("main", st.DB); err != nil {
		return nil, err
	}
	overdue := func(ctx context.Context) (int, error) { return series.CountOverdue(ctx, st.Ent, clockNow()) }
	if err := m.Series(overdue); err != nil {
		return nil, err
	}
	if st.Engine() == "sqlite" {
		replaced := func(ctx context.Context) bool { return errors.Is(st.CheckFiles(ctx), store.ErrFilesReplaced) }
		if err := m.Files(replaced); err != nil {
			return nil, err
		}
	}
	if st.replicas != nil {
		if err := errors.Join(m.Pool("replica", st.replicas.DB), m.Replicas(replicaStates(st.replicas))); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// replicaStates returns a function that returns the states of the replicas, for metrics.
func replicaStates(replicas *store.Store) func() []server.ReplicaState {
	return func() []server.ReplicaState {
		var out []server.ReplicaState
		for _, r := range replicas.Replicas() {
			lag := math.NaN()
			if r.LagKnown {
				lag = r.Lag.Seconds()
			}
			out = append(out, server.ReplicaState{Address: r.Address, Used: r.Used, Lag: lag})
		}
		return out
	}
}

// end sends the remaining traces and closes what openMonitoring has opened.
func (o *monitoring) end() error {
	var errs []error
	for _, c := range o.close {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// warnOfPprof logs a warning if other machines can read profiles of the process.
func warnOfPprof(log *slog.Logger, at net.Addr) {
	if peer := limit.Peer(at); peer != (netip.Addr{}) && !peer.IsLoopback() {
		log.Warn("profiles of the process can be had from other machines", "address", at.String())
	}
}
