package query

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/predicate"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/search"
)

// SeriesList is a query for a list of series, sorted by title. Now and Language must be set. A nil Search means no
// restriction. Series that are hidden from listings are left out.
type SeriesList struct {
	Now      time.Time // time that decides which scheduled records count as published
	Language calendar.Language
	Visible  Visible
	Search   *search.Query
	Readable Readable // limits the protected series that a search finds
	Revision int64    // revision that the engine must at least have applied; 0 means the newest
}

// seriesOrder maps a language to the column that sorts series by their titles in it.
var seriesOrder = map[calendar.Language]string{
	calendar.English: series.FieldSortEn, calendar.Polish: series.FieldSortPl, calendar.Spanish: series.FieldSortEs,
}

// FindSeries returns the ids of up to limit series, after the first offset ones. The Page also has the length of the
// whole list.
func (d Database) FindSeries(ctx context.Context, q *SeriesList, offset, limit int) (Page, error) {
	due, err := findOverdue(ctx, d.Ent, q.Now, calendar.Series)
	if err != nil {
		return Page{}, err
	}
	where := []predicate.Series{
		inList[predicate.Series](q.Visible, q.Now, due[calendar.Series]), series.HideFromListings(false),
	}
	if q.Search != nil {
		all, none := splitQuery(*q.Search)
		where = append(where, HasText[predicate.Series](calendar.Series, q.Language, all, none),
			isUnredacted(q.Readable, series.Protected(false)))
	}
	byTitle := sql.OrderByField(seriesOrder[q.Language]).ToFunc()
	return pageOf(ctx, d.Ent.Series.Query().Where(where...), offset, limit, byTitle, series.ByID())
}

// Occurrences summarises the occurrences of a series for its representation.
type Occurrences struct {
	Published int
	Next      *ent.Event // next occurrence, with id and start only; nil means none
}

// CountOccurrences returns, by series id, the number of published occurrences and the next occurrence after now. The
// next occurrence is one that seen allows and that is not hidden from listings. A series with neither is missing.
func (d Database) CountOccurrences(
	ctx context.Context, ids []int64, seen Visible, now time.Time,
) (map[int64]Occurrences, error) {
	due, err := findOverdue(ctx, d.Ent, now, calendar.Event)
	if err != nil {
		return nil, err
	}
	var counted []struct {
		SeriesID int64 `json:"series_id"`
		Count    int   `json:"count"`
	}
	err = d.Ent.Event.Query().
		Where(event.SeriesIDIn(ids...), hasStatus(now, due[calendar.Event], []calendar.Status{calendar.Publish})).
		GroupBy(event.FieldSeriesID).Aggregate(ent.Count()).Scan(ctx, &counted)
	if err != nil {
		return nil, fmt.Errorf("occurrences of series: %w", err)
	}
	next, err := d.Ent.Event.Query().Where(firstAfter(ids, inList[predicate.Event](seen, now, due[calendar.Event]), now)).
		Select(event.FieldID, event.FieldSeriesID, event.FieldStartsAt).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("next occurrences of series: %w", err)
	}
	out := make(map[int64]Occurrences, len(ids))
	for _, row := range counted {
		out[row.SeriesID] = Occurrences{Published: row.Count}
	}
	for _, row := range next {
		o := out[*row.SeriesID]
		o.Next = row
		out[*row.SeriesID] = o
	}
	return out, nil
}

// firstAfter selects, for each given series, the first occurrence that starts after now and meets the predicate
// list. It ignores occurrences that are hidden from listings.
func firstAfter(ids []int64, list predicate.Event, now time.Time) predicate.Event {
	const place = "place"
	return func(s *sql.Selector) {
		dialect := sql.Dialect(s.Dialect())
		t := dialect.Table(event.Table)
		ranked := dialect.Select(t.C(event.FieldID)).From(t)
		event.SeriesIDIn(ids...)(ranked)
		event.StartsAtGT(now)(ranked)
		list(ranked)
		event.HideFromListings(false)(ranked)
		ranked.AppendSelectExprAs(sql.RowNumber().PartitionBy(t.C(event.FieldSeriesID)).
			OrderBy(t.C(event.FieldStartsAt), t.C(event.FieldID)), place)
		first := ranked.As("ranked")
		s.Where(sql.In(s.C(event.FieldID), dialect.Select(first.C(event.FieldID)).From(first).Where(sql.EQ(first.C(place), 1))))
	}
}
