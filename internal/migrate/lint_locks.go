package migrate

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"regexp"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
)

// LintLocks checks that the MySQL migrations after the first one declare whether they block writers. It needs
// no database. A statement that changes a table must do one of the following:
//
//   - It names an algorithm that blocks no writer, so that the server rejects the statement instead of locking:
//     ALGORITHM=INSTANT, or ALGORITHM=INPLACE with LOCK=NONE.
//   - A comment before it explains why it may block: "-- almanac:blocking the table has a few rows".
//
// A statement that changes rows needs the comment too, or belongs in a data step. Tables that the same
// migration creates are not checked, because no program uses them yet. latest is the number of last migrations
// to check. 0 means all.
func LintLocks(files fs.FS, latest int) ([]Finding, error) {
	dir, err := copyDir(files, "mysql")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the tree has SQLite migrations only
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
		stmts, err := atlas.FileStmtDecls(statementScanners["mysql"], all[i])
		if err != nil {
			return nil, fmt.Errorf("lint: %s: %w", all[i].Name(), err)
		}
		made := map[string]bool{}
		for _, stmt := range stmts {
			sql := stripText(stmt.Text)
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
	changesRows     = regexp.MustCompile(`(?i)^(?:UPDATE|DELETE|INSERT|REPLACE|LOAD|WITH)\b`)
	algorithmClause = regexp.MustCompile(`(?i)\bALGORITHM\s*=?\s*(\w+)`) // the equals sign is optional
	lockClause      = regexp.MustCompile(`(?i)\bLOCK\s*=?\s*(\w+)`)
	quotedText      = regexp.MustCompile(`(?s)'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|/\*.*?\*/`)
	quotedName      = regexp.MustCompile("`[^`]*`")
	whitespace      = regexp.MustCompile(`\s+`)
)

// blockingMark is the start of the comment for a statement that may block writers.
const blockingMark = "-- almanac:blocking"

// stripText returns a statement in one line, without string literals and comments.
func stripText(sql string) string {
	return strings.TrimSpace(whitespace.ReplaceAllString(quotedText.ReplaceAllString(sql, "''"), " "))
}

// lockFault returns a description of what a statement lacks to satisfy LintLocks. "" means that it lacks nothing.
// made has the names of the tables that the same migration creates.
func lockFault(stmt *atlas.Stmt, sql string, made map[string]bool) string {
	what, how := "", ""
	switch m := changesTable.FindStringSubmatch(sql); {
	case m != nil && made[m[1]+m[2]]:
		return ""
	case m != nil:
		if isLockFree(sql) {
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
		reason, ok := strings.CutPrefix(strings.TrimSpace(c), blockingMark)
		if ok && strings.TrimSpace(reason) != "" {
			return ""
		}
	}
	return fmt.Sprintf("%s: %s, or give the reason in a comment %q before it", what, how, blockingMark+" REASON")
}

// isLockFree reports whether MySQL rejects a statement rather than block writers.
func isLockFree(sql string) bool {
	sql = quotedName.ReplaceAllString(sql, "``") // a column may be named like a clause
	named := func(clause *regexp.Regexp) string {
		m := clause.FindStringSubmatch(sql)
		if m == nil {
			return ""
		}
		return strings.ToUpper(m[1])
	}
	switch named(algorithmClause) {
	case "INSTANT":
		return true
	case "INPLACE":
		return named(lockClause) == "NONE"
	}
	return false
}

// splitByLock splits a planned ALTER TABLE of MySQL into statements, and adds clauses that prevent locking.
// Both MySQL and MariaDB can add and drop columns and indexes, drop foreign keys, and change defaults for new
// columns without locking. Each kind of change gets its own statement, because a combined one is as slow as its
// slowest change. Other changes stay as planned; LintLocks reports them for a person to decide.
func splitByLock(sql string) []string {
	m := alterTable.FindStringSubmatch(sql)
	if m == nil {
		return []string{sql}
	}
	const instant, inPlace = ", ALGORITHM=INSTANT", ", ALGORITHM=INPLACE, LOCK=NONE"
	// The order matters: a foreign key is dropped before its index, and an index before its column. A changed
	// column takes the new defaults of the table. A new foreign key finds its index, or MySQL would create another.
	var keys, defaults, columns, indexes, newKeys, others []string
	for _, clause := range splitClauses(m[2]) {
		to := &others
		switch {
		case dropsForeignKey.MatchString(clause):
			to = &keys
		case addsForeignKey.MatchString(clause):
			to = &newKeys
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
	}{{keys, inPlace}, {defaults, inPlace}, {columns, instant}, {others, ""}, {indexes, inPlace}, {newKeys, ""}} {
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
	addsForeignKey  = regexp.MustCompile("^ADD CONSTRAINT `[^`]+` FOREIGN KEY ")
	changesDefaults = regexp.MustCompile(`^(?:CHARSET|COLLATE) \w+$`)
)

// splitClauses splits the clauses of an ALTER TABLE at commas outside parentheses and quotes.
func splitClauses(list string) (out []string) {
	start := 0
	for i, depth := range unquotedBytes(list) {
		if list[i] == ',' && depth == 0 {
			out = append(out, strings.TrimSpace(list[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(list[start:]))
}

// unquotedBytes yields the index of each byte of an SQL text outside quotes, and how many parentheses are open after it.
func unquotedBytes(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		depth := 0
		var quote byte // 0 outside quotes
		for i := range len(text) {
			switch c := text[i]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
				continue
			case strings.IndexByte("'\"`", c) >= 0:
				quote = c
				continue
			case c == '(':
				depth++
			case c == ')':
				depth--
			}
			if !yield(i, depth) {
				return
			}
		}
	}
}
