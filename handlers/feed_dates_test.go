package handlers_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestDatesOfFeeds asks with the date of the reply before: nothing leaves or enters a feed without a reply of its own.
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
		{"an event ends", "/events.rss", nil, nil, 15 * 24 * time.Hour, http.StatusOK},
		{"a venue is due", "/events.ics", func(f *feedTest, venue int64) {
			at := f.now.Add(time.Hour).Format(time.DateTime)
			f.write("PATCH", "/venues/"+fmt.Sprint(venue), object{"status": "future", "date": at})
			f.now = f.now.Add(time.Minute)
		}, nil, 2 * time.Hour, http.StatusOK},
		{"a month begins", "/events.ics", nil, nil, 10 * 24 * time.Hour, http.StatusOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			feedsOnEach(t, func(f *feedTest) {
				venue := f.write("POST", "/venues", object{"venue": "Hall"})
				event := f.event("Jazz", "2026-12-01 18:00:00", object{"venue": []int64{venue}})
				f.event("Folk", "2027-02-01 18:00:00", nil)
				f.now = f.now.Add(time.Minute)
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
