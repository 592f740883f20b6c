package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/proof/must"
)

// TestAReplyTooLargeForTheCacheIsShared sends concurrent requests for a sitemap that is too large for the cache.
// The waiting requests share one reply, and a later request makes a new one.
func TestAReplyTooLargeForTheCacheIsShared(t *testing.T) {
	t.Parallel()
	const requests = 40
	// The first request of the process starts a goroutine of fasthttp that never ends. It must not belong to the bubble.
	res, err := fiber.New().Test(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), -1)
	must.Succeed(t, err)
	must.Succeed(t, res.Body.Close())
	synctest.Test(t, func(t *testing.T) {
		replies, err := reply.NewCache(reply.Caching{
			Size: 1 << 20, Revision: func(context.Context) (int64, error) { return 1, nil },
			NextDue: func(context.Context, time.Time) (time.Time, error) { return time.Time{}, nil },
		}, time.Minute)
		must.Succeed(t, err)
		body := strings.Repeat("x", 1<<17)
		var made atomic.Int64
		end := make(chan struct{})
		s := &Server{cache: replies}
		s.Timeout = time.Minute
		h := func(path string) string {
			app := fiber.New() // Test serves one request at a time
			app.Use(
				func(c *fiber.Ctx) error {
					x := &exchange{kind: kindSitemap, rest: c.Path(), ctx: t.Context(), cancel: func() {}, now: time.Now().Truncate(time.Second)}
					defer func() { x.cancel() }()
					c.Locals(exchangeKey{}, x)
					return s.serveCached(c)
				},
				func(c *fiber.Ctx) error {
					made.Add(1)
					<-end
					exchangeOf(c).tag = `"tag"`
					return c.SendString(body)
				},
			)
			res, err := app.Test(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil), -1)
			if err != nil {
				t.Error(err)
				return ""
			}
			defer func() {
				if err := res.Body.Close(); err != nil {
					t.Error(err)
				}
			}()
			var b strings.Builder
			if err := res.Write(&b); err != nil {
				t.Error(err)
			}
			return b.String()
		}
		for range requests {
			go func() {
				if got := h("/sitemap-1.xml?x=1"); !strings.HasSuffix(got, body) {
					t.Errorf("%.200s", got)
				}
			}()
		}
		synctest.Wait() // until all wait: one for end, the others for its reply
		close(end)
		synctest.Wait()
		if n := made.Load(); n != 1 {
			t.Errorf("made %d times", n)
		}
		if h("/sitemap-1.xml"); made.Load() != 2 {
			t.Errorf("made %d times with the later request", made.Load())
		}
	})
}
