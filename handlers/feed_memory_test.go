package handlers_test

import (
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestMemoryOfALargeFeed checks that a feed reads a few events at a time, and keeps only their output. The test is
// not parallel, because it measures the memory of the process.
func TestMemoryOfALargeFeed(t *testing.T) { //nolint:paralleltest // other tests allocate
	if testing.Short() {
		t.Skip("writes a feed of 60 MB")
	}
	const events, text = 600, 100 << 10 // bytes
	api := apitest.New(t, storetest.Migrated(t, storetest.SQLite(t)))
	description := "<p>" + strings.Repeat("word ", text/len("word ")) + "</p>"
	for i := range events {
		start := apitest.Now.Add(time.Duration(i) * time.Hour)
		api.AddEvent(t, fmt.Sprint("Event ", i), start.Format(time.DateTime), start.Add(time.Hour).Format(time.DateTime),
			func(c *ent.EventCreate) { c.SetDescription(description) })
	}
	api.Do(t, apitest.Request{Path: "/events.ics?per_page=1", Absolute: true}) // loads the index
	process := api.Another(t, nil)
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	used := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before, done, most := used(), make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		for {
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, used())
			}
		}
	}()
	res := apitest.Send(t, process, api.NewRequest(t, apitest.Request{Path: "/events.ics?per_page=2000", Absolute: true}))
	close(done)
	peak := <-most
	if n := strings.Count(string(res.Body), "BEGIN:VEVENT"); res.Status != http.StatusOK || n != events {
		t.Fatalf("%d, %d events", res.Status, n)
	}
	if limit := uint64(events * text / 2); peak > before+limit {
		t.Errorf("%d MiB more than before, want at most half of the %d MiB of texts", (peak-before)>>20, events*text>>20)
	}
}
