package pages

import (
	"context"
	"net/http"

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
		find func(*request, int64) (ent.Row, error)
	}{
		{address.ViewEvent, findRow((*ent.Client).ReadEvents)},
		{address.ViewVenue, findRow((*ent.Client).ReadVenues)},
		{address.ViewOrganizer, findRow((*ent.Client).ReadOrganizers)},
		{address.ViewSeries, (*request).findSeriesRow},
	} {
		if !r.pages.servesView(one.view) {
			continue
		}
		row, err := one.find(r, id)
		if err != nil {
			return nil, err
		}
		if row == nil || !r.isPublicRecord(row.Core()) {
			continue
		}
		if slug := r.View().Text(row).Slug; slug != "" {
			p := r.newPagePath(one.view)
			p.Slugs = []string{calendar.DecodedSlug(slug)}
			return r.redirect(http.StatusMovedPermanently, p, address.ParamRecord, address.ParamPostType), nil
		}
	}
	return nil, address.ErrNoPage
}

// findRow returns a function that reads the row with an id, or nil, and its texts in the language of the page.
func findRow[R ent.Row](load func(*ent.Client, context.Context, []int64) ([]R, error)) func(*request, int64) (ent.Row, error) {
	return func(r *request, id int64) (ent.Row, error) {
		rows, err := load(r.DB, r.Ctx, []int64{id})
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return rows[0], r.Translate(ent.PageOf(rows...))
	}
}

// findSeriesRow returns the series with an id in the form of an event, or nil if there is none.
func (r *request) findSeriesRow(id int64) (ent.Row, error) {
	rows, err := r.SeriesRows([]int64{id})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return read.SeriesEvent(rows[0])
}
