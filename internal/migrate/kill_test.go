package migrate_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/migrations"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// verdict is the decision of a connectionCutter about one statement.
type verdict int

const (
	passStatement  verdict = iota
	dropBefore             // the connection ends before the server gets it
	dropAfter              // the connection ends as soon as the server has it
	refuseReadOnly         // the client gets the error of a server that became read-only
)

// connectionCutter is a proxy for a MySQL server that ends connections at chosen statements. The program and the
// server each see what they would see if the other process were killed.
type connectionCutter struct {
	listener net.Listener
	server   string
	judge    func(statement string) verdict // called for one statement at a time
	mu       sync.Mutex
	wg       sync.WaitGroup
}

// startCutter starts a connectionCutter for the server of a database URL. It returns the URL that leads to the same
// database through the proxy. judge decides about each statement.
func startCutter(t *testing.T, address string, judge func(statement string) verdict) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &connectionCutter{listener: listener, server: u.Host, judge: judge}
	c.wg.Go(c.accept)
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		c.wg.Wait()
	})
	u.Host = listener.Addr().String()
	u.RawQuery = "prepare-after=0" // statements are sent as text
	return u.String()
}

func (c *connectionCutter) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("tcp", c.server)
		if err != nil {
			client.Close()
			continue
		}
		c.wg.Go(func() {
			defer client.Close()
			_, _ = io.Copy(client, server) // until either end is closed
		})
		c.wg.Go(func() {
			defer server.Close()
			defer client.Close()
			c.relay(client, server)
		})
	}
}

// relay forwards packets between a client and the server until the connection ends.
func (c *connectionCutter) relay(client, server net.Conn) {
	for {
		packet := make([]byte, 4)
		if _, err := io.ReadFull(client, packet); err != nil {
			return
		}
		packet = append(packet, make([]byte, int(packet[0])|int(packet[1])<<8|int(packet[2])<<16)...)
		if _, err := io.ReadFull(client, packet[4:]); err != nil {
			return
		}
		v := passStatement
		const query = 3 // COM_QUERY, the first packet of an exchange
		if packet[3] == 0 && len(packet) > 4 && packet[4] == query {
			c.mu.Lock()
			v = c.judge(string(packet[5:]))
			c.mu.Unlock()
		}
		switch v {
		case dropBefore:
			return
		case refuseReadOnly:
			message := "#HY000The MySQL server is running with the --read-only option so it cannot execute this statement"
			reply := []byte{byte(3 + len(message)), 0, 0, 1, 0xff}
			reply = binary.LittleEndian.AppendUint16(reply, 1290)
			if _, err := client.Write(append(reply, message...)); err != nil {
				return
			}
			continue
		}
		if _, err := server.Write(packet); err != nil || v == dropAfter {
			return
		}
	}
}

// isRecord reports whether a statement writes to the revision table.
func isRecord(statement string) bool {
	return strings.HasPrefix(statement, "REPLACE INTO `atlas_schema_revisions`")
}

// killPoint is a moment at which a test interrupts a run of migrations.
type killPoint struct {
	at   int // the statement, from 0, counted over all migrations
	when string
}

// killMoments are the moments around one statement at which a run can end, in their order.
var killMoments = []string{"before it", "while it runs", "read-only after it", "after it", "while it is recorded"}

// runUntil applies migrations through a connectionCutter that interrupts the run at k. steps are the planned
// statements. It returns the first step of the run.
func runUntil(t *testing.T, address string, files fs.FS, k killPoint, steps []migrate.Step) (first migrate.Step) {
	t.Helper()
	reached := false
	var over atomic.Bool
	judge := func(statement string) verdict {
		if over.Load() {
			if k.when == "read-only after it" && (isRecord(statement) || strings.HasPrefix(statement, "CREATE") ||
				strings.HasPrefix(statement, "ALTER")) {
				return refuseReadOnly
			}
			return passStatement
		}
		end := func(v verdict) verdict {
			over.Store(true)
			return v
		}
		switch {
		case statement == steps[k.at].SQL:
			reached = true
			switch k.when {
			case "before it":
				return end(dropBefore)
			case "while it runs":
				return end(dropAfter)
			}
		case reached && isRecord(statement):
			switch k.when {
			case "after it":
				return end(dropBefore)
			case "while it is recorded":
				return end(dropAfter)
			case "read-only after it":
				return end(refuseReadOnly)
			}
		}
		return passStatement
	}

	st := storetest.Open(t, startCutter(t, address, judge))
	first, _, err := firstStep(t, st, files, "")
	if err == nil || !over.Load() {
		t.Fatalf("statement %d, %s: not killed, error %v", k.at+1, k.when, err)
	}
	return first
}

