// Package ent is generated from package schema; only this file is written by hand.
package ent

//go:generate go tool ent generate --feature sql/versioned-migration,sql/upsert,sql/execquery,sql/modifier,sql/lock --target . ../schema
