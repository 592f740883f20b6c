// Command migrate takes a filled database one version back, applies the last migration again while others write, and
// prints how long that took and how long a writer was kept waiting:
//
//	go -C lab run ./scale fill --dir /tmp/scale --sizes 1m
//	go -C lab run ./migrate --db sqlite:///tmp/scale/scale_1m.db
//
// The database is as before when it ends. Going back is done with statements of its own, since the service never does.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
)

// newestMigration is the newest migration, and back what undoes it.
const newestMigration = "20261121134820"

var undoStatements = map[string][]string{
	"mysql": {
		"ALTER TABLE terms DROP INDEX term_taxonomy_sort_en_id, DROP INDEX term_taxonomy_sort_pl_id, DROP INDEX term_taxonomy_sort_es_id",
		"ALTER TABLE terms DROP COLUMN sort_en, DROP COLUMN sort_pl, DROP COLUMN sort_es, " +
			"DROP COLUMN description_sort_en, DROP COLUMN description_sort_pl, DROP COLUMN description_sort_es",
	},
	"sqlite": {
		"DROP INDEX term_taxonomy_sort_en_id", "DROP INDEX term_taxonomy_sort_pl_id", "DROP INDEX term_taxonomy_sort_es_id",
		"ALTER TABLE terms DROP COLUMN sort_en", "ALTER TABLE terms DROP COLUMN sort_pl", "ALTER TABLE terms DROP COLUMN sort_es",
		"ALTER TABLE terms DROP COLUMN description_sort_en", "ALTER TABLE terms DROP COLUMN description_sort_pl",
		"ALTER TABLE terms DROP COLUMN description_sort_es",
	},
}

func main() {
	url := flag.String("db", "", "database, filled by lab/scale")
	writers := flag.Int("writers", 2, "writers at the same time")
	flag.Parse()
	if err := run(context.Background(), *url, *writers); err != nil {
		fmt.Fprintln(os.Stderr, "migrate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string, writers int) error {
	st, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }() // nothing is left to be written
	for _, statement := range append(undoStatements[st.Engine()], "DELETE FROM atlas_schema_revisions WHERE version = '"+newestMigration+"'") {
		if _, err := st.DB.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"nothing, for comparison", func() error { time.Sleep(3 * time.Second); return nil }},
		{"migration " + newestMigration, func() error { _, err := migrate.Apply(ctx, st, migrate.ApplyOptions{Operator: "bench"}); return err }},
		{"sort keys of all terms", func() error {
			e := &edit.Editor{
				Site: calendar.Site{Language: calendar.English, Zone: calendar.UTC()}, Now: time.Now().UTC(), By: auth.System(),
			}
			return upkeep.FillSortKeys(ctx, st.Ent, e, func(int) {})
		}},
	} {
		took, n, longest, err := besideWriters(ctx, st, writers, part.do)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Printf("%s: %s, %d writes meanwhile, the longest took %s\n", part.name,
			took.Round(time.Millisecond), n, longest.Round(100*time.Microsecond))
	}
	return nil
}

// besideWriters does something while some write: each transaction changes a term and an event. It returns how long that
// took, how many transactions there were and how long the longest was, those included that only ended afterwards.
func besideWriters(ctx context.Context, st *store.Store, writers int, do func() error) (
	took time.Duration, n int, longest time.Duration, err error,
) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var lock sync.Mutex
	var failed error
	for w := range writers {
		group.Go(func() {
			for i := w; ctx.Err() == nil; i += writers {
				began := time.Now()
				err := write(context.WithoutCancel(ctx), st, i)
				lock.Lock()
				n++
				longest = max(longest, time.Since(began))
				if err != nil {
					failed = err
				}
				lock.Unlock()
				if err != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	began := time.Now()
	err = do()
	took = time.Since(began)
	stop()
	group.Wait()
	if err == nil {
		err = failed
	}
	return took, n, longest, err
}

func write(ctx context.Context, st *store.Store, i int) (err error) {
	tx, err := st.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error is the one that matters
		}
	}()
	for _, table := range []string{"terms", "events"} {
		_, err = tx.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET version = version WHERE id = %d", table, i%400+1))
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}
