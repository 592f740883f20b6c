package feeds

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/reply"
)

// feedEvent is an event with its entry for a feed. Its parts are the event and linked records, whose changes
// make the entry stale.
type feedEvent struct {
	entry feed.Entry
	parts []ent.Core
	// parent is the id of an event that the entry refers to if that event is public. 0 means none.
	parent int64
}

// calendarParts returns the iCalendar entries of a page of events. They come from the record cache, or are made
// from the events' rows. It leaves out events that are not public any more.
func (r *request) calendarParts(about *feed.Feed, page query.Page) ([]feed.Part, error) {
	list := r.entryRenderer(func(one *feedEvent) any { return &calendarEntry{about, &one.entry, one.parent} })
	list.Since, list.Until = r.ruleYearStart(), r.ruleYearEnd()
	bodies, err := reply.Render(r.Ctx, r.Rendering(), page, list)
	if err != nil {
		return nil, err
	}
	parts, parents := make([]feed.Part, len(bodies)), make([]int64, len(bodies))
	for i, body := range bodies {
		if parts[i], parents[i], err = decodePart(body); err != nil {
			return nil, err
		}
	}
	return parts, r.relateParents(parts, parents)
}

// entryRenderer returns the renderer of events for feeds, which uses the record cache. The function value
// returns the value that the codec encodes for an event. Feeds are public, so all requests share the cached
// entries, including those of protected events.
func (r *request) entryRenderer(value func(one *feedEvent) any) reply.Renderer[*ent.Event] {
	entries := make(map[int64]*feedEvent)
	return reply.Renderer[*ent.Event]{
		Kind: calendar.Event, Media: r.Codec.MediaType, Encode: r.Codec.EncodeRecord,
		Read: func(ids []int64) ([]*ent.Event, error) {
			clear(entries)
			return r.feedEvents(ids, entries)
		},
		Value: func(e *ent.Event) (any, reply.Audience) {
			one := entries[e.ID]
			if at := r.changeToCome(e, one.parts); !at.IsZero() {
				r.ExpireBy(at)
				return value(one), reply.OnlyReader
			}
			return value(one), reply.SameScope
		},
		Parts: func(e *ent.Event) []ent.Core { return entries[e.ID].parts },
	}
}

// changeToCome returns the time of the first change that an entry already shows but whose date is still in the
// future. Such a change was written during the request, or by a process whose clock is ahead. The entry is valid
// until that time. The zero time means that there is no such change.
func (r *request) changeToCome(e *ent.Event, parts []ent.Core) (first time.Time) {
	note := func(at time.Time) {
		if at.After(r.Now) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	for _, c := range parts {
		note(c.ModifiedAt)
		if c.Status == calendar.Publish {
			note(c.PublishedAt)
		}
	}
	for _, t := range e.Edges.Terms {
		note(t.ModifiedAt)
	}
	return first
}

// relateParents adds relations to public parent events to the entries of a page. The parent of parts[i] has the
// id parents[i]. 0 means none.
func (r *request) relateParents(parts []feed.Part, parents []int64) error {
	ids := slices.Compact(slices.Sorted(slices.Values(parents)))
	if len(ids) > 0 && ids[0] == 0 {
		ids = ids[1:]
	}
	if len(ids) == 0 {
		return nil
	}
	db := r.DB
	find := func(ctx context.Context, now time.Time) (public []int64, err error) {
		rows, err := db.Event.Query().Where(event.IDIn(ids...)).
			Select(event.FieldID, event.FieldStatus, event.FieldPublishedAt).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("parents of events: %w", err)
		}
		for _, e := range rows {
			if e.Status.Shown(now, e.PublishedAt) == calendar.Publish {
				public = append(public, e.ID)
			}
		}
		slices.Sort(public)
		return public, nil
	}
	public, err := find(r.Ctx, r.Now)
	if err != nil {
		return err
	}
	r.CheckAgain(func(ctx context.Context, now time.Time) (bool, error) {
		again, err := find(ctx, now)
		return err == nil && slices.Equal(again, public), err
	})
	uids, err := r.feedIDs(public)
	if err != nil {
		return err
	}
	for i, id := range parents {
		if _, ok := slices.BinarySearch(public, id); ok {
			parts[i].Relate(uids[id].uid)
		}
	}
	return nil
}

