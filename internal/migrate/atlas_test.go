package migrate_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// The Atlas CLI and this program share the rows of a table. testdata/revisions has the rows that the CLI, community edition
// v1.2.3, writes for atlasFiles. These tests run without the CLI.

// atlasFiles are the migration files from which the Atlas CLI made the records in testdata/revisions.
var atlasFiles = map[string]string{
	"1_one.sql": "CREATE TABLE one (id bigint NOT NULL, PRIMARY KEY (id));\n",
	"2_two.sql": "CREATE TABLE two (id bigint NOT NULL, PRIMARY KEY (id));\n" +
		"CREATE TABLE three (id bigint NOT NULL, PRIMARY KEY (id));\n",
	"3_three.sql": "CREATE TABLE four (id bigint NOT NULL, PRIMARY KEY (id));\n",
}

// withStates returns a folder of migrations with checksums. If there is a MySQL server to test with, it adds the
// tables after each statement (StatesFolder).
func withStates(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	out := sealedFiles(t, files)
	if os.Getenv(storetest.Variable) == "" {
		return out
	}
	states, err := migrate.States(t.Context(), storetest.Open(t, storetest.MySQL(t)), out)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range states {
		out[migrate.StatesFolder+"/"+name] = &fstest.MapFile{Data: text}
	}
	return out
}

// revisionRow is a row of the revision table, without its times.
type revisionRow struct {
	Version         string `json:"version"`
	Description     string `json:"description"`
	Type            int    `json:"type"`
	Applied         int    `json:"applied"`
	Total           int    `json:"total"`
	Error           string `json:"error"`
	ErrorStmt       string `json:"error_stmt"`
	Hash            string `json:"hash"`
	PartialHashes   string `json:"partial_hashes"`
	OperatorVersion string `json:"operator_version"`
}

