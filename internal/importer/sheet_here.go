package importer

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/termtranslation"
)

// findHere notes the ids of records that a table names by id or slug.
func (r *importRun) findHere(ctx context.Context, all []*Event) error {
	wanted := make(map[calendar.Kind]map[int64]string)
	note := func(kind calendar.Kind, o *Origin) {
		if o.Here != 0 {
			if wanted[kind] == nil {
				wanted[kind] = make(map[int64]string)
			}
			wanted[kind][o.Here] = o.Key
		}
	}
	slugs := make(map[calendar.Kind]map[string][]*Term)
	for _, e := range all {
		for _, v := range e.Venues {
			note(calendar.Venue, &v.Origin)
		}
		for _, o := range e.Organizers {
			note(calendar.Organizer, &o.Origin)
		}
		if e.Image != nil {
			note(calendar.Image, &e.Image.Origin)
		}
		for _, t := range e.Terms {
			if t.BySlug {
				if slugs[t.Kind] == nil {
					slugs[t.Kind] = make(map[string][]*Term)
				}
				slugs[t.Kind][t.Name] = append(slugs[t.Kind][t.Name], t)
			}
		}
	}
	for kind, keys := range wanted {
		ids := make([]int64, 0, len(keys))
		for id := range keys {
			ids = append(ids, id)
		}
		for some := range slices.Chunk(ids, idBatch) {
			var found []int64
			err := r.DB.ScanKind(ctx, kind, &found, func(s *sql.Selector) {
				s.Select(s.C(image.FieldID))
				sql.FieldIn(image.FieldID, some...)(s)
				if kind.IsNamed() {
					sql.FieldNEQ(event.FieldStatus, calendar.Trash)(s)
				}
			})
			if err != nil {
				return fmt.Errorf("%s of the table: %w", kind.Plural(), err)
			}
			for _, id := range found {
				r.ids[keys[id]] = id
			}
		}
	}
	for kind, terms := range slugs {
		names := make([]string, 0, len(terms))
		for name := range terms {
			names = append(names, name)
		}
		for some := range slices.Chunk(names, idBatch) {
			rows, err := r.DB.Term.Query().Where(term.TaxonomyEQ(kind), term.Or(term.SlugIn(some...),
				term.HasTranslationsWith(termtranslation.SlugIn(some...)))).WithTranslations().All(ctx)
			if err != nil {
				return fmt.Errorf("%s of the table: %w", kind.Plural(), err)
			}
			for _, row := range rows {
				known := []string{row.Slug}
				for _, t := range row.Edges.Translations {
					known = append(known, t.Slug)
				}
				for _, slug := range known {
					for _, t := range terms[slug] {
						t.Here, r.ids[t.Key] = row.ID, row.ID
					}
				}
			}
		}
	}
	return nil
}
