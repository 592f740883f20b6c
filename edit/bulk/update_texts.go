package bulk

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	entslug "github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/internal/store"
)

// storeSlugs adds the suffix of the trash to the slugs of trashed events, and removes it from restored ones. It also
// gives a slug to each event whose new status requires one.
func (u *EventUpdate) storeSlugs(ctx context.Context) error {
	byID := make(map[int64]*EventChange, len(u.changes))
	var moved []int64
	for _, c := range u.changes {
		byID[c.Row.ID] = c
		if c.Action != calendar.Updated {
			moved = append(moved, c.Row.ID)
		}
	}
	var trashed, restored []*ent.Slug
	var texts, bases []string
	for part := range slices.Chunk(moved, edit.BatchSize) {
		found, err := u.tx.Slug.Query().Where(entslug.KindEQ(calendar.Event), entslug.OwnerIDIn(part...)).
			Order(entslug.ByID()).All(ctx)
		if err != nil {
			return fmt.Errorf("slugs of occurrences: %w", err)
		}
		for _, s := range found {
			if byID[s.OwnerID].Action == calendar.Trashed {
				trashed, texts = append(trashed, s), append(texts, calendar.TrashedSlug(s.Slug))
			} else {
				restored, bases = append(restored, s), append(bases, calendar.UntrashedSlug(s.Slug))
			}
		}
	}
	var without []*EventChange // events that get their first slug
	for _, c := range u.changes {
		if c.Row.Slug == "" && c.NeedsSlug() {
			without, bases = append(without, c), append(bases, c.WantedSlug)
		}
	}
	free, _, err := edit.ChooseSlugs(ctx, u.tx, calendar.Event, bases, func(string) (int, bool) { return 0, false })
	if err != nil {
		return err
	}
	n := len(restored)
	if err := u.rewriteSlugs(ctx, byID, append(trashed, restored...), append(texts, free[:n]...)); err != nil {
		return err
	}
	return u.insertSlugs(ctx, without, free[n:])
}

// insertSlugs stores slugs for events that have none yet.
func (u *EventUpdate) insertSlugs(ctx context.Context, changes []*EventChange, slugs []string) error {
	rows := slugRows()
	for i, c := range changes {
		c.slug = slugs[i]
		trashed := c.State.Status == calendar.Trash
		if trashed {
			c.slug = calendar.TrashedSlug(c.slug)
		}
		rows.Add(i, string(calendar.Event), c.slug, nil, string(c.Row.Language), edit.SlugScope(c.Row.ID, trashed))
	}
	if err := rows.Insert(ctx, u.tx, eventIDs(changes)); err != nil {
		return fmt.Errorf("slugs of occurrences: %w", store.AsConflict(err))
	}
	return nil
}

// rewriteSlugs replaces each of the stored slugs by the text with the same index.
func (u *EventUpdate) rewriteSlugs(ctx context.Context, changes map[int64]*EventChange, slugs []*ent.Slug, texts []string) error {
	translated := make(map[calendar.Language][]int64)
	bySlug, byOwner := make(map[int64]int), make(map[string]int)
	key := func(l calendar.Language, id int64) string { return fmt.Sprint(l, id) }
	var ids []int64
	for i, s := range slugs {
		ids = append(ids, s.ID)
		bySlug[s.ID], byOwner[key(s.Language, s.OwnerID)] = i, i
		if c := changes[s.OwnerID]; s.Language == c.Row.Language {
			c.slug = texts[i]
		} else {
			translated[s.Language] = append(translated[s.Language], s.OwnerID)
		}
	}
	for part := range slices.Chunk(ids, caseBatch) {
		err := u.tx.Slug.Update().Where(entslug.IDIn(part...)).Modify(func(b *sql.UpdateBuilder) {
			b.Set(entslug.FieldSlug, store.CaseByID(entslug.FieldID, part, func(id int64) string { return texts[bySlug[id]] }))
			b.Set(entslug.FieldTrashedID, store.CaseByID(entslug.FieldID, part, func(id int64) int64 {
				s := slugs[bySlug[id]]
				return edit.SlugScope(s.OwnerID, changes[s.OwnerID].Action == calendar.Trashed)
			}))
		}).Exec(ctx)
		if err != nil {
			return fmt.Errorf("slugs of occurrences: %w", store.AsConflict(err))
		}
	}
	for _, l := range calendar.Languages {
		for part := range slices.Chunk(translated[l], caseBatch) {
			err := u.tx.EventTranslation.Update().
				Where(eventtranslation.EventIDIn(part...), eventtranslation.LanguageEQ(l)).
				Modify(func(b *sql.UpdateBuilder) {
					b.Set(eventtranslation.FieldSlug, store.CaseByID(eventtranslation.FieldEventID, part, func(id int64) string {
						return texts[byOwner[key(l, id)]]
					}))
				}).Exec(ctx)
			if err != nil {
				return fmt.Errorf("slugs of translations: %w", err)
			}
		}
	}
	return nil
}

