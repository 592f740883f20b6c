// Package schema declares the tables of the database. The generated package ent, the migrations and the files
// schema.*.sql derive from it.
//
// Ids of events, series, venues, organizers and images come from the table of Record. So an id belongs to one
// record of one kind for ever. Instants are in UTC. Wall times have their own type.
package schema

import (
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
)

// These column types are set for each dialect. The timestamp of MySQL, which Ent would choose for an instant, ends
// in 2038 and depends on the time zone of the session. A BLOB cannot have a unique index.
var (
	datetime = map[string]string{dialect.MySQL: "datetime", dialect.SQLite: "datetime"}
	hash32   = map[string]string{dialect.MySQL: "binary(32)", dialect.SQLite: "blob"}
	// mediumBlob has room for more than the 64 KiB of a blob.
	mediumBlob = map[string]string{dialect.MySQL: "mediumblob", dialect.SQLite: "blob"}
)

// upTo returns the type of a text column for each database engine. The column stores at most the given number of
// bytes and can have an index.
func upTo(bytes int) map[string]string {
	return map[string]string{dialect.MySQL: fmt.Sprintf("varbinary(%d)", bytes), dialect.SQLite: "blob"}
}

// Maximum lengths of the texts that clients send, in characters (contract, section 4). A slug column also has
// room for the suffix of a record in the trash.
const (
	maxTitle = 500
	maxText  = 255
	maxURL   = 2048
	maxSlug  = 220
	// maxSource is enough for host?id=number with any host name, and short enough for an index.
	maxSource = 300
	// maxGUID is long enough for most addresses, and short enough for an index.
	maxGUID = 500
)

// assigned marks a primary key without auto-increment. The program sets its value, mostly to an id from Record.
func assigned() entsql.Annotation {
	no := false
	return entsql.Annotation{Incremental: &no}
}

// unread marks a column that no representation shows. Queries for replies leave it out.
type unread struct{}

// Name implements schema.Annotation.
func (unread) Name() string { return "Unread" }

// upserted marks a type for which code for upserts is generated. An upsert inserts a row or updates the existing
// one.
type upserted struct{}

// Name implements schema.Annotation.
func (upserted) Name() string { return "Upserted" }
