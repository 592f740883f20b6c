package server

import (
	"context"
	"errors"
	"net"
	"time"
)

// stopWait is how long requests under way may take to end, beyond their own deadline.
const stopWait = 5 * time.Second

// Serve answers on a listener until ctx ends. Then it says that it is not ready, goes on for DrainWait, closes the
// listener, finishes the requests under way and returns nil.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	bounded := s.bound(ln)
	s.listener.Store(bounded)
	ended := make(chan error, 1)
	go func() { ended <- s.app.Listener(bounded) }()
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
	bounded.Hurry(time.Second)
	err := s.app.ShutdownWithTimeout(s.Timeout + stopWait)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if err != nil {
		s.Log.Warn("stopped with requests under way", "requests", s.gate.Busy()+s.large.Busy()+s.media.Busy(), "connections", bounded.Open())
	}
	// Told to stop at once, it may not have begun to listen, and would begin now.
	if err := bounded.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return <-ended
}