// record returns the rows of the revision table, without times and operators.
func record(t *testing.T, st *store.Store) (rows []string) {
	t.Helper()
	found, err := st.DB.QueryContext(t.Context(), "SELECT version, description, type, applied, total, COALESCE(error, 'NULL'), "+
		"COALESCE(error_stmt, 'NULL'), hash, COALESCE(partial_hashes, 'NULL') FROM atlas_schema_revisions ORDER BY version")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		cells := make([]string, 9)
		into := make([]any, len(cells))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// completeRun applies all migrations without interruption. It returns the rows of the revision table and the steps.
func completeRun(t *testing.T, address string) (rows []string, steps []migrate.Step) {
	t.Helper()
	st := storetest.Open(t, address)
	plan, err := migrate.Plan(t.Context(), st, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test"}); err != nil {
		t.Fatal(err)
	}
	if len(plan.Steps) == 0 {
		t.Fatal("nothing was planned")
	}
	return record(t, st), plan.Steps
}

// firstStep applies migrations up to version to. It returns the first step that Apply reports, and Apply's results.
func firstStep(t *testing.T, st *store.Store, files fs.FS, to string) (first migrate.Step, done []migrate.Revision, err error) {
	t.Helper()
	done, err = migrate.ApplyFiles(t.Context(), st, files, migrate.ApplyOptions{Operator: "test", To: to, Progress: func(s migrate.Step) {
		if first.Number == 0 {
			first = s
		}
	}})
	return first, done, err
}

// killReport collects a table of what the run after each interruption did. The table is printed with go test -v.
type killReport struct {
	bytes.Buffer
	w *tabwriter.Writer
}

func newKills(t *testing.T, st *store.Store) *killReport {
	t.Helper()
	out := &killReport{}
	out.w = tabwriter.NewWriter(&out.Buffer, 0, 0, 2, ' ', 0)
	version := "SELECT VERSION()"
	if st.Engine() == "sqlite" {
		version = "SELECT 'SQLite ' || sqlite_version()"
	}
	fmt.Fprintf(out.w, "%s\nVERSION\tSTATEMENT\tKILLED\tTHE NEXT RUN\n", storetest.Value(t, st.DB, version))
	t.Cleanup(func() {
		if err := out.w.Flush(); err != nil {
			t.Error(err)
		}
		t.Log(out.String())
	})
	return out
}

func (out *killReport) row(killed migrate.Step, when string, next migrate.Step) {
	did := "ran it"
	switch {
	case next.Found && next.Version == killed.Version && next.Number == killed.Number:
		did = "found its effect and recorded it"
	case next.Number > 0 && (next.Version < killed.Version || next.Version == killed.Version && next.Number < killed.Number):
		did = "began anew: nothing was left"
	case next.Version != killed.Version || next.Number != killed.Number:
		did = fmt.Sprintf("had it recorded, went on with %d of %s", next.Number, next.Version)
		if next.Number == 0 {
			did = "had nothing to do"
		}
	}
	sql, _, _ := strings.Cut(killed.SQL, " (")
	fmt.Fprintf(out.w, "%s\t%d of %d: %.70s\t%s\t%s\n", killed.Version, killed.Number, killed.Total, sql, when, did)
}

// checkTables checks that the tables match the record of migrations. If a migration was applied in part, the tables
// must match its recorded statements.
func checkTables(t *testing.T, st *store.Store) {
	t.Helper()
	drift, err := migrate.Verify(t.Context(), st, nil)
	if err != nil {
		t.Error(err)
	}
	if len(drift.Mend) != 0 {
		t.Error(drift)
	}
}

// checkRecord checks that the revision table has the rows want, as after a run without interruption. The tables must
// match them.
func checkRecord(t *testing.T, st *store.Store, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, record(t, st)); diff != "" {
		t.Errorf("record (-undisturbed +killed):\n%s", diff)
	}
	checkTables(t, st)
}