// storeTranslations stores the changed texts in languages other than the original.
func (u *EventUpdate) storeTranslations(ctx context.Context) error {
	for _, l := range calendar.Languages {
		var added, removed, changed []*EventChange
		for _, c := range u.changes {
			switch {
			case len(c.changedIn(l)) == 0:
			case !c.Before.Languages.Has(l):
				added = append(added, c)
			case !edit.HasText(edit.TextIn(&c.After, l).Text()):
				removed = append(removed, c)
			default:
				changed = append(changed, c)
			}
		}
		if err := u.removeTranslations(ctx, l, removed); err != nil {
			return fmt.Errorf("translations of occurrences: %w", err)
		}
		if err := u.insertTranslations(ctx, l, added); err != nil {
			return fmt.Errorf("translations of occurrences: %w", err)
		}
		if err := u.updateTranslations(ctx, l, changed); err != nil {
			return fmt.Errorf("translations of occurrences: %w", err)
		}
	}
	return nil
}

// changedIn returns the names of the fields that change in language l, which is not the original language.
func (c *EventChange) changedIn(l calendar.Language) []string {
	suffix := ":" + string(l)
	return slices.DeleteFunc(slices.Clone(c.Changed), func(name string) bool { return !strings.HasSuffix(name, suffix) })
}

// removeTranslations deletes the translations of events into a language, with their slugs.
func (u *EventUpdate) removeTranslations(ctx context.Context, l calendar.Language, changes []*EventChange) error {
	for part := range slices.Chunk(eventIDs(changes), edit.BatchSize) {
		_, err := u.tx.Slug.Delete().Where(
			entslug.KindEQ(calendar.Event), entslug.OwnerIDIn(part...), entslug.LanguageEQ(l)).Exec(ctx)
		if err != nil {
			return err
		}
		_, err = u.tx.EventTranslation.Delete().
			Where(eventtranslation.EventIDIn(part...), eventtranslation.LanguageEQ(l)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// insertTranslations stores texts of events that have no translation into the language l yet.
func (u *EventUpdate) insertTranslations(ctx context.Context, l calendar.Language, changes []*EventChange) error {
	rows := eventTranslationRows()
	for i, c := range changes {
		t := edit.TextIn(&c.After, l)
		rows.Add(i, nil, string(l), t.Title, t.Description, t.Excerpt, "", t.EventStatusReason)
	}
	return store.AsConflict(rows.Insert(ctx, u.tx, eventIDs(changes)))
}

// updateTranslations stores the changed texts of events in a language. Events with equal texts share a statement.
func (u *EventUpdate) updateTranslations(ctx context.Context, l calendar.Language, changes []*EventChange) error {
	groups := groupChanges(changes, func(c *EventChange) string { return fmt.Sprint(c.Source, c.changedIn(l)) })
	for _, group := range groups {
		t := edit.TextIn(&group[0].After, l)
		for part := range slices.Chunk(group, edit.BatchSize) {
			update := u.tx.EventTranslation.Update().
				Where(eventtranslation.LanguageEQ(l), eventtranslation.EventIDIn(eventIDs(part)...))
			for _, name := range group[0].changedIn(l) {
				f, _ := edit.TemplateFieldOf(name)
				if err := update.Mutation().SetField(f.Name, *f.Text(t)); err != nil {
					return err
				}
			}
			if err := update.Exec(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
