package series

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// slugIn returns the slug of the series in language l as an OwnedSlug, which can take or change it. The slug is
// "" if there is none.
func (w *seriesWrite) slugIn(l calendar.Language, slug string, trashed bool) edit.OwnedSlug {
	return edit.OwnedSlug{Kind: calendar.Series, Owner: w.series.ID, Language: l, Slug: slug, Trashed: trashed}
}

// slugs returns the slugs of the series in all languages in which it has a text, the original language first.
func (w *seriesWrite) slugs() []edit.OwnedSlug {
	trashed := w.wasTrashed()
	out := []edit.OwnedSlug{w.slugIn(w.series.Language, edit.ValueOr(w.series.Slug, w.slug), trashed)}
	for _, other := range w.phases[len(w.phases)-1].template.Translated() {
		slug := other.Slug
		if trashed {
			slug = calendar.TrashedSlug(slug)
		}
		out = append(out, w.slugIn(other.Language, slug, trashed))
	}
	return out
}

// setSlugs sets the slugs of the series in the shared fields of all its phases. The slug of the original language is
// first. The stored slugs there lack the suffix of the trash.
func (w *seriesWrite) setSlugs(slugs []edit.OwnedSlug) {
	w.phases = slices.Clone(w.phases)
	for i := range w.phases {
		t := &w.phases[i].template
		edit.SetTemplateSlug(t, t.Language, calendar.UntrashedSlug(slugs[0].Slug))
		for _, s := range slugs[1:] {
			edit.SetTemplateSlug(t, s.Language, calendar.UntrashedSlug(s.Slug))
		}
	}
	w.slug = &slugs[0].Slug
}

// takeSlug takes a slug that the client sent for the series, in the language of the write. The templates in w.phases
// get it. If the series has this slug in any language, nothing changes.
func (w *seriesWrite) takeSlug(ctx context.Context, sent string) error {
	slugs := w.slugs()
	i := 0
	if w.Write != "" {
		if i = slices.IndexFunc(slugs, func(s edit.OwnedSlug) bool { return s.Language == w.Write }); i < 0 {
			i = len(slugs)
			slugs = append(slugs, w.slugIn(w.Write, "", w.wasTrashed()))
		}
	}
	own := make([]string, len(slugs))
	for k, s := range slugs {
		own[k] = s.Slug
	}
	var err error
	if slugs[i].Slug, err = slugs[i].TakeSent(ctx, w.tx, sent, own); err != nil {
		return err
	}
	w.setSlugs(slugs)
	return nil
}

// storeSeriesSlugs adds the trash suffix to the slugs of a trashed series. It removes the suffix from those of a
// restored one. It takes a slug if the new status requires one. It frees the slugs of translations that the write
// removes.
func (w *seriesWrite) storeSeriesSlugs(ctx context.Context) error {
	if err := w.dropSlugs(ctx); err != nil {
		return err
	}
	slugs := w.slugs()
	trashed := w.state.Status == calendar.Trash
	changed := false
	if trashed != w.wasTrashed() {
		for i, s := range slugs {
			moved, err := s.Move(ctx, w.tx, trashed)
			if err != nil {
				return err
			}
			slugs[i].Slug, slugs[i].Trashed = moved, trashed
		}
		changed = true
	}
	if slugs[0].Slug == "" && (w.state.Status.HasSlug() || w.state.BeforeTrash.HasSlug()) {
		title := w.phases[len(w.phases)-1].template.Title
		taken, err := slugs[0].Take(ctx, w.tx, calendar.Slug(title))
		if err != nil {
			return err
		}
		slugs[0].Slug, changed = taken, true
	}
	if changed {
		w.setSlugs(slugs)
	}
	return nil
}

// dropSlugs frees the slug of each language in which the series no longer has any text.
func (w *seriesWrite) dropSlugs(ctx context.Context) error {
	was, is := &w.storedPhases[len(w.storedPhases)-1].template, &w.phases[len(w.phases)-1].template
	for _, old := range was.Translated() {
		if old.Slug == "" || is.Languages.Has(old.Language) {
			continue
		}
		slug := old.Slug
		if w.wasTrashed() {
			slug = calendar.TrashedSlug(slug)
		}
		if err := w.slugIn(old.Language, slug, w.wasTrashed()).Drop(ctx, w.tx); err != nil {
			return fmt.Errorf("slug %s: %w", slug, err)
		}
		w.phases = slices.Clone(w.phases)
		for i := range w.phases {
			edit.SetTemplateSlug(&w.phases[i].template, old.Language, "")
		}
	}
	return nil
}

// newSlug returns an OwnedSlug without a slug, with which a new series takes one in language l. The event row
// becomes the first occurrence.
func newSlug(series int64, row *ent.Event, l calendar.Language) edit.OwnedSlug {
	return edit.OwnedSlug{Kind: calendar.Series, Owner: series, Language: l, Trashed: row.Status == calendar.Trash}
}

// takeTranslatedSlug takes a sent slug for the translation of a stored event that becomes a series. Then it returns
// nil. If the request writes the original language, it returns the sent slug and takes none.
func takeTranslatedSlug(
	ctx context.Context, tx *ent.Tx, e *edit.Editor, series int64, t *ent.Event, sent *string,
) (original *string, err error) {
	if e.Write == "" || e.Write == t.Language || edit.ValueOr("", sent) == "" {
		return sent, nil
	}
	taken, err := newSlug(series, t, e.Write).Take(ctx, tx, calendar.KeptSlug(*sent))
	if err != nil {
		return nil, err
	}
	edit.SetTemplateSlug(t, e.Write, taken)
	return nil, nil
}
