package randomcalendar

import (
	"reflect"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/listreference"
	"github.com/almanac-cal/almanac/proof/must"
)

// Store inserts a calendar into the database as the service would have stored it.
func Store(t testing.TB, api *apitest.API, w *listreference.Calendar) {
	t.Helper()
	s := &storer{TB: t, calendar: w, api: api, db: api.Store.Ent, written: apitest.Now.AddDate(0, 0, -50)}
	s.storeTerms()
	s.storeVenues()
	s.storeOrganizers()
	s.storeSeries()
	s.storeEvents()
	s.storeLinks()
	s.must(s.db.Record.CreateBulk(s.records...).Exec(t.Context()))
	s.must(s.db.Slug.CreateBulk(s.slugs...).Exec(t.Context()))
}

// storer inserts the records of a calendar. It collects the rows of the tables records and slugs, which several kinds
// share.
type storer struct {
	testing.TB
	calendar *listreference.Calendar
	api      *apitest.API
	db       *ent.Client
	written  time.Time
	records  []*ent.RecordCreate
	slugs    []*ent.SlugCreate
}

func (s *storer) must(err error) {
	s.Helper()
	must.Succeed(s, err)
}

// addRecord collects a record's row in the table records and its slugs. It returns its author (nil for none), its
// languages and the text in its original language.
func (s *storer) addRecord(kind calendar.Kind, r *listreference.Record) (author *int64, languages calendar.LanguageSet, own listreference.Text) {
	s.records = append(s.records, s.db.Record.Create().SetID(r.ID).SetKind(kind))
	var trashed int64
	if r.Status == calendar.Trash {
		trashed = r.ID
	}
	s.addSlugs(kind, r.ID, trashed, r.Texts)
	return r.AuthorID(), r.Texts.Languages(), r.Texts.In[r.Texts.Original]
}

func (s *storer) addSlugs(kind calendar.Kind, owner, trashed int64, texts listreference.Texts) {
	for _, l := range calendar.Languages {
		if slug := texts.In[l].Slug; slug != "" {
			s.slugs = append(s.slugs, s.db.Slug.Create().SetKind(kind).SetSlug(slug).SetOwnerID(owner).SetLanguage(l).SetTrashedID(trashed))
		}
	}
}

func (s *storer) storeTerms() {
	s.Helper()
	for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
		for _, term := range s.calendar.Terms[kind] {
			own := term.Texts.In[term.Texts.Original]
			s.addSlugs(kind, term.ID, 0, term.Texts)
			create := s.db.Term.Create().SetID(term.ID).SetTaxonomy(kind).SetCreatedAt(s.written).SetModifiedAt(s.written).
				SetLanguage(term.Texts.Original).SetLanguages(term.Texts.Languages()).SetEventCount(term.Count).SetName(own.Title).
				SetNameKey(calendar.FoldName(own.Title)).SetDescription(own.Description).SetSlug(own.Slug)
			if term.Parent != 0 {
				create.SetParentID(term.Parent)
			}
			s.must(create.Exec(s.Context()))
			term.Texts.EachTranslation(func(l calendar.Language, text listreference.Text) {
				s.must(s.db.TermTranslation.Create().SetTermID(term.ID).SetLanguage(l).SetName(text.Title).
					SetNameKey(calendar.FoldName(text.Title)).SetDescription(text.Description).SetSlug(text.Slug).Exec(s.Context()))
			})
		}
	}
}

