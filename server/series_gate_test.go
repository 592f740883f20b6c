package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent/counter"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// gaugeOf returns the value of a gauge.
func gaugeOf(t *testing.T, m *server.Metrics, name string) (value int) {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(rec.Body.String()) {
		if _, err := fmt.Sscanf(line, name+" %d", &value); err == nil {
			return value
		}
	}
	t.Fatalf("no gauge %s", name)
	return 0
}

// TestOneLargeWriteAtATime sends writes while the database lets none of them finish. Only one write of many
// occurrences reaches the database, and the others wait at their gate. All other writes reach the database.
func TestOneLargeWriteAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		metrics := server.NewMetrics("test")
		s := newBrokenServer(t, io.Discard, func(h *handlers.Config, c *server.Config) {
			h.Primary, c.Metrics, c.Timeout, c.Concurrent = st.Ent, metrics, time.Minute, 100
		})
		token := "Bearer " + secret(t, st)
		send := func(method, path, body string) apitest.Response {
			req := httptest.NewRequestWithContext(t.Context(), method, "/cal/events/v1"+path, strings.NewReader(body))
			req.Header.Set("Authorization", token)
			req.Header.Set("Content-Type", "application/json")
			res, err := s.App().Test(req, -1)
			if err != nil {
				t.Error(err)
				return apitest.Response{}
			}
			defer res.Body.Close()
			data, err := io.ReadAll(res.Body)
			if err != nil {
				t.Error(err)
			}
			return apitest.Response{Status: res.StatusCode, Header: res.Header, Body: data}
		}
		const dates = `"start_date":"2027-03-01 18:00","end_date":"2027-03-01 19:00"`
		const rule = `,"rrule":"FREQ=DAILY;COUNT=4"`
		made := 0
		// create returns the ids of a new event and of its series.
		create := func(rule string) (event, series string) {
			made++
			res := send("POST", "/events", fmt.Sprintf(`{"title":"Event %d",%s%s}`, made, dates, rule))
			if res.Status != http.StatusCreated {
				t.Fatalf("%d %s", res.Status, res.Body)
			}
			if rule != "" {
				series = fmt.Sprint(res.Get(t, "series", "id"))
			}
			return fmt.Sprint(res.Get(t, "id")), series
		}
		type write struct{ method, path, body string }
		occurrence := func(method, query, body string) write {
			id, _ := create(rule)
			return write{method, "/events/" + id + query, body}
		}
		_, updated := create(rule)
		_, deleted := create(rule)
		single, _ := create("")
		plain, _ := create("")
		gone, _ := create("")
		large := []write{
			{"POST", "/events", `{"title":"New",` + dates + rule + `}`},
			occurrence("PATCH", "?scope=all", `{"title":"All"}`),
			occurrence("PATCH", "", `{"title":"Rest","scope":"following"}`),
			occurrence("DELETE", "?scope=following", ``),
			{"PATCH", "/events/" + single, `{"rrule":"FREQ=DAILY;COUNT=4"}`},
			{"PUT", "/series/" + updated, `{"title":"Series"}`},
			{"DELETE", "/series/" + deleted, ``},
		}
		small := []write{
			{"POST", "/tags", `{"name":"Tag"}`},
			{"POST", "/events", `{"title":"One",` + dates + `}`},
			{"PATCH", "/events/" + plain, `{"title":"Two"}`},
			occurrence("PATCH", "", `{"title":"This"}`),
			{"DELETE", "/events/" + gone, ``},
		}
		lock, err := st.Ent.Tx(t.Context()) // on SQLite this suffices
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Counter.Query().Where(counter.ID("revision")).Modify(func(q *sql.Selector) {
			if q.Dialect() != dialect.SQLite {
				q.ForUpdate()
			}
		}).All(t.Context()); err != nil {
			t.Fatal(err)
		}
		var sent sync.WaitGroup
		for _, w := range append(large, small...) {
			sent.Go(func() {
				if res := send(w.method, w.path, w.body); res.Status > 201 {
					t.Errorf("%v: %d %s", w, res.Status, res.Body)
				}
			})
		}
		want := [3]int{1, len(large) - 1, len(small)}
		var got [3]int
		for end := time.Now().Add(time.Minute); got != want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("at the gates: %v, want %v", got, want)
				break
			}
			for i, name := range []string{"almanac_http_series_working", "almanac_http_series_waiting", "almanac_http_requests_working"} {
				got[i] = gaugeOf(t, metrics, name)
			}
		}
		if err := lock.Rollback(); err != nil {
			t.Error(err)
		}
		sent.Wait()
	})
}
