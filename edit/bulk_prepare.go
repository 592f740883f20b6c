package edit

import (
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/organizertranslation"
	"github.com/almanac-cal/almanac/ent/searchtext"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/ent/venuetranslation"
	"github.com/almanac-cal/almanac/internal/markup"
)

var searchColumns = []string{
	searchtext.FieldKind, searchtext.FieldOwnerID, searchtext.FieldLanguages, searchtext.FieldText,
}

// prepared is an empty batch.
func prepared(kind calendar.Kind, n int) *Prepared {
	p := &Prepared{kind: kind, languages: make([]calendar.Language, 0, n), wanted: make([]wantedSlug, 0, n)}
	p.texts = rows{table: searchtext.Table, owner: 1, columns: searchColumns}
	switch kind {
	case calendar.Event:
		p.records = rows{table: event.Table, columns: event.Columns}
		p.password, p.parent = column(event.Columns, event.FieldPasswordHash), column(event.Columns, event.FieldParentID)
		p.passwords, p.parents = map[int]string{}, map[int]func([]int64) int64{}
		p.venues, p.organizers, p.terms = make([][]int64, n), make([][]int64, n), make([][]int64, n)
		p.counted = map[int64]int{}
		p.translations = rows{table: eventtranslation.Table, columns: []string{
			eventtranslation.FieldEventID, eventtranslation.FieldLanguage, eventtranslation.FieldTitle,
			eventtranslation.FieldDescription, eventtranslation.FieldExcerpt, eventtranslation.FieldSlug,
		}}
	case calendar.Venue:
		p.records = rows{table: venue.Table, columns: venue.Columns}
		p.translations = namedTranslations(venuetranslation.Table, venuetranslation.FieldVenueID)
	default:
		p.records = rows{table: organizer.Table, columns: organizer.Columns}
		p.translations = namedTranslations(organizertranslation.Table, organizertranslation.FieldOrganizerID)
	}
	p.records.owner, p.slug = column(p.records.columns, event.FieldID), column(p.records.columns, event.FieldSlug)
	return p
}

// namedTranslations is a table of translations of anything but events; they are alike.
func namedTranslations(table, owner string) rows {
	return rows{table: table, columns: []string{
		owner, venuetranslation.FieldLanguage, venuetranslation.FieldName, venuetranslation.FieldNameKey,
		venuetranslation.FieldDescription, venuetranslation.FieldSlug,
	}}
}

