package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/mysql"
	"ariga.io/atlas/sql/schema"

	"github.com/almanac-cal/almanac/internal/store"
)

// tableState has the tables that one statement of a migration changed or dropped.
type tableState struct {
	sum     string            // checksum of the statement
	changed map[string]string // description of each changed table after the statement, by name
	dropped []string          // names of dropped tables
}

// StatesFolder has one file for each MySQL migration. The file has the tables after each statement, as a MySQL
// server describes them, in Atlas's language. With these files Verify needs no empty database to replay
// migrations in (decision 027). SQLite migrations are replayed in memory instead.
const StatesFolder = "states"

// States replays the MySQL migrations in dev, an empty MySQL database, and empties it again. It returns the
// files of migrations/states by name.
func States(ctx context.Context, dev *store.Store, files fs.FS) (out map[string][]byte, err error) {
	dir, err := copyDir(files, "mysql")
	if err != nil {
		return nil, err
	}
	all, err := dir.Files()
	if err != nil {
		return nil, err
	}
	out = make(map[string][]byte, len(all))
	err = withEmpty(ctx, dev, func(drv atlasDriver) error {
		before := map[string]string{}
		for _, f := range all {
			stmts, err := atlas.FileStmtDecls(drv, f)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name(), err)
			}
			states := make([]tableState, len(stmts))
			for i, stmt := range stmts {
				if _, err := drv.ExecContext(ctx, stmt.Text); err != nil {
					return &atlas.StmtExecError{File: f, Stmt: stmt, Version: f.Version(), Err: err}
				}
				found, err := inspectSchema(ctx, drv)
				if err != nil {
					return err
				}
				after, err := describeTables(found)
				if err != nil {
					return err
				}
				states[i] = stateBetween(before, after)
				states[i].sum = statementSum(stmt.Text)
				before = after
			}
			out[stateFile(f)] = formatStates(f, states)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("states: %w", err)
	}
	return out, nil
}

// errNoState is returned if no file has the tables after a statement.
var errNoState = errors.New("the tables after it are not recorded in migrations/" + StatesFolder)

const (
	stateMark   = "# statement "
	droppedMark = "# drops "
	tableMark   = "table \""
)

// stateFile returns the name of the file with the states of a migration.
func stateFile(f atlas.File) string { return strings.TrimSuffix(f.Name(), ".sql") + ".hcl" }

// statementSum returns a checksum that identifies the statement of a state.
func statementSum(sql string) string {
	sum := sha256.Sum256([]byte(sql))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// formatStates returns the content of the file with the states of a migration.
func formatStates(f atlas.File, states []tableState) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# The tables after each statement of mysql/%s.\n", f.Name())
	b.WriteString("# Written by `almanac migrate diff` and `almanac migrate seal`. Do not edit.\n")
	for i, st := range states {
		fmt.Fprintf(&b, "\n%s%d of %d %s\n", stateMark, i+1, len(states), st.sum)
		for _, name := range st.dropped {
			fmt.Fprintf(&b, "%s%s\n", droppedMark, name)
		}
		for _, name := range slices.Sorted(maps.Keys(st.changed)) {
			b.WriteString(st.changed[name])
		}
	}
	return []byte(b.String())
}

// parseStates parses a file that formatStates created.
func parseStates(text string) (states []tableState) {
	var table string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, stateMark); ok {
			sum := rest[strings.LastIndexByte(rest, ' ')+1:]
			states = append(states, tableState{sum: strings.TrimSpace(sum), changed: map[string]string{}})
			table = ""
			continue
		}
		if len(states) == 0 {
			continue
		}
		last := &states[len(states)-1]
		switch {
		case strings.HasPrefix(line, droppedMark):
			last.dropped = append(last.dropped, strings.TrimSpace(strings.TrimPrefix(line, droppedMark)))
		case strings.HasPrefix(line, tableMark):
			table, _, _ = strings.Cut(strings.TrimPrefix(line, tableMark), `"`)
			last.changed[table] = line
		case table != "":
			last.changed[table] += line
			if strings.HasPrefix(line, "}") {
				table = ""
			}
		}
	}
	return states
}

