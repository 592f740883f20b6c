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
	venues := r.h.DB.Venue.Query().WithImage()
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
	organizers := r.h.DB.Organizer.Query().WithImage()
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

// wanted lists the languages whose texts must be loaded for the rows, and the rows that have them. Rows with
// nothing to translate cost no query.
func (r *request) wanted(rows []translated) (ids []int64, langs []calendar.Language) {
	langs = []calendar.Language{r.lang}
	if r.h.Site.Language != r.lang {
		langs = append(langs, r.h.Site.Language)
	}
	for _, row := range rows {
		for _, l := range langs {
			if l != row.original && row.languages.Has(l) {
				ids = append(ids, row.id)
				break
			}
		}
	}
	return ids, langs
}

// translateEvents loads the texts of the events and of all that is linked to them, in the languages that this
// request may answer in: at most one query per kind.
func (r *request) translateEvents(events []*ent.Event) error {
	var venues []*ent.Venue
	var organizers []*ent.Organizer
	var terms []*ent.Term
	rows := make([]translated, len(events))
	byID := make(map[int64]*ent.Event, len(events))
	for i, e := range events {
		rows[i] = translated{e.ID, e.Language, e.Languages}
		byID[e.ID] = e
		venues = append(venues, e.Edges.Venues...)
		organizers = append(organizers, e.Edges.Organizers...)
		terms = append(terms, e.Edges.Terms...)
	}
	if ids, langs := r.wanted(rows); len(ids) > 0 {
		texts, err := r.h.DB.EventTranslation.Query().
			Where(eventtranslation.EventIDIn(ids...), eventtranslation.LanguageIn(langs...)).All(r.ctx)
		if err != nil {
			return err
		}
		for _, t := range texts {
			e := byID[t.EventID]
			e.Edges.Translations = append(e.Edges.Translations, t)
		}
	}
	if err := r.translateVenues(venues); err != nil {
		return err
	}
	if err := r.translateOrganizers(organizers); err != nil {
		return err
	}
	return r.translateTerms(terms)
}

func (r *request) translateVenues(venues []*ent.Venue) error {
	rows := make([]translated, len(venues))
	byID := make(map[int64][]*ent.Venue, len(venues))
	for i, e := range venues {
		rows[i] = translated{e.ID, e.Language, e.Languages}
		if !slices.Contains(byID[e.ID], e) { // events share the rows of their terms
			byID[e.ID] = append(byID[e.ID], e)
		}
	}
	ids, langs := r.wanted(rows)
	if len(ids) == 0 {
		return nil
	}
	texts, err := r.h.DB.VenueTranslation.Query().
		Where(venuetranslation.VenueIDIn(ids...), venuetranslation.LanguageIn(langs...)).All(r.ctx)
	if err != nil {
		return err
	}
	for _, t := range texts {
		for _, e := range byID[t.VenueID] {
			e.Edges.Translations = append(e.Edges.Translations, t)
		}
	}
	return nil
}

func (r *request) translateOrganizers(organizers []*ent.Organizer) error {
	rows := make([]translated, len(organizers))
	byID := make(map[int64][]*ent.Organizer, len(organizers))
	for i, e := range organizers {
		rows[i] = translated{e.ID, e.Language, e.Languages}
		if !slices.Contains(byID[e.ID], e) { // events share the rows of their terms
			byID[e.ID] = append(byID[e.ID], e)
		}
	}
	ids, langs := r.wanted(rows)
	if len(ids) == 0 {
		return nil
	}
	texts, err := r.h.DB.OrganizerTranslation.Query().
		Where(organizertranslation.OrganizerIDIn(ids...), organizertranslation.LanguageIn(langs...)).All(r.ctx)
	if err != nil {
		return err
	}
	for _, t := range texts {
		for _, e := range byID[t.OrganizerID] {
			e.Edges.Translations = append(e.Edges.Translations, t)
		}
	}
	return nil
}

func (r *request) translateTerms(terms []*ent.Term) error {
	rows := make([]translated, len(terms))
	byID := make(map[int64][]*ent.Term, len(terms))
	for i, e := range terms {
		rows[i] = translated{e.ID, e.Language, e.Languages}
		if !slices.Contains(byID[e.ID], e) { // events share the rows of their terms
			byID[e.ID] = append(byID[e.ID], e)
		}
	}
	ids, langs := r.wanted(rows)
	if len(ids) == 0 {
		return nil
	}
	texts, err := r.h.DB.TermTranslation.Query().
		Where(termtranslation.TermIDIn(ids...), termtranslation.LanguageIn(langs...)).All(r.ctx)
	if err != nil {
		return err
	}
	for _, t := range texts {
		for _, e := range byID[t.TermID] {
			e.Edges.Translations = append(e.Edges.Translations, t)
		}
	}
	return nil
}
