package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"
)

// The Atlas CLI's own revision table, so that either tool can be used at any moment. Columns, types and the
// cloud row are those of the CLI.
const (
	revisionTable   = "atlas_schema_revisions"
	cloudRow        = ".atlas_cloud_identifier" // a row the CLI keeps that is no revision
	revisionColumns = "`version`,`description`,`type`,`applied`,`total`,`executed_at`,`execution_time`," +
		"`error`,`error_stmt`,`hash`,`partial_hashes`,`operator_version`"
)

var revisionDDL = map[string]string{
	"mysql": "CREATE TABLE IF NOT EXISTS `" + revisionTable + "` (`version` varchar(255) NOT NULL, " +
		"`description` varchar(255) NOT NULL, `type` bigint unsigned NOT NULL DEFAULT 2, " +
		"`applied` bigint NOT NULL DEFAULT 0, `total` bigint NOT NULL DEFAULT 0, `executed_at` timestamp NOT NULL, " +
		"`execution_time` bigint NOT NULL, `error` longtext NULL, `error_stmt` longtext NULL, " +
		"`hash` varchar(255) NOT NULL, `partial_hashes` json NULL, `operator_version` varchar(255) NOT NULL, " +
		"PRIMARY KEY (`version`)) CHARSET utf8mb4 COLLATE utf8mb4_bin",
	"sqlite": "CREATE TABLE IF NOT EXISTS `" + revisionTable + "` (`version` text NOT NULL, " +
		"`description` text NOT NULL, `type` integer NOT NULL DEFAULT (2), `applied` integer NOT NULL DEFAULT (0), " +
		"`total` integer NOT NULL DEFAULT (0), `executed_at` datetime NOT NULL, `execution_time` integer NOT NULL, " +
		"`error` text NULL, `error_stmt` text NULL, `hash` text NOT NULL, `partial_hashes` json NULL, " +
		"`operator_version` text NOT NULL, PRIMARY KEY (`version`))",
}

// revisions is a migrate.RevisionReadWriter over the revision table.
type revisions struct{ db schema.ExecQuerier }

func (revisions) Ident() *migrate.TableIdent { return &migrate.TableIdent{Name: revisionTable} }

func (r revisions) ReadRevisions(ctx context.Context) ([]*migrate.Revision, error) {
	return r.query(ctx, "`version` <> ?", cloudRow)
}

func (r revisions) ReadRevision(ctx context.Context, version string) (*migrate.Revision, error) {
	rs, err := r.query(ctx, "`version` = ?", version)
	if err != nil {
		return nil, err
	}
	if len(rs) == 0 {
		return nil, migrate.ErrRevisionNotExist
	}
	return rs[0], nil
}

func (r revisions) query(ctx context.Context, where string, args ...any) (_ []*migrate.Revision, err error) {
	rows, err := r.db.QueryContext(ctx,
		"SELECT "+revisionColumns+" FROM `"+revisionTable+"` WHERE "+where+" ORDER BY `version`", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []*migrate.Revision
	for rows.Next() {
		rev, err := scanRevision(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, rev)
	}
	return out, rows.Err()
}

func scanRevision(rows *sql.Rows) (*migrate.Revision, error) {
	var (
		rev                         migrate.Revision
		failure, statement, partial sql.NullString
		took                        int64
	)
	if err := rows.Scan(&rev.Version, &rev.Description, &rev.Type, &rev.Applied, &rev.Total, &rev.ExecutedAt, &took,
		&failure, &statement, &rev.Hash, &partial, &rev.OperatorVersion); err != nil {
		return nil, err
	}
	rev.ExecutionTime, rev.Error, rev.ErrorStmt = time.Duration(took), failure.String, statement.String
	if partial.String != "" {
		if err := json.Unmarshal([]byte(partial.String), &rev.PartialHashes); err != nil {
			return nil, fmt.Errorf("revision %s: %w", rev.Version, err)
		}
	}
	return &rev, nil
}

func (r revisions) WriteRevision(ctx context.Context, rev *migrate.Revision) error {
	partial := rev.PartialHashes
	if rev.Applied == rev.Total {
		// As the Executor leaves it a moment later, so that the record is the same if the process ends in between.
		partial = nil
	}
	hashes, err := json.Marshal(partial)
	if err != nil {
		return err
	}
	// REPLACE is spelled the same on MySQL, MariaDB and SQLite.
	_, err = r.db.ExecContext(ctx,
		"REPLACE INTO `"+revisionTable+"` ("+revisionColumns+") VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
		rev.Version, rev.Description, uint(rev.Type), rev.Applied, rev.Total, rev.ExecutedAt.UTC(),
		int64(rev.ExecutionTime), rev.Error, rev.ErrorStmt, rev.Hash, string(hashes), rev.OperatorVersion)
	return err
}

func (r revisions) DeleteRevision(ctx context.Context, version string) error {
	_, err := r.db.ExecContext(ctx, "DELETE FROM `"+revisionTable+"` WHERE `version` = ?", version)
	return err
}
