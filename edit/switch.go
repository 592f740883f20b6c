package edit

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/setting"
)

// SeriesStep is the name of the data step that switches series on: package migrate records it when no program of the
// version before serves any more.
const SeriesStep = "series"

// seriesSetting is the setting in which package migrate records that step.
const seriesSetting = "data:" + SeriesStep

// SeriesEnabled reports whether events may become series. It reads one setting by its key, each time: a backup that is
// restored may be of the time before.
func SeriesEnabled(ctx context.Context, db *ent.Client) (bool, error) {
	on, err := db.Setting.Query().Where(setting.ID(seriesSetting)).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("setting %s: %w", seriesSetting, err)
	}
	return on, nil
}
