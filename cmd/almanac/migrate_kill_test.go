//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/storetest"
	"github.com/almanac-cal/almanac/store"
)

// The process itself, killed at any time.
func TestKilledProcessesAreTakenUp(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "almanac")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	storetest.EachURL(t, func(t *testing.T, url string) {
		apply := func(ctx context.Context) (stderr string, err error) {
			cmd := exec.CommandContext(ctx, program, "migrate", "apply", "--no-data", "--db", url)
			cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=10")
			var out bytes.Buffer
			cmd.Stderr = &out
			err = cmd.Run() // which kills when ctx ends
			return out.String(), err
		}
		const most = 12
		killed := 0
		// Each kill comes later than the one before, so that it ends also on a machine that is slow to start processes.
		for after := 20 * time.Millisecond; killed < most; killed++ {
			after += time.Duration(rand.Int64N(int64(60 * time.Millisecond)))
			ctx, cancel := context.WithTimeout(t.Context(), after)
			stderr, err := apply(ctx)
			cancel()
			if err == nil {
				break
			}
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
					t.Fatalf("after %d kills: %v, %s", killed, err, stderr)
				}
			} else if !errors.Is(err, context.DeadlineExceeded) { // before it was started
				t.Fatal(err)
			}
			t.Logf("killed after %s: %s", after, stderr)
		}
		if stderr, err := apply(t.Context()); err != nil {
			t.Fatalf("after %d kills: %v, %s", killed, err, stderr)
		}
		st, err := store.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if drift, err := st.Verify(t.Context(), nil); err != nil || len(drift.Mend) != 0 {
			t.Errorf("error %v\n%s", err, drift)
		}
		revs, err := st.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, r := range revs {
			got, want = append(got, string(r.State())), append(want, string(store.Applied))
			if r.Applied != r.Total || r.Error != "" {
				t.Errorf("%+v", r)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}
