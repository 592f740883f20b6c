package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// Private returns the HTTP handler for operators: /metrics, the health paths, and, if profiles is true, /debug/pprof.
func (s *Server) Private(profiles bool) http.Handler {
	mux := http.NewServeMux()
	if s.Metrics != nil {
		mux.Handle("GET /metrics", s.Metrics.Handler())
	}
	reply := func(w http.ResponseWriter, status int, body []byte) {
		w.Header().Set("Content-Type", typeJSON)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		if _, err := w.Write(body); err != nil {
			s.Log.Debug("private reply", "error", err)
		}
	}
	mux.HandleFunc("GET "+alivePath, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, []byte(`{"status":"ok"}`))
	})
	for _, path := range []string{readyPath, writePath} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			status, body := s.readiness(context.WithoutCancel(r.Context()), path == writePath, r.URL.Query().Has("verbose"))
			reply(w, status, body)
		})
	}
	if profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// ServePrivate serves the handler h on a listener until ctx ends.
func ServePrivate(ctx context.Context, ln net.Listener, h http.Handler) error {
	// There is no write timeout, because the client chooses how long a profile takes.
	web := &http.Server{
		Handler: h, ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := web.Shutdown(within); err != nil {
		if err := web.Close(); err != nil {
			return err
		}
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