func (s *storer) storeVenues() {
	s.Helper()
	var venues []*ent.VenueCreate
	var translations []*ent.VenueTranslationCreate
	for _, v := range s.calendar.Linked[calendar.Venue] {
		author, languages, own := s.addRecord(calendar.Venue, &v.Record)
		create := s.db.Venue.Create().SetID(v.ID).SetNillableAuthorID(author).SetStatus(v.Status).
			SetStatusBeforeTrash(v.StatusBeforeTrash).SetPublishedAt(v.Published).SetLanguage(v.Texts.Original).
			SetLanguages(languages).SetCreatedAt(s.written).SetModifiedAt(s.written).SetName(own.Title).
			SetNameKey(calendar.FoldName(own.Title)).SetDescription(own.Description).SetSlug(own.Slug).
			SetAddress(v.Fields["address"]).SetCity(v.Fields["city"]).SetCountry(v.Fields["country"]).
			SetProvince(v.Fields["province"]).SetState(v.Fields["state"]).SetZip(v.Fields["zip"]).
			SetPhone(v.Fields["phone"]).SetWebsite(v.Fields["website"])
		if v.Located {
			create.SetLatitude(v.Lat).SetLongitude(v.Lng)
		}
		venues = append(venues, create)
		v.Texts.EachTranslation(func(l calendar.Language, text listreference.Text) {
			translations = append(translations, s.db.VenueTranslation.Create().SetVenueID(v.ID).SetLanguage(l).SetName(text.Title).
				SetNameKey(calendar.FoldName(text.Title)).SetDescription(text.Description).SetSlug(text.Slug))
		})
	}
	s.must(s.db.Venue.CreateBulk(venues...).Exec(s.Context()))
	s.must(s.db.VenueTranslation.CreateBulk(translations...).Exec(s.Context()))
}

func (s *storer) storeOrganizers() {
	s.Helper()
	var organizers []*ent.OrganizerCreate
	var translations []*ent.OrganizerTranslationCreate
	for _, o := range s.calendar.Linked[calendar.Organizer] {
		author, languages, own := s.addRecord(calendar.Organizer, &o.Record)
		organizers = append(organizers, s.db.Organizer.Create().SetID(o.ID).SetNillableAuthorID(author).SetStatus(o.Status).
			SetStatusBeforeTrash(o.StatusBeforeTrash).SetPublishedAt(o.Published).SetLanguage(o.Texts.Original).
			SetLanguages(languages).SetCreatedAt(s.written).SetModifiedAt(s.written).SetName(own.Title).
			SetNameKey(calendar.FoldName(own.Title)).SetDescription(own.Description).SetSlug(own.Slug).
			SetPhone(o.Fields["phone"]).SetWebsite(o.Fields["website"]).SetEmail(o.Fields["email"]))
		o.Texts.EachTranslation(func(l calendar.Language, text listreference.Text) {
			translations = append(translations, s.db.OrganizerTranslation.Create().SetOrganizerID(o.ID).SetLanguage(l).
				SetName(text.Title).SetNameKey(calendar.FoldName(text.Title)).SetDescription(text.Description).
				SetSlug(text.Slug))
		})
	}
	s.must(s.db.Organizer.CreateBulk(organizers...).Exec(s.Context()))
	s.must(s.db.OrganizerTranslation.CreateBulk(translations...).Exec(s.Context()))
}

// firstNominal is the first nominal start of each series: the wall time that its schedule gives its first occurrence.
var firstNominal = calendar.WallAt(2026, 10, 1, 18, 0, 0)

// nominalStart returns a nominal start for an event. It depends on the event's id, so it is unique in a series.
func nominalStart(e *listreference.Event) calendar.Wall { return firstNominal.AddDate(0, 0, int(e.ID)) }

func (s *storer) storeSeries() {
	s.Helper()
	for _, r := range s.calendar.Series {
		author, languages, own := s.addRecord(calendar.Series, r)
		s.must(s.db.Series.Create().SetID(r.ID).SetNillableAuthorID(author).SetStatus(r.Status).SetStatusBeforeTrash(r.StatusBeforeTrash).
			SetPublishedAt(r.Published).SetLanguage(r.Texts.Original).SetLanguages(languages).SetCreatedAt(s.written).
			SetModifiedAt(s.written).SetSlug(own.Slug).Exec(s.Context()))
		template, err := ent.EncodeTemplate(&ent.Event{Language: r.Texts.Original, Title: own.Title})
		s.must(err)
		s.must(s.db.SeriesPhase.Create().SetSeriesID(r.ID).SetPosition(0).SetStartWall(firstNominal).
			SetEndWall(firstNominal.Add(time.Hour)).SetTimezone("UTC").SetRrule("FREQ=DAILY").
			SetTemplate(template).Exec(s.Context()))
	}
}

