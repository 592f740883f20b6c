package read

import (
	"context"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
)

// ReferenceFault converts the two results of a check in package edit into the single result of a parameter check.
func ReferenceFault(fault *param.Fault, err error) *param.Fault {
	if err != nil {
		return &param.Fault{Err: err}
	}
	return fault
}

// areRecords returns a check that all ids are venues or organizers that the caller may filter by. The rule is the
// same as for links to them in a write. Any other id gives the same fault as an id that never existed.
func (r *Reader) areRecords(kind calendar.Kind, ids *[]int64) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		r.DependsOn(kind, *ids...)
		return ReferenceFault(r.Editor().LinkFault(ctx, r.DB, kind, *ids))
	}
}

// areTermIDs returns a check that all ids are terms of the taxonomy.
func (r *Reader) areTermIDs(taxonomy calendar.Kind, ids *[]int64) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		r.DependsOnKind(taxonomy)
		return ReferenceFault(r.Editor().TermsFault(ctx, r.DB, taxonomy, *ids))
	}
}

// areTerms returns a check that each word names a term of the taxonomy, by a slug in any language or by an id. It
// stores the ids of these terms in ids. For categories it adds the ids of all descendants, because their events
// belong to the category, too.
func (r *Reader) areTerms(taxonomy calendar.Kind, words *[]string, ids *[]int64) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		r.DependsOnKind(taxonomy) // slugs and parents of terms may change
		keys := make([][]string, len(*words))
		numbers := make([]int64, 0, len(*words))
		for i, w := range *words {
			keys[i] = calendar.SlugKeys(w)
			if n, fault := param.Integer(w); fault == nil {
				numbers = append(numbers, n)
			}
		}
		slugs, err := r.DB.Slug.Query().Where(slug.KindEQ(taxonomy), slug.SlugIn(slices.Concat(keys...)...)).All(ctx)
		if err != nil {
			return &param.Fault{Err: err}
		}
		known, err := r.DB.Term.Query().Where(term.IDIn(numbers...), term.TaxonomyEQ(taxonomy)).IDs(ctx)
		if err != nil {
			return &param.Fault{Err: err}
		}
		found := make([]int64, 0, len(*words))
		var unknown []int64
		for i, w := range *words {
			if s := slugOfKeys(slugs, keys[i]); s != nil {
				found = append(found, s.OwnerID)
				continue
			}
			n, fault := param.Integer(w)
			if fault != nil {
				return UnknownSlug(w)
			}
			found = append(found, n)
			if !slices.Contains(known, n) {
				unknown = append(unknown, n)
			}
		}
		if unknown != nil {
			return edit.UnknownIDs(taxonomy, unknown)
		}
		if taxonomy.IsHierarchical() {
			if found, err = r.descendants(ctx, found); err != nil {
				return &param.Fault{Err: err}
			}
		}
		*ids = found
		return nil
	}
}

// slugOfKeys returns the first of slugs that matches a key. Earlier keys have precedence. Nil means that no slug
// matches.
func slugOfKeys(slugs []*ent.Slug, keys []string) *ent.Slug {
	for _, key := range keys {
		if at := slices.IndexFunc(slugs, func(s *ent.Slug) bool { return s.Slug == key }); at >= 0 {
			return slugs[at]
		}
	}
	return nil
}

// isTermSlug returns a check that the text is not blank. The check also replaces the text by the slug of the term
// that it means. If no term has the slug, the text becomes its normalised form.
func (r *Reader) isTermSlug(taxonomy calendar.Kind, text **string) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		if fault := notBlank(text)(ctx); fault != nil {
			return fault
		}
		keys := calendar.SlugKeys(**text)
		*text = new("")
		if len(keys) > 0 {
			*text = &keys[0]
		}
		if len(keys) < 2 {
			return nil
		}
		slugs, err := r.DB.Slug.Query().Where(slug.KindEQ(taxonomy), slug.SlugIn(keys...)).All(ctx)
		if err != nil {
			return &param.Fault{Err: err}
		}
		if s := slugOfKeys(slugs, keys); s != nil {
			*text = &s.Slug
		}
		return nil
	}
}

// UnknownSlug returns the fault of a slug that no record has. The fault has no reason code.
func UnknownSlug(slug string) *param.Fault {
	return &param.Fault{Key: "no-slug", Args: map[string]any{"Slug": Shorten(slug)}}
}

// UnknownID returns the fault of an id in the path that no record of the kind has. The fault has no reason code.
func UnknownID(kind calendar.Kind, id int64) *param.Fault {
	f := edit.UnknownIDs(kind, []int64{id})
	return &param.Fault{Key: f.Key, Args: f.Args}
}

