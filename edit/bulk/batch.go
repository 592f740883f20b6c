package bulk

import (
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/store"
)

// newBatch returns an empty batch for n records.
func newBatch(kind calendar.Kind, n int) *Batch {
	b := &Batch{kind: kind, records: NewRecords(kind), wanted: make([]wantedSlug, 0, n)}
	if kind == calendar.Event {
		b.passwords, b.parents = map[int]string{}, map[int]func([]int64) int64{}
		b.links = Links{
			Terms: make([][]int64, n), Venues: make([][]int64, n), Organizers: make([][]int64, n), Counted: map[int64]int{},
		}
	}
	return b
}

// Events prepares new events, which Write stores. It does not use the database. It returns param.Invalid for
// impossible dates.
func (l *Loader) Events(in []Event) (*Batch, error) {
	b, e := newBatch(calendar.Event, len(in)), l.editor
	for i := range in {
		m := l.blank.Event.Create().SetOffSchedule(false).Mutation()
		d, err := e.DraftEvent(m, &in[i].EventInput, in[i].Texts)
		if err == nil {
			err = l.add(b, d, m)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(calendar.Event, in[i].SourceID), err)
		}
		if d.Password != "" {
			b.passwords[i] = d.Password
		}
		if in[i].Parent != nil {
			b.parents[i] = in[i].Parent
		}
		b.links.Venues[i], b.links.Organizers[i], b.links.Terms[i] = d.Venues, d.Organizers, d.Terms
		if d.Counted {
			for _, t := range d.Terms {
				b.links.Counted[t]++
			}
		}
	}
	return b, nil
}

// Venues prepares new venues, which Write stores. It does not use the database. It returns param.Invalid for
// impossible values.
func (l *Loader) Venues(in []Venue) (*Batch, error) {
	return prepareNamed(l, calendar.Venue, in, func() *ent.VenueMutation { return l.blank.Venue.Create().Mutation() }, edit.Venues.Draft)
}

// Organizers prepares new organizers, which Write stores. It does not use the database. It returns
// param.Invalid for impossible values.
func (l *Loader) Organizers(in []Organizer) (*Batch, error) {
	return prepareNamed(l, calendar.Organizer, in, func() *ent.OrganizerMutation { return l.blank.Organizer.Create().Mutation() }, edit.Organizers.Draft)
}

func prepareNamed[M store.Mutation, V any](
	l *Loader, kind calendar.Kind, in []Named[V], mutation func() M,
	draft func(*edit.Editor, M, *edit.NamedInput[V], []calendar.Text) (*edit.Draft, error),
) (*Batch, error) {
	b, e := newBatch(kind, len(in)), l.editor
	for i := range in {
		m := mutation()
		d, err := draft(&e, m, &in[i].NamedInput, in[i].Texts)
		if err == nil {
			err = l.add(b, d, m)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nameOf(kind, in[i].SourceID), err)
		}
	}
	return b, nil
}

// nameOf returns the text that identifies a record in error messages. It is the source id, or the kind if source is
// nil.
func nameOf(kind calendar.Kind, source *string) string {
	if source != nil {
		return *source
	}
	return string(kind)
}

// add adds the prepared record d with the columns in m to the batch. If l.Verify is true, it returns an error for
// texts that are not sanitised.
func (l *Loader) add(b *Batch, d *edit.Draft, m store.Mutation) error {
	if l.Verify {
		if err := verifyClean(append(slices.Clone(d.Others), d.Original)); err != nil {
			return err
		}
	}
	row, err := store.RowOf(m, b.records.Columns())
	if err != nil {
		return err
	}
	b.records.Add(row, d.Original.Language, d.Others, d.SearchTexts)
	status, _ := m.Field(event.FieldStatus)
	b.public = b.public || status == calendar.Publish
	b.wanted = append(b.wanted, wantedSlug{none: !d.HasSlug, base: d.SlugBase})
	return nil
}

// verifyClean returns an error if a text would change when it is sanitised. Records for a batch must have
// sanitised texts.
func verifyClean(texts []calendar.Text) error {
	for _, t := range texts {
		for _, c := range []struct {
			name, text string
			clean      func(string) (string, error)
		}{
			// A title is stored unescaped, so it may contain the characters of an entity.
			{"title", t.Title, func(s string) (string, error) { return markup.Text(calendar.Escape(s)) }},
			{"event_status_reason", t.EventStatusReason, func(s string) (string, error) { return markup.Inert(s), nil }},
			{"description", t.Description, markup.HTML},
			{"excerpt", t.Excerpt, markup.HTML},
		} {
			clean, err := c.clean(c.text)
			if err != nil {
				return fmt.Errorf("%s in %s: %w", c.name, t.Language, err)
			}
			if clean != c.text {
				return fmt.Errorf("%s in %s is not clean: %q", c.name, t.Language, c.text)
			}
		}
	}
	return nil
}
