package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/jsonwrite"
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

// Probes look every so often, and several may look at once: what a check found holds for a moment.
const (
	checkFor  = time.Second
	checkTime = 2 * time.Second // for one check
)

// health is what the checks found last.
type health struct {
	mu    sync.Mutex
	at    time.Time
	found jsonwrite.Object // name: "ok" or "failed"
	well  bool
}

// ready reports whether the server should be sent requests, with a word about each condition.
func (s *Server) ready(ctx context.Context) (bool, jsonwrite.Object) {
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
	found := append(jsonwrite.Object{{"accepting", accepting}}, h.found...)
	return h.well && accepting == "ok", found
}

// check runs all checks. What is wrong is logged when it begins and not shown: it may name hosts.
func (h *health) check(ctx context.Context, s *Server) {
	was := h.found
	h.found, h.well = make(jsonwrite.Object, 0, len(s.Checks)), true
	for i, c := range s.Checks {
		within, cancel := context.WithTimeout(ctx, checkTime)
		err := c.Do(within)
		cancel()
		word := "ok"
		if err != nil {
			word, h.well = "failed", false
		}
		h.found = append(h.found, jsonwrite.Member{c.Name, word})
		before := any("ok")
		if was != nil {
			before = was[i].Value
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
		status, body = s.readiness(context.Background())
	}
	x.probe = true
	c.Set(fiber.HeaderContentType, typeJSON)
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Status(status).Response().SetBody(body)
	return true
}

// readiness is the reply of /readyz.
func (s *Server) readiness(ctx context.Context) (status int, body []byte) {
	well, found := s.ready(ctx)
	status, word := http.StatusOK, "ready"
	if !well {
		status, word = http.StatusServiceUnavailable, "unavailable"
	}
	body, err := jsonwrite.Encode(jsonwrite.Object{{"status", word}, {"checks", found}})
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	return status, body
}
