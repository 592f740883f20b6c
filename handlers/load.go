package handlers

import (
	"fmt"
	"slices"
	"strconv"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/organizertranslation"
	"github.com/almanac-cal/almanac/ent/termtranslation"
	"github.com/almanac-cal/almanac/ent/venuetranslation"
)

// complete loads what the representations of the events need besides their rows, terms and images: one query
// per kind, whatever the number of events.
func (r *request) complete(events []*ent.Event) error {
	byID := make(map[int64]*ent.Event, len(events))
	ids := make([]any, len(events))
	for i, e := range events {
		byID[e.ID], ids[i] = e, e.ID
	}
	if len(events) == 0 {
		return nil
	}
	venues := r.db.Venue.Query().WithImage()
	venues.Modify(linkedTo(eventvenue.Table, eventvenue.FieldVenueID, ids))
	places, err := venues.All(r.ctx)
	if err != nil {
		return err
	}
	for _, row := range places {
		id, err := linkOwner(row)
		if err != nil {
			return err
		}
		byID[id].Edges.Venues = append(byID[id].Edges.Venues, row)
	}
	organizers := r.db.Organizer.Query().WithImage()
	organizers.Modify(linkedTo(eventorganizer.Table, eventorganizer.FieldOrganizerID, ids))
	holders, err := organizers.All(r.ctx)
	if err != nil {
		return err
	}
	for _, row := range holders {
		id, err := linkOwner(row)
		if err != nil {
			return err
		}
		byID[id].Edges.Organizers = append(byID[id].Edges.Organizers, row)
	}
	return r.translateEvents(events)
}

// linkColumn is the name under which linkedTo selects the event of a link.
const linkColumn = "linked_event_id"

// linkedTo joins a link table, so that each row comes once per event it is linked to, in the order of the
// links. Ent's own loading of many-to-many edges reads each record once and so loses the order per event.
func linkedTo(links, column string, events []any) func(*sql.Selector) {
	return func(s *sql.Selector) {
		t := sql.Table(links)
		s.Join(t).On(s.C("id"), t.C(column))
		s.Where(sql.In(t.C("event_id"), events...))
		s.AppendSelect(sql.As(t.C("event_id"), linkColumn))
		s.OrderBy(t.C("event_id"), t.C("position"))
	}
}

// linkOwner is the event that a row of linkedTo belongs to.
func linkOwner(row interface {
	Value(name string) (ent.Value, error)
},
) (int64, error) {
	v, err := row.Value(linkColumn)
	if err != nil {
		return 0, err
	}
	switch v := v.(type) {
	case int64:
		return v, nil
	case []byte:
		return strconv.ParseInt(string(v), 10, 64)
	}
	return 0, fmt.Errorf("%s is a %T", linkColumn, v)
}

// translated is a row that may have texts in further languages.
type translated struct {
	id        int64
	original  calendar.Language
	languages calendar.LanguageSet
}

// translate gives rows of one kind their texts in the languages that this request may answer in, with one query
// at most; rows with nothing to translate cost none. about says what is known of a row, load finds the texts of
// some records, owner is the record of a text, and give hands a row its text.
func translate[R comparable, T any](r *request, rows []R, about func(R) translated,
	load func(ids []int64, langs []calendar.Language) ([]T, error), owner func(T) int64, give func(R, T),
) error {
	langs := []calendar.Language{r.lang}
	if r.h.Site.Language != r.lang {
		langs = append(langs, r.h.Site.Language)
	}
	byID := make(map[int64][]R)
	var ids []int64
	for _, row := range rows {
		is := about(row)
		wanted := slices.ContainsFunc(langs, func(l calendar.Language) bool {
			return l != is.original && is.languages.Has(l)
		})
		// Events share the rows of their terms, and a venue has a row for each of its events.
		if !wanted || slices.Contains(byID[is.id], row) {
			continue
		}
		if byID[is.id] == nil {
			ids = append(ids, is.id)
		}
		byID[is.id] = append(byID[is.id], row)
	}
	if ids == nil {
		return nil
	}
	texts, err := load(ids, langs)
	if err != nil {
		return err
	}
	for _, t := range texts {
		for _, row := range byID[owner(t)] {
			give(row, t)
		}
	}
	return nil
}

// translateEvents translates events and all that is linked to them: at most one query per kind.
func (r *request) translateEvents(events []*ent.Event) error {
	var venues []*ent.Venue
	var organizers []*ent.Organizer
	var terms []*ent.Term
	for _, e := range events {
		venues = append(venues, e.Edges.Venues...)
		organizers = append(organizers, e.Edges.Organizers...)
		terms = append(terms, e.Edges.Terms...)
	}
	err := translate(r, events,
		func(e *ent.Event) translated { return translated{e.ID, e.Language, e.Languages} },
		func(ids []int64, langs []calendar.Language) ([]*ent.EventTranslation, error) {
			return r.db.EventTranslation.Query().
				Where(eventtranslation.EventIDIn(ids...), eventtranslation.LanguageIn(langs...)).All(r.ctx)
		},
		func(t *ent.EventTranslation) int64 { return t.EventID },
		func(e *ent.Event, t *ent.EventTranslation) { e.Edges.Translations = append(e.Edges.Translations, t) })
	if err != nil {
		return err
	}
	if err := r.translateVenues(venues); err != nil {
		return err
	}
	if err := r.translateOrganizers(organizers); err != nil {
		return err
	}
	return r.translateTerms(terms)
}

func (r *request) translateVenues(rows []*ent.Venue) error {
	return translate(r, rows,
		func(e *ent.Venue) translated { return translated{e.ID, e.Language, e.Languages} },
		func(ids []int64, langs []calendar.Language) ([]*ent.VenueTranslation, error) {
			return r.db.VenueTranslation.Query().
				Where(venuetranslation.VenueIDIn(ids...), venuetranslation.LanguageIn(langs...)).All(r.ctx)
		},
		func(t *ent.VenueTranslation) int64 { return t.VenueID },
		func(e *ent.Venue, t *ent.VenueTranslation) { e.Edges.Translations = append(e.Edges.Translations, t) })
}

func (r *request) translateOrganizers(rows []*ent.Organizer) error {
	return translate(r, rows,
		func(e *ent.Organizer) translated { return translated{e.ID, e.Language, e.Languages} },
		func(ids []int64, langs []calendar.Language) ([]*ent.OrganizerTranslation, error) {
			return r.db.OrganizerTranslation.Query().
				Where(organizertranslation.OrganizerIDIn(ids...), organizertranslation.LanguageIn(langs...)).All(r.ctx)
		},
		func(t *ent.OrganizerTranslation) int64 { return t.OrganizerID },
		func(e *ent.Organizer, t *ent.OrganizerTranslation) {
			e.Edges.Translations = append(e.Edges.Translations, t)
		})
}

func (r *request) translateTerms(rows []*ent.Term) error {
	return translate(r, rows,
		func(e *ent.Term) translated { return translated{e.ID, e.Language, e.Languages} },
		func(ids []int64, langs []calendar.Language) ([]*ent.TermTranslation, error) {
			return r.db.TermTranslation.Query().
				Where(termtranslation.TermIDIn(ids...), termtranslation.LanguageIn(langs...)).All(r.ctx)
		},
		func(t *ent.TermTranslation) int64 { return t.TermID },
		func(e *ent.Term, t *ent.TermTranslation) { e.Edges.Translations = append(e.Edges.Translations, t) })
}
