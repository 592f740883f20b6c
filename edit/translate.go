package edit

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
)

// recordText has the texts of a record in one language. Title is the name of a venue, an organizer or a term. Only
// events have an excerpt and a reason of the event status.
type recordText struct{ title, description, excerpt, slug, reason string }

// empty reports whether all texts are "", apart from the slug.
func (t recordText) empty() bool {
	return t.title == "" && t.description == "" && t.excerpt == "" && t.reason == ""
}

// inLanguage returns the text as a calendar.Text in language l, without the slug.
func (t recordText) inLanguage(l calendar.Language) calendar.Text {
	return calendar.Text{
		Language: l, Title: t.title, Description: t.description, Excerpt: t.excerpt, EventStatusReason: t.reason,
	}
}

// sentText has the texts that a request sends for a record. Nil means not sent.
type sentText struct{ title, description, excerpt, slug, reason *string }

// textOwner is the part of a record or term that has its texts and slugs in all languages.
type textOwner struct {
	kind       calendar.Kind
	id         int64
	language   calendar.Language    // original language
	languages  calendar.LanguageSet // all languages with text, including the original
	trashed    bool
	recordText               // texts in the original language
	others     []translation // translations, set by load
	loaded     bool
}

// translation has the texts of a record in a language other than the original. The id is 0 if the translation is
// not stored yet.
type translation struct {
	id       int64
	language calendar.Language
	recordText
}

// storedText returns the translation in the form in which package ent stores it.
func (t *translation) storedText() ent.StoredText {
	text := t.inLanguage(t.language)
	text.Slug = t.slug
	return ent.StoredText{ID: t.id, Text: text}
}

// save inserts or updates the row of the translation. The parameters kind and owner identify its record.
func (t *translation) save(ctx context.Context, tx *ent.Tx, kind calendar.Kind, owner int64) error {
	return expectOneRow(tx.Client().SaveText(ctx, kind, owner, t.storedText()))
}

// translated reports whether the record has any text in a language other than the original.
func (w *textOwner) translated() bool { return w.languages != calendar.LanguagesOf(w.language) }

// load loads the translations of the record, if it has any and they are not loaded yet.
func (w *textOwner) load(ctx context.Context, tx *ent.Tx) error {
	if w.loaded || !w.translated() {
		return nil
	}
	texts, err := tx.Client().LoadTexts(ctx, w.kind, w.id)
	if err != nil {
		return fmt.Errorf("translations of %s %d: %w", w.kind, w.id, err)
	}
	w.others, w.loaded = make([]translation, len(texts)), true
	for i, t := range texts {
		w.others[i] = translation{t.ID, t.Language, recordText{t.Title, t.Description, t.Excerpt, t.Slug, t.EventStatusReason}}
	}
	return nil
}

// LoadTexts returns the translations of an event, without their slugs.
func LoadTexts(ctx context.Context, tx *ent.Tx, row *ent.Event) ([]calendar.Text, error) {
	r := eventRecord(row)
	if err := r.load(ctx, tx); err != nil {
		return nil, err
	}
	return r.otherTexts(), nil
}

// addTexts adds translations to a new record. It skips texts that are empty or in the original language.
func (w *textOwner) addTexts(texts []calendar.Text) {
	for _, t := range texts {
		o := translation{language: t.Language, recordText: recordText{
			title: t.Title, description: t.Description, excerpt: t.Excerpt, reason: t.EventStatusReason,
		}}
		if t.Language != w.language && !o.empty() {
			w.others = append(w.others, o)
			w.languages = w.languages.With(t.Language)
		}
	}
}

// otherTexts returns the loaded translations as calendar.Text, without their slugs.
func (w *textOwner) otherTexts() []calendar.Text {
	out := make([]calendar.Text, len(w.others))
	for i, o := range w.others {
		out[i] = o.inLanguage(o.language)
	}
	return out
}

// translationInto returns the loaded translation in language l, nil if there is none.
func (w *textOwner) translationInto(l calendar.Language) *translation {
	for i := range w.others {
		if w.others[i].language == l {
			return &w.others[i]
		}
	}
	return nil
}

// slugIn returns the slug of the record in language l as an OwnedSlug, which can take or change it. The text is
// the stored slug, or "" if there is none.
func (w *textOwner) slugIn(l calendar.Language, text string) OwnedSlug {
	return OwnedSlug{Kind: w.kind, Owner: w.id, Language: l, Slug: text, Trashed: w.trashed}
}

// moveSlugs adds the suffix of the trash to the slugs in all languages if toTrash is true. Otherwise it removes
// the suffix.
func (w *textOwner) moveSlugs(ctx context.Context, tx *ent.Tx, toTrash bool) error {
	if err := w.load(ctx, tx); err != nil {
		return err
	}
	moved, err := w.slugIn(w.language, w.slug).Move(ctx, tx, toTrash)
	if err != nil {
		return err
	}
	w.slug, w.trashed = moved, toTrash
	for i := range w.others {
		o := &w.others[i]
		if o.slug == "" {
			continue
		}
		if o.slug, err = w.slugIn(o.language, o.slug).Move(ctx, tx, toTrash); err != nil {
			return err
		}
		if err := o.save(ctx, tx, w.kind, w.id); err != nil {
			return err
		}
	}
	return nil
}

