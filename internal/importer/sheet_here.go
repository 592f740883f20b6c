package importer

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/termtranslation"
)

// namedHere collects the ids and slugs by which a table names existing records of this calendar, to look them up in
// batches.
type namedHere struct {
	ids   map[calendar.Kind]map[int64]string   // source ids by id
	slugs map[calendar.Kind]map[string][]*Term // terms by what may be their slug
}

// findHere looks up existing records that a table names by id or slug. It stores their ids in r.ids, so that events
// can link to them.
func (r *importRun) findHere(ctx context.Context, all []*Event) error {
	named := newNamedHere(all)
	for kind, keys := range named.ids {
		if err := r.findHereByID(ctx, kind, keys); err != nil {
			return fmt.Errorf("%s of the table: %w", kind.Plural(), err)
		}
	}
	for kind, terms := range named.slugs {
		if err := r.findHereBySlug(ctx, kind, terms); err != nil {
			return fmt.Errorf("%s of the table: %w", kind.Plural(), err)
		}
	}
	return nil
}

// newNamedHere collects the ids and slugs by which the events name existing records.
func newNamedHere(all []*Event) namedHere {
	n := namedHere{ids: make(map[calendar.Kind]map[int64]string), slugs: make(map[calendar.Kind]map[string][]*Term)}
	for _, e := range all {
		for _, v := range e.Venues {
			n.addID(calendar.Venue, &v.Origin)
		}
		for _, o := range e.Organizers {
			n.addID(calendar.Organizer, &o.Origin)
		}
		if e.Image != nil {
			n.addID(calendar.Image, &e.Image.Origin)
		}
		for _, t := range e.Terms {
			n.addSlug(t)
		}
	}
	return n
}

// addID adds the record's id in this calendar, unless the table does not name one.
func (n namedHere) addID(kind calendar.Kind, o *Origin) {
	if o.Here == 0 {
		return
	}
	if n.ids[kind] == nil {
		n.ids[kind] = make(map[int64]string)
	}
	n.ids[kind][o.Here] = o.Key
}

// addSlug adds a term's name if it may be a slug of this calendar.
func (n namedHere) addSlug(t *Term) {
	if !t.BySlug {
		return
	}
	if n.slugs[t.Kind] == nil {
		n.slugs[t.Kind] = make(map[string][]*Term)
	}
	n.slugs[t.Kind][t.Name] = append(n.slugs[t.Kind][t.Name], t)
}

// findHereByID looks up records by id, and stores those that exist in r.ids. keys maps ids to source ids.
func (r *importRun) findHereByID(ctx context.Context, kind calendar.Kind, keys map[int64]string) error {
	for some := range slices.Chunk(slices.Collect(maps.Keys(keys)), idBatch) {
		var found []int64
		err := r.DB.ScanKind(ctx, kind, &found, func(s *sql.Selector) {
			s.Select(s.C(image.FieldID))
			sql.FieldIn(image.FieldID, some...)(s)
			if kind.IsNamed() {
				sql.FieldNEQ(event.FieldStatus, calendar.Trash)(s)
			}
		})
		if err != nil {
			return err
		}
		for _, id := range found {
			r.ids[keys[id]] = id
		}
	}
	return nil
}

// findHereBySlug looks up terms by their slugs in any language, and stores the ids of those that exist in r.ids.
// terms is keyed by slug.
func (r *importRun) findHereBySlug(ctx context.Context, kind calendar.Kind, terms map[string][]*Term) error {
	for some := range slices.Chunk(slices.Collect(maps.Keys(terms)), idBatch) {
		rows, err := r.DB.Term.Query().Where(term.TaxonomyEQ(kind), term.Or(term.SlugIn(some...),
			term.HasTranslationsWith(termtranslation.SlugIn(some...)))).WithTranslations().All(ctx)
		if err != nil {
			return err
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
	return nil
}
