//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/must"
)

// TestComposeMakesTheUsersOfTheManual compares the SQL that compose.yaml has MySQL run with the SQL of the manual.
// Only the passwords differ, which come from its environment. TestUsersOfTheManual… runs this SQL on a server.
func TestComposeMakesTheUsersOfTheManual(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	client := "#!/bin/sh\n[ \"$MYSQL_PWD $*\" = 'top --user=root' ] || exit 7\ncat >\"$SENT\"\n"
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "mysql"), []byte(client), 0o755))
	sent := filepath.Join(dir, "sent.sql")
	users := func(migrate, serve string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "../../deploy/mysql/users.sh")
		cmd.Env = []string{
			"PATH=" + dir + ":" + os.Getenv("PATH"), "SENT=" + sent, "MYSQL_ROOT_PASSWORD=top",
			"ALMANAC_MIGRATE_PASSWORD=" + migrate, "ALMANAC_DB_PASSWORD=" + serve,
		}
		return cmd.CombinedOutput()
	}
	for _, wrong := range []string{"", "it's", "a b", "$(id)"} {
		if out, err := users("good", wrong); err == nil || !strings.Contains(string(out), "letters, digits") {
			t.Errorf("password %q: got %v, %s", wrong, err, out)
		}
	}
	if _, err := os.Stat(sent); !os.IsNotExist(err) {
		t.Errorf("something was sent with a wrong password: %v", err)
	}
	if out, err := users("choose-one", "choose-another"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(sent)
	must.Succeed(t, err)
	if diff := cmp.Diff(manualGrants(t), statementsOf(string(text))); diff != "" {
		t.Errorf("the manual and the script (-manual +script):\n%s", diff)
	}
	if info, err := os.Stat("../../deploy/mysql/users.sh"); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("the script cannot be run: %v, %v", info.Mode(), err)
	}
}
