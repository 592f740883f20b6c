package edit

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// Draft is a valid new record without an id and a slug. Package bulk uses it to write many records at once. The
// columns of the row are not in it: DraftEvent and Named.Draft put them into a mutation.
type Draft struct {
	Original calendar.Text
	Others   []calendar.Text // translations that have any text
	// HasSlug reports whether the record gets a slug. SlugBase is the slug that it gets if that is free,
	// otherwise with a number appended. An empty SlugBase means a slug made of kind and id.
	HasSlug     bool
	SlugBase    string
	SearchTexts []SearchText

	// Password, Venues, Organizers, Terms and Counted are zero for venues and organizers.
	Password                  string  // plain text, input of HashPassword; "" means none
	Venues, Organizers, Terms []int64 // ids to link, in the order in which they were sent, without duplicates
	Counted                   bool    // true if the event counts in the published events of its terms
}

// DraftEvent sets the columns of a new event in m and returns the rest as a Draft. It does not check terms, venues
// and organizers: the input must refer to them by id. It returns param.Invalid for impossible dates.
func (e *Editor) DraftEvent(m *ent.EventMutation, in *EventInput, others []calendar.Text) (*Draft, error) {
	own := *in
	own.Password = nil // its hash needs the id
	password := ValueOr("", in.Password)
	if password != "" && len(e.PasswordKey) == 0 {
		return nil, errNoKey
	}
	span := ChangedSpan(calendar.Span{Zone: e.Site.Zone}, &own)
	if err := InvalidInput(CheckSpan(span, &own)); err != nil {
		return nil, err
	}
	s := own.record()
	r := e.draftRecord(calendar.Event, s, others)
	if _, err := e.fillEvent(m, r, &record{}, s, newEvent(), &own, span, &diff{isNew: true}); err != nil {
		return nil, err
	}
	d := e.draft(r, s)
	d.Password, d.Counted = password, CountsForTerms(r.Status)
	d.Venues, d.Organizers = uniqueIDs(idsOf(own.Venues)), uniqueIDs(idsOf(own.Organizers))
	for _, list := range [2]*[]TermRef{own.Categories, own.Tags} {
		if list != nil {
			for _, t := range *list {
				d.Terms = append(d.Terms, t.ID)
			}
		}
	}
	d.Terms = uniqueIDs(d.Terms)
	return d, nil
}

// draftRecord returns a new record with its texts in all languages. The record has no id and no slug yet.
func (e *Editor) draftRecord(kind calendar.Kind, s *recordInput, others []calendar.Text) *record {
	r := e.newRecord(kind, s)
	r.addTexts(others)
	return r
}

// draft returns the Draft of a record that draftRecord returned. The parameter common has texts that are
// searchable in every language.
func (e *Editor) draft(r *record, s *recordInput, common ...string) *Draft {
	d := &Draft{Original: r.inLanguage(r.language), Others: r.otherTexts()}
	d.SlugBase, d.HasSlug = r.wantedSlug(s.slug)
	d.SearchTexts = e.SearchTextsOf(r.kind, d.Original, d.Others, common...)
	return d
}
