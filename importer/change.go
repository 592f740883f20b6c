package importer

import (
	"context"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/slug"
)

// change collects what differs between a record of the source and the one stored. For a new record, everything
// does.
type change struct {
	fresh bool
	any   bool
}

// action is what the differences found so far call for.
func (c *change) action() Action {
	switch {
	case c.fresh:
		return Create
	case c.any:
		return Update
	}
	return Unchanged
}

// set sends what is wanted if it is not what is stored.
func set[T comparable](c *change, input **T, stored, wanted T) {
	if c.fresh || stored != wanted {
		c.any = true
		*input = new(wanted)
	}
}

// setIf is set for what the source may not have said.
func setIf[T comparable](c *change, input **T, stored T, wanted *T) {
	if wanted != nil {
		set(c, input, stored, *wanted)
	}
}

// setTime is setIf for instants.
func setTime(c *change, input **time.Time, stored time.Time, wanted *time.Time) {
	if wanted != nil && (c.fresh || !stored.Equal(*wanted)) {
		c.any = true
		*input = wanted
	}
}

// setStatus compares statuses as they are now: a scheduled record whose date has come is a published one.
func setStatus(c *change, now time.Time, input **calendar.Status, stored calendar.Status, storedDate time.Time,
	wanted *calendar.Status, date *time.Time,
) {
	if wanted == nil {
		return
	}
	if date == nil {
		date = &storedDate
	}
	if c.fresh || stored.At(now, storedDate) != wanted.At(now, *date) {
		c.any = true
		*input = wanted
	}
}

// setImage links a picture, or none; one that could not be imported is left as it was.
func (r *run) setImage(c *change, input **int64, stored *int64, wanted *Image) {
	var id, old int64
	if stored != nil {
		old = *stored
	}
	if wanted != nil {
		if id = r.ids[wanted.Key]; id == 0 {
			return
		}
	}
	if old != id {
		c.any = true
		*input = new(id)
	}
}

// setSlug sends the slug of the source, unless it is that of another record here.
func (r *run) setSlug(
	ctx context.Context, db *ent.Client, c *change, input **string, kind calendar.Kind, id int64, stored, wanted string,
) error {
	if wanted == "" || !c.fresh && stored == wanted {
		return nil
	}
	if !c.fresh {
		taken, err := db.Slug.Query().
			Where(slug.KindEQ(kind), slug.Slug(wanted), slug.TrashedID(0), slug.OwnerIDNEQ(id)).Exist(ctx)
		if err != nil {
			return err
		}
		if taken {
			return nil
		}
	}
	c.any = true
	*input = new(wanted)
	return nil
}

// linked translates source ids into ours, in their order and each once. Complete reports whether all of them
// are here.
func (r *run) linked(keys []string) (ids []int64, complete bool) {
	ids, complete = []int64{}, true
	for _, key := range keys {
		id, ok := r.ids[key]
		switch {
		case !ok:
			complete = false
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	return ids, complete
}

// keysOf lists source ids.
func keysOf[T entity](items []T) []string {
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = item.source().Key
	}
	return keys
}

// bySource maps rows by their source id.
func bySource[R any](rows []R, id func(R) *string) map[string]R {
	m := make(map[string]R, len(rows))
	for _, row := range rows {
		if key := id(row); key != nil {
			m[*key] = row
		}
	}
	return m
}

const trashed = "in the trash here; left alone"
