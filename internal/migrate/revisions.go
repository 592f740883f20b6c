package migrate

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"
)

// revisionTable implements Atlas's RevisionReadWriter on the revision table.
type revisionTable struct{ db schema.ExecQuerier }

// revisionTableName, cloudRow and revisionColumns describe the revision table. It is that of the Atlas CLI,
// with the same columns and types.
const (
	revisionTableName = "atlas_schema_revisions"
	cloudRow          = ".atlas_cloud_identifier" // version of a row that the CLI uses for other data
	revisionColumns   = "`version`,`description`,`type`,`applied`,`total`,`executed_at`,`execution_time`," +
		"`error`,`error_stmt`,`hash`,`partial_hashes`,`operator_version`"
)

// revisionDDL are the statements that create the revision table, by engine.
var revisionDDL = map[string]string{
	"mysql": "CREATE TABLE IF NOT EXISTS `" + revisionTableName + "` (`version` varchar(255) NOT NULL, " +
		"`description` varchar(255) NOT NULL, `type` bigint unsigned NOT NULL DEFAULT 2, " +
		"`applied` bigint NOT NULL DEFAULT 0, `total` bigint NOT NULL DEFAULT 0, `executed_at` timestamp NOT NULL, " +
		"`execution_time` bigint NOT NULL, `error` longtext NULL, `error_stmt` longtext NULL, " +
		"`hash` varchar(255) NOT NULL, `partial_hashes` json NULL, `operator_version` varchar(255) NOT NULL, " +
		"PRIMARY KEY (`version`)) CHARSET utf8mb4 COLLATE utf8mb4_bin",
	"sqlite": "CREATE TABLE IF NOT EXISTS `" + revisionTableName + "` (`version` text NOT NULL, " +
		"`description` text NOT NULL, `type` integer NOT NULL DEFAULT (2), `applied` integer NOT NULL DEFAULT (0), " +
		"`total` integer NOT NULL DEFAULT (0), `executed_at` datetime NOT NULL, `execution_time` integer NOT NULL, " +
		"`error` text NULL, `error_stmt` text NULL, `hash` text NOT NULL, `partial_hashes` json NULL, " +
		"`operator_version` text NOT NULL, PRIMARY KEY (`version`))",
}

// Ident implements Atlas's RevisionReadWriter.
func (revisionTable) Ident() *atlas.TableIdent { return &atlas.TableIdent{Name: revisionTableName} }

// ReadRevisions implements Atlas's RevisionReadWriter.
func (r revisionTable) ReadRevisions(ctx context.Context) ([]*atlas.Revision, error) {
	return r.query(ctx, "`version` <> ?", cloudRow)
}

// ReadRevision implements Atlas's RevisionReadWriter.
func (r revisionTable) ReadRevision(ctx context.Context, version string) (*atlas.Revision, error) {
	rs, err := r.query(ctx, "`version` = ?", version)
	if err != nil {
		return nil, err
	}
	if len(rs) == 0 {
		return nil, atlas.ErrRevisionNotExist
	}
	return rs[0], nil
}

func (r revisionTable) query(ctx context.Context, where string, args ...any) (_ []*atlas.Revision, err error) {
	rows, err := r.db.QueryContext(ctx,
		"SELECT "+revisionColumns+" FROM `"+revisionTableName+"` WHERE "+where+" ORDER BY `version`", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []*atlas.Revision
	for rows.Next() {
		rev, err := scanRevision(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, rev)
	}
	return out, rows.Err()
}

func scanRevision(rows *sql.Rows) (*atlas.Revision, error) {
	var (
		rev                         atlas.Revision
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

// WriteRevision implements Atlas's RevisionReadWriter.
func (r revisionTable) WriteRevision(ctx context.Context, rev *atlas.Revision) error {
	partial := rev.PartialHashes
	if rev.Applied == rev.Total {
		// The Executor removes the hashes in a later write. Removing them here gives the same record if the
		// process ends before that.
		partial = nil
	}
	hashes, err := json.Marshal(partial)
	if err != nil {
		return err
	}
	// MySQL, MariaDB and SQLite all support REPLACE.
	_, err = r.db.ExecContext(ctx,
		"REPLACE INTO `"+revisionTableName+"` ("+revisionColumns+") VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
		rev.Version, rev.Description, uint(rev.Type), rev.Applied, rev.Total, rev.ExecutedAt.UTC(),
		int64(rev.ExecutionTime), rev.Error, rev.ErrorStmt, rev.Hash, string(hashes), rev.OperatorVersion)
	return err
}

// DeleteRevision implements Atlas's RevisionReadWriter.
func (r revisionTable) DeleteRevision(ctx context.Context, version string) error {
	_, err := r.db.ExecContext(ctx, "DELETE FROM `"+revisionTableName+"` WHERE `version` = ?", version)
	return err
}

// createRevisionTable creates the revision table if it does not exist.
func (h *history) createRevisionTable(ctx context.Context) error {
	if _, err := h.conn.ExecContext(ctx, revisionDDL[h.store.Engine()]); err != nil {
		return fmt.Errorf("revision table: %w", err)
	}
	return nil
}

// hasTable reports whether the database has a table with the given name.
func hasTable(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, engine, name string,
) (bool, error) {
	q := "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	if engine == "mysql" {
		q = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	}
	var n int
	err := db.QueryRowContext(ctx, q, name).Scan(&n)
	return n > 0, err
}
