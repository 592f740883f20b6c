package importer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/slug"
)

// sourceTexts are the texts of a source record in the requested language. Nil means that the source did not send the
// text.
type sourceTexts struct {
	title, slug                  string
	description, excerpt, reason *string
}

// storedTexts are the texts of a stored record in all languages. The zero value means that there is no stored
// record.
type storedTexts struct {
	kind     calendar.Kind
	id       int64
	original calendar.Text
	others   []calendar.Text
}

// inLanguage returns the stored text in a language. Fields without a text in it are empty; there is no fallback to
// another language.
func (s storedTexts) inLanguage(l calendar.Language) calendar.Text {
	if l == s.original.Language {
		return s.original
	}
	for _, t := range s.others {
		if t.Language == l {
			return t
		}
	}
	return calendar.Text{Language: l}
}

// fallbackFor returns the text that readers of language l get if the record has none in it. site is the site's
// language.
func (s storedTexts) fallbackFor(l, site calendar.Language) calendar.Text {
	rest := slices.DeleteFunc(slices.Clone(s.others), func(t calendar.Text) bool { return t.Language == l })
	return calendar.Served(l, site, s.original, rest)
}

// languageOfSlug returns the language in which the stored record has the slug text. "" means none.
func (s storedTexts) languageOfSlug(text string) calendar.Language {
	for _, t := range append([]calendar.Text{s.original}, s.others...) {
		if t.Slug == text {
			return t.Language
		}
	}
	return ""
}

// isTranslated reports whether the record has texts in more than one language.
func (s storedTexts) isTranslated() bool { return len(s.others) > 0 }

// translationWrite is the text of a record to write in one language. Nil means no change.
type translationWrite struct {
	language                                  calendar.Language
	title, description, excerpt, slug, reason *string
}

func (w translationWrite) empty() bool {
	return w.title == nil && w.description == nil && w.excerpt == nil && w.slug == nil && w.reason == nil
}

// textWrites has all planned writes of a record's texts.
type textWrites struct {
	all []translationWrite
	// freedSlug is a slug that the language freedFrom must lose before another language can take it. "" means none.
	freedSlug string
	freedFrom calendar.Language
}

// translates reports whether some of the writes are in another language than the original.
func (w textWrites) translates(original calendar.Language) bool {
	return slices.ContainsFunc(w.all, func(one translationWrite) bool { return one.language != original })
}

// languagesOf returns the language of a record's title, and of its other texts (rest). Both are the requested
// language unless the source names others. rest is "" if the other texts may be in several languages, none of them
// the requested one.
func (r *importRun) languagesOf(o *Origin) (title, rest calendar.Language) {
	title = r.language
	if o.Language != "" {
		title = o.Language
	}
	langs := o.Languages.List()
	switch {
	case len(langs) == 0:
		return title, title
	case o.Languages.Has(r.language):
		return title, r.language
	case len(langs) == 1:
		return title, langs[0]
	}
	return title, ""
}

// planTexts compares the source's texts with the texts that readers of the stored record see in the same language. It
// plans writes so that readers see the source's texts. If they see an equal text already, even from another language,
// it plans none.
func (r *importRun) planTexts(ctx context.Context, db *ent.Client, s storedTexts, o *Origin, in sourceTexts) (textWrites, error) {
	title, rest := r.languagesOf(o)
	if s.id == 0 {
		return newTextWrites(title, rest, in), nil
	}
	var out textWrites
	if o.Languages != "" && !o.Languages.Has(r.language) && s.inLanguage(r.language) != (calendar.Text{Language: r.language}) &&
		r.language != s.original.Language {
		// The source no longer has this translation.
		none := new("")
		out.all = append(out.all, translationWrite{language: r.language, title: none, description: none, excerpt: none, reason: none})
	}
	if rest == "" {
		return out, nil
	}
	w, genuine := r.compare(s, o, title, rest, in)
	slug := in.slug
	if !genuine {
		slug = "" // a language without its own text has no slug either
	}
	if err := r.phraseSlug(ctx, db, s, &w, &out, slug); err != nil {
		return out, err
	}
	if !w.empty() {
		out.all = append(out.all, w)
	}
	return out, nil
}

