package edit

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/setting"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
)

// siteSetting is the id of the setting with the settings of the site: a JSON object with the keys of site.json.
const siteSetting = "site"

// ErrSiteChanged means that the stored settings of the site are not those that a write was begun with. The write has
// changed nothing. It can be repeated with the present settings.
var ErrSiteChanged = errors.New("the settings of the site changed meanwhile")

// StoredSite returns the settings of the site that are stored in the database, parsed and as text for
// calendar.Site. It returns nil and "" if none are stored. If the stored text is invalid, it returns that text
// with an error. A newer version may have stored such a text.
func StoredSite(ctx context.Context, db *ent.Client) (settings.Layer, string, error) {
	row, err := db.Setting.Get(ctx, siteSetting)
	if ent.IsNotFound(err) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("settings of the site: %w", err)
	}
	said, err := settings.ParseLayer(row.Value)
	if err != nil {
		return nil, string(row.Value), fmt.Errorf("stored settings of the site: %w", err)
	}
	return said, string(row.Value), nil
}

// ReindexSetting is the id of the setting that states how far search texts and sort keys are written again. This is
// necessary after another language became the main one. The setting exists while some records are left. Package
// upkeep defines its value.
const ReindexSetting = "site:reindex"

// StoreSite changes the settings of the site that are stored in the database. It calls change with a copy of
// the stored settings, or nil if there are none. The result said has the settings to store; nil deletes them.
// The result reindex is true if search texts and sort keys must be written again. The function change can be
// called several times.
func StoreSite(
	ctx context.Context, db *ent.Client, change func(settings.Layer) (said settings.Layer, reindex bool, err error),
) error {
	return store.Tx(ctx, db, func(tx *ent.Tx) error {
		rows, err := tx.Setting.Query().Where(setting.ID(siteSetting)).Modify(ForUpdate).All(ctx)
		if err != nil {
			return fmt.Errorf("settings of the site: %w", err)
		}
		var said settings.Layer
		if len(rows) > 0 {
			if said, err = settings.ParseLayer(rows[0].Value); err != nil {
				return fmt.Errorf("stored settings of the site: %w", err)
			}
		}
		said, reindex, err := change(said)
		if err != nil {
			return err
		}
		if reindex {
			if err := noteReindex(ctx, tx, []byte("{}")); err != nil {
				return err
			}
		}
		text, err := said.Format()
		switch {
		case err != nil:
			return err
		case len(rows) == 0 && said == nil, len(rows) > 0 && said != nil && string(text) == string(rows[0].Value):
			return nil
		case said == nil:
			err = tx.Setting.DeleteOneID(siteSetting).Exec(ctx)
		case len(rows) == 0:
			err = tx.Setting.Create().SetID(siteSetting).SetValue(text).Exec(ctx)
			if ent.IsConstraintError(err) { // another process has just stored the first settings
				err = errors.Join(store.ErrConflict, err)
			}
		default:
			err = tx.Setting.UpdateOneID(siteSetting).SetValue(text).Exec(ctx)
		}
		if err != nil {
			return fmt.Errorf("settings of the site: %w", err)
		}
		return nil
	})
}

// NoteReindex stores how far search texts are written again, as the value of ReindexSetting. Nil removes the
// setting. It returns ErrSiteChanged if the stored settings of the site are no longer those in e.Site. Another
// change of the main language may then have restarted the work.
func (e *Editor) NoteReindex(ctx context.Context, db *ent.Client, value []byte) error {
	return store.Tx(ctx, db, func(tx *ent.Tx) error {
		if err := e.requireSite(ctx, tx); err != nil {
			return err
		}
		if value != nil {
			return noteReindex(ctx, tx, value)
		}
		if err := tx.Setting.DeleteOneID(ReindexSetting).Exec(ctx); err != nil && !ent.IsNotFound(err) {
			return fmt.Errorf("setting %s: %w", ReindexSetting, err)
		}
		return nil
	})
}

func noteReindex(ctx context.Context, tx *ent.Tx, value []byte) error {
	err := tx.Setting.Create().SetID(ReindexSetting).SetValue(value).
		OnConflict(sql.ConflictColumns(setting.FieldID)).UpdateNewValues().Exec(ctx)
	if err != nil {
		return fmt.Errorf("setting %s: %w", ReindexSetting, err)
	}
	return nil
}

// requireSite returns ErrSiteChanged if the stored settings of the site are no longer those of the editor.
// Otherwise they cannot change until the transaction ends. It checks nothing for an editor without a language,
// which writes nothing that depends on the site.
func (e *Editor) requireSite(ctx context.Context, tx *ent.Tx) error {
	if e.Site.Language == "" {
		return nil
	}
	rows, err := tx.Setting.Query().Where(setting.ID(siteSetting)).Modify(ForShare).All(ctx)
	if err != nil {
		return fmt.Errorf("settings of the site: %w", err)
	}
	now := ""
	if len(rows) > 0 {
		now = string(rows[0].Value)
	}
	if now != e.Site.Stored {
		return ErrSiteChanged
	}
	return nil
}
