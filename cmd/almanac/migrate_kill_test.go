//go:build unix

package main

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestKilledProcessesAreTakenUp kills a process several times while it applies migrations. The next one must
// continue.
func TestKilledProcessesAreTakenUp(t *testing.T) {
	t.Parallel()
	program := programLink(t)
	storetest.EachURL(t, func(t *testing.T, url string) {
		killed := 0
		// The first one at once: SQLite has all its migrations in the time of a few statements of MySQL.
		for after := time.Duration(0); killed < 10; after = time.Duration(rand.Int64N(int64(100 * time.Millisecond))) {
			if !killedWhileApplying(t, program, url, after) {
				break
			}
			killed++
		}
		if killed == 0 {
			t.Error("no process was killed")
		}
		t.Logf("%d processes were killed", killed)
		if out, err := startApply(t, program, url).CombinedOutput(); err != nil {
			t.Fatalf("after %d kills: %v, %s", killed, err, out)
		}
		st, err := store.Open(t.Context(), url)
		must.Succeed(t, err)
		defer st.Close()
		if drift, err := migrate.Verify(t.Context(), st, nil); err != nil || len(drift.Mend) != 0 {
			t.Errorf("error %v\n%s", err, drift)
		}
		revs, err := migrate.Status(t.Context(), st)
		must.Succeed(t, err)
		var got, want []string
		for _, r := range revs {
			got, want = append(got, string(r.State())), append(want, string(migrate.StateApplied))
			if r.Applied != r.Total || r.Error != "" {
				t.Errorf("%+v", r)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

func startApply(t *testing.T, program, url string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "migrate", "apply", "--no-data", "--db", url)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=10")
	return cmd
}

// killedWhileApplying starts a process that applies migrations, and kills it some time after its first statement.
// It returns false if the process ended before that.
func killedWhileApplying(t *testing.T, program, url string, after time.Duration) bool {
	t.Helper()
	cmd := startApply(t, program, url)
	stderr, err := cmd.StderrPipe()
	must.Succeed(t, err)
	must.Succeed(t, cmd.Start())
	said, killed := "", false
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "applying ") && !killed {
			killed = true
			time.Sleep(after)
			_ = cmd.Process.Kill() // it may have ended
		}
	}
	err = cmd.Wait()
	t.Logf("%v, %s after: %s", err, after, said)
	var exit *exec.ExitError
	if err == nil || !errors.As(err, &exit) {
		return false
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, said)
	}
	return true
}