func (s *storer) storeEvents() {
	s.Helper()
	var events []*ent.EventCreate
	var translations []*ent.EventTranslationCreate
	for _, e := range s.calendar.Events {
		author, languages, own := s.addRecord(calendar.Event, &e.Record)
		create := s.db.Event.Create().SetID(e.ID).SetNillableAuthorID(author).SetStatus(e.Status).
			SetStatusBeforeTrash(e.StatusBeforeTrash).SetPublishedAt(e.Published).SetLanguage(e.Texts.Original).
			SetLanguages(languages).SetCreatedAt(s.written).SetModifiedAt(s.written).SetTitle(own.Title).
			SetExcerpt(own.Excerpt).SetDescription(own.Description).SetSlug(own.Slug).SetTimezone(e.Zone).
			SetStartWall(calendar.WallOf(e.StartWall)).SetEndWall(calendar.WallOf(e.EndWall)).
			SetStartsAt(e.Start.UTC()).SetEndsAt(e.End.UTC()).SetAllDay(e.AllDay).SetHideFromListings(e.Hidden)
		s.must(setColumns(create.Mutation(), s.calendar, e))
		if e.Protected {
			create.SetPasswordHash(edit.HashPassword(s.api.Key, e.ID, Password))
		}
		if e.Parent != 0 {
			create.SetParentID(e.Parent)
		}
		if e.Series != 0 {
			create.SetSeriesID(e.Series).SetOriginalStart(nominalStart(e))
		}
		events = append(events, create)
		e.Texts.EachTranslation(func(l calendar.Language, text listreference.Text) {
			translations = append(translations, s.db.EventTranslation.Create().SetEventID(e.ID).SetLanguage(l).SetTitle(text.Title).
				SetExcerpt(text.Excerpt).SetDescription(text.Description).SetSlug(text.Slug))
		})
	}
	s.must(s.db.Event.CreateBulk(events...).Exec(s.Context()))
	s.must(s.db.EventTranslation.CreateBulk(translations...).Exec(s.Context()))
}

// storeLinks inserts the links of events to venues, organizers and terms.
func (s *storer) storeLinks() {
	s.Helper()
	var venues []*ent.EventVenueCreate
	var organizers []*ent.EventOrganizerCreate
	var terms []*ent.EventTermCreate
	for _, e := range s.calendar.Events {
		for i, id := range e.Venues {
			venues = append(venues, s.db.EventVenue.Create().SetEventID(e.ID).SetVenueID(id).SetPosition(i))
		}
		for i, id := range e.Organizers {
			organizers = append(organizers, s.db.EventOrganizer.Create().SetEventID(e.ID).SetOrganizerID(id).SetPosition(i))
		}
		for _, id := range e.Terms {
			terms = append(terms, s.db.EventTerm.Create().SetEventID(e.ID).SetTermID(id))
		}
	}
	s.must(s.db.EventVenue.CreateBulk(venues...).Exec(s.Context()))
	s.must(s.db.EventOrganizer.CreateBulk(organizers...).Exec(s.Context()))
	s.must(s.db.EventTerm.CreateBulk(terms...).Exec(s.Context()))
}

// setColumns sets the boolean columns of an event's row, and the text columns that allow only a few words.
func setColumns(row *ent.EventMutation, w *listreference.Calendar, e *listreference.Event) error {
	for _, f := range w.FlagColumns {
		if err := row.SetField(f.Field, e.Flags[f.Name]); err != nil {
			return err
		}
	}
	for _, f := range w.WordColumns {
		typed, _ := row.Field(f.Field)
		word := reflect.ValueOf(e.Words[f.Name]).Convert(reflect.TypeOf(typed)).Interface()
		if err := row.SetField(f.Field, word); err != nil {
			return err
		}
	}
	return nil
}

