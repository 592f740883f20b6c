package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSettingsHaveVariables(t *testing.T) {
	t.Parallel()
	env := &environment{}
	if _, err := kong.New(new(cli), kong.PostBuild(env.readFlags)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ALMANAC_ACCESS_LOG", "ALMANAC_BASE_URL", "ALMANAC_CACHE_DELAY", "ALMANAC_CACHE_SIZE",
		"ALMANAC_CURRENCY_CODE", "ALMANAC_CURRENCY_POSITION", "ALMANAC_CURRENCY_SYMBOL",
		"ALMANAC_DB", "ALMANAC_DB_READ", "ALMANAC_DB_READ_LAG", "ALMANAC_DECIMAL_MARK", "ALMANAC_DRAIN_WAIT", "ALMANAC_FETCH_ALLOW",
		"ALMANAC_INDEX", "ALMANAC_INDEX_SNAPSHOT", "ALMANAC_INDEX_WAIT", "ALMANAC_KEEP_CHANGES", "ALMANAC_LANGUAGE", "ALMANAC_LISTEN", "ALMANAC_LOG_FORMAT",
		"ALMANAC_MAX_AGE", "ALMANAC_MAX_CONCURRENT", "ALMANAC_MAX_CONNECTIONS", "ALMANAC_MAX_CONNECTIONS_BY_ADDRESS",
		"ALMANAC_MAX_DECODING", "ALMANAC_MAX_RECEIVING", "ALMANAC_MAX_SENDING", "ALMANAC_MEDIA", "ALMANAC_METRICS_LISTEN", "ALMANAC_MIGRATE", "ALMANAC_MOUNT",
		"ALMANAC_OTLP_ENDPOINT", "ALMANAC_PAGES", "ALMANAC_PER_PAGE", "ALMANAC_PPROF", "ALMANAC_PROXY_HEADER",
		"ALMANAC_RATE_LIMIT", "ALMANAC_RATE_LIMIT_TOKEN", "ALMANAC_RATE_REDIS", "ALMANAC_RECORD_CACHE", "ALMANAC_REQUEST_TIMEOUT",
		"ALMANAC_REUSE_PORT", "ALMANAC_SITE", "ALMANAC_STALE_WHILE_REVALIDATE", "ALMANAC_TIMEZONE", "ALMANAC_TRUSTED_PROXY", "ALMANAC_UPLOAD_TIMEOUT",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Values(env.settings))); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