// ruleYearEnd returns when feeds will use other rules of time zones: the end of the year.
func (r *request) ruleYearEnd() time.Time {
	return r.Zone().Instant(calendar.WallAt(r.year()+1, 1, 1, 0, 0, 0))
}

// feedEvents loads the public events among ids with everything that feeds show. It also adds them to entries, by
// id.
func (r *request) feedEvents(ids []int64, entries map[int64]*feedEvent) ([]*ent.Event, error) {
	var out []*ent.Event
	for some := range slices.Chunk(ids, ent.MaxRead) {
		rows, err := r.DB.ReadEvents(r.Ctx, some)
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(rows, func(e *ent.Event) bool {
			return e.Status.Shown(r.Now, e.PublishedAt) != calendar.Publish
		})
		page, err := r.DB.ReadEventLinks(r.Ctx, rows)
		if err != nil {
			return nil, err
		}
		page.Events = rows
		if err := r.Translate(page); err != nil {
			return nil, err
		}
		if err := r.addEntries(rows, entries); err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

func (r *request) addEntries(rows []*ent.Event, entries map[int64]*feedEvent) error {
	recurring, err := r.seriesOfEvents(rows)
	if err != nil {
		return err
	}
	ids := make([]int64, len(rows))
	for i, e := range rows {
		ids[i] = e.ID
	}
	identities, err := r.feedIDs(ids)
	if err != nil {
		return err
	}
	v := r.View()
	characters := 0
	if r.Codec.MediaType == calendarCodec.MediaType {
		characters = feed.MaxText
	}
	for _, e := range rows {
		entry, err := v.Entry(e, r.IsProtected(e), characters)
		if err != nil {
			return fmt.Errorf("event %d: %w", e.ID, err)
		}
		is := identities[e.ID]
		entry.UID, entry.NewsID, entry.Sequence = is.uid, r.newsID(e.ID, is), int(edit.Sequence(e, r.Now))
		one := &feedEvent{entry: entry, parts: r.PartsOfEvent(e)}
		if e.SeriesID != nil {
			if of, ok := recurring[*e.SeriesID]; ok {
				one.parts = append(one.parts, of)
				if of.Status.Shown(r.Now, of.PublishedAt) == calendar.Publish {
					one.entry.Related = feed.SeriesUID(r.FeedKey, of.ID)
				}
			}
		}
		if one.entry.Related == "" && e.ParentID != nil && !entry.Protected {
			one.parent = *e.ParentID
		}
		entries[e.ID] = one
	}
	return nil
}

// seriesOfEvents returns the series of the given events, by the id of the series. Only their id, kind, status
// and publication date are set.
func (r *request) seriesOfEvents(rows []*ent.Event) (map[int64]ent.Core, error) {
	var ids []int64
	for _, e := range rows {
		if e.SeriesID != nil {
			ids = append(ids, *e.SeriesID)
		}
	}
	if ids == nil {
		return nil, nil
	}
	found, err := r.DB.Series.Query().Where(series.IDIn(ids...)).
		Select(series.FieldID, series.FieldStatus, series.FieldPublishedAt).All(r.Ctx)
	if err != nil {
		return nil, fmt.Errorf("series of events: %w", err)
	}
	out := make(map[int64]ent.Core, len(found))
	for _, s := range found {
		out[s.ID] = ent.Core{ID: s.ID, Kind: calendar.Series, Status: s.Status, PublishedAt: s.PublishedAt}
	}
	return out, nil
}

func latestPart(parts []feed.Part) (last time.Time) {
	for i := range parts {
		if parts[i].Stamp.After(last) {
			last = parts[i].Stamp
		}
	}
	return last
}
