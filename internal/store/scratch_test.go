package store_test

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestScratchDatabases(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	address := storetest.MySQL(t)
	existing := storetest.Open(t, address)
	u, err := url.Parse(address)
	must.Succeed(t, err)
	absent := *u
	absent.Path += "-scratch s" // a name that needs quotes; TiDB refuses a connection to one with a backquote
	for _, test := range []struct {
		name    string
		address string
		remains bool
	}{
		{"one that exists remains", address, true},
		{"one that does not exist is created and dropped", absent.String(), false},
		{"the same again", absent.String(), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			st, err := store.OpenScratch(ctx, test.address)
			must.Succeed(t, err)
			var name, charset string
			row := st.DB.QueryRowContext(ctx, "SELECT DATABASE(), @@collation_database")
			must.Succeed(t, row.Scan(&name, &charset))
			if !test.remains && charset != "utf8mb4_bin" {
				t.Errorf("collation %s", charset)
			}
			cancel() // as an interrupted command does
			must.Succeed(t, st.Close())
			found := 0
			must.Succeed(t, existing.DB.QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", name).Scan(&found))
			if remains := found == 1; remains != test.remains {
				t.Errorf("%s is there: %t", name, remains)
			}
		})
	}
	absent.User = url.User("nobody_of_this_name")
	if _, err := store.OpenScratch(t.Context(), absent.String()); err == nil || !strings.Contains(err.Error(), "denied") {
		t.Errorf("got %v", err)
	}
}
