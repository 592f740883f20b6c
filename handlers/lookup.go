package handlers

import (
	"context"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// referenceFault converts the result of a check by package edit into that of the check of a parameter.
func referenceFault(fault *param.Fault, err error) *param.Fault {
	if err != nil {
		return &param.Fault{Err: err}
	}
	return fault
}

// loadInline looks up the authors and images of inline records, in a statement each for hundreds.
func (r *request) loadInline(ctx context.Context, refs []reference) error {
	var authors, images []int64
	for _, ref := range refs {
		if id, fault := param.Integer(ref.object["author"]); fault == nil {
			authors = append(authors, id)
		}
		if id, fault := param.Integer(imageRef(ref.object["image"])); fault == nil {
			images = append(images, id)
		}
	}
	return r.editor().LoadReferences(ctx, r.db, authors, images)
}

// areRecords checks that all ids are venues or organizers that the caller may filter by, as package edit decides for links.
// Any other id is answered as one that never existed.
func (r *request) areRecords(kind calendar.Kind, ids *[]int64) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		r.dependsOn(kind, *ids...)
		return referenceFault(r.editor().LinkFault(ctx, r.db, kind, *ids))
	}
}

// areTermIDs checks that all ids are terms of the taxonomy.
func (r *request) areTermIDs(taxonomy calendar.Kind, ids *[]int64) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		r.dependsOnKind(taxonomy)
		return referenceFault(r.editor().TermsFault(ctx, r.db, taxonomy, *ids))
	}
}

// areTerms looks terms up by slug of any language, then by id; each item must be one. For categories the
// descendants are added: an event in one is in them all.
func (r *request) areTerms(taxonomy calendar.Kind, words *[]string, ids *[]int64) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		r.dependsOnKind(taxonomy) // slugs and parents
		keys := make([]string, len(*words))
		numbers := make([]int64, 0, len(*words))
		for i, w := range *words {
			keys[i] = calendar.SlugKey(w)
			if n, fault := param.Integer(w); fault == nil {
				numbers = append(numbers, n)
			}
		}
		slugs, err := r.db.Slug.Query().Where(slug.KindEQ(taxonomy), slug.SlugIn(keys...)).All(ctx)
		if err != nil {
			return &param.Fault{Err: err}
		}
		known, err := r.db.Term.Query().Where(term.IDIn(numbers...), term.TaxonomyEQ(taxonomy)).IDs(ctx)
		if err != nil {
			return &param.Fault{Err: err}
		}
		found := make([]int64, 0, len(*words))
		var unknown []int64
		for i, w := range *words {
			at := slices.IndexFunc(slugs, func(s *ent.Slug) bool { return s.Slug == keys[i] })
			if at >= 0 {
				found = append(found, slugs[at].OwnerID)
				continue
			}
			n, fault := param.Integer(w)
			if fault != nil {
				return param.Bad()
			}
			found = append(found, n)
			if !slices.Contains(known, n) {
				unknown = append(unknown, n)
			}
		}
		if unknown != nil {
			return edit.UnknownIDs(unknown)
		}
		if taxonomy == calendar.Category {
			if found, err = r.descendants(ctx, found); err != nil {
				return &param.Fault{Err: err}
			}
		}
		*ids = found
		return nil
	}
}

// descendants adds to categories all that is below them: a query per level of the tree.
func (r *request) descendants(ctx context.Context, ids []int64) ([]int64, error) {
	all := slices.Clone(ids)
	known := map[int64]bool{}
	for _, id := range ids {
		known[id] = true
	}
	for level := ids; len(level) > 0; {
		below, err := r.db.Term.Query().Where(term.ParentIDIn(level...)).IDs(ctx)
		if err != nil {
			return nil, err
		}
		level = slices.DeleteFunc(below, func(id int64) bool { return known[id] })
		for _, id := range level {
			known[id] = true
		}
		all = append(all, level...)
	}
	return all, nil
}

// isReadableEvent checks that the id is an event that the caller may read, and so not in the trash (auth.Read).
func (r *request) isReadableEvent(id **int64) func(context.Context) *param.Fault {
	return r.isEvent(id, func(*ent.Event) bool { return true })
}

// isOpenEvent checks besides that the caller is shown what the event is linked to.
func (r *request) isOpenEvent(id **int64) func(context.Context) *param.Fault {
	return r.isEvent(id, func(e *ent.Event) bool { return !r.protected(e, "") })
}

func (r *request) isEvent(id **int64, fits func(*ent.Event) bool) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		r.dependsOn(calendar.Event, **id)
		e, err := r.db.Event.Query().Where(event.ID(**id)).
			Select(event.FieldID, event.FieldStatus, event.FieldStatusBeforeTrash, event.FieldPublishedAt, event.FieldAuthorID,
				event.FieldPasswordHash, event.FieldPasswordID).Only(ctx)
		if ent.IsNotFound(err) {
			return edit.UnknownIDs([]int64{**id})
		}
		if err != nil {
			return &param.Fault{Err: err}
		}
		status := e.Status.Shown(r.now, e.PublishedAt)
		if !auth.May(r.caller, auth.Read, auth.RecordOf(calendar.Event, e.AuthorID, status, "")) || !fits(e) {
			return edit.UnknownIDs([]int64{**id})
		}
		return nil
	}
}

// declareStatuses declares the filter by status. Who may not see unpublished records may only ask for
// published ones.
func (r *request) declareStatuses(p *param.Set, dst *[]calendar.Status) {
	var words []string
	p.Words(&words, "status", "Statuses, comma separated").Typed("string").
		Check(func(context.Context) *param.Fault {
			for _, w := range words {
				s := calendar.Status(w)
				if !s.Known() || (s != calendar.Publish && !auth.MaySeeOwnUnpublished(r.caller)) {
					return param.Bad()
				}
				*dst = append(*dst, s)
			}
			return nil
		})
}

// ownerBySlug finds whose a slug is, in any language; 0 when nobody's. Of several in the trash it is the
// oldest.
func (r *request) ownerBySlug(kind calendar.Kind, text string) (int64, error) {
	key := calendar.SlugKey(text)
	if key == "" {
		return 0, nil
	}
	s, err := r.db.Slug.Query().Where(slug.KindEQ(kind), slug.Slug(key)).
		Order(ent.Asc(slug.FieldTrashedID), ent.Asc(slug.FieldID)).First(r.ctx)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return s.OwnerID, nil
}
