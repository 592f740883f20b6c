package server

import (
	"testing"
	"time"
)

func TestHowLongRepliesAreKept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name          string
		left          time.Duration // until the reply changes by itself; 0 means never
		maxAge, stale time.Duration
		want          string
	}{
		{"nothing", 0, 0, 0, "public, max-age=0"},
		{"as it is without a word", 0, 0, 10 * time.Second, "public, max-age=0, stale-while-revalidate=10"},
		{"both", 0, time.Minute, time.Hour, "public, max-age=60, stale-while-revalidate=3600"},
		{"enough is left", 71 * time.Second, time.Minute, 10 * time.Second, "public, max-age=60, stale-while-revalidate=10"},
		{"less is stale", 66 * time.Second, time.Minute, 10 * time.Second, "public, max-age=60, stale-while-revalidate=5"},
		{"nothing is stale", 61 * time.Second, time.Minute, 10 * time.Second, "public, max-age=60"},
		{"less is fresh", 31 * time.Second, time.Minute, 10 * time.Second, "public, max-age=30"},
		{"a second", time.Second, time.Minute, 10 * time.Second, "public, max-age=0"},
		{"parts of a second", 2*time.Second + 999*time.Millisecond, 0, time.Minute, "public, max-age=0, stale-while-revalidate=1"},
		{"it has changed", -time.Hour, time.Minute, 10 * time.Second, "public, max-age=0"},
	} {
		var until time.Time
		if c.left != 0 {
			until = now.Add(c.left)
		}
		if got := cacheControl(now, until, c.maxAge, c.stale); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPreflightsGetWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ asked, want string }{
		{"", ""},
		{"authorization,content-type,x-other", ""},
		{"if-match", ", If-Match"},
		{"content-type, IF-NONE-MATCH ,if-match,if-match", ", If-Match, If-None-Match"},
		{"if-matches", ""},
	} {
		if got := preflightHeaders(c.asked); got != allowedHeaders+c.want {
			t.Errorf("%s: got %s", c.asked, got)
		}
	}
}
