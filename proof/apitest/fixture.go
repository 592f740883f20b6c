package apitest

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/must"
)

// The functions of this file write single rows, for tests that need other records than those of Example. By default
// records are published, in English, without an author.

// AddEvent adds an event and returns its id. start and end are wall times such as 2026-12-01 10:00:00, in UTC or in
// the zone that a change sets.
func (a *API) AddEvent(t testing.TB, title, start, end string, changes ...func(*ent.EventCreate)) int64 {
	t.Helper()
	id := a.record(t, calendar.Event)
	from, to := wallOf(t, start), wallOf(t, end)
	create := a.Store.Ent.Event.Create().SetID(id).SetStatus(calendar.Publish).SetPublishedAt(writtenAt).
		SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).
		SetTitle(title).SetSlug(calendar.Slug(title)).SetStartWall(from).SetEndWall(to).SetTimezone("UTC")
	for _, change := range changes {
		change(create)
	}
	name, _ := create.Mutation().Timezone()
	zone, err := calendar.ParseZone(name)
	must.Succeed(t, err)
	span := calendar.Span{Start: from, End: to, Zone: zone}
	must.Succeed(t, create.SetStartsAt(span.StartsAt()).SetEndsAt(span.EndsAt()).Exec(t.Context()))
	slug, _ := create.Mutation().Slug()
	a.AddSlug(t, calendar.Event, slug, id, calendar.English)
	return id
}

// AddVenue adds a venue and returns its id. changes can set further columns.
func (a *API) AddVenue(t testing.TB, name string, changes ...func(*ent.VenueCreate)) int64 {
	t.Helper()
	id := a.record(t, calendar.Venue)
	create := a.Store.Ent.Venue.Create().SetID(id).SetStatus(calendar.Publish).SetPublishedAt(writtenAt).
		SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).
		SetName(name).SetNameKey(calendar.FoldName(name)).SetSlug(calendar.Slug(name))
	for _, change := range changes {
		change(create)
	}
	must.Succeed(t, create.Exec(t.Context()))
	slug, _ := create.Mutation().Slug()
	a.AddSlug(t, calendar.Venue, slug, id, calendar.English)
	return id
}

// AddOrganizer adds an organizer and returns its id. changes can set further columns.
func (a *API) AddOrganizer(t testing.TB, name string, changes ...func(*ent.OrganizerCreate)) int64 {
	t.Helper()
	id := a.record(t, calendar.Organizer)
	create := a.Store.Ent.Organizer.Create().SetID(id).SetStatus(calendar.Publish).SetPublishedAt(writtenAt).
		SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).
		SetName(name).SetNameKey(calendar.FoldName(name)).SetSlug(calendar.Slug(name))
	for _, change := range changes {
		change(create)
	}
	must.Succeed(t, create.Exec(t.Context()))
	slug, _ := create.Mutation().Slug()
	a.AddSlug(t, calendar.Organizer, slug, id, calendar.English)
	return id
}

// AddTerm adds a category or tag, with a stored count of 1 event, and returns its id.
func (a *API) AddTerm(t testing.TB, taxonomy calendar.Kind, name string, changes ...func(*ent.TermCreate)) int64 {
	t.Helper()
	create := a.Store.Ent.Term.Create().SetTaxonomy(taxonomy).SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).
		SetLanguage(calendar.English).SetLanguages("en").SetEventCount(1).
		SetName(name).SetNameKey(calendar.FoldName(name)).SetSlug(calendar.Slug(name))
	for _, change := range changes {
		change(create)
	}
	row, err := create.Save(t.Context())
	must.Succeed(t, err)
	a.AddSlug(t, taxonomy, row.Slug, row.ID, calendar.English)
	return row.ID
}

// AddSlug stores a slug, so that by-slug routes and filters find its record. It does nothing for an empty slug.
func (a *API) AddSlug(t testing.TB, kind calendar.Kind, slug string, owner int64, lang calendar.Language) {
	t.Helper()
	if slug == "" {
		return
	}
	create := a.Store.Ent.Slug.Create().SetKind(kind).SetSlug(slug).SetOwnerID(owner).SetLanguage(lang)
	if slug != calendar.UntrashedSlug(slug) {
		create.SetTrashedID(owner)
	}
	must.Succeed(t, create.Exec(t.Context()))
}

// LinkVenues links an event to venues, in this order.
func (a *API) LinkVenues(t testing.TB, event int64, venues ...int64) {
	t.Helper()
	for i, id := range venues {
		err := a.Store.Ent.EventVenue.Create().SetEventID(event).SetVenueID(id).SetPosition(i).Exec(t.Context())
		must.Succeed(t, err)
	}
}

