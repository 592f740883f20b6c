package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"
)

func TestPanicOfTheLeaderReleasesWaiters(t *testing.T) {
	c := &cache{shared: map[sharedKey]*sharedReply{}}
	s := &Server{cache: c}
	key := sharedKey{"reply", 1}
	shared, _ := c.join(key)
	waiting, leads := c.join(key)
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
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-waiting.done:
	default:
		t.Error("waiters hang")
	}
	if len(c.shared) != 0 {
		t.Errorf("%d shared replies are left", len(c.shared))
	}
}
