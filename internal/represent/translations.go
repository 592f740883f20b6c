package represent

import (
	"context"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/term"
)

// storedText is a row of any of the tables of translations.
type storedText struct {
	kind                             calendar.Kind // term.Label for terms of both taxonomies
	owner                            int64
	language                         calendar.Language
	name, description, excerpt, slug string
}

// textQueries read the translations of each kind.
var textQueries = []struct {
	kind  calendar.Kind
	query string
}{
	{calendar.Event, "SELECT 'event' AS kind, event_id AS owner, language, title AS name, description, excerpt, slug " +
		"FROM event_translations WHERE event_id IN "},
	{calendar.Venue, "SELECT 'venue' AS kind, venue_id AS owner, language, name, description, '' AS excerpt, slug " +
		"FROM venue_translations WHERE venue_id IN "},
	{calendar.Organizer, "SELECT 'organizer' AS kind, organizer_id AS owner, language, name, description, '' AS excerpt, slug " +
		"FROM organizer_translations WHERE organizer_id IN "},
	{term.Label, "SELECT '" + term.Label + "' AS kind, term_id AS owner, language, name, description, '' AS excerpt, slug " +
		"FROM term_translations WHERE term_id IN "},
}

// wantedTexts are the rows that have texts in languages which this request may answer in.
type wantedTexts struct {
	languages []calendar.Language
	ids       map[calendar.Kind][]any
	give      map[calendar.Kind]map[int64]func(storedText)
}

// want notes a row, if it has a text besides that of its own.
func (w *wantedTexts) want(
	kind calendar.Kind, id int64, original calendar.Language, has calendar.LanguageSet, give func(storedText),
) {
	if !slices.ContainsFunc(w.languages, func(l calendar.Language) bool { return l != original && has.Has(l) }) {
		return
	}
	if w.give[kind] == nil {
		w.give[kind] = make(map[int64]func(storedText))
	}
	w.ids[kind] = append(w.ids[kind], id)
	w.give[kind][id] = give
}

// translate gives rows, each of which is there once, their texts in the languages that this request may answer in: with
// one query for all kinds, and none where there is nothing to translate.
func (r *Reader) translate(
	ctx context.Context, events []*ent.Event, venues []*ent.Venue, organizers []*ent.Organizer, terms []*ent.Term,
) error {
	w := &wantedTexts{
		languages: r.Languages,
		ids:       map[calendar.Kind][]any{}, give: map[calendar.Kind]map[int64]func(storedText){},
	}
	for _, e := range events {
		w.want(calendar.Event, e.ID, e.Language, e.Languages, func(t storedText) {
			e.Edges.Translations = append(e.Edges.Translations, &ent.EventTranslation{
				EventID: t.owner, Language: t.language, Title: t.name, Description: t.description, Excerpt: t.excerpt, Slug: t.slug,
			})
		})
	}
	for _, v := range venues {
		w.want(calendar.Venue, v.ID, v.Language, v.Languages, func(t storedText) {
			v.Edges.Translations = append(v.Edges.Translations, &ent.VenueTranslation{
				VenueID: t.owner, Language: t.language, Name: t.name, Description: t.description, Slug: t.slug,
			})
		})
	}
	for _, o := range organizers {
		w.want(calendar.Organizer, o.ID, o.Language, o.Languages, func(t storedText) {
			o.Edges.Translations = append(o.Edges.Translations, &ent.OrganizerTranslation{
				OrganizerID: t.owner, Language: t.language, Name: t.name, Description: t.description, Slug: t.slug,
			})
		})
	}
	for _, row := range terms {
		w.want(term.Label, row.ID, row.Language, row.Languages, func(t storedText) {
			row.Edges.Translations = append(row.Edges.Translations, &ent.TermTranslation{
				TermID: t.owner, Language: t.language, Name: t.name, Description: t.description, Slug: t.slug,
			})
		})
	}
	return r.giveTexts(ctx, w)
}

// TranslateVenues gives venues their texts in the languages of the reader.
func (r *Reader) TranslateVenues(ctx context.Context, rows ...*ent.Venue) error {
	return r.translate(ctx, nil, rows, nil, nil)
}

// TranslateOrganizers gives organizers their texts in the languages of the reader.
func (r *Reader) TranslateOrganizers(ctx context.Context, rows ...*ent.Organizer) error {
	return r.translate(ctx, nil, nil, rows, nil)
}

// TranslateTerms gives terms their texts in the languages of the reader.
func (r *Reader) TranslateTerms(ctx context.Context, rows ...*ent.Term) error {
	return r.translate(ctx, nil, nil, nil, rows)
}

// giveTexts reads the texts that are wanted and hands them to their rows.
func (r *Reader) giveTexts(ctx context.Context, w *wantedTexts) (err error) {
	var queries []string
	var args []any
	for _, q := range textQueries {
		ids := w.ids[q.kind]
		if len(ids) == 0 {
			continue
		}
		queries = append(queries, q.query+marks(len(ids))+" AND language IN "+marks(len(w.languages)))
		args = append(args, ids...)
		for _, l := range w.languages {
			args = append(args, string(l))
		}
	}
	if queries == nil {
		return nil
	}
	rows, err := r.DB.QueryContext(ctx, strings.Join(queries, " UNION ALL "), args...)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		var t storedText
		if err := rows.Scan(&t.kind, &t.owner, &t.language, &t.name, &t.description, &t.excerpt, &t.slug); err != nil {
			return err
		}
		w.give[t.kind][t.owner](t)
	}
	return rows.Err()
}

// marks are as many placeholders in parentheses.
func marks(n int) string { return "(" + strings.Repeat("?,", n-1) + "?)" }
