package main

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestDumpIsRestoredWithTheRightsOfTheManual runs the command that backup prints as the backup user of the manual.
// The user who migrates must be able to restore the dump.
func TestDumpIsRestoredWithTheRightsOfTheManual(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	address := storetest.MySQL(t)
	root := storetest.Open(t, address)
	storetest.SkipOnTiDB(t, root, "it has a program of its own for backups")
	dump, client := "mysqldump", "mysql"
	if storetest.IsMariaDB(t, root) {
		dump, client = "mariadb-dump", "mariadb"
	}
	for _, program := range []string{dump, client} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
		// Debian calls MariaDB's programs by both names, and MySQL's server refuses them.
		version, err := exec.CommandContext(t.Context(), program, "--version").Output()
		must.Succeed(t, err)
		if strings.Contains(string(version), "MariaDB") != storetest.IsMariaDB(t, root) {
			t.Skipf("%s is of another server: %s", program, version)
		}
	}
	u, err := url.Parse(address)
	must.Succeed(t, err)
	name := strings.Trim(u.Path, "/")
	suffix := strings.TrimPrefix(name, "almanac_test")
	names := strings.NewReplacer("`almanac`", "`"+name+"`", "'almanac_backup'", "'b"+suffix+"'")
	dropUsers(t, address, "m"+suffix, "s"+suffix, "b"+suffix)
	storetest.Exec(t, root, append(grants(t, name, suffix), statementsOf(names.Replace(backupGrants(t)))...)...)
	as := func(user, password string) string {
		u.User = url.UserPassword(user+suffix, password)
		return u.String()
	}
	migrating, serving := as("m", "choose-one"), as("s", "choose-another")
	expect(t, 0, "", "migrate", "apply", "--db", migrating)
	expect(t, 0, "", "user", "add", "--login", "ewa", "--role", "editor", "--db", serving)
	expect(t, 0, "", "seed", "--events", "5", "--media", t.TempDir(), "--db", serving)
	counted := func() (counts []string) {
		st := storetest.Open(t, serving)
		for _, table := range []string{"users", "events", "event_translations", "tokens", "search_texts", "settings"} {
			counts = append(counts, table+" "+storetest.Value(t, st.DB, "SELECT COUNT(*) FROM "+table))
		}
		return counts
	}
	before := counted()

	file := filepath.Join(t.TempDir(), "copy.sql")
	command, _, err := dumpCommand(as("b", "choose-a-third"), file)
	must.Succeed(t, err)
	command = strings.Replace(command, "mysqldump", dump, 1)
	if dump == "mariadb-dump" {
		command = strings.Replace(command, "--set-gtid-purged=OFF ", "", 1)
	}
	runClient(t, command, "choose-a-third")
	storetest.Exec(t, root, "DROP DATABASE `"+name+"`", grants(t, name, suffix)[0])
	flags, _, err := mysqlAddress(migrating)
	must.Succeed(t, err)
	runClient(t, client+" "+flags+" --password "+name+" < "+shellQuote(file), "choose-one")
	expect(t, 0, "-- No drift", "migrate", "verify", "--db", migrating)
	expect(t, 0, "no problems", "check", "--db", serving)
	if diff := cmp.Diff(before, counted()); diff != "" {
		t.Errorf("rows (-before +restored):\n%s", diff)
	}
}

// backupGrants returns the statements of the manual that create the user who makes backups.
func backupGrants(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile("(?s)```sql\n(CREATE USER 'almanac_backup'.*?)```").FindStringSubmatch(dbaPage(t))
	if m == nil {
		t.Fatal("the manual has no user for backups")
	}
	return m[1]
}

// runClient runs a command of MySQL's programs in a shell. It gives the password in the environment, so that the
// program does not ask for it, and fails the test if the program reports an error.
func runClient(t *testing.T, command, password string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, " --password ", " ", 1))
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+password)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "rror") {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// dropUsers drops users of a server at the end of a test.
func dropUsers(t *testing.T, address string, users ...string) {
	t.Helper()
	t.Cleanup(func() {
		// The test's context and connection have ended by now.
		db, err := store.Open(context.Background(), address)
		if err != nil {
			t.Error(err)
			return
		}
		defer db.Close()
		for _, user := range users {
			if _, err := db.DB.ExecContext(context.Background(), "DROP USER IF EXISTS '"+user+"'@'%'"); err != nil {
				t.Error(err)
			}
		}
	})
}
