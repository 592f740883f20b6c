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

// The following functions return empty store.Rows, for writers that insert many records at once.

// EventRows returns rows of events, with all columns of event.Columns.
func EventRows() store.Rows {
	return store.Rows{
		Table: event.Table, Columns: event.Columns, Owner: slices.Index(event.Columns, event.FieldID),
	}
}

// EventTranslationRows returns rows of translations: event id, language, title, description, excerpt, slug,
// reason of the event status.
func EventTranslationRows() store.Rows {
	return store.Rows{Table: eventtranslation.Table, Columns: []string{
		eventtranslation.FieldEventID, eventtranslation.FieldLanguage, eventtranslation.FieldTitle,
		eventtranslation.FieldDescription, eventtranslation.FieldExcerpt, eventtranslation.FieldSlug,
		eventtranslation.FieldEventStatusReason,
	}}
}

// EventLinkRows returns rows of links from events to venues or organizers: event id, id of the linked record,
// position from 0.
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

// EventTermRows returns rows of links from events to categories and tags: event id, term id.
func EventTermRows() store.Rows {
	return store.Rows{Table: eventterm.Table, Columns: []string{eventterm.FieldEventID, eventterm.FieldTermID}}
}

// SearchTextRows returns rows of search texts: kind, owner id, bits of the languages, text.
func SearchTextRows() store.Rows {
	return store.Rows{Table: searchtext.Table, Owner: 1, Columns: []string{
		searchtext.FieldKind, searchtext.FieldOwnerID, searchtext.FieldLanguages, searchtext.FieldText,
	}}
}

// SlugRows returns rows of slugs: kind, slug, owner id, language, and the scope in which the slug is unique
// (SlugScope).
func SlugRows() store.Rows {
	return store.Rows{Table: slug.Table, Owner: 2, Columns: []string{
		slug.FieldKind, slug.FieldSlug, slug.FieldOwnerID, slug.FieldLanguage, slug.FieldTrashedID,
	}}
}
