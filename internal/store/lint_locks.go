package store

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"ariga.io/atlas/sql/migrate"
)

// LintLocks checks that the migrations of MySQL after the first one say whether they keep programs from writing.
// It needs no database. A statement that changes a table either
//
//   - names an algorithm that lets everybody go on, so that the server refuses it instead of locking:
//     ALGORITHM=INSTANT, or ALGORITHM=INPLACE with LOCK=NONE; or
//   - has a comment before it that says why it may block: "-- almanac:blocking the table has a few rows".
//
// So does one that changes rows, which belongs into a data step otherwise. Tables that the same migration makes
// are nobody's yet. Only the last migrations are looked at, so many; all for 0.
func LintLocks(files fs.FS, latest int) ([]Finding, error) {
	dir, err := copyDir(files, "mysql")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a tree of SQLite's alone
	}
	if err != nil {
		return nil, err
	}
	all, err := dir.Files()
	if err != nil {
		return nil, err
	}
	from := 1
	if latest > 0 {
		from = max(len(all)-latest, 1)
	}
	l := linter{engine: "mysql"}
	for i := from; i < len(all); i++ {
		stmts, err := migrate.FileStmtDecls(scanners["mysql"], all[i])
		if err != nil {
			return nil, fmt.Errorf("lint: %s: %w", all[i].Name(), err)
		}
		made := map[string]bool{}
		for _, stmt := range stmts {
			sql := bare(stmt.Text)
			if m := createsTable.FindStringSubmatch(sql); m != nil {
				made[m[1]] = true
				continue
			}
			if fault := lockFault(stmt, sql, made); fault != "" {
				l.add(all[i], stmt.Pos, ruleLock, fault)
			}
		}
	}
	return l.findings, nil
}

var (
	createsTable = regexp.MustCompile("(?i)^CREATE\\s+TABLE\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?`?(\\w+)")
	changesTable = regexp.MustCompile("(?i)^(?:ALTER\\s+(?:ONLINE\\s+|IGNORE\\s+)*TABLE\\s+`?(\\w+)" +
		"|(?:CREATE|DROP)\\s+(?:\\w+\\s+)*?INDEX\\s.*?\\sON\\s+`?(\\w+))")
	changesRows = regexp.MustCompile(`(?i)^(?:UPDATE|DELETE|INSERT|REPLACE|LOAD|WITH)\b`)
	algorithm   = regexp.MustCompile(`(?i)\bALGORITHM\s*=?\s*(\w+)`) // the equals sign is optional
	locking     = regexp.MustCompile(`(?i)\bLOCK\s*=?\s*(\w+)`)
	quotedText  = regexp.MustCompile(`(?s)'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|/\*.*?\*/`)
	quotedName  = regexp.MustCompile("`[^`]*`")
	spaces      = regexp.MustCompile(`\s+`)
)

// blocking begins the comment of a statement that may keep programs from writing.
const blocking = "-- almanac:blocking"

// bare is a statement in one line, without its texts and comments.
func bare(sql string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(quotedText.ReplaceAllString(sql, "''"), " "))
}

// lockFault is what a statement fails to say, "" when all is said.
func lockFault(stmt *migrate.Stmt, sql string, made map[string]bool) string {
	what, how := "", ""
	switch m := changesTable.FindStringSubmatch(sql); {
	case m != nil && made[m[1]+m[2]]:
		return ""
	case m != nil:
		if lockFree(sql) {
			return ""
		}
		what = fmt.Sprintf("Changing table %q may keep programs from writing", m[1]+m[2])
		how = "say ALGORITHM=INSTANT, or ALGORITHM=INPLACE with LOCK=NONE"
	case changesRows.MatchString(sql):
		what, how = "Changing rows keeps programs from writing them", "make it a data step"
	default:
		return ""
	}
	for _, c := range stmt.Comments {
		reason, ok := strings.CutPrefix(strings.TrimSpace(c), blocking)
		if ok && strings.TrimSpace(reason) != "" {
			return ""
		}
	}
	return fmt.Sprintf("%s: %s, or give the reason in a comment %q before it", what, how, blocking+" REASON")
}

// lockFree reports whether MySQL refuses a statement rather than keep others from writing meanwhile.
func lockFree(sql string) bool {
	sql = quotedName.ReplaceAllString(sql, "``") // a column may be named as a clause is
	named := func(clause *regexp.Regexp) string {
		m := clause.FindStringSubmatch(sql)
		if m == nil {
			return ""
		}
		return strings.ToUpper(m[1])
	}
	switch named(algorithm) {
	case "INSTANT":
		return true
	case "INPLACE":
		return named(locking) == "NONE"
	}
	return false
}

// withLocks makes a planned change of a table in MySQL say that it locks nothing, where MySQL and MariaDB can do it so:
// columns that are added or dropped, indexes, foreign keys that are dropped, and the defaults of the table for columns to
// come. They become statements of their own, because one that does several is as slow as its slowest part. What else
// there is stays as planned, for LintLocks to find and a person to decide.
func withLocks(sql string) []string {
	m := alterTable.FindStringSubmatch(sql)
	if m == nil {
		return []string{sql}
	}
	const instant, inPlace = ", ALGORITHM=INSTANT", ", ALGORITHM=INPLACE, LOCK=NONE"
	// In the order in which they can run: a foreign key goes before its index, an index before its column, and columns
	// that are changed take the new defaults of the table.
	var keys, defaults, columns, indexes, others []string
	for _, clause := range clauses(m[2]) {
		to := &others
		switch {
		case dropsForeignKey.MatchString(clause):
			to = &keys
		case changesDefaults.MatchString(clause):
			to = &defaults
		case addsColumn.MatchString(clause):
			to = &columns
		case changesIndex.MatchString(clause):
			to = &indexes
		}
		*to = append(*to, clause)
	}
	var out []string
	for _, part := range []struct {
		clauses []string
		locks   string
	}{{keys, inPlace}, {defaults, inPlace}, {columns, instant}, {others, ""}, {indexes, inPlace}} {
		if len(part.clauses) > 0 {
			out = append(out, m[1]+strings.Join(part.clauses, ", ")+part.locks)
		}
	}
	return out
}

var (
	alterTable      = regexp.MustCompile("(?s)^(ALTER TABLE `[^`]+` )(.*)$")
	addsColumn      = regexp.MustCompile("^ADD COLUMN `[^`]+` ")
	changesIndex    = regexp.MustCompile("^(?:ADD (?:UNIQUE )?INDEX|DROP INDEX|RENAME INDEX|DROP COLUMN) ")
	dropsForeignKey = regexp.MustCompile("^DROP FOREIGN KEY ")
	changesDefaults = regexp.MustCompile(`^(?:CHARSET|COLLATE) \w+$`)
)

// clauses takes the list of changes of an ALTER TABLE apart, at commas that are in no parentheses and no quotes.
func clauses(list string) (out []string) {
	depth, start := 0, 0
	var quote rune
	for i, r := range list {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case slices.Contains([]rune("'\"`"), r):
			quote = r
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out = append(out, strings.TrimSpace(list[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(list[start:]))
}
