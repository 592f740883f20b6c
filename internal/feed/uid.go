package feed

import (
	"strconv"

	"github.com/google/uuid"
)

// Key is the random key of a database. All UIDs depend on it, so it never changes.
type Key = uuid.UUID

// UID returns the UID of an event. It depends only on the key and the id.
func UID(key Key, id int64) string {
	return uuid.NewSHA1(key, strconv.AppendInt(nil, id, 10)).String()
}

// SeriesUID returns the UID of a series. It depends only on the key and the id.
func SeriesUID(key Key, id int64) string {
	return uuid.NewSHA1(key, strconv.AppendInt([]byte("series:"), id, 10)).String()
}
