package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/proof/must"
)

func TestProcessAnswersUntilItIsStopped(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	script := "#!/bin/sh\necho one; echo two >&2; [ \"$1\" = fails ] && exit 3; exec sleep 60\n"
	must.Succeed(t, os.WriteFile(program, []byte(script), 0o700))
	p, err := Start(t.Context(), []string{"one", "two"}, program, "works")
	must.Succeed(t, err)
	if err := p.Alive(); err != nil {
		t.Error(err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if p.Alive() == nil {
		t.Error("the process is alive after Stop")
	}
	_, err = Start(t.Context(), []string{"three"}, program, "fails")
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "two") {
		t.Errorf("%v", err)
	}
}
