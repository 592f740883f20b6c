package migrate_test

import (
	"strings"
	"testing"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// TestVerifyConvergesOnMySQL makes a MySQL database differ from its migrations in different ways. The
// statements that Verify returns must repair it when they are run once, in order.
func TestVerifyConvergesOnMySQL(t *testing.T) {
	t.Parallel()
	onlyMySQL(t)
	const (
		noDrop    = "it drops no clustered primary key (8200)"
		noCounter = "it adds and removes no AUTO_INCREMENT (8200)"
		noCheck   = "it has no checks by default"
	)
	// reindexed gives an index another definition, in statements that a foreign key allows on all servers.
	reindexed := func(table, index, definition string) string {
		return "ALTER TABLE " + table + " RENAME INDEX " + index + " TO theirs\n" +
			"ALTER TABLE " + table + " ADD " + definition + "\n" +
			"ALTER TABLE " + table + " DROP INDEX theirs"
	}
	const parentIndex, dropTermKey = "event_parent_id_starts_at", "ALTER TABLE event_terms DROP FOREIGN KEY event_terms_terms_term\n"
	for _, test := range []struct {
		name   string
		change string // one statement per line
		noTiDB string // why TiDB cannot have the drift; "" if it can
	}{
		{"an index of a key has other columns", reindexed("events", parentIndex, "INDEX event_parent_id_starts_at (parent_id)"), ""},
		{"an index of a key is of two columns", reindexed("events", "event_author_id", "INDEX event_author_id (author_id, title)"), ""},
		{"an index of a key has another name", "ALTER TABLE events RENAME INDEX event_parent_id_starts_at TO theirs", ""},
		{"an index of a key has another name and other columns", reindexed("events", parentIndex, "INDEX extra (parent_id, title)"), ""},
		{"an index of a key alone has another name", "ALTER TABLE events RENAME INDEX event_author_id TO theirs", ""},
		{"an index of a key too many", "CREATE INDEX theirs ON events (author_id)", ""},
		{
			"an index of a key has a column that is not ours", "ALTER TABLE events ADD COLUMN extra int NULL\n" +
				reindexed("events", parentIndex, "INDEX event_parent_id_starts_at (parent_id, extra)"), "",
		},
		{
			"a unique index of a key is not unique", reindexed("event_translations", "eventtranslation_event_id_language",
				"INDEX eventtranslation_event_id_language (event_id, language)"), "",
		},
		{
			"an index is descending", reindexed("events", parentIndex, "INDEX event_parent_id_starts_at (parent_id, starts_at DESC)"),
			"it ignores DESC",
		},
		{"an index has a prefix", reindexed("terms", "term_name_key", "INDEX term_name_key (name_key(20))"), ""},
		{"an index is unique", reindexed("terms", "term_name_key", "UNIQUE INDEX term_name_key (name_key)"), ""},
		{
			"a key too few, with its index",
			"ALTER TABLE events DROP FOREIGN KEY events_events_children\nALTER TABLE events DROP INDEX event_parent_id_starts_at", "",
		},
		{
			"a key has another action", dropTermKey +
				"ALTER TABLE event_terms ADD CONSTRAINT event_terms_terms_term FOREIGN KEY (term_id) REFERENCES terms (id)", "",
		},
		{
			"a key has another name", dropTermKey +
				"ALTER TABLE event_terms ADD CONSTRAINT theirs FOREIGN KEY (term_id) REFERENCES terms (id) ON DELETE CASCADE", "",
		},
		{
			"a key refers to another table", dropTermKey +
				"ALTER TABLE event_terms ADD CONSTRAINT event_terms_terms_term FOREIGN KEY (term_id) REFERENCES venues (id)", "",
		},
		{
			"a key of an own column too many",
			"ALTER TABLE changes ADD CONSTRAINT theirs FOREIGN KEY (user_id) REFERENCES users (id)", "",
		},
		{
			"a key that is not ours is of a column and an index that are not",
			"ALTER TABLE terms ADD COLUMN extra bigint NULL\nALTER TABLE terms ADD INDEX theirs (extra, name)\n" +
				"ALTER TABLE terms ADD CONSTRAINT theirs FOREIGN KEY (extra) REFERENCES venues (id)", "",
		},
		{"a column of a key is not null", "ALTER TABLE event_translations MODIFY COLUMN event_id bigint NULL", ""},
		{
			"a column of a key is an int", dropTermKey + "ALTER TABLE event_terms MODIFY COLUMN term_id int NOT NULL",
			"it changes no column of a primary key (8200)",
		},
		{
			"a column and its key too few", "ALTER TABLE events DROP FOREIGN KEY events_events_children\n" +
				"ALTER TABLE events DROP INDEX event_parent_id_starts_at\nALTER TABLE events DROP COLUMN parent_id", "",
		},
		{"a column is shorter", "ALTER TABLE terms MODIFY COLUMN name_key varchar(100) NOT NULL", ""},
		{
			"a column has another type, and its index a prefix", "ALTER TABLE terms DROP INDEX term_taxonomy_name_key_id\n" +
				"ALTER TABLE terms DROP INDEX term_name_key\nALTER TABLE terms MODIFY COLUMN name_key longtext NOT NULL\n" +
				"ALTER TABLE terms ADD INDEX term_name_key (name_key(50))", "",
		},
		{"a column has another default", "ALTER TABLE events ALTER COLUMN attendance SET DEFAULT 'mixed'", ""},
		{"a column has a default", "ALTER TABLE events ALTER COLUMN title SET DEFAULT 'none'", ""},
		{"a column has no default", "ALTER TABLE events ALTER COLUMN attendance DROP DEFAULT", ""},
		{"a column has another name", "ALTER TABLE terms RENAME COLUMN slug TO theirs", ""},
		{
			"a column is generated", "ALTER TABLE venues ADD COLUMN extra int GENERATED ALWAYS AS (show_map + 1) STORED",
			"it adds no stored column (3106)",
		},
		{"a column has a comment", "ALTER TABLE terms MODIFY COLUMN slug varchar(220) NOT NULL DEFAULT '' COMMENT 'theirs'", ""},
		{"a table has a comment", "ALTER TABLE terms COMMENT 'theirs'", ""},
		{"a column does not count", "ALTER TABLE search_texts MODIFY COLUMN id bigint NOT NULL", noCounter},
		{
			"a column of a key does not count",
			"SET foreign_key_checks = 0\nALTER TABLE terms MODIFY COLUMN id bigint NOT NULL\nSET foreign_key_checks = 1", noCounter,
		},
		{"a column counts", "ALTER TABLE changes MODIFY COLUMN id bigint NOT NULL AUTO_INCREMENT", noCounter},
		{
			"a column has the time of a change",
			"ALTER TABLE tokens MODIFY COLUMN created_at datetime NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", "",
		},
		{
			"a column has the time of a change only",
			"ALTER TABLE tokens MODIFY COLUMN created_at datetime NOT NULL ON UPDATE CURRENT_TIMESTAMP", "",
		},
		{"a table has another engine", "ALTER TABLE changes ENGINE=MyISAM", "it has one engine"},
		{"a primary key has another column", "ALTER TABLE counters DROP PRIMARY KEY, ADD PRIMARY KEY (name, value)", noDrop},
		{
			"a primary key has another order",
			"ALTER TABLE event_terms DROP PRIMARY KEY, ADD PRIMARY KEY (term_id, event_id), ADD INDEX theirs (event_id)", noDrop,
		},
		{"a primary key too few", "ALTER TABLE counters DROP PRIMARY KEY", noDrop},
		{"a check too many", "ALTER TABLE terms ADD CONSTRAINT theirs CHECK (version > 0)", noCheck},
		{
			"a check of a column that is not ours",
			"ALTER TABLE terms ADD COLUMN extra int NULL\nALTER TABLE terms ADD CONSTRAINT theirs CHECK (extra > 0)", noCheck,
		},
		{
			"a table too many, with a key to ours",
			"CREATE TABLE theirs (id bigint PRIMARY KEY, term_id bigint, FOREIGN KEY (term_id) REFERENCES terms (id))", "",
		},
		{
			"two tables too many, with keys to each other",
			"CREATE TABLE theirs (id bigint PRIMARY KEY, other bigint)\n" +
				"CREATE TABLE a_theirs (id bigint PRIMARY KEY, other bigint, CONSTRAINT a_k FOREIGN KEY (other) REFERENCES theirs (id))\n" +
				"ALTER TABLE theirs ADD CONSTRAINT b_k FOREIGN KEY (other) REFERENCES a_theirs (id)", "",
		},
		{
			"a table too many, and a key of ours to it", "CREATE TABLE theirs (id bigint PRIMARY KEY)\n" +
				"ALTER TABLE changes ADD CONSTRAINT theirs FOREIGN KEY (user_id) REFERENCES theirs (id)", "",
		},
		{"a table too few", "DROP TABLE event_terms", ""},
		{"two tables too few", "DROP TABLE withdrawal_keys\nDROP TABLE withdrawals", ""},
		{"an index is of words", "ALTER TABLE terms ADD FULLTEXT INDEX theirs (name)", "it ignores FULLTEXT"},
		{
			"a long index too many, of another character set",
			"ALTER TABLE settings ADD COLUMN extra varchar(2000) CHARACTER SET latin1\nALTER TABLE settings ADD INDEX theirs (extra)", "",
		},
		{
			"a column has a longer index in another character set", "ALTER TABLE terms MODIFY COLUMN name varchar(2000) " +
				"CHARACTER SET latin1 NOT NULL, ADD INDEX theirs (name)", "it converts no column to latin1 (8200)",
		},
		{
			"several things at once", "ALTER TABLE events ADD COLUMN extra int NULL\n" +
				reindexed("events", "event_author_id", "INDEX event_author_id (author_id, extra)") + "\n" +
				reindexed("events", parentIndex, "INDEX event_parent_id_starts_at (parent_id)") + "\n" + dropTermKey +
				"ALTER TABLE event_terms ADD CONSTRAINT event_terms_terms_term FOREIGN KEY (term_id) REFERENCES venues (id)\n" +
				"ALTER TABLE terms MODIFY COLUMN name_key varchar(100) NOT NULL\n" +
				"ALTER TABLE changes ADD CONSTRAINT theirs FOREIGN KEY (user_id) REFERENCES users (id)", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, storetest.Lent(t))
			if test.noTiDB != "" {
				storetest.SkipOnTiDB(t, st, test.noTiDB)
			}
			checkConverges(t, st, test.change)
		})
	}
}

