package read

import (
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/organizer"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/represent"
)

// SeriesRows loads series with their phases, in the order of the ids. It leaves out series that do not exist.
func (r *Reader) SeriesRows(ids []int64) ([]*ent.Series, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := r.DB.Series.Query().Where(entseries.IDIn(ids...)).
		WithPhases(func(q *ent.SeriesPhaseQuery) { q.Order(seriesphase.ByPosition()) }).All(r.Ctx)
	if err != nil {
		return nil, err
	}
	// A series that is deleted while it is read has lost its phases.
	rows = slices.DeleteFunc(rows, func(s *ent.Series) bool { return len(s.Edges.Phases) == 0 })
	slices.SortFunc(rows, func(a, b *ent.Series) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return rows, nil
}

// SeriesEvent returns the template of a series as an event: the values that its last phase gives to occurrences
// (entseries.EventOf).
func SeriesEvent(s *ent.Series) (*ent.Event, error) {
	last := s.Edges.Phases[len(s.Edges.Phases)-1]
	schedule, err := edit.ScheduleOf(last)
	if err != nil {
		return nil, err
	}
	template, err := ent.DecodeTemplate(last.Template)
	if err != nil {
		return nil, fmt.Errorf("template of series %d: %w", s.ID, err)
	}
	return series.EventOf(s, schedule, template), nil
}

// RepresentSeries returns the representations of series with their phases. The number of SQL statements is the
// same for any number of series.
func (r *Reader) RepresentSeries(rows []*ent.Series) ([]*represent.Series, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	events := make([]*ent.Event, len(rows))
	loaded := make([]*represent.LoadedSeries, len(rows))
	ids := make([]int64, len(rows))
	for i, s := range rows {
		e, err := SeriesEvent(s)
		if err != nil {
			return nil, err
		}
		ids[i], events[i] = s.ID, e
		loaded[i] = &represent.LoadedSeries{Event: e, GeneratedUntil: s.GeneratedUntil, Redacted: r.IsProtected(e)}
		for _, phase := range s.Edges.Phases {
			schedule, err := edit.ScheduleOf(phase)
			if err != nil {
				return nil, err
			}
			loaded[i].Schedules = append(loaded[i].Schedules, schedule)
		}
	}
	if err := r.ReadTemplateLinks(events); err != nil {
		return nil, err
	}
	occurrences, err := r.countOccurrences(ids)
	if err != nil {
		return nil, err
	}
	v := r.View()
	out := make([]*represent.Series, len(rows))
	for i, s := range loaded {
		o := occurrences[ids[i]]
		s.Published = o.Published
		if o.Next != nil {
			s.Next = o.Next.ID
			r.ExpireBy(o.Next.StartsAt)
		}
		out[i] = v.Series(s)
	}
	return out, nil
}

// countOccurrences returns, by series id, the number of occurrences and the next one. It asks the index, or the
// database if the index cannot answer.
func (r *Reader) countOccurrences(ids []int64) (map[int64]query.Occurrences, error) {
	seen := VisibleTo(r.Caller, nil)
	return ByIndex(r, func(x *index.Index, revision int64) (map[int64]query.Occurrences, error) {
		return x.CountOccurrences(r.Ctx, ids, seen, r.Now, revision)
	}, func(db query.Database) (map[int64]query.Occurrences, error) {
		return db.CountOccurrences(r.Ctx, ids, seen, r.Now)
	})
}

// ReadTemplateLinks loads the images, venues, organizers and terms of the events that SeriesEvent returned. It
// replaces the ids in the edges of these events by the loaded records.
func (r *Reader) ReadTemplateLinks(events []*ent.Event) error {
	var images, venues, organizers, terms []int64
	for _, t := range events {
		if t.ImageID != nil {
			images = append(images, *t.ImageID)
		}
		venues, organizers = append(venues, t.VenueIDs()...), append(organizers, t.OrganizerIDs()...)
		terms = append(terms, termIDs(t)...)
	}
	imageByID, err := readUnique(images, func(row *ent.Image) int64 { return row.ID }, func(ids []int64) ([]*ent.Image, error) {
		return r.DB.Image.Query().Where(image.IDIn(ids...)).All(r.Ctx)
	})
	if err != nil {
		return err
	}
	venueByID, err := readUnique(venues, func(row *ent.Venue) int64 { return row.ID }, func(ids []int64) ([]*ent.Venue, error) {
		return r.DB.Venue.Query().Where(venue.IDIn(ids...)).WithImage().All(r.Ctx)
	})
	if err != nil {
		return err
	}
	idOfOrganizer := func(row *ent.Organizer) int64 { return row.ID }
	organizerByID, err := readUnique(organizers, idOfOrganizer, func(ids []int64) ([]*ent.Organizer, error) {
		return r.DB.Organizer.Query().Where(organizer.IDIn(ids...)).WithImage().All(r.Ctx)
	})
	if err != nil {
		return err
	}
	termByID, err := readUnique(terms, func(row *ent.Term) int64 { return row.ID }, func(ids []int64) ([]*ent.Term, error) {
		return r.DB.Term.Query().Where(term.IDIn(ids...)).All(r.Ctx)
	})
	if err != nil {
		return err
	}
	var page ent.Page
	for _, t := range events {
		if t.ImageID != nil {
			t.Edges.Image = imageByID[*t.ImageID]
		}
		t.Edges.Venues, t.Edges.Organizers = recordsByIDs(venueByID, t.VenueIDs()), recordsByIDs(organizerByID, t.OrganizerIDs())
		t.Edges.Terms = recordsByIDs(termByID, termIDs(t))
	}
	for _, row := range venueByID {
		page.Venues = append(page.Venues, row)
	}
	for _, row := range organizerByID {
		page.Organizers = append(page.Organizers, row)
	}
	for _, row := range termByID {
		page.Terms = append(page.Terms, row)
	}
	return r.Translate(page)
}

// termIDs returns the ids of the terms of an event, categories first.
func termIDs(e *ent.Event) []int64 {
	return append(e.TermIDs(calendar.Category), e.TermIDs(calendar.Tag)...)
}

// maxLinksRead is the largest number of records that one SQL statement reads.
const maxLinksRead = 500

// readUnique loads records by id with find, and returns them by id. It asks for each id once, even if ids contains
// it several times. The function idOf returns the id of a record.
func readUnique[R any](ids []int64, idOf func(R) int64, find func(ids []int64) ([]R, error)) (map[int64]R, error) {
	slices.Sort(ids)
	out := make(map[int64]R, len(ids))
	for part := range slices.Chunk(slices.Compact(ids), maxLinksRead) {
		rows, err := find(part)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			out[idOf(row)] = row
		}
	}
	return out, nil
}

// recordsByIDs returns the records with the given ids, in the order of ids. It leaves out ids without a record.
func recordsByIDs[R any](byID map[int64]R, ids []int64) []R {
	out := make([]R, 0, len(ids))
	for _, id := range ids {
		if row, ok := byID[id]; ok {
			out = append(out, row)
		}
	}
	return out
}
