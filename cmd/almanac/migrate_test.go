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
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		terminal := &canceller{at: "applying ", cancel: cancel}
		code, out := almanacOn(ctx, url, terminal, "migrate", "apply")
		if code != 1 || out != "" || !strings.Contains(terminal.String(), "interrupted before statement 1 of ") {
			t.Fatalf("exit status %d, stdout %q, stderr %q", code, out, terminal)
		}
		want := " interrupted "
		if strings.HasPrefix(url, "sqlite") {
			want = " pending"
		}
		quiet := &canceller{at: "nothing of the kind"}
		if code, out := almanacOn(t.Context(), url, quiet, "migrate", "status"); code != 1 || !strings.Contains(out, want) {
			t.Errorf("status: exit status %d, want %q in\n%s", code, want, out)
		}
		if code, out := almanacOn(t.Context(), url, quiet, "migrate", "apply"); code != 0 || !strings.HasPrefix(out, "applied ") {
			t.Errorf("apply: exit status %d, got %q, stderr %q", code, out, quiet)
		}
		if code, out := almanacOn(t.Context(), url, quiet, "migrate", "verify"); code != 0 {
			t.Errorf("verify: exit status %d, got %q, stderr %q", code, out, quiet)
		}
	})
}