// TestVerifyConvergesOnSQLite changes an SQLite database in different ways, and repairs it with the statements
// that Verify returns. ALTER TABLE can change less on SQLite, so some changes are written directly into the
// stored schema.
func TestVerifyConvergesOnSQLite(t *testing.T) {
	t.Parallel()
	rewritten := func(table, is, was string) string {
		return "PRAGMA writable_schema = ON\n" +
			"UPDATE sqlite_master SET sql = replace(sql, '" + is + "', '" + was + "') WHERE type = 'table' AND name = '" + table + "'\n" +
			"PRAGMA schema_version = 1000\nPRAGMA writable_schema = RESET"
	}
	for _, test := range []struct{ name, change string }{ // one statement per line
		{
			"an index of a key has other columns",
			"DROP INDEX event_parent_id_starts_at\nCREATE INDEX event_parent_id_starts_at ON events (parent_id)",
		},
		{"an index of a key too many", "CREATE INDEX theirs ON events (author_id)"},
		{"an index is descending", "DROP INDEX term_parent_id\nCREATE INDEX term_parent_id ON terms (parent_id DESC)"},
		{"an index is partial", "DROP INDEX term_parent_id\nCREATE INDEX term_parent_id ON terms (parent_id) WHERE parent_id > 1"},
		{"an index is not unique", "DROP INDEX terms_source_id_key\nCREATE INDEX terms_source_id_key ON terms (source_id)"},
		{"a key has another action", rewritten("event_terms", "(`id`) ON DELETE CASCADE)", "(`id`))")},
		{"a key refers to another table", rewritten("event_terms", "REFERENCES `terms`", "REFERENCES `venues`")},
		{
			"a key too few", rewritten("event_terms",
				", CONSTRAINT `event_terms_terms_term` FOREIGN KEY (`term_id`) REFERENCES `terms` (`id`) ON DELETE CASCADE", ""),
		},
		{"a key too many", rewritten("changes", "PRIMARY KEY (`id`)", "PRIMARY KEY (`id`), CONSTRAINT theirs FOREIGN KEY (user_id) REFERENCES users (id)")},
		{"a column does not count", rewritten("search_texts", "PRIMARY KEY AUTOINCREMENT", "PRIMARY KEY")},
		{"a column of a key does not count", rewritten("terms", "PRIMARY KEY AUTOINCREMENT", "PRIMARY KEY")},
		{"a column may be null", rewritten("terms", "`name` text NOT NULL", "`name` text NULL")},
		{"a column has another type", rewritten("terms", "`name` text", "`name` blob")},
		{"a column has another default", rewritten("counters", "DEFAULT (0)", "DEFAULT (1)")},
		{"a column has another name", "ALTER TABLE terms RENAME COLUMN slug TO theirs"},
		{"a column too many", "ALTER TABLE events ADD COLUMN extra integer NULL REFERENCES venues (id)"},
		{"a check too many", rewritten("counters", "PRIMARY KEY (`name`)", "PRIMARY KEY (`name`), CONSTRAINT theirs CHECK (value > 0)")},
		{"a primary key has another column", rewritten("counters", "PRIMARY KEY (`name`)", "PRIMARY KEY (`name`, `value`)")},
		{"a table too many, with a key to ours", "CREATE TABLE theirs (id integer PRIMARY KEY, term_id integer REFERENCES terms (id))"},
		{"two tables too few", "DROP TABLE withdrawal_keys\nDROP TABLE withdrawals"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkConverges(t, storetest.Migrated(t, storetest.SQLite(t)), test.change)
		})
	}
}

// checkConverges runs the statements in change and then those that Verify returns. Afterwards Verify must find no
// drift.
func checkConverges(t *testing.T, st *store.Store, change string) {
	t.Helper()
	runInSession(t, st, strings.Split(change, "\n"))
	drift, err := migrate.Verify(t.Context(), st, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(drift.Mend) == 0 {
		t.Fatal("Verify finds no drift")
	}
	runDrift(t, st, drift)
	again, err := migrate.Verify(t.Context(), st, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Mend) != 0 {
		t.Errorf("after\n%s\nthere is still\n%s", drift, again)
	}
}
