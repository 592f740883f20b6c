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
	File     string `arg:"" type:"path" help:"File to write the copy to."`
	Force    bool   `help:"Replace an existing file."`
}

// Run copies an SQLite database to a file. For MySQL it returns an error that shows the mysqldump command.
func (c backupCmd) Run(ctx context.Context, s streams) error {
	if !strings.HasPrefix(c.DB, "sqlite://") {
		help, err := dumpHelp(c.DB, c.File)
		if err != nil {
			return usageError{err}
		}
		return usageError{errors.New(help)}
	}
	return c.existing(ctx, func(st *store.Store) error {
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

// dumpHelp returns an error message with the exact mysqldump command for a database. The command has no password.
func dumpHelp(db, file string) (string, error) {
	address, name, err := mysqlAddress(db)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`backup copies SQLite files only. MySQL's own program copies this database while it is served:

  mysqldump --single-transaction --quick --hex-blob --no-tablespaces --default-character-set=utf8mb4 \
    %s --password \
    --result-file=%s %s

The copy is the database at the moment it begins; nobody waits for it. Do not migrate meanwhile.
With MariaDB the program is called mariadb-dump. docs/dba.md tells how to restore it, and which rights it needs.`,
		address, shellQuote(file), shellQuote(name)), nil
}

// mysqlAddress returns a database URL as flags of MySQL's programs, and the name of the database.
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