func atlasRows(t *testing.T, name string) (rows []revisionRow) {
	t.Helper()
	data, err := os.ReadFile("testdata/revisions/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

const revisionCells = "version, description, type, applied, total, error, error_stmt, hash, partial_hashes, operator_version"

// writeRecord creates the revision table and fills it with rows that the Atlas CLI would write.
func writeRecord(t *testing.T, st *store.Store, rows []revisionRow) {
	t.Helper()
	// The CLI creates the same table.
	storetest.Exec(t, st, migrate.RevisionDDL[st.Engine()])
	// The CLI may write a row that is no revision.
	storetest.Exec(t, st, "INSERT INTO atlas_schema_revisions ("+revisionCells+", executed_at, execution_time) VALUES "+
		"('.atlas_cloud_identifier', 'x', 2, 0, 0, NULL, NULL, '', NULL, 'Atlas CLI v1.2.3', '2026-11-22 10:00:00', 0)")
	for _, r := range rows {
		_, err := st.DB.ExecContext(t.Context(), "INSERT INTO atlas_schema_revisions ("+revisionCells+
			", executed_at, execution_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '2026-11-22 10:00:00', 1)", r.Version,
			r.Description, r.Type, r.Applied, r.Total, r.Error, r.ErrorStmt, r.Hash, r.PartialHashes, r.OperatorVersion)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readRecord reads the rows of the revision table. It replaces two columns by fixed values: the operator, which
// differs between programs, and the error, which differs between engines.
func readRecord(t *testing.T, st *store.Store) (rows []revisionRow) {
	t.Helper()
	found, err := st.DB.QueryContext(t.Context(), "SELECT "+revisionCells+
		" FROM atlas_schema_revisions WHERE version <> '.atlas_cloud_identifier' ORDER BY version")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var r revisionRow
		if err := found.Scan(&r.Version, &r.Description, &r.Type, &r.Applied, &r.Total, &r.Error, &r.ErrorStmt, &r.Hash,
			&r.PartialHashes, &r.OperatorVersion); err != nil {
			t.Fatal(err)
		}
		r.OperatorVersion = "Atlas CLI v1.2.3"
		if r.Error != "" {
			r.Error = "the server's error"
		}
		// MySQL writes JSON with spaces.
		r.PartialHashes = strings.ReplaceAll(r.PartialHashes, `", "`, `","`)
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// atlasStatements returns the statements of atlasFiles in their order.
func atlasStatements() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(atlasFiles)) {
		for line := range strings.Lines(atlasFiles[name]) {
			out = append(out, strings.TrimSuffix(line, ";\n"))
		}
	}
	return out
}

// TestRecordsOfTheAtlasCLIAreUnderstood has a case for each record of migrations that the Atlas CLI can leave.
// Status, Plan and Verify must agree on the pending statements, and Apply must run them.
func TestRecordsOfTheAtlasCLIAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		ran    int // statements that have taken effect
		states string
		left   string // statements that apply runs, by version and number
	}{
		{"apply", 4, "applied applied applied", ""},
		{"apply_1", 1, "applied pending pending", "2.1 2.2 3.1"},
		{"apply_fails_at_the_first_statement", 1, "applied failed pending", "2.1 2.2 3.1"},
		{"apply_fails_at_the_second_statement", 2, "applied failed pending", "2.2 3.1"},
		{"apply_is_killed_after_the_first_statement", 2, "applied interrupted pending", "(2.1) 2.2 3.1"},
		{"apply_is_killed_after_the_first_statement", 1, "applied interrupted pending", "2.1 2.2 3.1"},
		{"baseline_2", 3, "baseline baseline pending", "3.1"},
		{"set_2_on_an_empty_record", 3, "set set pending", "3.1"},
		{"set_3_after_apply_1", 4, "applied set set", ""},
		{"set_1_after_apply", 1, "applied pending pending", "2.1 2.2 3.1"},
		// Atlas continues with the second statement, and counts the migration as pending.
		{"set_2_after_it_failed", 2, "applied failed pending", "2.2 3.1"},
		{"set_2_after_it_failed", 3, "applied failed pending", "(2.2) 3.1"},
		{"set_3_after_2_failed", 4, "applied set set", ""},
	} {
		t.Run(fmt.Sprintf("%s, %d statements ran", test.name, test.ran), func(t *testing.T) {
			t.Parallel()
			eachOpen(t, func(t *testing.T, st *store.Store) {
				files := withStates(t, atlasFiles)
				storetest.Exec(t, st, atlasStatements()[:test.ran]...)
				writeRecord(t, st, atlasRows(t, test.name))

				if got := statesOf(t, st, files); got != test.states {
					t.Errorf("status: %s, want %s", got, test.states)
				}
				plan, err := migrate.PlanFiles(t.Context(), st, files, "")
				if err != nil {
					t.Fatal(err)
				}
				if got := stepNumbers(plan.Steps); got != test.left {
					t.Errorf("plan: %q, want %q", got, test.left)
				}
				if err := migrate.CheckCurrentFiles(t.Context(), st, files); (err == nil) != (test.left == "") {
					t.Errorf("current: %v", err)
				}
				for _, dev := range []*store.Store{nil, devFor(t, st)} {
					drift, err := migrate.VerifyFiles(t.Context(), st, files, dev)
					if err != nil || len(drift.Mend) != 0 {
						t.Errorf("verify: error %v\n%s", err, drift)
					}
				}
				var ran []migrate.Step
				_, err = migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{
					Progress: func(s migrate.Step) { ran = append(ran, s) },
				})
				if err != nil || stepNumbers(ran) != test.left {
					t.Errorf("apply: %q, error %v, want %q", stepNumbers(ran), err, test.left)
				}
				if err := migrate.CheckCurrentFiles(t.Context(), st, files); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff([]string{"atlas_schema_revisions", "four", "one", "three", "two"}, tables(t, st)); diff != "" {
					t.Errorf("tables (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// statesOf returns the states of all migrations, in order, separated by spaces.
func statesOf(t *testing.T, st *store.Store, files fs.FS) string {
	t.Helper()
	revs, err := migrate.StatusFiles(t.Context(), st, files)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range revs {
		out = append(out, string(r.State()))
	}
	return strings.Join(out, " ")
}

// stepNumbers returns steps as VERSION.NUMBER, separated by spaces. Steps that have already run and only need a
// record are in parentheses.
func stepNumbers(steps []migrate.Step) string {
	var out []string
	for _, s := range steps {
		text := s.Version + "." + strconv.Itoa(s.Number)
		if s.Found {
			text = "(" + text + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// TestRecordsAreThoseOfTheAtlasCLI checks that Apply, Baseline and SetVersion leave the same rows in the revision
// table as the Atlas CLI.
func TestRecordsAreThoseOfTheAtlasCLI(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		act  func(*testing.T, *store.Store, fs.FS) error
	}{
		{"apply", applyTo("")},
		{"apply_1", applyTo("1")},
		{"apply_fails_at_the_first_statement", failAt("two")},
		{"apply_fails_at_the_second_statement", failAt("three")},
		{"baseline_2", func(t *testing.T, st *store.Store, files fs.FS) error {
			storetest.Exec(t, st, atlasStatements()[:3]...)
			return migrate.BaselineFiles(t.Context(), st, files, "2", migrate.BaselineOptions{})
		}},
		{"set_2_on_an_empty_record", func(t *testing.T, st *store.Store, files fs.FS) error {
			storetest.Exec(t, st, atlasStatements()[:3]...)
			return setTo(t, st, files, "2")
		}},
		{"set_3_after_apply_1", func(t *testing.T, st *store.Store, files fs.FS) error {
			if err := applyTo("1")(t, st, files); err != nil {
				return err
			}
			storetest.Exec(t, st, atlasStatements()[1:]...)
			return setTo(t, st, files, "3")
		}},
		{"set_1_after_apply", func(t *testing.T, st *store.Store, files fs.FS) error {
			if err := applyTo("")(t, st, files); err != nil {
				return err
			}
			storetest.Exec(t, st, "DROP TABLE two", "DROP TABLE three", "DROP TABLE four")
			return setTo(t, st, files, "1")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			eachOpen(t, func(t *testing.T, st *store.Store) {
				if strings.Contains(test.name, "fails") && st.Engine() == "sqlite" {
					t.Skip("what fails leaves nothing")
				}
				if err := test.act(t, st, withStates(t, atlasFiles)); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(atlasRows(t, test.name), readRecord(t, st)); diff != "" {
					t.Errorf("rows (-atlas +ours):\n%s", diff)
				}
			})
		})
	}
}

func applyTo(version string) func(*testing.T, *store.Store, fs.FS) error {
	return func(t *testing.T, st *store.Store, files fs.FS) error {
		_, err := migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{To: version})
		return err
	}
}

// failAt returns a function that applies migrations which fail at one CREATE TABLE. It first creates another table of
// that name.
func failAt(table string) func(*testing.T, *store.Store, fs.FS) error {
	return func(t *testing.T, st *store.Store, files fs.FS) error {
		if err := applyTo("1")(t, st, files); err != nil {
			return err
		}
		storetest.Exec(t, st, "CREATE TABLE "+table+" (other int)")
		if err := applyTo("")(t, st, files); err == nil {
			t.Error("nothing failed")
		}
		return nil
	}
}

func setTo(t *testing.T, st *store.Store, files fs.FS, version string) error {
	t.Helper()
	_, err := migrate.SetVersionFiles(t.Context(), st, files, version, migrate.SetOptions{})
	return err
}