// rewrite applies the sent texts to a record. If the request has a write language, they go to that language.
// Otherwise each field is written where a reader without a language finds it. That is the text in the language of
// the site if there is one, else the original. It notes changes in d. It stores translations, and the caller
// stores the original texts.
func (e *Editor) rewrite(ctx context.Context, tx *ent.Tx, w *textOwner, s sentText, d *diff) error {
	if s == (sentText{}) {
		return nil
	}
	if err := w.load(ctx, tx); err != nil {
		return err
	}
	other, was, cleared, err := e.rewriteTexts(w, s, d)
	if err != nil {
		return err
	}
	if err := e.reslug(ctx, tx, w, other, s.slug, d); err != nil {
		return err
	}
	if other == nil {
		return nil
	}
	return w.saveOrDelete(ctx, tx, other, was, cleared)
}

// rewriteTexts sets the sent texts in w, and stores nothing. It ignores the slug. The translations must be
// loaded. It returns the changed translation, or nil for the original, and its old text. The result cleared
// reports whether a text became empty.
func (e *Editor) rewriteTexts(w *textOwner, s sentText, d *diff) (other *translation, was recordText, cleared bool, err error) {
	language := e.Write
	if language == "" {
		language = e.Site.Language
	}
	if language != w.language {
		other = w.translationInto(language)
		if other == nil && e.Write != "" {
			w.others = append(w.others, translation{language: language})
			other = &w.others[len(w.others)-1]
		}
	}
	if other != nil {
		was = other.recordText
	}
	set := func(name string, sent *string, field func(*recordText) *string) {
		if sent == nil {
			return
		}
		at, in := field(&w.recordText), calendar.Language("")
		if other != nil && (e.Write != "" || *field(&other.recordText) != "") {
			at, in = field(&other.recordText), other.language
			cleared = cleared || *sent == ""
		}
		if *at != *sent {
			*at = *sent
			d.noteIn(in, name)
		}
	}
	set(kindTitle(w.kind), s.title, func(t *recordText) *string { return &t.title })
	if w.title == "" && s.title != nil {
		return nil, was, false, InvalidInput(faultOf(kindTitle(w.kind), param.Bad()))
	}
	set("description", s.description, func(t *recordText) *string { return &t.description })
	set("excerpt", s.excerpt, func(t *recordText) *string { return &t.excerpt })
	set("event_status_reason", s.reason, func(t *recordText) *string { return &t.reason })
	return other, was, cleared, nil
}

// saveOrDelete stores a changed translation. If its last text was cleared, it deletes the translation and the slug
// instead.
func (w *textOwner) saveOrDelete(ctx context.Context, tx *ent.Tx, other *translation, was recordText, cleared bool) error {
	if other.empty() && (cleared || other.slug == "") {
		w.languages = w.languages.Without(other.language)
		if other.id == 0 {
			return nil
		}
		if err := w.slugIn(other.language, other.slug).Drop(ctx, tx); err != nil {
			return fmt.Errorf("slug %s: %w", other.slug, err)
		}
		if err := tx.Client().DeleteText(ctx, w.kind, other.id); err != nil {
			return fmt.Errorf("translation of %s %d: %w", w.kind, w.id, err)
		}
		return nil
	}
	w.languages = w.languages.With(other.language)
	if other.id != 0 && other.recordText == was {
		return nil
	}
	// If two transactions add the first translation in one language, the unique index refuses one of them.
	return other.save(ctx, tx, w.kind, w.id)
}

// reslug takes the sent slug for the text that the request changes. If the record has this slug in any language,
// nothing changes, because clients often send representations back.
func (e *Editor) reslug(
	ctx context.Context, tx *ent.Tx, w *textOwner, other *translation, sent *string, d *diff,
) error {
	if sent == nil || *sent == "" {
		return nil
	}
	at, language, in := &w.slug, w.language, calendar.Language("")
	if other != nil && (e.Write != "" || other.slug != "") {
		at, language, in = &other.slug, other.language, other.language
	}
	slugs := []string{w.slug}
	for _, o := range w.others {
		slugs = append(slugs, o.slug)
	}
	taken, err := w.slugIn(language, *at).TakeSent(ctx, tx, *sent, slugs)
	if err != nil {
		return err
	}
	if *at != taken {
		*at = taken
		d.noteIn(in, "slug")
	}
	return nil
}

// hasSlug reports whether sent is the slug of the owner in any language. All translations must be loaded.
func (w *textOwner) hasSlug(sent string) bool {
	return calendar.IsSlugOf(w.slug, sent) ||
		slices.ContainsFunc(w.others, func(o translation) bool { return o.slug != "" && calendar.IsSlugOf(o.slug, sent) })
}
