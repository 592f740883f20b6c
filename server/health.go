package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
)

// The paths that tell whether the process is alive, and whether it should be sent requests.
const (
	alivePath = "/healthz"
	readyPath = "/readyz"
)

// Check is something that has to be well for the server to be ready.
type Check struct {
	Name string // as /readyz shows it: "database"
	Do   func(context.Context) error
}

// IndexState is an index that tells whether it is loaded.
type IndexState interface {
	IndexStats
	// Made returns the time at which the index was last loaded in full: zero until it is.
	Made() time.Time
}

// Probes look every so often, and several may look at once: what a check found holds for a moment.
const (
	checkFor  = time.Second
	checkTime = 2 * time.Second // for one check
)

// health is what the checks found last.
type health struct {
	mu    sync.Mutex
	at    time.Time
	found object // name: "ok" or "failed"
	well  bool

	warned bool // of an index that is late
}

// ready reports whether the server should be sent requests, with a word about each condition.
func (s *Server) ready(ctx context.Context) (bool, object) {
	h := &s.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at.IsZero() || time.Since(h.at) >= checkFor {
		h.check(ctx, s)
	}
	accepting := "ok"
	if s.draining.Load() {
		accepting = "draining"
	}
	found := append(object{{"accepting", accepting}}, h.found...)
	well := h.well && accepting == "ok"
	if s.Index != nil {
		word := "ok"
		if s.Index.Made().IsZero() {
			word = "loading"
			well = well && h.late(ctx, s)
		}
		found = append(found, pair{"index", word})
	}
	return well, found
}

// late reports whether the server has waited for its index for long enough. Without the index the database answers
// lists. An index that is made anew is not waited for: after a large change that happens to all processes at once
// (decision 028).
func (h *health) late(ctx context.Context, s *Server) bool {
	if time.Since(s.started) < s.IndexWait {
		return false
	}
	if !h.warned && s.IndexWait > 0 {
		h.warned = true
		s.Log.WarnContext(ctx, "ready without the index, which is not loaded yet", "waited", s.IndexWait)
	}
	return true
}

// indexState is what /readyz?verbose says about the index.
func (s *Server) indexState() object {
	if s.Index == nil {
		return object{{"state", "off"}}
	}
	ready, _, revision := s.Index.Stats()
	found := object{{"state", "loading"}}
	if ready {
		found[0].value = "loaded"
	}
	if made := s.Index.Made(); !made.IsZero() {
		found = append(found, pair{"revision", revision}, pair{"age_seconds", int64(time.Since(made).Seconds())})
	}
	return found
}

// check runs all checks. What is wrong is logged when it begins and not shown: it may name hosts.
func (h *health) check(ctx context.Context, s *Server) {
	was := h.found
	h.found, h.well = make(object, 0, len(s.Checks)), true
	for i, c := range s.Checks {
		within, cancel := context.WithTimeout(ctx, checkTime)
		err := c.Do(within)
		cancel()
		word := "ok"
		if err != nil {
			word, h.well = "failed", false
		}
		h.found = append(h.found, pair{c.Name, word})
		before := any("ok")
		if was != nil {
			before = was[i].value
		}
		switch {
		case before == word:
		case err != nil:
			s.Log.WarnContext(ctx, "not ready", "check", c.Name, "error", err)
		default:
			s.Log.InfoContext(ctx, "ready again", "check", c.Name)
		}
	}
	h.at = time.Now()
}

// probe answers the paths of health, which no limit holds up.
func (s *Server) probe(c *fiber.Ctx, x *exchange) (answered bool) {
	path := string(c.Request().URI().PathOriginal())
	if path != alivePath && path != readyPath || c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead {
		return false
	}
	status, body := http.StatusOK, []byte(`{"status":"ok"}`)
	if path == readyPath {
		status, body = s.readiness(context.Background(), c.Context().QueryArgs().Has("verbose"))
	}
	x.probe = true
	c.Set(fiber.HeaderContentType, typeJSON)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Status(status).Response().SetBody(body)
	return true
}

// readiness is the reply of /readyz, or of /readyz?verbose.
func (s *Server) readiness(ctx context.Context, verbose bool) (status int, body []byte) {
	well, found := s.ready(ctx)
	status, word := http.StatusOK, "ready"
	if !well {
		status, word = http.StatusServiceUnavailable, "unavailable"
	}
	reply := object{{"status", word}, {"checks", found}}
	if verbose {
		reply = append(reply, pair{"index", s.indexState()})
	}
	body, err := encode(reply)
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	return status, body
}
