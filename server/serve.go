package server

import (
	"context"
	"errors"
	"net"
	"time"
)

// stopMargin is how much longer than Timeout a stopping server waits for requests. Uploads may have a later deadline.
const stopMargin = 5 * time.Second

// Serve serves requests from a listener until ctx ends. Then it drains: /readyz fails, while requests are served
// for another DrainWait. Finally it closes the listener, waits for the requests in flight and returns nil. It
// waits at most for Timeout and stopMargin together.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	limited := s.limitConnections(ln)
	s.listener.Store(limited)
	ended := make(chan error, 1)
	go func() { ended <- s.app.Listener(limited) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	if s.DrainWait > 0 {
		s.Log.Info("draining", "wait", s.DrainWait)
		select {
		case err := <-ended:
			return err
		case <-time.After(s.DrainWait):
		}
	}
	limited.Hurry(time.Second)
	err := s.app.ShutdownWithTimeout(s.Timeout + stopMargin)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if err != nil {
		s.Log.Warn("stopped with requests under way", "requests", s.gate.Busy()+s.large.Busy()+s.media.Busy(), "connections", limited.Open())
	}
	// Fiber may not have started listening yet, and would then start after the shutdown.
	if err := limited.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return <-ended
}
