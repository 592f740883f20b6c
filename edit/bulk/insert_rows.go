package bulk

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/ent/venuetranslation"
	"github.com/almanac-cal/almanac/internal/store"
)

// The following functions return empty store.Rows, for writers that insert many records at once.

// eventTranslationRows returns an empty list of rows for translations of events. The columns are event id,
// language, title, description, excerpt, slug and reason of the event status.
func eventTranslationRows() store.Rows {
	return store.Rows{Table: eventtranslation.Table, Columns: []string{
		eventtranslation.FieldEventID, eventtranslation.FieldLanguage, eventtranslation.FieldTitle,
		eventtranslation.FieldDescription, eventtranslation.FieldExcerpt, eventtranslation.FieldSlug,
		eventtranslation.FieldEventStatusReason,
	}}
}

// nameTranslationRows returns an empty list of rows for translations of venues or organizers. The columns are
// owner, language, name, folded name, description and slug.
func nameTranslationRows(kind calendar.Kind) store.Rows {
	t := ent.TextTables[kind]
	return store.Rows{Table: t.Table, Columns: []string{
		t.Owner, venuetranslation.FieldLanguage, venuetranslation.FieldName, venuetranslation.FieldNameKey,
		venuetranslation.FieldDescription, venuetranslation.FieldSlug,
	}}
}

// linkRows returns an empty list of rows for links from events to records of a kind. The columns are event id and
// id of the linked record. Links to venues and organizers also have a position from 0. Categories and tags share a
// table.
func linkRows(kind calendar.Kind) store.Rows {
	if kind.IsTerm() {
		return store.Rows{Table: eventterm.Table, Columns: []string{eventterm.FieldEventID, eventterm.FieldTermID}}
	}
	t := ent.LinkTables[kind]
	return store.Rows{Table: t.Table, Columns: []string{t.Event, t.Record, t.Position}}
}

// addLinks appends to rows the links of the event with index i. The list comes from linkRows for the same kind.
func addLinks(rows *store.Rows, kind calendar.Kind, i int, ids []int64) {
	for position, id := range ids {
		if kind.IsTerm() {
			rows.Add(i, nil, id)
		} else {
			rows.Add(i, nil, id, int64(position))
		}
	}
}

// searchTextRows returns an empty list of rows for search texts. The columns are kind, owner id, bits of the
// languages and text.
func searchTextRows() store.Rows {
	return store.Rows{Table: searchtext.Table, Owner: 1, Columns: []string{
		searchtext.FieldKind, searchtext.FieldOwnerID, searchtext.FieldLanguages, searchtext.FieldText,
	}}
}

// slugRows returns an empty list of rows for slugs. The columns are kind, slug, owner id, language, and the scope
// in which the slug is unique (SlugScope).
func slugRows() store.Rows {
	return store.Rows{Table: slug.Table, Owner: 2, Columns: []string{
		slug.FieldKind, slug.FieldSlug, slug.FieldOwnerID, slug.FieldLanguage, slug.FieldTrashedID,
	}}
}
