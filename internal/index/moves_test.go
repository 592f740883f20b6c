package index_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// movingDriver is an SQL driver for tests. When it is armed, it behaves like a pool that switches to a lagging
// replica between two statements. The replica lacks the newest venue.
type movingDriver struct {
	*entsql.Driver
	armed atomic.Bool
	moves atomic.Int64
}

func (d *movingDriver) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if strings.Contains(query, " FROM "+venue.Table+" ") && d.armed.CompareAndSwap(true, false) {
		d.moves.Add(1)
		query = strings.Replace(query, " WHERE ", " WHERE 1 = 0 AND ", 1)
	}
	return d.Driver.QueryContext(ctx, query, args...)
}

func TestRowsOfAnotherServerAreNotMixedWithItsLog(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		engine := dialect.SQLite
		if api.Store.Engine() == "mysql" {
			engine = dialect.MySQL
		}
		d := &movingDriver{Driver: entsql.OpenDB(engine, api.Store.DB)}
		x := index.New(ent.NewClient(ent.Driver(d)), nil, slog.New(slog.DiscardHandler))
		x.ServerChanges = d.moves.Load
		must.Succeed(t, x.Load(t.Context()))
		linked := &query.Linked{Now: apitest.Now, Visible: query.Visible{Anyone: []calendar.Status{calendar.Publish}}}
		before, err := x.FindLinked(t.Context(), calendar.Venue, linked, 0, 50)
		must.Succeed(t, err)
		r := api.Do(t, apitest.Request{Method: "POST", As: "admin", Path: "/venues", JSON: object{"venue": "Hall", "status": "publish"}})
		if r.Status != 201 {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		d.armed.Store(true)
		if _, err := x.FindLinked(t.Context(), calendar.Venue, linked, 0, 50); !errors.Is(err, index.ErrNotReady) {
			t.Errorf("rows of another server: error %v, want ErrNotReady", err)
		}
		if d.armed.Load() {
			t.Fatal("no venue was read")
		}
		after, err := x.FindLinked(t.Context(), calendar.Venue, linked, 0, 50)
		if err != nil || after.Total != before.Total+1 {
			t.Errorf("%d venues, want %d; error %v", after.Total, before.Total+1, err)
		}
	}, apitest.Unindexed)
}

func TestServerThatIsBehindTheIndex(t *testing.T) {
	apitest.EachExample(t, func(t *testing.T, api *apitest.API) {
		var moves atomic.Int64
		x := index.New(api.Store.Ent, []*query.Column{&sticky, &attendance}, slog.New(slog.DiscardHandler))
		x.ServerChanges = moves.Load
		must.Succeed(t, x.Load(t.Context()))
		if _, err := x.FindEvents(t.Context(), publishedQuery(), 0, 1); err != nil {
			t.Fatal(err)
		}
		// The other server lacks the newest change.
		addRevision := func(n int64) {
			must.Succeed(t, api.Store.Ent.Counter.Update().Where(counter.ID("revision")).AddValue(n).Exec(t.Context()))
		}
		addRevision(-1)
		moves.Add(1)
		if _, err := x.FindEvents(t.Context(), publishedQuery(), 0, 1); !errors.Is(err, index.ErrNotReady) {
			t.Errorf("a server that is behind: error %v, want ErrNotReady", err)
		}
		addRevision(1)
		if _, err := x.FindEvents(t.Context(), publishedQuery(), 0, 1); err != nil {
			t.Errorf("it has caught up: %v", err)
		}
	}, apitest.Unindexed)
}
