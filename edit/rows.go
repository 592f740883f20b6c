package edit

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/internal/store"
)

// The following functions return empty lists of new rows, for writers of many records at once.

// EventRows lists events, with all columns of event.Columns.
func EventRows() store.Rows {
	return store.Rows{
		Table: event.Table, Columns: event.Columns, Owner: slices.Index(event.Columns, event.FieldID),
	}
}

// EventTranslationRows lists translations: event, language, title, description, excerpt, slug, reason of the status.
func EventTranslationRows() store.Rows {
	return store.Rows{Table: eventtranslation.Table, Columns: []string{
		eventtranslation.FieldEventID, eventtranslation.FieldLanguage, eventtranslation.FieldTitle,
		eventtranslation.FieldDescription, eventtranslation.FieldExcerpt, eventtranslation.FieldSlug,
		eventtranslation.FieldEventStatusReason,
	}}
}

// EventLinkRows lists links of events to venues or organizers: event, linked record, position from 0.
func EventLinkRows(kind calendar.Kind) store.Rows {
	if kind == calendar.Venue {
		return store.Rows{Table: eventvenue.Table, Columns: []string{
			eventvenue.FieldEventID, eventvenue.FieldVenueID, eventvenue.FieldPosition,
		}}
	}
	return store.Rows{Table: eventorganizer.Table, Columns: []string{
		eventorganizer.FieldEventID, eventorganizer.FieldOrganizerID, eventorganizer.FieldPosition,
	}}
}

// EventTermRows lists links of events to categories and tags: event, term.
func EventTermRows() store.Rows {
	return store.Rows{Table: eventterm.Table, Columns: []string{eventterm.FieldEventID, eventterm.FieldTermID}}
}

// SearchTextRows lists search texts: kind, owner, bits of the languages, text.
func SearchTextRows() store.Rows {
	return store.Rows{Table: searchtext.Table, Owner: 1, Columns: []string{
		searchtext.FieldKind, searchtext.FieldOwnerID, searchtext.FieldLanguages, searchtext.FieldText,
	}}
}

// SlugRows lists slugs: kind, slug, owner, language, and the scope in which the slug is unique.
func SlugRows() store.Rows {
	return store.Rows{Table: slug.Table, Owner: 2, Columns: []string{
		slug.FieldKind, slug.FieldSlug, slug.FieldOwnerID, slug.FieldLanguage, slug.FieldTrashedID,
	}}
}
