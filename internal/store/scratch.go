package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// OpenScratch opens the database at a URL (see Open), for work that leaves nothing behind. If a MySQL database does
// not exist, OpenScratch creates it, and Close drops it.
func OpenScratch(ctx context.Context, url string) (*Store, error) {
	st, err := Open(ctx, url)
	if my, ok := errors.AsType[*mysql.MySQLError](err); !ok || my.Number != unknownDatabase {
		return st, err
	}
	loc, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	// Without IF NOT EXISTS, because Close may drop only what this call created.
	name := "`" + strings.ReplaceAll(loc.mysql.DBName, "`", "``") + "`"
	create := "CREATE DATABASE " + name + " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	if err := loc.execOnServer(ctx, create); err != nil {
		return nil, err
	}
	drop := func() error { return loc.execOnServer(context.WithoutCancel(ctx), "DROP DATABASE "+name) }
	if st, err = Open(ctx, url); err != nil {
		return nil, errors.Join(err, drop())
	}
	st.drop = drop
	return st, nil
}

// unknownDatabase is MySQL's error number for a database that does not exist.
const unknownDatabase = 1049

// execOnServer runs a statement on a connection to the MySQL server without a database.
func (l location) execOnServer(ctx context.Context, statement string) (err error) {
	l.mysql = l.mysql.Clone()
	l.mysql.DBName = ""
	connector, err := l.connector()
	if err != nil {
		return fmt.Errorf("database %s: %w", l, err)
	}
	db := openProbe(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("database %s: %w", l, err)
	}
	return nil
}
