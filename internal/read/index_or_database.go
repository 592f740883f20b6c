package read

import (
	"context"
	"errors"
	"time"

	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
)

// FindEvents returns a page of a list of events. It asks the index, or the database if the index cannot answer.
func (r *Reader) FindEvents(q *query.Events, offset, limit int) (query.Page, error) {
	return ByIndex(r, func(x *index.Index, revision int64) (query.Page, error) {
		q.Revision = revision
		return r.findIndexed(x, q, offset, limit)
	}, func(db query.Database) (query.Page, error) { return db.FindEvents(r.Ctx, q, offset, limit) })
}

// ByIndex returns the result of ask, which queries the index. If there is no index or it cannot answer, it returns
// the result of fallBack, which queries the database. The index must apply all changes up to the revision passed to
// ask; 0 means the newest one.
func ByIndex[T any](
	r *Reader, ask func(x *index.Index, revision int64) (T, error), fallBack func(db query.Database) (T, error),
) (found T, err error) {
	if x := r.Index; x != nil {
		var revision int64
		if revision, err = r.sinceRevision(); err == nil {
			found, err = ask(x, revision)
		}
		if !r.needsDatabase(err) {
			return found, err
		}
	}
	return fallBack(query.Database{Ent: r.DB})
}

// findIndexed returns a page of a list of events from the index. It records in r how a cached reply can repeat the
// query.
func (r *Reader) findIndexed(x *index.Index, q *query.Events, offset, limit int) (query.Page, error) {
	if q.Include == nil {
		r.FindAgain = func(ctx context.Context, revision int64, now time.Time) (query.Page, error) {
			again := *q
			again.Revision, again.Now = revision, now
			return x.FindEvents(ctx, &again, offset, limit)
		}
		return x.FindEvents(r.Ctx, q, offset, limit)
	}
	page, err := x.FindEvents(r.Ctx, q, 0, -1)
	if err != nil {
		return query.Page{}, err
	}
	// These ids need the order of the database. There are no more of them than a client can name.
	page.Changed = nil
	page.IDs, err = r.DB.Event.Query().Where(event.IDIn(page.IDs...)).
		Order(event.ByPublishedAt(), event.ByID()).Offset(offset).Limit(limit).IDs(r.Ctx)
	return page, err
}

// needsDatabase reports whether to query the database because the index returned err. That is so if the index is
// not ready, does not support a condition, or follows an unavailable replica.
func (r *Reader) needsDatabase(err error) bool {
	return errors.Is(err, index.ErrNotReady) || errors.Is(err, query.ErrUnsupported) ||
		err != nil && r.Replica != nil && r.DB != r.Replica && r.Ctx.Err() == nil
}
