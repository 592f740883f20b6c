package pages

import (
	"cmp"
	"net/http"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
)

// occurrencePage answers the path of an occurrence with a redirect to its event. The path names a day, or means
// the next occurrence (contract, section 19.4).
func (r *request) occurrencePage() (*Reply, error) {
	seriesID, err := r.findBySlug(calendar.Series)
	if err != nil {
		return nil, err
	}
	if seriesID == 0 {
		return nil, r.withdrawnPage()
	}
	rows, err := r.SeriesRows([]int64{seriesID})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || rows[0].Status.Shown(r.Now, rows[0].PublishedAt) != calendar.Publish {
		return nil, address.ErrNoPage
	}
	e, err := read.SeriesEvent(rows[0])
	if err != nil {
		return nil, err
	}
	one := r.anonymousEvents()
	one.Hidden, one.Series.IDs = true, []int64{seriesID}
	from := r.Now
	if r.path.Date.IsZero() {
		one.Window = query.Window{StartMin: &from}
	} else if one.Include, err = r.occurrencesPlannedOn(seriesID, r.path.Date); err != nil || len(one.Include) == 0 {
		return nil, cmp.Or(err, error(address.ErrNoPage))
	}
	page, err := r.FindEvents(one, 0, 1)
	if err != nil {
		return nil, err
	}
	to := r.newPagePath(address.ViewSeries)
	to.Slugs = []string{r.slugIn(e, r.Language)}
	events, err := r.Events(page.IDs)
	if err != nil {
		return nil, err
	}
	switch {
	case len(events) > 0:
		to = r.newPagePath(address.ViewEvent)
		to.Slugs = []string{r.slugIn(events[0], r.Language)}
	case !r.path.Date.IsZero():
		return nil, address.ErrNoPage
	}
	return r.redirect(http.StatusFound, to), nil
}

// occurrencesPlannedOn returns the ids of a series' occurrences that the schedule places on a day. They may have
// been moved to another day since.
func (r *request) occurrencesPlannedOn(seriesID int64, day calendar.Wall) ([]int64, error) {
	return r.DB.Event.Query().
		Where(event.SeriesID(seriesID), event.OriginalStartGTE(day), event.OriginalStartLT(day.AddDate(0, 0, 1))).
		Limit(ent.MaxRead).IDs(r.Ctx)
}
