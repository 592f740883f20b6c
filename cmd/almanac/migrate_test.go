package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/proof/storetest"
)

// canceller is a terminal whose user presses ctrl-C as soon as a text appears.
type canceller struct {
	bytes.Buffer
	at     string
	cancel func()
}

func (c *canceller) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.at) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

func TestApplyIsInterruptedAndTakenUp(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		almanac := func(ctx context.Context, stderr *canceller, args ...string) (code int, out string) {
			var stdout bytes.Buffer
			none := func(string) string { return "" }
			code = run(ctx, append(args, "--db", url), none, streams{Out: &stdout, Err: stderr})
			return code, stdout.String()
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		terminal := &canceller{at: "applying ", cancel: cancel}
		code, out := almanac(ctx, terminal, "migrate", "apply")
		if code != 1 || out != "" || !strings.Contains(terminal.String(), "interrupted before statement 1 of ") {
			t.Fatalf("exit status %d, stdout %q, stderr %q", code, out, terminal)
		}
		want := " interrupted "
		if strings.HasPrefix(url, "sqlite") {
			want = " pending"
		}
		quiet := &canceller{at: "nothing of the kind"}
		if code, out := almanac(t.Context(), quiet, "migrate", "status"); code != 1 || !strings.Contains(out, want) {
			t.Errorf("status: exit status %d, want %q in\n%s", code, want, out)
		}
		if code, out := almanac(t.Context(), quiet, "migrate", "apply"); code != 0 || !strings.HasPrefix(out, "applied ") {
			t.Errorf("apply: exit status %d, got %q, stderr %q", code, out, quiet)
		}
		if code, out := almanac(t.Context(), quiet, "migrate", "verify"); code != 0 {
			t.Errorf("verify: exit status %d, got %q, stderr %q", code, out, quiet)
		}
	})
}