// RewriteEvent updates an event's row and adds its links again, after a test changed them. The stored counts of its
// terms stay, because replies show them.
func RewriteEvent(t testing.TB, api *apitest.API, w *listreference.Calendar, e *listreference.Event) {
	t.Helper()
	ctx, db, own := t.Context(), api.Store.Ent, e.Texts.In[e.Texts.Original]
	update := db.Event.UpdateOneID(e.ID).ClearAuthorID().SetStatus(e.Status).SetPublishedAt(e.Published).
		SetTitle(own.Title).SetExcerpt(own.Excerpt).SetDescription(own.Description).SetTimezone(e.Zone).
		SetStartWall(calendar.WallOf(e.StartWall)).SetEndWall(calendar.WallOf(e.EndWall)).
		SetStartsAt(e.Start.UTC()).SetEndsAt(e.End.UTC()).SetAllDay(e.AllDay).SetHideFromListings(e.Hidden).
		ClearParentID().ClearPasswordHash().ClearSeriesID().ClearOriginalStart()
	if e.Author != 0 {
		update.SetAuthorID(e.Author)
	}
	if e.Parent != 0 {
		update.SetParentID(e.Parent)
	}
	if e.Series != 0 {
		update.SetSeriesID(e.Series).SetOriginalStart(nominalStart(e))
	}
	if e.Protected {
		update.SetPasswordHash(edit.HashPassword(api.Key, e.ID, Password))
	}
	do := func(err error) {
		t.Helper()
		must.Succeed(t, err)
	}
	do(setColumns(update.Mutation(), w, e))
	do(update.Exec(ctx))
	_, err := db.EventVenue.Delete().Where(eventvenue.EventID(e.ID)).Exec(ctx)
	do(err)
	_, err = db.EventOrganizer.Delete().Where(eventorganizer.EventID(e.ID)).Exec(ctx)
	do(err)
	_, err = db.EventTerm.Delete().Where(eventterm.EventID(e.ID)).Exec(ctx)
	do(err)
	api.LinkVenues(t, e.ID, e.Venues...)
	api.LinkOrganizers(t, e.ID, e.Organizers...)
	api.LinkTerms(t, e.ID, e.Terms...)
}

// RewriteSeries updates the author, status and publication date of a series in the database, after a test changed
// them.
func RewriteSeries(t testing.TB, api *apitest.API, r *listreference.Record) {
	t.Helper()
	update := api.Store.Ent.Series.UpdateOneID(r.ID).ClearAuthorID().SetStatus(r.Status).SetPublishedAt(r.Published)
	if r.Author != 0 {
		update.SetAuthorID(r.Author)
	}
	must.Succeed(t, update.Exec(t.Context()))
}

// RewriteLinked updates the row of a venue or organizer in the database, after a test changed it.
func RewriteLinked(t testing.TB, api *apitest.API, kind calendar.Kind, l *listreference.Linked) {
	t.Helper()
	author := l.AuthorID()
	own := l.Texts.In[l.Texts.Original]
	var err error
	if kind == calendar.Organizer {
		err = api.Store.Ent.Organizer.UpdateOneID(l.ID).ClearAuthorID().SetNillableAuthorID(author).SetStatus(l.Status).
			SetPublishedAt(l.Published).SetName(own.Title).SetNameKey(calendar.FoldName(own.Title)).
			SetDescription(own.Description).SetPhone(l.Fields["phone"]).SetWebsite(l.Fields["website"]).
			SetEmail(l.Fields["email"]).Exec(t.Context())
	} else {
		update := api.Store.Ent.Venue.UpdateOneID(l.ID).ClearAuthorID().SetNillableAuthorID(author).SetStatus(l.Status).
			SetPublishedAt(l.Published).SetName(own.Title).SetNameKey(calendar.FoldName(own.Title)).
			SetDescription(own.Description).SetAddress(l.Fields["address"]).SetCity(l.Fields["city"]).
			SetCountry(l.Fields["country"]).SetProvince(l.Fields["province"]).SetState(l.Fields["state"]).
			SetZip(l.Fields["zip"]).SetPhone(l.Fields["phone"]).SetWebsite(l.Fields["website"]).
			ClearLatitude().ClearLongitude()
		if l.Located {
			update.SetLatitude(l.Lat).SetLongitude(l.Lng)
		}
		err = update.Exec(t.Context())
	}
	must.Succeed(t, err)
}
