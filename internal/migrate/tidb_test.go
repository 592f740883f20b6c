package migrate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestInterruptedWhileTiDBWaitsForATransaction interrupts a process while its statement waits for a transaction. TiDB
// does not stop that statement. The next process must wait for the migration lock until the statement has ended, and
// must then notice its effect.
func TestInterruptedWhileTiDBWaitsForATransaction(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	st := storetest.Open(t, storetest.MySQL(t))
	if !storetest.IsTiDB(t, st) {
		t.Skip("other engines end the wait themselves")
	}
	texts := map[string]string{"1_a.sql": createA}
	if _, err := applyAll(t.Context(), st, sealedFiles(t, texts)); err != nil {
		t.Fatal(err)
	}
	texts["2_b.sql"] = "ALTER TABLE a ADD COLUMN n int NULL;\n"
	files := withStates(t, texts)
	reader, err := st.DB.BeginTx(t.Context(), nil)
	must.Succeed(t, err)
	storetest.Value(t, reader, "SELECT COUNT(*) FROM a")

	ctx, interrupt := context.WithCancel(t.Context())
	_, err = migrate.ApplyFiles(ctx, st, files, migrate.ApplyOptions{
		Operator: "test", LockWait: 10 * time.Minute,
		Progress: func(migrate.Step) { time.AfterFunc(time.Second, interrupt) },
	})
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), "apply again") {
		t.Errorf("got %v, want ErrLocked and what to do", err)
	}
	_, err = migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{Operator: "test", LockWait: -1})
	if !errors.Is(err, store.ErrLocked) {
		t.Errorf("while the statement waits: got %v, want ErrLocked", err)
	}
	must.Succeed(t, reader.Rollback())
	first, done, err := firstStep(t, st, files, "")
	if err != nil || len(done) != 1 || !first.Found {
		t.Errorf("after the transaction: %+v, applied %v, error %v", first, done, err)
	}
}
