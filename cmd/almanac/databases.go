package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"

	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
)

// databases has the primary database, and the store that reads its replicas. replicas is nil if there are none.
type databases struct {
	*store.Store
	replicas *store.Store
}

// moves returns a number that changes whenever reads or writes switch to another server
// (store.Store.ServerChanges).
func (d databases) moves() int64 {
	if d.replicas == nil {
		return d.ServerChanges()
	}
	return d.ServerChanges() + d.replicas.ServerChanges()
}

// reading returns the store for anonymous reads: the replicas if there are any, else the primary database.
func (d databases) reading() *store.Store {
	if d.replicas != nil {
		return d.replicas
	}
	return d.Store
}

// withReplicas opens the replicas, runs do with them, and closes them. If there are none, do receives nil. The
// function sameCalendar checks that a replica has the calendar of the primary database.
func (c serveCmd) withReplicas(
	ctx context.Context, log *slog.Logger, st *store.Store, sameCalendar func(context.Context, *store.Store) error,
	do func(*store.Store) error,
) (err error) {
	urls := splitURLs(c.DBRead)
	if len(urls) == 0 {
		return do(nil)
	}
	options := store.ReplicaOptions{
		Revision: index.RevisionQuery, MaxLag: c.DBReadLag,
		Check: func(ctx context.Context, replica *store.Store) error {
			if err := migrate.CheckCurrent(ctx, replica); err != nil {
				return err
			}
			return sameCalendar(ctx, replica)
		},
	}
	replicas, err := st.OpenReplicas(ctx, urls, options)
	switch {
	case errors.Is(err, store.ErrURL):
		return usageError{fmt.Errorf("--db-read: %w", err)}
	case err != nil:
		return fmt.Errorf("--db-read: %w", err)
	}
	defer func() { err = errors.Join(err, replicas.Close()) }()
	replicas.LogServers(log)
	return do(replicas)
}

// urlComma matches a comma between two URLs. A password may also contain a comma.
var urlComma = regexp.MustCompile(`,[a-z+]+://`)

// splitURLs returns the URLs in the values of a flag. Each value may be a list with commas.
func splitURLs(given []string) (urls []string) {
	for _, text := range given {
		for {
			at := urlComma.FindStringIndex(text)
			if at == nil {
				break
			}
			urls, text = append(urls, text[:at[0]]), text[at[0]+1:]
		}
		urls = append(urls, text)
	}
	return urls
}

// requireCurrent returns an error that says how to update the schema if it is not up to date. On SQLite, and on other
// engines if apply is true, it applies missing migrations instead.
func requireCurrent(ctx context.Context, st *store.Store, apply bool) error {
	if apply || st.Engine() == "sqlite" {
		_, err := migrate.Apply(ctx, st, migrate.ApplyOptions{Operator: version()})
		return err
	}
	return adviseMigration(migrate.CheckCurrent(ctx, st), st)
}

// adviseMigration returns an error about an outdated schema with the command that updates it. It returns other
// errors unchanged. The command names a placeholder as the user, because the server's own user may lack the
// right to change tables.
func adviseMigration(err error, st *store.Store) error {
	if !errors.Is(err, migrate.ErrBehind) {
		return err
	}
	command, rights := "apply", ""
	if errors.Is(err, migrate.ErrNotEmpty) {
		command = "baseline VERSION"
	}
	if st.Engine() == "mysql" {
		rights = ", with a user that may change tables"
	}
	return fmt.Errorf("%w\nRun 'almanac migrate %s --db %s'%s", err, command, st.URLFor("MIGRATING-USER"), rights)
}