// newTextWrites returns the planned texts of a new record. The first write has the title. If the other texts are in
// another language, a second write has these.
func newTextWrites(title, rest calendar.Language, in sourceTexts) textWrites {
	w := translationWrite{language: title, title: &in.title, description: in.description, excerpt: in.excerpt, reason: in.reason}
	if in.slug != "" {
		w.slug = &in.slug
	}
	if rest == title || rest == "" {
		return textWrites{all: []translationWrite{w}}
	}
	other := translationWrite{language: rest}
	filled := func(text *string) bool { return text != nil && *text != "" }
	if filled(in.description) {
		w.description, other.description = nil, in.description
	}
	if filled(in.excerpt) {
		w.excerpt, other.excerpt = nil, in.excerpt
	}
	if filled(in.reason) {
		w.reason, other.reason = nil, in.reason
	}
	if other.empty() {
		return textWrites{all: []translationWrite{w}}
	}
	return textWrites{all: []translationWrite{w, other}}
}

// compare plans the write of the texts in language l. The parameter title is the language of the title of the
// source. The result genuine reports whether the record then has its own text in language l.
//
// A text that readers get anyway is not written, with two exceptions. One is a title whose language the source
// names. The other is a translation in the language of the site, which is written completely. It must not
// change with the original, because readers of other languages get it instead of a missing text.
//
// With the same exceptions, a differing translated text is emptied if readers then get the text of the source.
// A translated title is also emptied if the source no longer has it.
func (r *importRun) compare(s storedTexts, o *Origin, title, l calendar.Language, in sourceTexts) (w translationWrite, genuine bool) {
	site := r.Site.Language
	own, read, under := s.inLanguage(l), calendar.Served(l, site, s.original, s.others), s.fallbackFor(l, site)
	original := l == s.original.Language
	named := title == l
	var wanted *string // title
	switch {
	case named:
		wanted = &in.title
	case !original && own.Title != "":
		wanted = new("") // the source no longer has this title
	}
	fields := []struct {
		to               **string
		own, read, under string
		wanted           *string
		stated           bool // the source says that it is in the language
	}{
		{&w.title, own.Title, read.Title, under.Title, wanted, named && o.Language != ""},
		{&w.description, own.Description, read.Description, under.Description, in.description, false},
		{&w.excerpt, own.Excerpt, read.Excerpt, under.Excerpt, in.excerpt, false},
		{&w.reason, own.EventStatusReason, read.EventStatusReason, under.EventStatusReason, in.reason, false},
	}
	w.language = l
	genuine = original
	for _, f := range fields {
		genuine = genuine || f.own != "" || f.stated || f.wanted != nil && *f.wanted != "" && *f.wanted != f.read
	}
	for _, f := range fields {
		if f.wanted == nil || f.own == *f.wanted {
			continue
		}
		whole := !original && genuine && l == site
		switch {
		case f.stated || whole:
			*f.to = f.wanted
		case f.read == *f.wanted:
		case !original && f.under == *f.wanted:
			*f.to = new("")
		default:
			*f.to = f.wanted
		}
	}
	return w, genuine || o.Languages.Has(l)
}

// phraseSlug plans to store the source's slug, unless another record or language has it. A translation may have
// taken it if the site's language is imported last; phraseSlug then moves it. A record with the transliterated slug
// keeps that, and both URLs lead to its page.
func (r *importRun) phraseSlug(
	ctx context.Context, db *ent.Client, s storedTexts, w *translationWrite, out *textWrites, wanted string,
) error {
	if wanted == "" || isTransliteration(s.inLanguage(w.language).Slug, wanted) {
		return nil
	}
	site := r.Site.Language
	holder := s.languageOfSlug(wanted)
	if holder != "" {
		lent := holder != w.language && holder != s.original.Language && w.language == site
		if !lent || calendar.Served(w.language, site, s.original, s.others).Slug == wanted {
			return nil
		}
		out.freedSlug, out.freedFrom = wanted, holder
		w.slug = &wanted
		return nil
	}
	taken, err := db.Slug.Query().
		Where(slug.KindEQ(s.kind), slug.Slug(wanted), slug.TrashedID(0), slug.OwnerIDNEQ(s.id)).Exist(ctx)
	if err != nil || taken {
		return err
	}
	w.slug = &wanted
	return nil
}

