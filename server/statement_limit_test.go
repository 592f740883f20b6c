package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// TestEndedStatements checks that a request gets the error for a passed deadline if the database aborts its
// statement. The client may retry it.
func TestEndedStatements(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		storetest.SkipOnTiDB(t, st, "it locks no tables")
		api := apitest.New(t, st, apitest.Unindexed)
		api.AddVenue(t, "Hall")
		s := api.Another(t, func(c *server.Config) { c.Caching, c.Away = reply.Caching{}, store.IsUnavailable })
		limit := time.Nanosecond
		if st.Engine() == "mysql" {
			// Statements of a millisecond do not always end. One that waits for this connection does.
			limit = 100 * time.Millisecond
			conn, err := st.DB.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.ExecContext(t.Context(), "LOCK TABLES "+venue.Table+" WRITE"); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			}()
			defer func() {
				if _, err := conn.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
					t.Error(err)
				}
			}()
		}
		st.LimitStatements(limit)
		res := apitest.Send(t, s, api.NewRequest(t, apitest.Request{Path: "/venues"}))
		if res.Status != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
			t.Errorf("got %d, Retry-After %q: %s", res.Status, res.Header.Get("Retry-After"), res.Body)
		}
	})
}