// describeTables returns the definition of each table of an inspected schema in Atlas's language (HCL), by table
// name.
func describeTables(s *schema.Schema) (map[string]string, error) {
	// Without database defaults in the schema, the description of each table is complete.
	s.Name, s.Attrs = "almanac", nil
	text, err := mysql.MarshalHCL(s)
	if err != nil {
		return nil, err
	}
	all := parseStates(stateMark + "\n" + string(text))
	return all[0].changed, nil
}

// stateSchema is the schema that all table descriptions belong to.
const stateSchema = "schema \"almanac\" {}\n"

// parseTables parses table descriptions into a schema.
func parseTables(tables map[string]string) (*schema.Schema, error) {
	var b strings.Builder
	b.WriteString(stateSchema)
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		b.WriteString(tables[name])
	}
	var s schema.Schema
	if err := mysql.EvalHCLBytes([]byte(b.String()), &s, nil); err != nil {
		return nil, err
	}
	inheritCollations(&s)
	return &s, nil
}

// inheritCollations sets the character set and collation of text columns to those of their table, as a server
// describes them. Otherwise a column would be compared using its table's present collation, and a changed table
// would need two repairs.
func inheritCollations(s *schema.Schema) {
	for _, table := range s.Tables {
		for _, column := range table.Columns {
			if _, text := column.Type.Type.(*schema.StringType); !text {
				continue
			}
			for _, attr := range table.Attrs {
				switch attr := attr.(type) {
				case *schema.Charset:
					if !slices.ContainsFunc(column.Attrs, isAttr[*schema.Charset]) {
						column.SetCharset(attr.V)
					}
				case *schema.Collation:
					if !slices.ContainsFunc(column.Attrs, isAttr[*schema.Collation]) {
						column.SetCollation(attr.V)
					}
				}
			}
		}
	}
}

func isAttr[T schema.Attr](a schema.Attr) bool {
	_, ok := a.(T)
	return ok
}

// stateBetween returns the tables that differ between two sets of table descriptions, as tableState records them.
func stateBetween(before, after map[string]string) tableState {
	st := tableState{changed: map[string]string{}}
	for name, text := range after {
		if before[name] != text {
			st.changed[name] = text
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			st.dropped = append(st.dropped, name)
		}
	}
	slices.Sort(st.dropped)
	return st
}

// historyPoint is a position in the history of a schema: after all migrations before version, and after its first
// statements. The zero value is the beginning.
type historyPoint struct {
	version    string
	statements int // number of statements; allStatements means the whole migration
}

// allStatements is a number of statements that means the whole migration.
const allStatements = math.MaxInt

// recordedSchema returns the MySQL tables at a point of the history. It reads them from migrations/states.
func recordedSchema(files fs.FS, dir atlas.Dir, at historyPoint) (*schema.Schema, error) {
	tables, err := recordedTables(files, dir, at)
	if err != nil {
		return nil, err
	}
	return parseTables(tables)
}

// recordedTables returns the descriptions of the MySQL tables at a point of the history, by table name. It reads them
// from migrations/states.
func recordedTables(files fs.FS, dir atlas.Dir, at historyPoint) (map[string]string, error) {
	all, err := dir.Files()
	if err != nil {
		return nil, err
	}
	tables := map[string]string{}
	for _, f := range all {
		if f.Version() > at.version {
			break
		}
		stmts, err := atlas.FileStmtDecls(statementScanners["mysql"], f)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", f.Name(), err)
		}
		if f.Version() == at.version {
			stmts = stmts[:min(at.statements, len(stmts))]
		}
		text, err := fs.ReadFile(files, StatesFolder+"/"+stateFile(f))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("migration %s: %w", f.Name(), errNoState)
		}
		if err != nil {
			return nil, err
		}
		states := parseStates(string(text))
		for i, stmt := range stmts {
			if i >= len(states) || states[i].sum != statementSum(stmt.Text) {
				return nil, fmt.Errorf("migration %s, statement %d: %w", f.Name(), i+1, errNoState)
			}
			for _, name := range states[i].dropped {
				delete(tables, name)
			}
			maps.Copy(tables, states[i].changed)
		}
	}
	return tables, nil
}
