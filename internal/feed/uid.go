package feed

import (
	"strconv"

	"github.com/google/uuid"
)

// Key is a random key of a database. With another key all entries have other UIDs, so it never changes.
type Key = uuid.UUID

// UID returns the UID of an event. It depends on the key and the id only.
func UID(key Key, id int64) string {
	return uuid.NewSHA1(key, strconv.AppendInt(nil, id, 10)).String()
}

// SeriesUID returns the UID of a series.
func SeriesUID(key Key, id int64) string {
	return uuid.NewSHA1(key, strconv.AppendInt([]byte("series:"), id, 10)).String()
}
