package main

import (
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/migrations"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// The following tests compare docs/dba.md with the program.

func dbaPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/dba.md")
	must.Succeed(t, err)
	return string(text)
}

func TestManualNamesEveryIndex(t *testing.T) {
	t.Parallel()
	ddl, err := os.ReadFile("../../schema.mysql.sql")
	must.Succeed(t, err)
	there := map[string]bool{}
	table := regexp.MustCompile("CREATE TABLE `(\\w+)`")
	index := regexp.MustCompile("INDEX `(\\w+)` \\(")
	for line := range strings.Lines(string(ddl)) {
		m := table.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, i := range index.FindAllStringSubmatch(line, -1) {
			there[m[1]+"."+i[1]] = true
		}
	}
	named := map[string]bool{}
	rows := regexp.MustCompile("(?m)^\\| (`\\w+`(?:, `\\w+`)*) \\| `(\\w+)` \\| .*\\w.* \\|$")
	for _, row := range rows.FindAllStringSubmatch(dbaPage(t), -1) {
		for table := range strings.SplitSeq(strings.ReplaceAll(row[1], "`", ""), ", ") {
			for _, kind := range calendar.NamedKinds { // the table, or each of the tables that it stands for
				for _, language := range calendar.Languages {
					of := strings.NewReplacer("RECORDS", kind.Plural(), "RECORD", string(kind), "LANG", string(language))
					named[of.Replace(table+"."+row[2])] = true
				}
			}
		}
	}
	if len(there) == 0 {
		t.Fatal("the schema has no indexes")
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(there)), slices.Sorted(maps.Keys(named))); diff != "" {
		t.Errorf("indexes of the schema and of the manual (-there +named):\n%s", diff)
	}
}

// statementsOf splits SQL into statements, without comments.
func statementsOf(text string) (out []string) {
	text = regexp.MustCompile(`(?m)^--.*$`).ReplaceAllString(text, "")
	for statement := range strings.SplitSeq(text, ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			out = append(out, statement)
		}
	}
	return out
}

// manualGrants returns the SQL statements in the manual that create a database and its users.
func manualGrants(t *testing.T) []string {
	t.Helper()
	_, text, ok := strings.Cut(dbaPage(t), "```sql\n")
	if !ok {
		t.Fatal("the manual has no SQL")
	}
	text, _, _ = strings.Cut(text, "```")
	out := statementsOf(text)
	if len(out) != 5 {
		t.Fatalf("want a database, and two users with a grant each: %q", out)
	}
	return out
}

// grants returns the statements of manualGrants, changed to create a test's own database and users.
func grants(t *testing.T, name, suffix string) (out []string) {
	t.Helper()
	names := strings.NewReplacer("`almanac`", "`"+name+"`", "'almanac_migrate'", "'m"+suffix+"'",
		"'almanac_serve'", "'s"+suffix+"'")
	for _, statement := range manualGrants(t) {
		out = append(out, names.Replace(statement))
	}
	return out
}

// TestUsersOfTheManualHaveTheRightsTheyNeed creates the database users with the rights that the manual grants. These
// rights must suffice. The user who serves must not have others, such as the right to change tables.
func TestUsersOfTheManualHaveTheRightsTheyNeed(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Variable) == "" {
		t.Skipf("%s names no server", storetest.Variable)
	}
	address := storetest.MySQL(t)
	u, err := url.Parse(address)
	must.Succeed(t, err)
	root, err := store.Open(t.Context(), address)
	must.Succeed(t, err)
	defer root.Close()
	name := strings.Trim(u.Path, "/")
	suffix := strings.TrimPrefix(name, "almanac_test")
	dropUsers(t, address, "m"+suffix, "s"+suffix)
	// The manual makes the database, too.
	if _, err := root.DB.ExecContext(t.Context(), "DROP DATABASE `"+name+"`"); err != nil {
		t.Fatal(err)
	}
	for _, statement := range grants(t, name, suffix) {
		if _, err := root.DB.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	as := func(user, password string) string {
		u.User = url.UserPassword(user+suffix, password)
		return u.String()
	}
	migrating, serving := as("m", "choose-one"), as("s", "choose-another")

	almanac := func(db string, want int, args ...string) string {
		t.Helper()
		code, out := almanac(t, append(args, "--db", db)...)
		if code != want {
			t.Errorf("%q: exit status %d, want %d; %s", args, code, want, out)
		}
		return out
	}
	if out := almanac(serving, 1, "migrate", "apply"); !strings.Contains(out, "denied") {
		t.Errorf("the user that serves migrates: %s", out)
	}
	almanac(migrating, 0, "migrate", "plan")
	almanac(migrating, 0, "migrate", "apply")
	almanac(migrating, 0, "migrate", "data", "--again")
	status := almanac(migrating, 0, "migrate", "status")
	hasVersions := !storetest.IsMariaDB(t, root) && !storetest.IsTiDB(t, root)
	if told := strings.Contains(status, "\nrow versions: unknown without the right PROCESS\n"); told != hasVersions {
		t.Errorf("row versions without the right PROCESS: %s", status)
	}
	almanac(migrating, 0, "migrate", "verify")
	almanac(serving, 0, "migrate", "status")
	almanac(serving, 0, "user", "add", "--login", "ewa", "--role", "editor")
	almanac(serving, 0, "user", "list")

	st, err := store.Open(t.Context(), serving)
	must.Succeed(t, err)
	defer st.Close()
	if err := migrate.CheckCurrent(t.Context(), st); err != nil {
		t.Error(err)
	}
	servesEvents(t, st)
	for _, statement := range []string{
		"DROP TABLE tokens", "ALTER TABLE tokens ADD COLUMN x int", "CREATE TABLE x (id int)", "TRUNCATE TABLE tokens",
		"CREATE INDEX x ON tokens (name)", "SELECT count(*) FROM mysql.user",
	} {
		_, err := st.DB.ExecContext(t.Context(), statement)
		if refused, ok := errors.AsType[*mysql.MySQLError](err); !ok || refused.Number != 1142 {
			t.Errorf("the user that serves may %s: %v", statement, err)
		}
	}
}