// UnknownStatus returns the fault of a word that is not a status. The fault has no reason code.
func UnknownStatus() *param.Fault { return WordFault(calendar.Statuses) }

// WordFault returns the fault of a word that is not one of words. The fault has no reason code.
func WordFault[W ~string](words []W) *param.Fault {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return &param.Fault{Key: "not-a-word", Args: map[string]any{"Values": strings.Join(all, ", ")}}
}

// Shorten returns the beginning of a text, for an error message that repeats what the client sent. It adds an
// ellipsis if it cuts the text.
func Shorten(text string) string {
	const most = 60
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}

// descendants returns category ids with the ids of all categories below them. It runs one query for each level of
// the tree.
func (r *Reader) descendants(ctx context.Context, ids []int64) ([]int64, error) {
	all := slices.Clone(ids)
	known := map[int64]bool{}
	for _, id := range ids {
		known[id] = true
	}
	for level := ids; len(level) > 0; {
		below, err := r.DB.Term.Query().Where(term.ParentIDIn(level...)).IDs(ctx)
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

// isReadableEvent returns a check that the id is an event that the caller may read. Such an event is not in the
// trash (auth.Read).
func (r *Reader) isReadableEvent(id **int64) func(context.Context) *param.Fault {
	return r.isEvent(id, func(*ent.Event) bool { return true })
}

// IsOpenEvent returns a check that the caller may read the event in full: it exists, is readable, and no password
// protects it.
func (r *Reader) IsOpenEvent(id **int64) func(context.Context) *param.Fault {
	return r.isEvent(id, func(e *ent.Event) bool { return !r.IsProtected(e) })
}

func (r *Reader) isEvent(id **int64, fits func(*ent.Event) bool) func(context.Context) *param.Fault {
	return func(ctx context.Context) *param.Fault {
		r.DependsOn(calendar.Event, **id)
		e, err := r.DB.Event.Query().Where(event.ID(**id)).
			Select(event.FieldID, event.FieldStatus, event.FieldStatusBeforeTrash, event.FieldPublishedAt, event.FieldAuthorID,
				event.FieldPasswordHash, event.FieldPasswordID).Only(ctx)
		if ent.IsNotFound(err) {
			return edit.UnknownIDs(calendar.Event, []int64{**id})
		}
		if err != nil {
			return &param.Fault{Err: err}
		}
		status := e.Status.Shown(r.Now, e.PublishedAt)
		if !auth.May(r.Caller, auth.Read, auth.RecordOf(calendar.Event, e.AuthorID, status, "")) || !fits(e) {
			return edit.UnknownIDs(calendar.Event, []int64{**id})
		}
		return nil
	}
}

// DeclareStatuses declares the filter by status. Callers who may not see unpublished records may only request
// published ones.
func (r *Reader) DeclareStatuses(p *param.Set, dst *[]calendar.Status) {
	var words []string
	p.Words(&words, "status", "Statuses, comma separated").Typed("string").
		Check(func(context.Context) *param.Fault {
			for _, w := range words {
				s := calendar.Status(w)
				if !s.Known() {
					return UnknownStatus()
				}
				if s != calendar.Publish && !auth.MaySeeOwnUnpublished(r.Caller) {
					return &param.Fault{Key: "status-hidden"}
				}
				*dst = append(*dst, s)
			}
			return nil
		})
}

// OwnerBySlug returns the id of the record of a kind that has a slug in any language, or 0 if there is none. If
// several records in the trash have the slug, it returns the oldest.
func (r *Reader) OwnerBySlug(kind calendar.Kind, text string) (int64, error) {
	for _, key := range calendar.SlugKeys(text) {
		if id, err := r.ownerByKey(kind, key); id != 0 || err != nil {
			return id, err
		}
	}
	return 0, nil
}

// WithdrawnBySlug returns the withdrawn event that had a slug, or nil if there is none.
func (r *Reader) WithdrawnBySlug(text string) (*query.Withdrawal, error) {
	for _, key := range calendar.SlugKeys(text) {
		if w, err := (query.Database{Ent: r.DB}).WithdrawnBySlug(r.Ctx, key, r.Now); w != nil || err != nil {
			return w, err
		}
	}
	return nil, nil
}

// ownerByKey returns the id of the record of a kind by its slug, or 0 if there is none. The parameter key is the
// slug in its stored form.
func (r *Reader) ownerByKey(kind calendar.Kind, key string) (int64, error) {
	s, err := r.DB.Slug.Query().Where(slug.KindEQ(kind), slug.Slug(key)).
		Order(ent.Asc(slug.FieldTrashedID), ent.Asc(slug.FieldID)).First(r.Ctx)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return s.OwnerID, nil
}
