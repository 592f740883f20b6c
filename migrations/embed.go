// Package migrations holds the versioned migrations of each engine, in the format of the Atlas CLI.
//
// They are written by `almanac migrate diff` from package schema and never changed once released: atlas.sum in
// each folder seals them. docs/migrations.md has the rules.
package migrations

import "embed"

// FS has one folder per engine: mysql (MySQL, MariaDB and compatible) and sqlite, and in states the tables that each
// statement of mysql leaves, for comparisons with databases.
//
//go:embed mysql sqlite states
var FS embed.FS
