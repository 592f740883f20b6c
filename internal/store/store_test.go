package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, url, want string }{
		{"no scheme", "almanac.db", "want sqlite://"},
		{"unknown scheme", "postgres://root:secret@h/n", "want sqlite://"},
		{"notation of a driver", "root:secret@tcp(127.0.0.1:3306)/x", "want sqlite://"},
		{"no file", "sqlite://", "no file"},
		{"options on sqlite", "sqlite://a.db?mode=ro", "unknown option"},
		{"no database name", "mysql://root@127.0.0.1:3306/", "want mysql://"},
		{"unknown option", "mysql://root:secret@127.0.0.1:3306/x?loc=Local", "unknown option"},
		{"secret option", "mysql://root@127.0.0.1:3306/x?password=secret", "unknown option"},
		{"not a url", "mysql://root:sec%ret@h/x", "percent-encode"},
		{"nobody listens", "mysql://root:secret@127.0.0.1:1/x?timeout=1s", "127.0.0.1:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := store.Open(t.Context(), test.url)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec%ret") {
				t.Errorf("the password is in the message: %v", err)
			}
		})
	}
}

func TestTx(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		count := func() int {
			t.Helper()
			n, err := st.Ent.Record.Query().Count(t.Context())
			must.Succeed(t, err)
			return n
		}
		insert := func(tx *ent.Tx) error {
			return tx.Record.Create().SetKind("event").Exec(t.Context())
		}
		t.Run("commits", func(t *testing.T) {
			must.Succeed(t, store.Tx(t.Context(), st.Ent, insert))
			if n := count(); n != 1 {
				t.Errorf("got %d records, want 1", n)
			}
		})
		t.Run("rolls back on error", func(t *testing.T) {
			want := errors.New("no")
			err := store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error {
				return errors.Join(insert(tx), want)
			})
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			if n := count(); n != 1 {
				t.Errorf("got %d records, want 1", n)
			}
		})
		t.Run("rolls back on panic", func(t *testing.T) {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic was swallowed")
					}
				}()
				err := store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error {
					if err := insert(tx); err != nil {
						return err
					}
					panic("no")
				})
				t.Errorf("returned %v", err)
			}()
			if n := count(); n != 1 {
				t.Errorf("got %d records, want 1", n)
			}
		})
		t.Run("runs again after a lost race", func(t *testing.T) {
			runs := 0
			err := store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error {
				if runs++; runs < 3 {
					return store.ErrConflict
				}
				return insert(tx)
			})
			if err != nil || runs != 3 || count() != 2 {
				t.Errorf("got %v after %d runs with %d records", err, runs, count())
			}
		})
		t.Run("gives up when the context ends", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			err := store.Tx(ctx, st.Ent, func(*ent.Tx) error {
				cancel()
				return store.ErrConflict
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
		})
	})
}

// TestTestsOfOneNameHaveDatabases checks that storetest gives two tests of the same name a database each. It is here
// because another test program would take a second to link.
func TestTestsOfOneNameHaveDatabases(t *testing.T) {
	t.Parallel()
	for range 2 { // the second is called "repeated#01"
		t.Run("repeated", func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				if n := storetest.Value(t, st.DB, "SELECT COUNT(*) FROM events"); n != "0" {
					t.Errorf("%s events", n)
				}
			})
		})
	}
}
