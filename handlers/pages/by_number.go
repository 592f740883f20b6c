package pages

import (
	"context"
	"net/http"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/read"
)

// recordPage answers /?p={id} with a redirect to the page of the published record.
func (r *request) recordPage() (*Reply, error) {
	id, err := r.RecordOfNumber(r.path.ID)
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		view address.View
		find func(context.Context, int64) (slug string, status calendar.Status, published time.Time, err error)
	}{
		{address.ViewEvent, func(ctx context.Context, id int64) (string, calendar.Status, time.Time, error) {
			rows, err := r.DB.ReadEvents(ctx, []int64{id})
			if err != nil || len(rows) == 0 {
				return "", "", time.Time{}, err
			}
			if err := r.Translate(ent.PageOf(rows...)); err != nil {
				return "", "", time.Time{}, err
			}
			return r.View().Text(rows[0]).Slug, rows[0].Status, rows[0].PublishedAt, nil
		}},
		{address.ViewVenue, func(ctx context.Context, id int64) (string, calendar.Status, time.Time, error) {
			rows, err := r.DB.ReadVenues(ctx, []int64{id})
			if err != nil || len(rows) == 0 {
				return "", "", time.Time{}, err
			}
			if err := r.Translate(ent.PageOf(rows...)); err != nil {
				return "", "", time.Time{}, err
			}
			return r.View().Text(rows[0]).Slug, rows[0].Status, rows[0].PublishedAt, nil
		}},
		{address.ViewOrganizer, func(ctx context.Context, id int64) (string, calendar.Status, time.Time, error) {
			rows, err := r.DB.ReadOrganizers(ctx, []int64{id})
			if err != nil || len(rows) == 0 {
				return "", "", time.Time{}, err
			}
			if err := r.Translate(ent.PageOf(rows...)); err != nil {
				return "", "", time.Time{}, err
			}
			return r.View().Text(rows[0]).Slug, rows[0].Status, rows[0].PublishedAt, nil
		}},
		{address.ViewSeries, func(_ context.Context, id int64) (string, calendar.Status, time.Time, error) {
			rows, err := r.SeriesRows([]int64{id})
			if err != nil || len(rows) == 0 {
				return "", "", time.Time{}, err
			}
			e, err := read.SeriesEvent(rows[0])
			if err != nil {
				return "", "", time.Time{}, err
			}
			return r.View().Text(e).Slug, rows[0].Status, rows[0].PublishedAt, nil
		}},
	} {
		if !r.pages.servesView(one.view) {
			continue
		}
		slug, status, published, err := one.find(r.Ctx, id)
		if err != nil {
			return nil, err
		}
		if slug != "" && status.Shown(r.Now, published) == calendar.Publish {
			p := r.newPagePath(one.view)
			p.Slugs = []string{calendar.DecodedSlug(slug)}
			return r.redirect(http.StatusMovedPermanently, p, address.ParamRecord, address.ParamPostType), nil
		}
	}
	return nil, address.ErrNoPage
}