func TestKilledAtEveryStatementAndInEveryMoment(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	want, steps := completeRun(t, storetest.MySQL(t))
	for i, when := range killMoments {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			address := storetest.MySQL(t)
			st := storetest.Open(t, address)
			if testing.Short() && when != "while it runs" && when != "after it" {
				storetest.SkipOnTiDB(t, st, "takes minutes")
			}
			out := newKills(t, st)
			// TiDB shows the columns that a statement adds one after the other while it still runs.
			inParts := when == "while it runs" && storetest.IsTiDB(t, st)
			// Each run resumes the one before and is killed at the next statement.
			for at := range steps {
				first := runUntil(t, address, migrations.FS, killPoint{at, when}, steps)
				if at > 0 {
					out.row(steps[at-1], when, first)
				}
				// Verify takes longer than most statements. It looks at the tables after each statement in one of the moments.
				if at%len(killMoments) == i && len(record(t, st)) > 0 && !inParts {
					checkTables(t, st)
				}
			}
			first, _, err := firstStep(t, st, migrations.FS, "")
			if err != nil {
				t.Fatal(err)
			}
			out.row(steps[len(steps)-1], when, first)
			checkRecord(t, st, want)
		})
	}
}

// TestAfterAKillApplyFinishes interrupts a migration at its first or its last statement. The next run must complete
// the migration.
func TestAfterAKillApplyFinishes(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	if testing.Short() {
		storetest.SkipOnTiDB(t, storetest.Open(t, storetest.MySQL(t)), "takes minutes")
	}
	want, steps := completeRun(t, storetest.MySQL(t))
	for _, last := range []bool{false, true} {
		t.Run(map[bool]string{false: "first", true: "last"}[last], func(t *testing.T) {
			t.Parallel()
			address := storetest.MySQL(t)
			st := storetest.Open(t, address)
			out := newKills(t, st)
			completed := 0
			for at, step := range steps {
				if !last && step.Number != 1 || last && step.Number != step.Total {
					continue
				}
				runUntil(t, address, migrations.FS, killPoint{at, "after it"}, steps)
				first, done, err := firstStep(t, st, migrations.FS, step.Version)
				if err != nil || len(done) != 1 || !first.Found {
					t.Fatalf("statement %d: %+v, applied %v, error %v", at+1, first, done, err)
				}
				out.row(step, "after it", first)
				completed++
				checkRecord(t, st, want[:completed])
			}
			checkRecord(t, st, want)
		})
	}
}

// TestKilledOnSQLiteAtEveryStatement copies the files of a database at each statement, as a killed process would
// leave them. Apply must then complete the copy. With -short it tries only the copies at the last statement of each
// migration, because a kill undoes the whole migration.
func TestKilledOnSQLiteAtEveryStatement(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	var left []string // copies of the files, one for each statement
	st := storetest.Open(t, "sqlite://"+at("all.db"))
	out := newKills(t, st)
	var steps []migrate.Step
	_, err := migrate.Apply(t.Context(), st, migrate.ApplyOptions{Operator: "test", Progress: func(s migrate.Step) {
		name := fmt.Sprintf("killed-%d.db", len(steps))
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(at("all.db" + suffix))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at(name+suffix), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		left, steps = append(left, name), append(steps, s)
	}})
	if err != nil || len(left) == 0 {
		t.Fatalf("%d statements, error %v", len(left), err)
	}
	want, begun, tables := record(t, st), 0, map[string]string{} // tables by version
	for i, name := range left {
		if steps[i].Number == 1 {
			begun++
		}
		if testing.Short() && steps[i].Number != steps[i].Total {
			continue
		}
		killed := storetest.Open(t, "sqlite://"+at(name))
		// Once for each migration, all that follow are applied, too.
		to, rows := steps[i].Version, want[:begun]
		if steps[i].Number == 1 {
			to, rows = "", want
		}
		first, done, err := firstStep(t, killed, migrations.FS, to)
		if err != nil || len(done) == 0 || first.Number != 1 {
			t.Errorf("killed before statement %d: %+v, applied %v, error %v", i+1, first, done, err)
		}
		out.row(steps[i], "before it", first)
		// Verify takes longer than the migrations. It looks at the tables after the first kill of a migration. After the other
		// kills they have to be the same.
		text := storetest.Value(t, killed.DB, "SELECT GROUP_CONCAT(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)")
		if tables[to] == "" {
			checkRecord(t, killed, rows)
			tables[to] = text
			continue
		}
		if diff := cmp.Diff(rows, record(t, killed)); diff != "" {
			t.Errorf("record (-undisturbed +killed):\n%s", diff)
		}
		if diff := cmp.Diff(tables[to], text); diff != "" {
			t.Errorf("tables (-first kill +this one):\n%s", diff)
		}
	}
}

// onlyMySQL skips a test if there is no MySQL server.
func onlyMySQL(t *testing.T) {
	t.Helper()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
}