// servesEvents writes, reads, changes and deletes data as the service does, and fails the test after an error.
func servesEvents(t *testing.T, st *store.Store) {
	t.Helper()
	_, site, err := siteSource{}.load(t.Context(), st.Ent)
	must.Succeed(t, err)
	e := &edit.Editor{Site: site, Now: clockNow(), By: auth.System()}
	write := func(do func(tx *ent.Tx) error) {
		t.Helper()
		must.Succeed(t, edit.Write(t.Context(), st.Ent, e, do))
	}
	var row *ent.Event
	write(func(tx *ent.Tx) (err error) {
		row, err = e.CreateEvent(t.Context(), tx, &edit.EventInput{
			Title: new("Koncert w Łodzi"), Status: new(calendar.Publish),
			Start: new(when.FromInstant(clockNow())), End: new(when.FromInstant(clockNow().Add(time.Hour))),
			Categories: &[]edit.TermRef{{Name: "Muzyka"}},
		})
		return err
	})
	write(func(tx *ent.Tx) (err error) {
		if row, err = edit.LockEvent(t.Context(), tx, row.ID); err != nil {
			return err
		}
		row, err = e.UpdateEvent(t.Context(), tx, row, &edit.EventInput{Title: new("Recital w Łodzi")})
		return err
	})
	read, err := st.Ent.Event.Query().Where(event.StartsAtLTE(clockNow()), event.HasTerms()).Only(t.Context())
	if err != nil || read.Title != "Recital w Łodzi" || read.Status != calendar.Publish {
		t.Errorf("got %+v, error %v", read, err)
	}
	write(func(tx *ent.Tx) error { return e.RemoveAll(t.Context(), tx, calendar.Event, []int64{row.ID}) })
	if n, err := st.Ent.Event.Query().Count(t.Context()); err != nil || n != 0 {
		t.Errorf("%d events are left, error %v", n, err)
	}
}

// TestMigrationsUseWhatEveryEngineHas searches the migrations for SQL that TiDB, MariaDB or MySQL 8.0 does not
// support.
func TestMigrationsUseWhatEveryEngineHas(t *testing.T) {
	t.Parallel()
	lacking := regexp.MustCompile(`(?i)\b(FULLTEXT|SPATIAL|GEOMETRY|POINT|SRID|TRIGGER|PROCEDURE|FUNCTION|EVENT\s+\w+\s+ON\s+SCHEDULE` +
		`|VIEW|GENERATED|VIRTUAL|STORED|PARTITION|TABLESPACE|ENGINE|COMPRESSION|INVISIBLE|CHECK|AUTO_RANDOM|VECTOR)\b` +
		`|/\*[!+]|\(\(|\bAS\s*\(`)
	collation := regexp.MustCompile(`(?i)\b(?:COLLATE|CHARSET|CHARACTER\s+SET)\s*=?\s*(\w+)`)
	files := 0
	err := fs.WalkDir(migrations.FS, "mysql", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".sql") {
			return err
		}
		files++
		text, err := fs.ReadFile(migrations.FS, path)
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "--") {
				continue
			}
			bare := regexp.MustCompile("`[^`]*`|\"[^\"]*\"|'[^']*'").ReplaceAllString(line, "x")
			if found := lacking.FindString(bare); found != "" {
				t.Errorf("%s:%d: %s", path, n+1, found)
			}
			for _, m := range collation.FindAllStringSubmatch(bare, -1) {
				if m[1] != "utf8mb4" && m[1] != "utf8mb4_bin" {
					t.Errorf("%s:%d: %s", path, n+1, m[0])
				}
			}
		}
		return nil
	})
	must.Succeed(t, err)
	if files == 0 {
		t.Error("there are no migrations")
	}
}

// The project of the Atlas CLI names what is there, and leaves its own table out of the schema.
func TestAtlasProjectHasAnEnvironmentForEachEngine(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../atlas.hcl")
	must.Succeed(t, err)
	_, project, _ := strings.Cut(string(text), "\nvariable ")
	environments := strings.Split(project, "\nenv ")[1:]
	names := []string{}
	for _, env := range environments {
		name, _, _ := strings.Cut(strings.TrimPrefix(env, `"`), `"`)
		names = append(names, name)
		if !strings.Contains(env, `exclude = ["atlas_schema_revisions"]`) {
			t.Errorf("%s: the table of revisions counts as part of the schema", name)
		}
		files := regexp.MustCompile(`"file://([^"]+)"`).FindAllStringSubmatch(env, -1)
		if len(files) != 2 {
			t.Errorf("%s: want a schema and a folder of migrations: %q", name, files)
		}
		for _, f := range files {
			if _, err := os.Stat("../../" + f[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, official := range []string{"ent://", "external_schema", "docker://"} {
			for line := range strings.Lines(env) {
				if strings.Contains(line, official) && !strings.HasPrefix(strings.TrimSpace(line), "#") {
					t.Errorf("%s: the community build does not know %s, or a machine has no Docker", name, official)
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"mysql", "mariadb", "sqlite"}, names); diff != "" {
		t.Errorf("environments (-want +got):\n%s", diff)
	}
}
