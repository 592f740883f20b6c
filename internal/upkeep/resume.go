package upkeep

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/setting"
)

// ReindexPending reports whether a Reindex is needed and not finished, because the main language of the site was
// changed.
func ReindexPending(ctx context.Context, db *ent.Client) (bool, error) {
	pending, err := db.Setting.Query().Where(setting.ID(edit.ReindexSetting)).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("setting %s: %w", edit.ReindexSetting, err)
	}
	return pending, nil
}

// FinishReindex carries out the rest of a pending Reindex. It stores its position after each batch, so that a later
// call continues after an interruption. It does nothing if no Reindex is pending.
func FinishReindex(ctx context.Context, db *ent.Client, e *edit.Editor, step func(kind calendar.Kind, records int)) error {
	row, err := db.Setting.Get(ctx, edit.ReindexSetting)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("setting %s: %w", edit.ReindexSetting, err)
	}
	var from Position
	if err := json.Unmarshal(row.Value, &from); err != nil {
		return fmt.Errorf("setting %s: %w", edit.ReindexSetting, err)
	}
	err = ReindexFrom(ctx, db, e, from, func(at Position, records int) error {
		step(at.Kind, records)
		text, err := json.Marshal(at)
		if err != nil {
			return err
		}
		return e.NoteReindex(ctx, db, text)
	})
	if err != nil {
		return err
	}
	return e.NoteReindex(ctx, db, nil)
}