// Events prepares a batch of events. Dates that cannot be are refused with param.Invalid.
func (l *Loader) Events(in []NewEvent) (*Prepared, error) {
	p := prepared(calendar.Event, len(in))
	e := l.editor
	for i := range in {
		if err := l.event(p, &e, i, &in[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", apply("event", in[i].SourceID), err)
		}
	}
	return p, nil
}

func (l *Loader) event(p *Prepared, e *Editor, i int, in *NewEvent) error {
	own := in.EventInput
	if own.Password != nil && *own.Password != "" {
		if len(e.PasswordKey) == 0 {
			return errNoKey
		}
		p.passwords[i] = *own.Password
	}
	own.Password = nil // hashed with the id
	span := respan(calendar.Span{Zone: e.Site.Zone}, &own)
	if err := invalid(spanFault(span, &own)); err != nil {
		return err
	}
	s := own.sent()
	r, err := l.begin(p, e, calendar.Event, s, in.Texts)
	if err != nil {
		return err
	}
	m := l.blank.Event.Create().Mutation()
	d := &diff{fresh: true}
	if err := e.fillEvent(m, r, &record{}, s, &ent.Event{}, &own, span, d); err != nil {
		return err
	}
	if in.Parent != nil {
		p.parents[i] = in.Parent
	}
	if err := p.keep(e, i, r, m); err != nil {
		return err
	}
	for _, o := range r.others {
		p.translations.add(i, nil, string(o.language), o.title, o.description, o.excerpt, "")
	}
	if own.Venues != nil {
		for _, v := range *own.Venues {
			p.venues[i] = append(p.venues[i], v.ID)
		}
	}
	if own.Organizers != nil {
		for _, o := range *own.Organizers {
			p.organizers[i] = append(p.organizers[i], o.ID)
		}
	}
	p.venues[i], p.organizers[i] = uniqueIDs(p.venues[i]), uniqueIDs(p.organizers[i])
	for _, list := range [2]*[]TermRef{own.Categories, own.Tags} {
		if list != nil {
			for _, t := range *list {
				p.terms[i] = append(p.terms[i], t.ID)
			}
		}
	}
	p.terms[i] = uniqueIDs(p.terms[i])
	if counted(r.status) {
		for _, t := range p.terms[i] {
			p.counted[t]++
		}
	}
	return nil
}

// Venues prepares a batch of venues.
func (l *Loader) Venues(in []NewVenue) (*Prepared, error) {
	p := prepared(calendar.Venue, len(in))
	e := l.editor
	for i := range in {
		own := in[i].VenueInput
		if err := invalid(own.faults(nil)...); err != nil {
			return nil, fmt.Errorf("%s: %w", apply("venue", own.SourceID), err)
		}
		s := own.sent()
		r, err := l.begin(p, &e, calendar.Venue, s, in[i].Texts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", apply("venue", own.SourceID), err)
		}
		m, d := l.blank.Venue.Create().Mutation(), &diff{fresh: true}
		e.fillNamed(m, r, &record{}, s, d)
		own.fill(m, &ent.Venue{ShowMap: true, ShowMapLink: true}, d)
		if err := p.keep(&e, i, r, m, venueFields(&ent.Venue{
			Address: apply("", own.Address), City: apply("", own.City), Country: apply("", own.Country),
			Province: apply("", own.Province), State: apply("", own.State), Zip: apply("", own.Zip),
			Stateprovince: apply("", own.StateProvince), Phone: apply("", own.Phone), Website: apply("", own.Website),
		})...); err != nil {
			return nil, err
		}
		p.keepNames(i, r)
	}
	return p, nil
}

// Organizers prepares a batch of organizers.
func (l *Loader) Organizers(in []NewOrganizer) (*Prepared, error) {
	p := prepared(calendar.Organizer, len(in))
	e := l.editor
	for i := range in {
		own := in[i].OrganizerInput
		s := own.sent()
		r, err := l.begin(p, &e, calendar.Organizer, s, in[i].Texts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", apply("organizer", own.SourceID), err)
		}
		m, d := l.blank.Organizer.Create().Mutation(), &diff{fresh: true}
		e.fillNamed(m, r, &record{}, s, d)
		own.fill(m, &ent.Organizer{}, d)
		if err := p.keep(&e, i, r, m, organizerFields(&ent.Organizer{
			Phone: apply("", own.Phone), Email: apply("", own.Email), Website: apply("", own.Website),
		})...); err != nil {
			return nil, err
		}
		p.keepNames(i, r)
	}
	return p, nil
}

// begin is a new record with its texts and the slug that it wants, but without an id.
func (l *Loader) begin(p *Prepared, e *Editor, kind calendar.Kind, s *sent, texts []calendar.Text) (*record, error) {
	r := e.conceive(kind, s)
	for _, t := range texts {
		o := translation{language: t.Language, text: text{title: t.Title, description: t.Description, excerpt: t.Excerpt}}
		if t.Language != r.language && !o.empty() {
			r.others = append(r.others, o)
			r.languages = r.languages.With(t.Language)
		}
	}
	if l.Verify {
		if err := r.verify(); err != nil {
			return nil, err
		}
	}
	w := wantedSlug{none: true}
	if base, ok := r.wantedSlug(s); ok {
		w = wantedSlug{base: base}
	}
	p.wanted, p.languages = append(p.wanted, w), append(p.languages, r.language)
	return r, nil
}

// keep takes the row of a record, and what it is found by.
func (p *Prepared) keep(e *Editor, i int, r *record, m mutation, common ...string) error {
	row, err := rowOf(m, p.records.columns)
	if err != nil {
		return err
	}
	p.records.add(i, row...)
	original := calendar.Text{
		Language: r.language, Title: r.title, Description: r.description, Excerpt: r.excerpt,
	}
	others := make([]calendar.Text, len(r.others))
	for i, o := range r.others {
		others[i] = calendar.Text{
			Language: o.language, Title: o.title, Description: o.description, Excerpt: o.excerpt,
		}
	}
	for _, f := range e.foundBy(p.kind, original, others, common...) {
		p.texts.add(i, string(p.kind), nil, int64(f.languages), f.text)
	}
	return nil
}

// keepNames takes the translations of a venue or an organizer.
func (p *Prepared) keepNames(i int, r *record) {
	for _, o := range r.others {
		p.translations.add(i, nil, string(o.language), o.title, calendar.FoldName(o.title), o.description, "")
	}
}

// verify finds a text that is not clean.
func (r *record) verify() error {
	check := func(l calendar.Language, t text) error {
		for _, c := range []struct {
			name, text string
			clean      func(string) (string, error)
		}{
			// A title is what its escaped form is read as: it may have the characters of an entity in it.
			{"title", t.title, func(s string) (string, error) { return markup.Text(calendar.Escape(s)) }},
			{"description", t.description, markup.HTML},
			{"excerpt", t.excerpt, markup.HTML},
		} {
			clean, err := c.clean(c.text)
			if err != nil {
				return fmt.Errorf("%s in %s: %w", c.name, l, err)
			}
			if clean != c.text {
				return fmt.Errorf("%s in %s is not clean: %q", c.name, l, c.text)
			}
		}
		return nil
	}
	if err := check(r.language, r.text); err != nil {
		return err
	}
	for _, o := range r.others {
		if err := check(o.language, o.text); err != nil {
			return err
		}
	}
	return nil
}
