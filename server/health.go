package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/jsonwrite"
)

// alivePath, readyPath and writePath are the paths of probes. The first succeeds while the process runs, the
// second while it can answer reads. The third also requires that it can write.
const (
	alivePath = "/healthz"
	readyPath = "/readyz"
	writePath = readyPath + "/write"
)

// Check is a condition that must be met before the server reports itself ready.
type Check struct {
	Name string // name of the condition in /readyz, such as "database"
	Do   func(context.Context) error
	// Write marks a condition that only writing needs. /readyz/write includes it, and /readyz does not.
	Write bool
}

// IndexState reports the state of an index and when it was loaded.
type IndexState interface {
	IndexStats
	// LoadedAt returns when the index was last loaded in full. Zero means that it was never loaded.
	LoadedAt() time.Time
}

// checkTTL is how long concurrent probes share the result of the checks. checkTimeout limits one check.
const (
	checkTTL     = time.Second
	checkTimeout = 2 * time.Second
)

// checkTries is the number of times that a check is tried before it counts as failed. The constant checkPause is
// the time between two tries. A pool may hold several dead connections after its database server has failed, and
// each fails one query.
const (
	checkTries = 5
	checkPause = 50 * time.Millisecond
)

// try runs the check until it passes, at most checkTries times within checkTimeout. It returns the last error,
// or nil.
func (c Check) try(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for range checkTries {
		if err = c.Do(ctx); err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(checkPause):
		}
	}
	return err
}

// health caches the results of the readiness checks.
type health struct {
	mu     sync.Mutex
	at     time.Time
	passed []bool // whether each check passed, in the order of Server.Checks

	warned bool // a warning was logged that the index is not loaded yet
}

// ready reports whether the server can answer reads. If write is true, it must also be able to write. The second
// result is the state of each condition.
func (s *Server) ready(ctx context.Context, write bool) (bool, jsonwrite.Object) {
	h := &s.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at.IsZero() || time.Since(h.at) >= checkTTL {
		h.check(ctx, s)
	}
	accepting := "ok"
	if s.draining.Load() {
		accepting = "draining"
	}
	found := jsonwrite.Object{{"accepting", accepting}}
	well := accepting == "ok"
	for i, c := range s.Checks {
		if c.Write && !write {
			continue
		}
		word := "ok"
		if !h.passed[i] {
			word, well = "failed", false
		}
		found = append(found, jsonwrite.Member{c.Name, word})
	}
	if s.Index != nil {
		word := "ok"
		if s.Index.LoadedAt().IsZero() {
			word = "loading"
			well = well && h.indexWaitOver(ctx, s)
		}
		found = append(found, jsonwrite.Member{"index", word})
	}
	return well, found
}

// indexWaitOver reports whether the server has waited for its index for IndexWait. Without the index the database
// answers lists (decision 028).
func (h *health) indexWaitOver(ctx context.Context, s *Server) bool {
	if time.Since(s.started) < s.IndexWait {
		return false
	}
	if !h.warned && s.IndexWait > 0 {
		h.warned = true
		s.Log.WarnContext(ctx, "ready without the index, which is not loaded yet", "waited", s.IndexWait)
	}
	return true
}

// indexState returns the state of the index for /readyz?verbose.
func (s *Server) indexState() jsonwrite.Object {
	if s.Index == nil {
		return jsonwrite.Object{{"state", "off"}}
	}
	ready, _, revision := s.Index.Stats()
	found := jsonwrite.Object{{"state", "loading"}}
	if ready {
		found[0].Value = "loaded"
	}
	if loaded := s.Index.LoadedAt(); !loaded.IsZero() {
		found = append(found, jsonwrite.Member{"revision", revision}, jsonwrite.Member{"age_seconds", int64(time.Since(loaded).Seconds())})
	}
	return found
}

// check runs all checks. It logs an error when the error first occurs. Replies do not show errors, which may
// contain host names.
func (h *health) check(ctx context.Context, s *Server) {
	was := h.passed
	h.passed = make([]bool, len(s.Checks))
	for i, c := range s.Checks {
		err := c.try(ctx)
		h.passed[i] = err == nil
		lost, back := "not ready", "ready again"
		if c.Write {
			lost, back = "not ready to write", "ready to write again"
		}
		switch before := was == nil || was[i]; {
		case before == h.passed[i]:
		case err != nil:
			s.Log.WarnContext(ctx, lost, "check", c.Name, "error", err)
		default:
			s.Log.InfoContext(ctx, back, "check", c.Name)
		}
	}
	h.at = time.Now()
}

// serveHealth answers probes. Rate limits and gates do not apply to them.
func (s *Server) serveHealth(c *fiber.Ctx) error {
	path := string(c.Request().URI().PathOriginal())
	if path != alivePath && path != readyPath && path != writePath || !isRead(c) {
		return c.Next()
	}
	status, body := http.StatusOK, []byte(`{"status":"ok"}`)
	if path != alivePath {
		status, body = s.readiness(context.Background(), path == writePath, c.Context().QueryArgs().Has("verbose"))
	}
	exchangeOf(c).kind = kindHealth
	c.Set(fiber.HeaderContentType, typeJSON)
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(status).Send(body)
}

// readiness returns the reply to /readyz, or to /readyz/write if write is true. If verbose is true, the body has
// details.
func (s *Server) readiness(ctx context.Context, write, verbose bool) (status int, body []byte) {
	well, found := s.ready(ctx, write)
	status, word := http.StatusOK, "ready"
	if !well {
		status, word = http.StatusServiceUnavailable, "unavailable"
	}
	reply := jsonwrite.Object{{"status", word}, {"checks", found}}
	if verbose {
		reply = append(reply, jsonwrite.Member{"index", s.indexState()})
	}
	body, err := jsonwrite.Encode(reply)
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	return status, body
}
