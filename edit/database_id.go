package edit

import (
	"context"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
)

// databaseIDSize is the number of random bytes in the result of DatabaseID.
const databaseIDSize = 16

// DatabaseID returns the random id of a database. The first call creates and stores it. A database restored by
// Almanac gets a new id, because store.Store.Backup leaves it out. A copy made with a MySQL tool has the same id.
func DatabaseID(ctx context.Context, db *ent.Client) ([]byte, error) {
	return sharedKey(ctx, db, store.DatabaseIDSetting, databaseIDSize)
}
