package migrate_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// setVersion calls SetVersion, and returns the versions of the changed records. Removed records have a minus sign.
func setVersion(ctx context.Context, st *store.Store, files fs.FS, version string, force bool) (string, error) {
	changes, err := migrate.SetVersionFiles(ctx, st, files, version, migrate.SetOptions{Operator: "test", Force: force})
	var out []string
	for _, c := range changes {
		text := c.Version
		if c.Removed {
			text = "-" + text
		}
		out = append(out, text)
	}
	return strings.Join(out, " "), err
}

func TestSetWantsWhatItRecordsToBeThere(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		files := withStates(t, atlasFiles)
		set := func(version string, force bool) (string, error) { return setVersion(ctx, st, files, version, force) }
		for _, version := range []string{"", "7"} {
			if _, err := set(version, true); !errors.Is(err, migrate.ErrVersion) {
				t.Errorf("version %q: got %v, want ErrVersion", version, err)
			}
		}
		if got := tables(t, st); len(got) != 0 {
			t.Errorf("left behind: %v", got)
		}
		must.Succeed(t, applyTo("1")(t, st, files))

		// A tool that copies tables leaves a database like this: one table is missing, and there are others.
		storetest.Exec(t, st, atlasStatements()[1], "CREATE TABLE _two_old (id int)")
		var differs *migrate.DriftError
		if _, err := set("2", false); !errors.As(err, &differs) || len(differs.Drift.Mend) != 1 ||
			!strings.Contains(differs.Drift.String(), "CREATE TABLE `three`") {
			t.Errorf("without a table: got %v", err)
		}
		if got := statesOf(t, st, files); got != "applied pending pending" {
			t.Errorf("what was refused left %s", got)
		}
		storetest.Exec(t, st, atlasStatements()[2])
		for _, want := range []string{"2", ""} {
			if got, err := set("2", false); err != nil || got != want {
				t.Errorf("changed %q, error %v, want %q", got, err, want)
			}
		}
		if got := statesOf(t, st, files); got != "applied set pending" {
			t.Errorf("states %s", got)
		}
		must.Succeed(t, applyTo("")(t, st, files))

		if _, err := set("1", false); !errors.As(err, &differs) {
			t.Errorf("with tables of later ones: got %v", err)
		}
		if got, err := set("1", true); err != nil || got != "-2 -3" {
			t.Errorf("by force: changed %q, error %v", got, err)
		}
		if got, err := set("", false); err != nil || got != "2 3" {
			t.Errorf("the last version: changed %q, error %v", got, err)
		}
		if err := migrate.CheckCurrentFiles(ctx, st, files); err != nil {
			t.Error(err)
		}
		checkReset(t, st)
	})
}

// TestSetCompletesAMigrationThatFailed sets the version of a migration that failed, after its other statements were
// run by hand. The Atlas CLI would mark the record as set, but still count the migration as pending.
func TestSetCompletesAMigrationThatFailed(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		files := withStates(t, atlasFiles)
		for _, name := range []string{"apply_fails_at_the_second_statement", "set_2_after_it_failed"} {
			storetest.Exec(t, st, "DROP TABLE IF EXISTS atlas_schema_revisions", "DROP TABLE IF EXISTS one",
				"DROP TABLE IF EXISTS two", "DROP TABLE IF EXISTS three")
			storetest.Exec(t, st, atlasStatements()[:2]...)
			writeRecord(t, st, atlasRows(t, name))
			if err := setTo(t, st, files, "2"); !errors.Is(err, migrate.ErrDrift) {
				t.Errorf("%s: got %v, want ErrDrift", name, err)
			}
			storetest.Exec(t, st, atlasStatements()[2])
			must.Succeed(t, setTo(t, st, files, "2"))
			want := atlasRows(t, "apply")[1]
			want.Type = 6 // applied and set
			if got := readRecord(t, st)[1]; got != want {
				t.Errorf("%s: got %+v, want %+v", name, got, want)
			}
			if got := statesOf(t, st, files); got != "applied set pending" {
				t.Errorf("%s: states %s", name, got)
			}
		}
	})
}

func TestSetRefusesWhatTheProgramDoesNotKnow(t *testing.T) {
	t.Parallel()
	eachOpen(t, func(t *testing.T, st *store.Store) {
		must.Succeed(t, applyTo("")(t, st, withStates(t, atlasFiles)))
		older := withStates(t, map[string]string{"1_one.sql": atlasFiles["1_one.sql"]})
		if err := setTo(t, st, older, "1"); err == nil || !strings.Contains(err.Error(), "does not know 2, 3") {
			t.Errorf("got %v", err)
		}
	})
}
