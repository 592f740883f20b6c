package limit

import (
	"context"
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// eachCounter runs a test with counts in memory, and also in Redis if ALMANAC_TEST_REDIS has its URL. In Redis, one
// and other are two processes that share their counts. In memory they are the same process.
func eachCounter(t *testing.T, test func(t *testing.T, one, other *Guesses)) {
	t.Helper()
	report := func(t *testing.T, l Limiter) *Guesses {
		return &Guesses{Counter: l, Report: func(_ context.Context, err error) { t.Error(err) }}
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		g := report(t, NewMemory(1000))
		test(t, g, g)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		url := os.Getenv("ALMANAC_TEST_REDIS")
		if url == "" {
			t.Skip("ALMANAC_TEST_REDIS names no server")
		}
		prefix := "test:" + rand.Text() + ":"
		process := func() *Guesses {
			r, err := NewRedis(url, prefix, NewMemory(1))
			if err != nil {
				t.Fatal(err)
			}
			r.wait = time.Minute // a busy machine changes no decision
			t.Cleanup(func() { r.Close() })
			return report(t, r)
		}
		test(t, process(), process())
	})
}

func sources(names string, shared bool) []GuessSource {
	var out []GuessSource
	for i, name := range strings.Fields(names) {
		out = append(out, GuessSource{Key: name, Shared: shared && i == 0})
	}
	return out
}

func TestGuessesAreJudgedWithinTheirBudgets(t *testing.T) {
	t.Parallel()
	hour := func(burst int) Rate { return Rate{time.Hour, burst} }
	rates := GuessRates{Source: hour(4), Target: hour(6), Trusted: hour(2)}
	const wrong, right = true, false
	type guess struct {
		source string // addresses, and "u" for the user of a token
		target string
		times  int
		wrong  bool
		judged int // how many of the guesses are judged
	}
	for _, tt := range []struct {
		name    string
		shared  bool // addresses may be those of a proxy
		guesses []guess
	}{
		{"wrong ones of an address", false, []guess{
			{"a", "x", 6, wrong, 4}, {"a", "x", 1, right, 0}, {"a", "y", 1, wrong, 0}, {"b", "x", 1, wrong, 1},
		}},
		{"right ones cost nothing", false, []guess{
			{"a", "x", 50, right, 50}, {"a", "x", 4, wrong, 4}, {"a", "x", 1, wrong, 0},
		}},
		{"a user counts as well, from any address", false, []guess{
			{"a u", "x", 2, wrong, 2}, {"b u", "y", 3, wrong, 2}, {"c u", "x", 1, right, 0}, {"c", "x", 1, right, 1},
		}},
		{"an address counts for all its users", false, []guess{
			{"a u", "x", 2, wrong, 2}, {"a v", "x", 3, wrong, 2}, {"a", "x", 1, right, 0}, {"b v", "x", 1, right, 1},
		}},
		{"a target that many guess is open to sources with few wrong ones", false, []guess{
			{"d", "x", 1, wrong, 1},
			{"a", "x", 4, wrong, 4},
			{"b", "x", 4, wrong, 2},
			{"b", "x", 1, right, 0},
			{"a", "x", 1, right, 0},
			{"c", "x", 20, right, 20},
			{"d", "x", 5, right, 5},
			{"b", "y", 1, right, 1},
			{"d", "x", 1, wrong, 1},
			{"d", "x", 1, right, 0},
			{"d u", "y", 1, right, 1},
		}},
		{"of a token no target is guessed", false, []guess{
			{"a", "", 5, wrong, 4}, {"b", "", 5, wrong, 4}, {"c", "", 5, wrong, 4}, {"d", "", 1, right, 1},
		}},
		{"an address that may be a proxy", true, []guess{
			{"a", "x", 20, wrong, 6}, {"a", "x", 1, right, 0}, {"b", "x", 5, right, 5}, {"a", "y", 1, right, 1},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			eachCounter(t, func(t *testing.T, one, other *Guesses) {
				for i, step := range tt.guesses {
					judged := 0
					for n := range step.times {
						process := one
						if n%2 == 1 {
							process = other
						}
						refused, err := process.Judge(t.Context(), rates, step.target, sources(step.source, tt.shared), func() bool {
							judged++
							return step.wrong
						})
						if err != nil || refused != nil && (refused.Retry <= 0 || refused.Retry > time.Hour) {
							t.Errorf("step %d: %+v, error %v", i, refused, err)
						}
					}
					if judged != step.judged {
						t.Errorf("step %d: %d judged, want %+v", i, judged, step)
					}
				}
			})
		})
	}
}

// TestParallelGuesses checks that concurrent wrong guesses cannot exceed the budget. Concurrent right guesses must
// all be accepted.
func TestParallelGuesses(t *testing.T) {
	t.Parallel()
	rates := GuessRates{Source: Rate{time.Hour, 10}, Target: Rate{time.Hour, 100}, Trusted: Rate{time.Hour, 3}}
	for _, tt := range []struct {
		name              string
		addresses, each   int
		wrong             bool
		fewest, mostKnown int
	}{
		{"wrong ones of an address", 1, 200, true, 10, 10},
		{"right ones of an address", 1, 200, false, 200, 200},
		{"wrong ones of many addresses", 30, 20, true, 100, 100 + 30*3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			eachCounter(t, func(t *testing.T, g, _ *Guesses) {
				var judged atomic.Int64
				var all sync.WaitGroup
				for i := range tt.addresses * tt.each {
					all.Go(func() {
						_, err := g.Judge(t.Context(), rates, "x", sources(strconv.Itoa(i%tt.addresses), false), func() bool {
							judged.Add(1)
							return tt.wrong
						})
						if err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if n := int(judged.Load()); n < tt.fewest || n > tt.mostKnown {
					t.Errorf("%d judged, want %d to %d", n, tt.fewest, tt.mostKnown)
				}
				if len(g.turns) != 0 {
					t.Errorf("%d turns are left", len(g.turns))
				}
			})
		})
	}
}

// TestGuessThatPanics checks that a guess whose comparison panics counts as wrong, and does not block the next guess.
func TestGuessThatPanics(t *testing.T) {
	t.Parallel()
	g := &Guesses{Counter: NewMemory(100)}
	rates := GuessRates{Source: Rate{time.Hour, 1}}
	func() {
		defer func() { _ = recover() }()
		_, _ = g.Judge(t.Context(), rates, "", sources("a", false), func() bool { panic("broken") })
	}()
	refused, err := g.Judge(t.Context(), rates, "", sources("a", false), func() bool { return false })
	if refused == nil || err != nil {
		t.Errorf("got %+v and error %v, want a refusal", refused, err)
	}
}
