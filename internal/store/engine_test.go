package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestServersAreToldApartByTheirVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version         string
		isTiDB, refused bool
	}{
		{"9.7.4-2", false, false},
		{"8.0.45-0ubuntu0.24.04.1", false, false},
		{"10.11.14-MariaDB-0+deb12u2", false, false},
		{"8.0.11-TiDB-v8.5.1", true, false},
		{"8.0.11-TiDB-v8.4.0-this-is-a-placeholder", true, false},
		{"8.0.11-TiDB-v10.0.0-alpha", true, false},
		{"5.7.25-TiDB-v7.1.2", false, true},
		{"5.7.25-TiDB", false, true},
		{"8.0.30-Vitess", false, true},
		{"5.7.25-OceanBase-v4.2.1.0", false, true},
		{"", false, true},
		{"something else", false, true},
	} {
		sent, err := store.SentTo(t.Context(), tt.version, "SELECT id FROM venues LOCK IN SHARE MODE")
		if isTiDB := sent == "SELECT id FROM venues FOR UPDATE"; isTiDB != tt.isTiDB {
			t.Errorf("%q was sent %q", tt.version, sent)
		}
		if errors.Is(err, store.ErrUnfit) != tt.refused || (err != nil) != tt.refused {
			t.Errorf("%q: error %v", tt.version, err)
		}
	}
}

// TestConflictsOfTiDBAreRetried checks that Tx runs a transaction again after each of TiDB's errors for a conflict.
// If the error never ends, Tx returns ErrConflict.
func TestConflictsOfTiDBAreRetried(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	for _, number := range []uint16{1105, 1205, 1213, 8002, 8005, 8022, 8027, 8028, 9004, 9006, 9007} {
		runs := 0
		err := store.Tx(t.Context(), st.Ent, func(*ent.Tx) error {
			if runs++; runs < 3 {
				return fmt.Errorf("write: %w", &mysql.MySQLError{Number: number})
			}
			return nil
		})
		if err != nil || runs != 3 {
			t.Errorf("%d: %d runs, error %v", number, runs, err)
		}
	}
	err := store.Tx(t.Context(), st.Ent, func(*ent.Tx) error { return &mysql.MySQLError{Number: 9007} })
	if !errors.Is(err, store.ErrConflict) || !store.IsUnavailable(err) {
		t.Errorf("got %v, want ErrConflict", err)
	}
}

// TestSharedLocks runs SELECT ... LOCK IN SHARE MODE, which writers of events use to lock venues. It must work both
// as text and as a prepared statement.
func TestSharedLocks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		if st.Engine() == "sqlite" {
			t.Skip("SQLite has no locks of rows")
		}
		conn, err := st.DB.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for range 4 { // prepared from the third on
			storetest.Value(t, conn, "SELECT COUNT(*) FROM venues WHERE id = ? LOCK IN SHARE MODE", 1)
		}
	})
}
