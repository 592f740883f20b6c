package edit

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// Draft is a valid new record without an id and a slug. Package load uses it to write many records at once. The
// row itself is in the mutation that the Draft functions fill.
type Draft struct {
	Original calendar.Text
	Others   []calendar.Text // in other languages, with something to read
	// HasSlug reports whether the record gets a slug. An empty SlugBase means the slug of its kind and id. A
	// taken slug gets a number.
	HasSlug     bool
	SlugBase    string
	SearchTexts []SearchText

	// Only of events.
	Password                  string  // plain text, input of HashPassword; "" means none
	Venues, Organizers, Terms []int64 // ids to link, in order and without duplicates
	Counted                   bool    // counts for its terms
}

// DraftEvent fills m with a new event. It takes terms, venues and organizers by id, and does not look them up. It refuses
// impossible dates with param.Invalid.
func (e *Editor) DraftEvent(m *ent.EventMutation, in *EventInput, others []calendar.Text) (*Draft, error) {
	own := *in
	own.Password = nil // its hash needs the id
	password := valueOr("", in.Password)
	if password != "" && len(e.PasswordKey) == 0 {
		return nil, errNoKey
	}
	span := changedSpan(calendar.Span{Zone: e.Site.Zone}, &own)
	if err := invalidInput(spanFault(span, &own)); err != nil {
		return nil, err
	}
	s := own.record()
	r := e.draftRecord(calendar.Event, s, others)
	if err := e.fillEvent(m, r, &record{}, s, newEvent(), &own, span, &diff{fresh: true}); err != nil {
		return nil, err
	}
	d := e.draft(r, s)
	d.Password, d.Counted = password, countsForTerms(r.status)
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

// DraftVenue fills m with a new venue. It refuses a coordinate without its partner with param.Invalid.
func (e *Editor) DraftVenue(m *ent.VenueMutation, in *VenueInput, others []calendar.Text) (*Draft, error) {
	if err := invalidInput(in.faults(nil)...); err != nil {
		return nil, err
	}
	s := in.record()
	r := e.draftRecord(calendar.Venue, s, others)
	d := &diff{fresh: true}
	e.fillNamed(m, r, &record{}, s, d)
	in.fill(m, newVenue(), d)
	return e.draft(r, s, venueFields(&ent.Venue{
		Address: valueOr("", in.Address), City: valueOr("", in.City), Country: valueOr("", in.Country),
		Province: valueOr("", in.Province), State: valueOr("", in.State), Zip: valueOr("", in.Zip),
		Stateprovince: valueOr("", in.StateProvince), Phone: valueOr("", in.Phone), Website: valueOr("", in.Website),
	})...), nil
}

// DraftOrganizer fills m with a new organizer.
func (e *Editor) DraftOrganizer(m *ent.OrganizerMutation, in *OrganizerInput, others []calendar.Text) *Draft {
	s := in.record()
	r := e.draftRecord(calendar.Organizer, s, others)
	d := &diff{fresh: true}
	e.fillNamed(m, r, &record{}, s, d)
	in.fill(m, &ent.Organizer{}, d)
	return e.draft(r, s, organizerFields(&ent.Organizer{
		Phone: valueOr("", in.Phone), Email: valueOr("", in.Email), Website: valueOr("", in.Website),
	})...)
}

// draftRecord returns a new record with its texts, without an id and a slug.
func (e *Editor) draftRecord(kind calendar.Kind, s *recordInput, others []calendar.Text) *record {
	r := e.newRecord(kind, s)
	r.addTexts(others)
	return r
}

// draft describes a record that draftRecord made. common are its search texts that are the same in all languages.
func (e *Editor) draft(r *record, s *recordInput, common ...string) *Draft {
	d := &Draft{Original: r.inLanguage(r.language), Others: r.otherTexts()}
	d.SlugBase, d.HasSlug = r.wantedSlug(s.slug)
	d.SearchTexts = e.searchTextsOf(r.kind, d.Original, d.Others, common...)
	return d
}