func TestHelpNamesTheVariables(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		command string
		want    []string // variables in any order; no others
	}{
		{"serve", []string{
			"ALMANAC_DB", "ALMANAC_TIMEZONE", "ALMANAC_LANGUAGE", "ALMANAC_CURRENCY_SYMBOL", "ALMANAC_CURRENCY_CODE",
			"ALMANAC_CURRENCY_POSITION", "ALMANAC_DECIMAL_MARK", "ALMANAC_LISTEN", "ALMANAC_BASE_URL",
			"ALMANAC_PER_PAGE", "ALMANAC_MOUNT", "ALMANAC_MEDIA", "ALMANAC_FETCH_ALLOW",
			"ALMANAC_INDEX", "ALMANAC_PAGES", "ALMANAC_SITE", "ALMANAC_ACCESS_LOG", "ALMANAC_LOG_FORMAT", "ALMANAC_REQUEST_TIMEOUT", "ALMANAC_UPLOAD_TIMEOUT",
			"ALMANAC_CACHE_SIZE", "ALMANAC_RECORD_CACHE", "ALMANAC_CACHE_DELAY",
			"ALMANAC_MAX_CONCURRENT", "ALMANAC_MAX_SENDING", "ALMANAC_MAX_RECEIVING", "ALMANAC_MAX_DECODING", "ALMANAC_MAX_CONNECTIONS", "ALMANAC_MAX_CONNECTIONS_BY_ADDRESS",
			"ALMANAC_RATE_LIMIT", "ALMANAC_RATE_LIMIT_TOKEN", "ALMANAC_RATE_REDIS", "ALMANAC_TRUSTED_PROXY",
			"ALMANAC_PROXY_HEADER", "ALMANAC_MAX_AGE", "ALMANAC_STALE_WHILE_REVALIDATE", "ALMANAC_DRAIN_WAIT", "ALMANAC_INDEX_WAIT", "ALMANAC_INDEX_SNAPSHOT", "ALMANAC_KEEP_CHANGES", "ALMANAC_REUSE_PORT", "ALMANAC_METRICS_LISTEN",
			"ALMANAC_PPROF", "ALMANAC_OTLP_ENDPOINT", "ALMANAC_DB_READ", "ALMANAC_DB_READ_LAG", "ALMANAC_MIGRATE",
		}},
		{"migrate apply", []string{"ALMANAC_DB", "ALMANAC_TIMEZONE", "ALMANAC_LANGUAGE"}},
		{"user add", []string{"ALMANAC_DB"}},
		{"token revoke", []string{"ALMANAC_DB"}},
		{"version", nil},
	} {
		t.Run(test.command, func(t *testing.T) {
			t.Parallel()
			var out, failed strings.Builder
			args := append(strings.Fields(test.command), "--help")
			if code := run(t.Context(), args, noOutput, streams{Out: &out, Err: &failed}); code != 0 {
				t.Fatalf("exit status %d: %s", code, failed.String())
			}
			var got []string
			for word := range strings.FieldsSeq(out.String()) {
				if name, ok := strings.CutPrefix(word, "[$"); ok {
					got = append(got, strings.TrimSuffix(name, "]"))
				}
			}
			slices.Sort(test.want)
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
		})
	}
}

func noOutput(string) string { return "" }

// TestSettingsWithoutEffectAreTold starts a server with settings that have no effect. It must log warnings. The
// test stops it early, which is not a failure.
func TestSettingsWithoutEffectAreTold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		flags   []string
		environ []string
		want    string // a part of the log; "" for nothing
	}{
		{"nothing to tell", nil, nil, ""},
		{"a header that nobody may send", []string{"--proxy-header=forwarded"}, nil, "--proxy-header has no effect"},
		{"a header of a proxy", []string{"--proxy-header=forwarded", "--trusted-proxy=10.0.0.0/8"}, nil, ""},
		{"a delay of nothing", []string{"--cache-delay=1s", "--cache-size=0"}, nil, "--cache-delay has no effect"},
		{"a delay of the cache", []string{"--cache-delay=1s"}, nil, ""},
		{
			"variables that are nearly settings", nil,
			[]string{"ALMANAC_RATE_LIMITS=s3cret", "ALMANAC_DBURL=s3cret", "ALMANAC_LISTEN=127.0.0.1:0", "HOME=/"},
			"variables=ALMANAC_DBURL,ALMANAC_RATE_LIMITS\n",
		},
		{"an empty one", nil, []string{"ALMANAC_RATE_LIMITS="}, ""},
		{"those of tests", nil, []string{"ALMANAC_TEST_MYSQL=x", "ALMANAC_REAL_CALENDAR=x"}, ""},
		{
			"those of a service of Kubernetes", nil,
			[]string{"ALMANAC_SERVICE_HOST=x", "ALMANAC_SERVICE_PORT_HTTP=80", "ALMANAC_PORT=x", "ALMANAC_PORT_80_TCP=x"},
			"",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			stop()
			var failed strings.Builder
			args := append([]string{"serve", "--db=sqlite://" + filepath.Join(t.TempDir(), "a.db"), "--listen=127.0.0.1:0"}, test.flags...)
			code := run(ctx, args, noOutput, streams{Out: io.Discard, Err: &failed, Environ: test.environ})
			said := failed.String()
			if code != 0 || strings.Contains(said, "context canceled") {
				t.Errorf("told to stop: exit status %d: %s", code, said)
			}
			said = regexp.MustCompile(`(?m)^almanac: (starting at \S+|stopped)\n`).ReplaceAllString(said, "")
			if test.want == "" && said != "" || !strings.Contains(said, test.want) || strings.Contains(said, "s3cret") {
				t.Errorf("want %q, said %s", test.want, said)
			}
		})
	}
}

func TestTokenExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, text string
		want       string // RFC 3339; "" for never
		err        error
	}{
		{"never", "", "", nil},
		{"hours", "24h", "2026-11-22T12:00:00Z", nil},
		{"hours and minutes", "1h30m", "2026-11-21T13:30:00Z", nil},
		{"days", "90d", "2027-02-19T12:00:00Z", nil},
		{"the end of a day", "2027-01-31", "2027-01-31T23:59:59Z", nil},
		{"the end of today", "2026-11-21", "2026-11-21T23:59:59Z", nil},
		{"an instant", "2026-11-21T14:00:00+01:00", "2026-11-21T13:00:00Z", nil},
		{"the last day", "9999-12-31", "9999-12-31T23:59:59Z", nil},

		{"no time", "0h", "", errPast},
		{"no days", "0d", "", errPast},
		{"time gone by", "-1h", "", errPast},
		{"days gone by", "-1d", "", errPast},
		{"yesterday", "2026-11-20", "", errPast},
		{"an instant gone by", "2026-11-21T12:00:00Z", "", errPast},
		{"less than a second", "1ms", "", errPast},
		{"a word", "tomorrow", "", errExpiry},
		{"no unit", "90", "", errExpiry},
		{"half a day", "0.5d", "", errExpiry},
		{"no such day", "2027-02-30", "", errExpiry},
		{"more days than there are", "3000000d", "", errExpiry},
		{"more days than fit", "99999999999999999999d", "", errExpiry},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			at, err := parseExpiry(test.text, now)
			got := ""
			if at != nil {
				got = at.Format(time.RFC3339)
			}
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%q: got %s and error %v, want %s and %v", test.text, got, err, test.want, test.err)
			}
		})
	}
}

func TestTableCells(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("", 3600))
	for _, test := range []struct {
		name  string
		value any
		want  string
	}{
		{"number", int64(7), "7"},
		{"text", "Ewa Łącka", "Ewa Łącka"},
		{"nothing", "", "-"},
		{"no time", (*time.Time)(nil), "-"},
		{"time", &at, "2026-11-21T11:00:00Z"},
		{"columns and lines", "a\tb\nc", "a�b�c"},
		{"control sequence", "\x1b[2J", "�[2J"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := cellText(test.value); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestTokensEndLater parses random expiries of tokens. Each result must be a whole second after now that a time can
// represent. Parsing the result as an instant must return the same.
func TestTokensEndLater(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	texts := rapid.OneOf(
		rapid.StringMatching(`[-+]?[0-9]{1,12}(h|m|s|ms|d)([0-9]{1,3}m)?`),
		rapid.StringMatching(`(202[67]|9999|0000|[0-9]{4})-(0[1-9]|1[0-2])-([0-3][0-9])(T[012][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[-+][01][0-9]:[03]0))?`),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		at, err := parseExpiry(text, now)
		switch {
		case err != nil:
			if at != nil || !errors.Is(err, errExpiry) && !errors.Is(err, errPast) {
				t.Errorf("%q: %v and %v", text, at, err)
			}
		case at == nil:
			if text != "" {
				t.Errorf("%q is never", text)
			}
		case !at.After(now) || at.After(lastInstant) || at.Nanosecond() != 0 || at.Location() != time.UTC:
			t.Errorf("%q is %s", text, at)
		default:
			again, err := parseExpiry(at.Format(time.RFC3339), now)
			if err != nil || !again.Equal(*at) {
				t.Errorf("%q is %s, and that is %v (%v)", text, at, again, err)
			}
		}
	})
}
