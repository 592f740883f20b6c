package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// commitTime is after how long a change has been committed for the dates of feeds.
const commitTime = 2 * time.Minute

// TestDatesOfFeeds sends If-Modified-Since with the previous Last-Modified. Whenever an event enters or leaves a
// feed, the reply must be 200.
func TestDatesOfFeeds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, path string
		before     func(f *feedTest, venue int64) // before the first reply
		change     func(f *feedTest, event int64)
		later      time.Duration
		want       int
	}{
		{"nothing changes", "/events.ics", nil, nil, time.Minute, http.StatusNotModified},
		{"an event is hidden", "/events.ics", nil, func(f *feedTest, event int64) {
			f.write("PATCH", "/events/"+fmt.Sprint(event), object{"hide_from_listings": true})
		}, time.Minute, http.StatusOK},
		{"an event goes back to a draft", "/event/jazz.ics", nil, func(f *feedTest, event int64) {
			f.write("PATCH", "/events/"+fmt.Sprint(event), object{"status": "draft"})
		}, time.Minute, http.StatusOK},
		{"an event of dates that were asked for ends", "/events.rss?start_date=2026-11-01", nil, nil, 15 * 24 * time.Hour, http.StatusNotModified},
		{"a venue is due", "/events.ics", func(f *feedTest, venue int64) {
			at := f.now.Add(time.Hour).Format(time.DateTime)
			f.write("PATCH", "/venues/"+fmt.Sprint(venue), object{"status": "future", "date": at})
			f.now = f.now.Add(commitTime)
		}, nil, 2 * time.Hour, http.StatusOK},
		{"a month begins", "/events.ics", nil, nil, 10 * 24 * time.Hour, http.StatusOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			feedsOnEach(t, func(f *feedTest) {
				venue := f.write("POST", "/venues", object{"venue": "Hall"})
				event := f.event("Jazz", "2026-12-01 18:00:00", object{"venue": []int64{venue}})
				f.event("Folk", "2027-02-01 18:00:00", nil)
				f.now = f.now.Add(commitTime)
				if tt.before != nil {
					tt.before(f, venue)
				}
				last := f.get(tt.path).Header.Get("Last-Modified")
				if last == "" {
					f.Fatal("no Last-Modified")
				}
				if tt.change != nil {
					tt.change(f, event)
				}
				f.now = f.now.Add(tt.later)
				if res := f.get(tt.path, "If-Modified-Since", last); res.Status != tt.want {
					f.Errorf("%d with Last-Modified %s, want %d", res.Status, res.Header.Get("Last-Modified"), tt.want)
				}
			})
		})
	}
}

// TestFeedsInMemoryGetTheirDate reads a cached feed that was made too early to have a Last-Modified. It gets one
// later, though nothing changes.
func TestFeedsInMemoryGetTheirDate(t *testing.T) {
	feedsOnEach(t, func(f *feedTest) {
		cached := f.Cached(f.T, time.Minute, 0)
		date := func() string {
			req := httptest.NewRequestWithContext(f.Context(), http.MethodGet, apitest.BaseURL+"/events.ics", nil)
			return apitest.Send(f.T, cached, req).Header.Get("Last-Modified")
		}
		f.event("Jazz", "2026-12-01 18:00:00", nil)
		written := f.now.Format(http.TimeFormat)
		for _, want := range []string{"", written} {
			if got := date(); got != want {
				f.Errorf("Last-Modified %q, want %q", got, want)
			}
			f.now = f.now.Add(time.Minute + time.Second)
		}
	})
}

// TestFeedsKeepTheirDateWhenTheLogForgets checks that Last-Modified is the date of the last public change, even
// after that change is pruned from the change log.
func TestFeedsKeepTheirDateWhenTheLogForgets(t *testing.T) {
	feedsOnEach(t, func(f *feedTest) {
		f.event("Jazz", "2026-12-01 18:00:00", nil)
		f.now = f.now.Add(time.Hour)
		f.event("Secret", "2026-12-02 18:00:00", object{"status": "draft"})
		f.now = f.now.Add(100 * 24 * time.Hour)
		want := f.get("/events.ics").Header.Get("Last-Modified")
		if want == "" {
			f.Fatal("no Last-Modified")
		}
		forgotten, err := edit.ForgetChanges(f.Context(), f.Store.Ent, f.now)
		if left := f.Store.Ent.Change.Query().CountX(f.Context()); err != nil || forgotten == 0 || left != 1 {
			f.Fatalf("%d changes are forgotten and %d left: %v", forgotten, left, err)
		}
		if got := f.get("/events.ics").Header.Get("Last-Modified"); got != want {
			f.Errorf("Last-Modified %q, want %q", got, want)
		}
	})
}

// TestFeedsWithTheSameDateAreTheSame checks that a feed has no Last-Modified while a feed with other content could
// still get the same date.
func TestFeedsWithTheSameDateAreTheSame(t *testing.T) {
	feedsOnEach(t, func(f *feedTest) {
		cached := f.Cached(f.T, time.Minute, 0)
		ask := func(path, since string) apitest.Response {
			req := httptest.NewRequestWithContext(f.Context(), http.MethodGet, apitest.BaseURL+path, nil)
			req.Header.Set("If-Modified-Since", since)
			return apitest.Send(f.T, cached, req)
		}
		f.event("Jazz", "2026-12-01 18:00:00", nil)
		f.now = f.now.Add(commitTime)
		for _, tt := range []struct {
			path  string
			dated bool
		}{
			{"/events.ics", true},
			{"/event/jazz.ics", true},
			{"/events.rss?start_date=2026-12-01", true},
			{"/events.ics?starts_after=today", false},
			{"/events.ics?month=2026-11", true},
			{"/events/month/?ical=1", false},
			{"/events.atom", false}, // when an event ends it leaves
		} {
			if got := f.get(tt.path).Header.Get("Last-Modified"); (got != "") != tt.dated {
				f.Errorf("%s: Last-Modified %q", tt.path, got)
			}
		}
		// Writes before and after a feed within a second.
		f.event("Folk", "2026-12-02 18:00:00", nil)
		if got := ask("/events.ics", "").Header.Get("Last-Modified"); got != "" {
			f.Errorf("Last-Modified %s in the second of a write", got)
		}
		f.event("Rock", "2026-12-03 18:00:00", nil)
		written := f.now
		f.now = f.now.Add(commitTime)
		// A write that began before the feed, and is committed after it.
		f.event("Soul", "2026-12-04 18:00:00", nil)
		f.now = f.now.Add(commitTime)
		before := ask("/events.ics", "")
		since := before.Header.Get("Last-Modified")
		if since == "" {
			f.Fatal("no Last-Modified")
		}
		e := &edit.Editor{Site: f.Site, Now: written, By: auth.System()}
		err := edit.Write(f.Context(), f.Store.Ent, e, func(tx *ent.Tx) error {
			row, err := tx.Event.Get(f.Context(), f.ids["Rock"])
			if err != nil {
				return err
			}
			_, err = e.UpdateEvent(f.Context(), tx, row, &edit.EventInput{Status: new(calendar.Draft)})
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
		f.now = f.now.Add(commitTime)
		if after := ask("/events.ics", since); after.Status != http.StatusOK || string(after.Body) == string(before.Body) {
			f.Errorf("%d after a write that began before %s", after.Status, since)
		}
	})
}