// freeSlug removes the slug freedSlug from the language freedFrom, so that another language can take it.
func (w textWrites) freeSlug(ctx context.Context, tx *ent.Tx, s storedTexts) error {
	if w.freedSlug == "" {
		return nil
	}
	_, err := tx.Slug.Delete().Where(slug.OwnerID(s.id), slug.KindEQ(s.kind), slug.Slug(w.freedSlug)).Exec(ctx)
	if err == nil {
		err = clearSlug(ctx, tx, s, w.freedFrom)
	}
	if err != nil {
		return fmt.Errorf("slug %s of %s %d: %w", w.freedSlug, s.kind, s.id, err)
	}
	return nil
}

// clearSlug removes the slug of the translation of a record into a language.
func clearSlug(ctx context.Context, tx *ent.Tx, s storedTexts, l calendar.Language) error {
	texts, err := tx.Client().LoadTexts(ctx, s.kind, s.id)
	for _, t := range texts {
		if t.Language == l {
			t.Slug = ""
			_, err = tx.Client().SaveText(ctx, s.kind, s.id, t)
		}
	}
	return err
}

// writeLanguages calls write for each language with planned texts, at least once. The first call also writes the other
// fields.
func (r *importRun) writeLanguages(
	ctx context.Context, tx *ent.Tx, s storedTexts, w textWrites, write func(one translationWrite, first bool) error,
) error {
	if err := w.freeSlug(ctx, tx, s); err != nil {
		return err
	}
	all := w.all
	if len(all) == 0 {
		all = []translationWrite{{language: s.original.Language}}
	}
	for i, one := range all {
		if err := r.writeIn(one.language, func() error { return write(one, i == 0) }); err != nil {
			return err
		}
	}
	return nil
}

// writeLanguages returns a function that stores a record in all languages with planned texts. It calls save, which
// creates the record if its argument at is nil, and otherwise updates that row.
func writeLanguages[R ent.Row](
	r *importRun, s storedTexts, w textWrites, row R, save func(ctx context.Context, tx *ent.Tx, at R, one translationWrite, first bool) (R, error),
) func(context.Context, *ent.Tx) (int64, error) {
	return func(ctx context.Context, tx *ent.Tx) (int64, error) {
		at := row
		err := r.writeLanguages(ctx, tx, s, w, func(one translationWrite, first bool) (err error) {
			at, err = save(ctx, tx, at, one, first)
			return err
		})
		if err != nil {
			return 0, err
		}
		return at.Core().ID, nil
	}
}

// storedTextsOf returns the texts of a row in all languages. The caller has loaded its translations.
func storedTextsOf(row ent.Row) storedTexts {
	c := row.Core()
	return storedTexts{kind: c.Kind, id: c.ID, original: row.Text(), others: row.Translated()}
}

// languages returns the language of a record's title, and all languages in which the record has texts. "" means
// unknown. all is also "" if Almanac does not know one of its languages.
func (o object) languages() (title calendar.Language, all calendar.LanguageSet) {
	var text string
	if json.Unmarshal(o.members["language"], &text) == nil {
		if l := calendar.Language(strings.ToLower(text)); l.Known() {
			title = l
		}
	}
	var codes []string
	if json.Unmarshal(o.members["translations"], &codes) != nil {
		return title, ""
	}
	for _, code := range codes {
		l := calendar.Language(strings.ToLower(code))
		if !l.Known() {
			return title, ""
		}
		all = all.With(l)
	}
	return title, all
}
