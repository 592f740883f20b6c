package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/proof/must"
)

func TestPanicOfTheLeaderReleasesWaiters(t *testing.T) {
	c, err := reply.NewCache(reply.Caching{Size: 1 << 20}, time.Second)
	must.Succeed(t, err)
	s := &Server{cache: c}
	key := reply.Key{Reply: "reply", Revision: 1}
	shared, _ := c.Join(key)
	waiting, leads := c.Join(key)
	if leads {
		t.Fatal("two requests lead")
	}
	app := fiber.New()
	app.Use(
		func(ctx *fiber.Ctx) error {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			return s.makeShared(ctx, &exchange{}, key, shared, 0)
		},
		func(*fiber.Ctx) error { panic("leader") },
	)
	res, err := app.Test(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	must.Succeed(t, err)
	must.Succeed(t, res.Body.Close())
	select {
	case <-waiting.Done:
	default:
		t.Error("waiters hang")
	}
	if _, leads := c.Join(key); !leads {
		t.Error("the shared reply is left")
	}
}
