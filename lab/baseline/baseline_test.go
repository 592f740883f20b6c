package baseline_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/baseline"
	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/lab/local"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// headers are those that both set.
var headers = []string{"Content-Type", "X-TEC-Total", "X-TEC-TotalPages", "Link"}

// TestAnswersAsTheServiceDoes checks that the server's replies equal the service's. Otherwise a comparison of their
// speed would be unfair.
func TestAnswersAsTheServiceDoes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		err := fill.Database(ctx, st, fill.Options{
			Events: 200, From: fill.Default(time.Now()), Site: local.Site("http://localhost"),
		})
		must.Succeed(t, err)
		ids := shown(t, st)
		odd := st.Ent.Event.UpdateOneID(ids[0]).SetTitle("\"\\ \x01\b\f\r\t\n & <é>\u2028\u2029\u007f").SetWebsite("").
			SetDescription("one\n\ntwo & <b>three</b>").SetCost(calendar.Cost{Prices: []string{"0", "7"}, Texts: []string{"Gift"}})
		locked := st.Ent.Event.UpdateOneID(ids[1]).SetPasswordHash(make([]byte, 32))
		alone := st.Ent.Event.UpdateOneID(ids[2]).ClearVenues().ClearOrganizers().ClearTerms().ClearImage()
		for _, update := range []*ent.EventUpdateOne{odd, locked, alone} {
			must.Succeed(t, update.Exec(ctx))
		}
		service, err := local.Start(ctx, local.Config{Store: st})
		must.Succeed(t, err)
		t.Cleanup(func() {
			if err := service.Close(); err != nil {
				t.Error(err)
			}
		})
		lists := index.New(st.Ent, read.EventColumns(), slog.New(slog.DiscardHandler))
		must.Succeed(t, lists.Load(ctx))
		paths := []string{"/events"}
		for i, id := range ids {
			if i != 1 {
				paths = append(paths, fmt.Sprintf("/events/%d", id))
			}
		}
		for _, way := range []baseline.Way{baseline.Count, baseline.Keep, baseline.Index} {
			t.Run(way.String(), func(t *testing.T) {
				s, err := baseline.New(ctx, baseline.Config{DB: st.DB, Site: service.Site, Way: way, Index: lists})
				must.Succeed(t, err)
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
				for _, path := range paths {
					compare(t, s, service.API, path)
				}
				compare(t, s, service.API, "/events") // once more, now that a total is kept
			})
		}
	})
}

// compare requests a path from the server and the service and fails the test if the replies differ.
func compare(t *testing.T, s *baseline.Server, api, path string) {
	t.Helper()
	var req fasthttp.Request
	var want fasthttp.Response
	req.SetRequestURI(api + path)
	must.Succeed(t, fasthttp.Do(&req, &want))
	if want.StatusCode() != 200 {
		t.Fatalf("%s: the service answers %d: %s", path, want.StatusCode(), want.Body())
	}
	var c fasthttp.RequestCtx
	c.Init(&req, nil, nil)
	s.Handle(&c)
	if got := c.Response.StatusCode(); got != 200 {
		t.Fatalf("%s: status %d: %s", path, got, c.Response.Body())
	}
	if diff := cmp.Diff(string(want.Body()), string(c.Response.Body())); diff != "" {
		t.Errorf("%s (-service +baseline):\n%s", path, diff)
	}
	for _, name := range headers {
		if want, got := string(want.Header.Peek(name)), string(c.Response.Header.Peek(name)); got != want {
			t.Errorf("%s: %s is %q, the service's %q", path, name, got, want)
		}
	}
}

// shown returns the ids of the first events in the default list.
func shown(t *testing.T, st *store.Store) []int64 {
	t.Helper()
	ids, err := st.Ent.Event.Query().Where(event.StatusEQ(calendar.Publish), event.HideFromListings(false),
		event.PasswordHashIsNil(), event.StartsAtGT(time.Now().UTC())).
		Order(event.ByStartsAt(), event.ByID()).Limit(20).IDs(t.Context())
	must.Succeed(t, err)
	return ids
}
