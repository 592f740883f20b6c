package series

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/setting"
)

// EnablingStep is the name of the migration of data that switches series on. Package migrate records it once no
// process of the previous version serves requests.
const EnablingStep = "series"

// seriesSetting is the id of the setting with which package migrate records EnablingStep.
const seriesSetting = "data:" + EnablingStep

// IsEnabled reports whether clients can create series. It reads the setting each time, because a restored backup may
// be older than the setting.
func IsEnabled(ctx context.Context, db *ent.Client) (bool, error) {
	on, err := db.Setting.Query().Where(setting.ID(seriesSetting)).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("setting %s: %w", seriesSetting, err)
	}
	return on, nil
}