// LinkOrganizers links an event to organizers, in this order.
func (a *API) LinkOrganizers(t testing.TB, event int64, organizers ...int64) {
	t.Helper()
	for i, id := range organizers {
		err := a.Store.Ent.EventOrganizer.Create().SetEventID(event).SetOrganizerID(id).SetPosition(i).Exec(t.Context())
		must.Succeed(t, err)
	}
}

// LinkTerms links an event to categories and tags.
func (a *API) LinkTerms(t testing.TB, event int64, terms ...int64) {
	t.Helper()
	for _, id := range terms {
		err := a.Store.Ent.EventTerm.Create().SetEventID(event).SetTermID(id).Exec(t.Context())
		must.Succeed(t, err)
	}
}

func (a *API) record(t testing.TB, kind calendar.Kind) int64 {
	t.Helper()
	row, err := a.Store.Ent.Record.Create().SetKind(kind).Save(t.Context())
	must.Succeed(t, err)
	return row.ID
}

// Revision returns the current revision of the calendar.
func (a *API) Revision(t testing.TB) int64 {
	t.Helper()
	revision, err := edit.Revision(t.Context(), a.Store.Ent)
	must.Succeed(t, err)
	return revision
}

func wallOf(t testing.TB, text string) calendar.Wall {
	t.Helper()
	w, err := calendar.ParseWall(text)
	must.Succeed(t, err)
	return w
}

// SeriesRow describes a series for AddSeries. Start and End are wall times in Zone, or in UTC if it is empty.
type SeriesRow struct {
	Title, Slug, Start, End, Zone, RRule string
	ExDate                               []string
	Author                               int64           // 0 means no author
	Status                               calendar.Status // "" is publish
	Template                             ent.Event       // common fields of occurrences, with links and translations as edges
	Occurrences                          []string        // wall times at which the occurrences to add start
}

// AddSeries adds a series with one schedule and some of its occurrences, and returns the id of the series. The next
// ids are those of the occurrences. changes apply to each of these.
func (a *API) AddSeries(t testing.TB, s SeriesRow, changes ...func(*ent.EventCreate)) int64 {
	t.Helper()
	id := a.record(t, calendar.Series)
	if s.Status == "" {
		s.Status = calendar.Publish
	}
	if s.Zone == "" {
		s.Zone = "UTC"
	}
	s.Template.Language, s.Template.Title, s.Template.Slug = calendar.English, s.Title, s.Slug
	others := s.Template.Translated()
	s.Template.SetTranslated(others)
	if s.Template.EventStatus == "" {
		s.Template.EventStatus, s.Template.Attendance = calendar.Scheduled, calendar.Offline
	}
	template, err := ent.EncodeTemplate(&s.Template)
	must.Succeed(t, err)
	key := func(l calendar.Language) []byte {
		title := calendar.Served(l, calendar.English, s.Template.Text(), others).Title
		return calendar.SortKey(l, title, calendar.NameKeySize)
	}
	create := a.Store.Ent.Series.Create().SetID(id).SetStatus(s.Status).SetPublishedAt(writtenAt).SetCreatedAt(writtenAt).
		SetModifiedAt(writtenAt).SetLanguage(calendar.English).SetLanguages(s.Template.Languages).SetSlug(s.Slug).
		SetHideFromListings(s.Template.HideFromListings).SetProtected(s.Template.PasswordHash != nil).
		SetSortEn(key(calendar.English)).SetSortPl(key(calendar.Polish)).SetSortEs(key(calendar.Spanish))
	if s.Author != 0 {
		create.SetAuthorID(s.Author)
	}
	must.Succeed(t, create.Exec(t.Context()))
	var except []calendar.Wall
	for _, d := range s.ExDate {
		except = append(except, wallOf(t, d))
	}
	start, end := wallOf(t, s.Start), wallOf(t, s.End)
	err = a.Store.Ent.SeriesPhase.Create().SetSeriesID(id).SetPosition(0).SetStartWall(start).SetEndWall(end).
		SetTimezone(s.Zone).SetRrule(s.RRule).SetExdate(except).SetTemplate(template).Exec(t.Context())
	must.Succeed(t, err)
	a.AddSlug(t, calendar.Series, s.Slug, id, calendar.English)
	for _, o := range others {
		if o.Slug != "" {
			a.AddSlug(t, calendar.Series, o.Slug, id, o.Language)
		}
	}
	span := calendar.Span{Start: start, End: end}
	for _, nominal := range s.Occurrences {
		moved := span.MoveStart(wallOf(t, nominal))
		a.AddEvent(t, s.Title, moved.Start.String(), moved.End.String(), append([]func(*ent.EventCreate){func(c *ent.EventCreate) {
			c.SetSeriesID(id).SetOriginalStart(moved.Start).SetTimezone(s.Zone).SetStatus(s.Status).
				SetSlug(s.Slug + "-" + moved.Start.Format("2006-01-02"))
			if s.Author != 0 {
				c.SetAuthorID(s.Author)
			}
		}}, changes...)...)
	}
	return id
}
