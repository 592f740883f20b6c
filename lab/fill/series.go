package fill

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
)

// AddSeries turns the events of a filled database at a URL into occurrences of o.Series series. 0 changes no event.
func AddSeries(ctx context.Context, at string, o Options) (err error) {
	st, err := Open(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	r := &run{Options: o, st: st, now: o.Site.Zone.Instant(o.From.AddDate(0, 2, 0))}
	if err := r.series(ctx); err != nil {
		return err
	}
	return st.Ent.Setting.UpdateOneID(marker).SetValue([]byte(o.description())).Exec(ctx)
}

// series assigns the events to series in turn, in the order of ids. An event with the same start as an earlier one of
// its series stays single. So does every third event if Mixed.
func (r *run) series(ctx context.Context) error {
	if r.Series == 0 {
		return nil
	}
	var first int64
	err := store.Tx(ctx, r.st.Ent, func(tx *ent.Tx) error {
		ids, err := store.DrawIDs(ctx, tx, calendar.Series, r.Series)
		if err != nil {
			return err
		}
		first = ids[0]
		for i, id := range ids {
			if err := r.oneSeries(ctx, tx, id, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("series: %w", err)
	}
	statement := "UPDATE OR IGNORE events SET series_id = ? + id % ?, original_start = start_wall"
	if strings.HasPrefix(r.st.String(), "mysql") {
		statement = "UPDATE IGNORE events SET series_id = ? + id % ?, original_start = start_wall"
	}
	if r.Mixed {
		statement += " WHERE id % 3 <> 0"
	}
	_, err = r.st.DB.ExecContext(ctx, statement, first, r.Series)
	return err
}

func (r *run) oneSeries(ctx context.Context, tx *ent.Tx, id int64, i int) error {
	title, slug := capitalize(Word(i)), fmt.Sprintf("series-%d", i)
	err := tx.Slug.Create().SetKind(calendar.Series).SetSlug(slug).SetOwnerID(id).SetLanguage(calendar.English).Exec(ctx)
	if err != nil {
		return err
	}
	err = tx.Series.Create().SetID(id).SetStatus(calendar.Publish).SetPublishedAt(r.now).SetLanguage(calendar.English).
		SetLanguages(calendar.LanguagesOf(calendar.English)).SetCreatedAt(r.now).SetModifiedAt(r.now).
		SetSlug(slug).Exec(ctx)
	if err != nil {
		return err
	}
	template, err := ent.EncodeTemplate(&ent.Event{Language: calendar.English, Title: title, Slug: slug})
	if err != nil {
		return err
	}
	return tx.SeriesPhase.Create().SetSeriesID(id).SetPosition(0).SetStartWall(r.From).SetEndWall(r.From.EndOfDay()).
		SetTimezone("Europe/Warsaw").SetRrule("FREQ=WEEKLY").
		SetTemplate(template).Exec(ctx)
}
