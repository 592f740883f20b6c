package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
)

type backupCmd struct {
	database `group:"Database:"`
	File     string `arg:"" optional:"" type:"path" help:"File to write the copy to. SQLite needs one; for MySQL the default is NAME.sql."`
	Force    bool   `help:"Replace an existing file."`
}

// Run copies an SQLite database to a file. For MySQL it prints the mysqldump command.
func (c backupCmd) Run(ctx context.Context, s streams) error {
	if !strings.HasPrefix(c.DB, "sqlite://") {
		command, note, err := dumpCommand(c.DB, c.File)
		if err != nil {
			return usageError{err}
		}
		fmt.Fprintln(s.Out, command)
		fmt.Fprintln(s.Err, note)
		return nil
	}
	if c.File == "" {
		return usageError{errors.New("backup needs a file to write the copy to, such as almanac-copy.db")}
	}
	return c.withExisting(ctx, func(st *store.Store) error {
		var drift migrate.Drift
		size, err := st.Backup(ctx, c.File, c.Force, func(ctx context.Context, copied *store.Store) (err error) {
			drift, err = migrate.Verify(ctx, copied, nil)
			if errors.Is(err, migrate.ErrNoRecord) {
				return nil
			}
			return err
		})
		switch {
		case errors.Is(err, store.ErrExists):
			return fmt.Errorf("%w; replace it with --force", err)
		case err != nil:
			return err
		}
		at := "without a record of migrations"
		if drift.Version != "" {
			at = "at version " + drift.Version
		}
		fmt.Fprintf(s.Out, "copied %s to %s: %d bytes, %s\n", st, c.File, size, at)
		if len(drift.Mend) > 0 {
			fmt.Fprintln(s.Err, "almanac: warning: the tables differ from those of the migrations; see 'almanac migrate verify'")
		}
		return nil
	})
}

// dumpCommand returns the mysqldump command for the database at the URL db, without a password. The text note tells
// the user what to know about the command. If file is "", the dump is named after the database.
func dumpCommand(db, file string) (command, note string, err error) {
	address, name, err := mysqlAddress(db)
	if err != nil {
		return "", "", err
	}
	if file == "" {
		file = name + ".sql"
	}
	command = fmt.Sprintf(`mysqldump --single-transaction --quick --hex-blob --no-tablespaces --default-character-set=utf8mb4 \
  --set-gtid-purged=OFF --loose-skip-masking-policies --skip-add-locks \
  %s --password \
  --result-file=%s %s`, address, shellQuote(file), shellQuote(name))
	note = `Run this command: MySQL's own program copies a database while it is served. almanac copies SQLite files only.
The dump is the database at the moment it begins; programs do not wait for it. Do not migrate meanwhile.
With MariaDB the program is mariadb-dump; leave out --set-gtid-purged. docs/dba.md tells how to restore a dump,
and which rights that needs.`
	return command, note, nil
}

// mysqlAddress converts a database URL to connection flags of MySQL's programs and the name of the database. The
// flags contain no password.
func mysqlAddress(db string) (flags, name string, err error) {
	target, err := store.MySQLTarget(db)
	if err != nil {
		return "", "", fmt.Errorf("--db: %w", err)
	}
	if target.Network == "unix" {
		flags = "--socket=" + shellQuote(target.Address)
	} else {
		host, port, err := net.SplitHostPort(target.Address)
		if err != nil {
			return "", "", fmt.Errorf("--db: %w", err)
		}
		flags = "--host=" + shellQuote(host) + " --port=" + port
	}
	if target.User != "" {
		flags += " --user=" + shellQuote(target.User)
	}
	return flags, target.Database, nil
}

// shellQuote returns an argument in the syntax of a shell, quoted if necessary.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
