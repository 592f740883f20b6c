package migrate_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestLockedSaysWhoHoldsIt checks the error of a migration that waited too long for the lock. The error names the
// connection that holds the lock. For a user without the privilege to see it, the error says where to look.
func TestLockedSaysWhoHoldsIt(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	address := storetest.MySQL(t)
	root := storetest.Open(t, address)
	limited := storetest.Open(t, limitedUser(t, root, address))
	first := map[string]string{"1_a.sql": createA}
	files := sealedFiles(t, first)
	if _, err := applyAll(t.Context(), root, files); err != nil {
		t.Fatal(err)
	}
	first["2_b.sql"] = "ALTER TABLE a ADD COLUMN n int NULL, ALGORITHM=INSTANT;\n"
	files = withStates(t, first)

	refused := func(st *store.Store, what string, want ...string) {
		t.Helper()
		var err error
		for range 60 {
			_, err = migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{Operator: "test", LockWait: time.Second})
			// Other tests migrate on the same server, which has one lock for all databases.
			if err == nil || strings.HasPrefix(what, "the lock") || strings.Contains(err.Error(), "the table is") {
				break
			}
		}
		if !errors.Is(err, store.ErrLocked) {
			t.Fatalf("%s: got %v, want ErrLocked", what, err)
		}
		for _, text := range want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: got %v, want %q in it", what, err, text)
			}
		}
	}

	holder, err := root.DB.Conn(t.Context())
	must.Succeed(t, err)
	useTable := func() {
		t.Helper()
		if _, err := holder.ExecContext(t.Context(), "START TRANSACTION"); err != nil {
			t.Fatal(err)
		}
		storetest.Value(t, holder, "SELECT COUNT(*) FROM a")
	}
	leaveTable := func() {
		t.Helper()
		if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		if err := holder.Close(); err != nil {
			t.Error(err)
		}
		if done, err := applyAll(t.Context(), limited, files); err != nil || len(done) != 1 {
			t.Errorf("after that: %+v, error %v", done, err)
		}
	}
	id := "connection " + storetest.Value(t, holder, "SELECT CONNECTION_ID()")
	user, _, _ := strings.Cut(storetest.Value(t, holder, "SELECT USER()"), "@")
	getLock(t, holder)
	if storetest.IsTiDB(t, root) {
		refused(root, "the lock", "TiDB does not say which connection holds it")
		storetest.Value(t, holder, "SELECT RELEASE_LOCK('"+migrate.LockName+"')")
		useTable()
		refused(root, "the table", "the table is used by "+id+" of "+user+"@", "idle")
		leaveTable() // the server runs the statement now, and holds the lock until then
		return
	}
	refused(root, "the lock", "held by "+id+" of "+user+"@", "idle")
	refused(limited, "the lock, as another user", "held by "+id+";", "PROCESS")
	// The connection that has the lock runs a statement.
	sleeping := make(chan error, 1)
	go func() {
		_, err := holder.ExecContext(context.WithoutCancel(t.Context()), "DO SLEEP(4)")
		sleeping <- err
	}()
	refused(root, "the lock of a busy connection", id+" of ", "DO SLEEP(4)")
	if err := <-sleeping; err != nil {
		t.Error(err)
	}
	storetest.Value(t, holder, "SELECT RELEASE_LOCK('"+migrate.LockName+"')")

	useTable()
	refused(root, "the table", "used by "+id+" of "+user+"@")
	refused(limited, "the table, as another user", "metadata_locks", `"a"`)
	leaveTable()
}

// limitedUser creates a MySQL user with access to one database only, and returns the database's URL for that user.
func limitedUser(t *testing.T, root *store.Store, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	must.Succeed(t, err)
	name := strings.Trim(u.Path, "/")
	user := "l" + strings.TrimPrefix(name, "almanac_test")
	storetest.Exec(t, root, "CREATE USER '"+user+"'@'%' IDENTIFIED BY 'choose-one'", "GRANT ALL ON `"+name+"`.* TO '"+user+"'@'%'")
	t.Cleanup(func() {
		// The test's context and connections have ended by now.
		st, err := store.Open(context.Background(), address)
		if err != nil {
			t.Error(err)
			return
		}
		defer st.Close()
		if _, err := st.DB.ExecContext(context.Background(), "DROP USER '"+user+"'@'%'"); err != nil {
			t.Error(err)
		}
	})
	u.User = url.UserPassword(user, "choose-one")
	return u.String()
}
