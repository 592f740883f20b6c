package limit

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestRates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want Rate // of a wrong one, the zero value
		bad  bool
	}{
		{"off", Rate{}, false},
		{"100/s", Rate{10 * time.Millisecond, 100}, false},
		{"100/s burst 200", Rate{10 * time.Millisecond, 200}, false},
		{" 600/M  Burst 50 ", Rate{100 * time.Millisecond, 50}, false},
		{"5000/h", Rate{720 * time.Millisecond, 5000}, false},
		{"1/h burst 24", Rate{time.Hour, 24}, false},

		{"", Rate{}, true},
		{"100", Rate{}, true},
		{"0/s", Rate{}, true},
		{"-1/s", Rate{}, true},
		{"1/d", Rate{}, true},
		{"1.5/s", Rate{}, true},
		{"1/s burst", Rate{}, true},
		{"1/s burst 0", Rate{}, true},
		{"1/s at 5", Rate{}, true},
		{"off burst 3", Rate{}, true},
		{"1/h burst 1000", Rate{}, true},
		{"1000001/s", Rate{}, true},
	} {
		got, err := ParseRate(test.text)
		if got != test.want || (err != nil) != test.bad || err != nil && !errors.Is(err, errRate) {
			t.Errorf("%q: got %v and error %v, want %v", test.text, got, err, test.want)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, seed := range []string{"100/s", "600/m burst 5", "off", "1/h burst 168", "9999999/s", "//s burst burst"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRate(text)
		if err != nil {
			return
		}
		if !r.Off() && (r.Window() < r.Interval || r.Window() > 7*24*time.Hour) {
			t.Errorf("%q: %v", text, r)
		}
	})
}

// step is a request at some time after the start of the test, with the decision to expect.
type step struct {
	at   time.Duration
	want Decision
}

// countAt counts a request. at is the time of the request after the start of the test.
func countAt(m *Memory, at time.Duration, key string, r Rate, cost int64) Decision {
	m.clock = func() time.Duration { return at }
	return m.count(key, r, cost)
}

func TestMemoryCounts(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	for _, test := range []struct {
		name  string
		rate  Rate
		steps []step
	}{
		{"a burst, then one an interval", Rate{s, 3}, []step{
			{0, Decision{true, 2, s, 0, false}},
			{0, Decision{true, 1, 2 * s, 0, false}},
			{0, Decision{true, 0, 3 * s, 0, false}},
			{0, Decision{false, 0, 3 * s, s, false}},
			{900 * ms, Decision{false, 0, 2100 * ms, 100 * ms, false}},
			{1 * s, Decision{true, 0, 3 * s, 0, false}},
			{1 * s, Decision{false, 0, 3 * s, s, false}},
		}},
		{"a pause earns a burst and no more", Rate{s, 2}, []step{
			{0, Decision{true, 1, s, 0, false}},
			{time.Hour, Decision{true, 1, s, 0, false}},
			{time.Hour, Decision{true, 0, 2 * s, 0, false}},
			{time.Hour, Decision{false, 0, 2 * s, s, false}},
		}},
		{"one at a time", Rate{s, 1}, []step{
			{0, Decision{true, 0, s, 0, false}},
			{999 * ms, Decision{false, 0, ms, ms, false}},
			{1 * s, Decision{true, 0, s, 0, false}},
		}},
		{"no limit", Rate{}, []step{{0, Decision{Allowed: true}}, {0, Decision{Allowed: true}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := NewMemory(1000)
			for i, step := range test.steps {
				look := countAt(m, step.at, "k", test.rate, 0)
				if got := countAt(m, step.at, "k", test.rate, 1); got != step.want {
					t.Errorf("request %d: got %+v, want %+v", i, got, step.want)
				} else if look.Allowed != got.Allowed {
					t.Errorf("request %d: a look said %+v", i, look)
				}
				if d := countAt(m, step.at, fmt.Sprint("other ", i), test.rate, 1); !d.Allowed {
					t.Errorf("request %d counts for others", i)
				}
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := NewMemory(6400)
	busy := Rate{time.Millisecond, 1000}
	for range 900 {
		countAt(m, 0, "busy", busy, 1)
	}
	for i := range 50_000 {
		countAt(m, 0, fmt.Sprint(i), busy, 1)
	}
	if n := m.Keys(); n > 6400 {
		t.Errorf("%d keys", n)
	}
	if d := countAt(m, 0, "busy", busy, 0); d.Remaining > 100 {
		t.Errorf("a flood of others made it forget the busiest: %+v", d)
	}
}

func TestMemoryAllowsAsManyAsTheRateToRacers(t *testing.T) {
	t.Parallel()
	m, r := NewMemory(1000), Rate{time.Hour, 50}
	var mu sync.Mutex
	var all sync.WaitGroup
	allowed := 0
	for range 8 {
		all.Go(func() {
			for range 20 {
				d, err := m.Take(t.Context(), "k", r)
				mu.Lock()
				if err != nil {
					t.Error(err)
				}
				if d.Allowed {
					allowed++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if allowed != 50 {
		t.Errorf("%d were allowed", allowed)
	}
}

// TestMemoryReadsTheTimeOfARequestLast has a request wait for a mutex while time passes. It must be counted with the
// time at which it got the mutex.
func TestMemoryReadsTheTimeOfARequestLast(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	m, r := NewMemory(1000), Rate{time.Nanosecond, 1000}
	m.clock = func() time.Duration { return time.Duration(now.Load()) }
	others := m.shardOf("k")
	others.mu.Lock()
	waits := make(chan Decision)
	go func() {
		d, err := m.Take(t.Context(), "k", r)
		if err != nil {
			t.Error(err)
		}
		waits <- d
	}()
	time.Sleep(10 * time.Millisecond)
	now.Store(5000)
	others.due["k"] = 5001
	others.mu.Unlock()
	if d := <-waits; !d.Allowed {
		t.Errorf("it was refused: %+v", d)
	}
}

func BenchmarkMemory(b *testing.B) {
	m, r := NewMemory(100_000), Rate{time.Nanosecond, 1000}
	for b.Loop() {
		m.count("192.0.2.1", r, 1)
	}
}
