package edit

import (
	"context"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
)

// databaseIDSize is the size of DatabaseID in bytes.
const databaseIDSize = 16

// DatabaseID returns the random id of a database. The first call stores it. A restored backup gets a new one, because
// store.Store.Backup leaves it out. A dump by a program of MySQL has it.
func DatabaseID(ctx context.Context, db *ent.Client) ([]byte, error) {
	return sharedKey(ctx, db, store.DatabaseIDSetting, databaseIDSize)
}
