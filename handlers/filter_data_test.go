package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// How much there is of everything.
const (
	refEventCount     = 150
	refFewEvents      = 40
	refVenueCount     = 12
	refOrganizerCount = 10
	refCategoryCount  = 15
	refTagCount       = 10
	refSeriesCount    = 12
)

const refPassword = "sesame"

// refMaker makes a calendar by chance.
type refMaker struct {
	*rand.Rand
	sites []refSite
	world *refWorld
	slugs int
	few   bool // events, so that one more or less decides about a filter
}

// pickOne is an element of a list by chance.
func pickOne[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// drawPercent is true in so many of a hundred cases.
func drawPercent(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// pickSome are distinct elements of a list, in an order by chance.
func pickSome[T any](r *rand.Rand, list []T, count int) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(count, len(list))]
}

// drawAside runs draw with chance of its own, so that a row more in a table of filters changes nothing else that is drawn.
func (m *refMaker) drawAside(draw func()) {
	own := m.Rand
	m.Rand = rand.New(rand.NewPCG(own.Uint64(), 0))
	draw()
	m.Rand = own
}

var refVocabulary = []string{
	"Jazz", "jazz", "ŻUŻEL", "łódź", "Łódź", "Ángel", "ángel", "niño", "Niño", "100%", "R&B", "a_b", "Zoo", "zoo",
	"étude", "Étude", "beta", "Óscar", "żaba", "Żaba", "x<y",
}

func (m *refMaker) words(count int) string {
	return strings.Join(pickSome(m.Rand, refVocabulary, count), " ")
}

func (m *refMaker) html() string {
	text := m.words(2)
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(text)
	return pickOne(m.Rand, "", "<p>"+escaped+"</p>", `<a href="http://beta.example/100%">`+escaped+"</a>")
}

// texts are in one to three languages; in the others than the original, fields may be missing. Slugs are made
// only for records that have one.
func (m *refMaker) texts(kind calendar.Kind, html, slugged bool) refTexts {
	t := refTexts{pickOne(m.Rand, calendar.English, calendar.English, calendar.Polish), map[calendar.Language]refText{}}
	for _, l := range calendar.Languages {
		if l != t.original && !drawPercent(m.Rand, 30) {
			continue
		}
		m.slugs++
		slug := fmt.Sprintf("%s%s-%d", pickOne(m.Rand, "b_", "b-", "b1"), kind, m.slugs)
		text := refText{title: m.words(2), slug: slug}
		if l != t.original && drawPercent(m.Rand, 30) {
			text.title = ""
		}
		text.description = m.words(m.IntN(2))
		if html {
			text.excerpt, text.description = m.html(), m.html()
		}
		if !slugged || l != t.original && drawPercent(m.Rand, 50) {
			text.slug = ""
		}
		t.in[l] = text
	}
	return t
}

// record makes what events, venues and organizers have in common. Some are due exactly now, or a second later,
// on one of the sites.
func (m *refMaker) record(kind calendar.Kind, id int64) refRecord {
	statuses := slices.Repeat([]calendar.Status{calendar.Publish}, 12)
	statuses = append(statuses, calendar.Future, calendar.Future, calendar.Future, calendar.Draft, calendar.Draft,
		calendar.Pending, calendar.Private, calendar.Private, calendar.Trash, calendar.Trash)
	r := refRecord{id: id, status: pickOne(m.Rand, statuses...)}
	if author := pickOne(m.Rand, m.world.callers...); author.role > refAnonymous {
		r.author = author.id
	}
	// What is published was so before the earliest of the clocks.
	r.published = m.sites[1].now.Add(-time.Duration(m.IntN(40)) * 24 * time.Hour)
	switch r.status {
	case calendar.Future:
		away := pickOne(m.Rand, -time.Hour, 0, 0, 0, time.Second, 24*time.Hour, 1000*24*time.Hour)
		r.published = pickOne(m.Rand, m.sites...).now.Add(away)
	case calendar.Trash:
		r.before = pickOne(m.Rand, calendar.Publish, calendar.Draft, calendar.Private)
	}
	slugged := r.status != calendar.Draft && r.status != calendar.Pending || drawPercent(m.Rand, 50)
	r.texts = m.texts(kind, kind == calendar.Event, slugged)
	if r.status == calendar.Trash {
		for l, text := range r.texts.in {
			text.slug = calendar.TrashedSlug(text.slug)
			r.texts.in[l] = text
		}
	}
	return r
}

// moment is an instant that a filter may get wrong: around midnights, windows and changes of the clock.
func (m *refMaker) moment() time.Time {
	s := pickOne(m.Rand, m.sites...)
	from, to := s.window()
	day := refDate{at: s.now.AddDate(0, 0, m.IntN(500)-60)}
	base := pickOne(m.Rand, from, to, s.now, s.midnight(day, 0), s.midnight(day, 0), day.at,
		time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC), // Warsaw, the doubled hour and around it
		time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC),
		time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC),  // Warsaw, the gap
		time.Date(2027, 3, 14, 7, 0, 0, 0, time.UTC),  // New York, the gap
		time.Date(2027, 11, 7, 5, 30, 0, 0, time.UTC), // New York, the doubled hour
		time.Date(2028, 4, 27, 22, 0, 0, 0, time.UTC)) // Cairo, where midnight is skipped
	return base.Add(pickOne(m.Rand, 0, 0, 0, 0, 0, -time.Second, time.Second, time.Hour, -24*time.Hour, 24*time.Hour))
}

var refZones = []string{
	"UTC", "Europe/Warsaw", "America/New_York", "Africa/Cairo", "Asia/Kathmandu", "Pacific/Kiritimati",
}

func (m *refMaker) event(id int64) *refEvent {
	e := &refEvent{refRecord: m.record(calendar.Event, id), zone: pickOne(m.Rand, refZones...)}
	e.hidden, e.protected = drawPercent(m.Rand, 8), drawPercent(m.Rand, 20)
	e.flags, e.allDay = map[string]bool{}, drawPercent(m.Rand, 20)
	m.drawAside(func() {
		for _, f := range flagFilters {
			e.flags[f.Name] = drawPercent(m.Rand, 30)
		}
	})
	e.stored = map[string]string{}
	m.drawAside(func() {
		for _, f := range wordFilters {
			e.stored[f.Name] = pickOne(m.Rand, f.Words...)
		}
	})
	m.drawAside(func() {
		if drawPercent(m.Rand, 60) {
			e.series = pickOne(m.Rand, m.world.series...).id
		}
	})
	for _, earlier := range m.world.events {
		if drawPercent(m.Rand, 1) && e.parent == 0 {
			e.parent = earlier.id
		}
	}
	if len(m.world.events) > 0 && drawPercent(m.Rand, 15) {
		e.parent = m.world.events[0].id
	}
	around := m.time(e)
	for _, link := range []struct {
		to   *[]int64
		kind calendar.Kind
	}{{&e.venues, calendar.Venue}, {&e.organizers, calendar.Organizer}} {
		// The first half has many events. The others have few or none, mostly such as decide about a filter:
		// scheduled ones, and those around now.
		all := m.world.linked[link.kind]
		links := pickSome(m.Rand, all[:len(all)/2], m.IntN(4))
		if decides := e.status == calendar.Future || around; decides && drawPercent(m.Rand, 40) {
			links = pickSome(m.Rand, all[len(all)/2:], 1)
		} else if drawPercent(m.Rand, 2) {
			links = append(links, pickOne(m.Rand, all[len(all)/2:]...))
		}
		for _, l := range links {
			if l.status != calendar.Trash { // such have lost their events
				*link.to = append(*link.to, l.id)
			}
		}
	}
	for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
		all := m.world.terms[kind]
		links := pickSome(m.Rand, all[:len(all)-4], m.IntN(4))
		if drawPercent(m.Rand, 2) {
			links = append(links, pickOne(m.Rand, all[len(all)-4:]...))
		}
		for _, t := range links {
			e.terms = append(e.terms, t.id)
			if e.status == calendar.Publish {
				t.count++
			}
		}
	}
	return e
}

// setColumns sets the flags and words in a write of the row.
func (e *refEvent) setColumns(row *ent.EventMutation) error {
	for _, f := range flagFilters {
		if err := row.SetField(f.Field, e.flags[f.Name]); err != nil {
			return err
		}
	}
	for _, f := range wordFilters {
		typed, _ := row.Field(f.Field)
		word := reflect.ValueOf(e.stored[f.Name]).Convert(reflect.TypeOf(typed)).Interface()
		if err := row.SetField(f.Field, word); err != nil {
			return err
		}
	}
	return nil
}

// time gives an event its span. A moment in the second pass of a doubled hour is no wall time of that zone, so
// such an event is in UTC. It reports whether the event begins around one of the sites' now.
func (m *refMaker) time(e *refEvent) (around bool) {
	zone, err := time.LoadLocation(e.zone)
	if err != nil {
		panic(err) // the names are constants
	}
	wall := func(t time.Time) time.Time {
		_, offset := t.In(zone).Zone()
		return t.UTC().Add(time.Duration(offset) * time.Second)
	}
	start := m.moment()
	switch {
	case drawPercent(m.Rand, 30):
		start = m.moment().Add(-time.Hour) // and the end is the moment
	case drawPercent(m.Rand, 10):
		start, around = pickOne(m.Rand, m.sites...).now.Add(pickOne(m.Rand, 0, 0, -time.Second)), true
	}
	end := start.Add(pickOne(m.Rand, 0, time.Hour, time.Hour, 30*time.Hour, 20*24*time.Hour))
	e.startWall, e.endWall = wall(start), wall(end)
	if e.allDay {
		e.startWall = e.startWall.Truncate(24 * time.Hour)
		e.endWall = e.endWall.Truncate(24 * time.Hour).Add(24*time.Hour - time.Second)
	} else if !refInstant(e.startWall, zone).Equal(start) || !refInstant(e.endWall, zone).Equal(end) {
		e.zone, zone = "UTC", time.UTC
		e.startWall, e.endWall = start.UTC(), end.UTC()
	}
	e.start, e.end = refInstant(e.startWall, zone), refInstant(e.endWall, zone)
	return around
}

func (m *refMaker) place(kind calendar.Kind, id int64) *refLinked {
	l := &refLinked{refRecord: m.record(kind, id), fields: map[string]string{}}
	names := []string{"phone", "website", "email"}
	if kind == calendar.Venue {
		names = []string{"address", "city", "country", "province", "state", "zip", "phone", "website"}
		l.located = drawPercent(m.Rand, 60)
		l.lat, l.lng = pickOne(m.Rand, 52.2297, 52.4, 0, 89.9, -90, -89.95), pickOne(m.Rand, 21.0122, 0, 179.9, -179.95, -180)
	}
	for _, name := range names {
		if drawPercent(m.Rand, 40) {
			l.fields[name] = m.words(2)
		}
	}
	return l
}

// fill makes the calendar. Callers are there already. Ids of records are dealt like cards, so that they say
// nothing about the order of anything.
func (m *refMaker) fill() {
	w := m.world
	w.linked, w.terms = map[calendar.Kind][]*refLinked{}, map[calendar.Kind][]*refTerm{}
	ids := m.Perm(refCategoryCount + refTagCount)
	for i, id := range ids {
		kind := calendar.Category
		if i >= refCategoryCount {
			kind = calendar.Tag
		}
		t := &refTerm{id: int64(id + 1), texts: m.texts(kind, false, true)}
		if above := w.terms[kind]; kind == calendar.Category && len(above) > 0 && drawPercent(m.Rand, 65) {
			t.parent = pickOne(m.Rand, above...).id
		}
		w.terms[kind] = append(w.terms[kind], t)
	}
	// The slug of one category is the id of another, and those of some tags are those of categories.
	categories, tags := w.terms[calendar.Category], w.terms[calendar.Tag]
	m.reslug(categories[0], fmt.Sprint(categories[1].id))
	for i := range 4 {
		m.reslug(tags[i], categories[i+2].texts.in[categories[i+2].texts.original].slug)
	}

	events := refEventCount
	if m.few {
		events = refFewEvents
	}
	ids = m.Perm(events + refVenueCount + refOrganizerCount + refSeriesCount)
	next := func() int64 {
		id := int64(ids[0] + 1)
		ids = ids[1:]
		return id
	}
	for _, kind := range []calendar.Kind{calendar.Venue, calendar.Organizer} {
		count := refVenueCount
		if kind == calendar.Organizer {
			count = refOrganizerCount
		}
		for i := range count {
			id := next()
			l := m.place(kind, id)
			for i == 0 && l.status != calendar.Trash { // one at least
				l = m.place(kind, id)
			}
			w.linked[kind] = append(w.linked[kind], l)
		}
	}
	m.drawAside(func() {
		for range refSeriesCount {
			w.series = append(w.series, new(m.record(calendar.Series, next())))
		}
	})
	for range events {
		w.events = append(w.events, m.event(next()))
	}
}

func (m *refMaker) reslug(t *refTerm, slug string) {
	text := t.texts.in[t.texts.original]
	text.slug = slug
	t.texts.in[t.texts.original] = text
}

// firstNominal is the first nominal start of each series.
var firstNominal = calendar.WallAt(2026, 10, 1, 18, 0, 0)

// nominal returns the nominal start of an occurrence, which no other one has.
func (e *refEvent) nominal() calendar.Wall { return firstNominal.AddDate(0, 0, int(e.id)) }

// store writes the calendar as rows, as the service would have left them.
func (w *refWorld) store(t *testing.T, api *apitest.API) {
	t.Helper()
	ctx, db, written := t.Context(), api.Store.Ent, apitest.Now.AddDate(0, 0, -50)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var records []*ent.RecordCreate
	var slugs []*ent.SlugCreate
	claim := func(kind calendar.Kind, owner, trashed int64, texts refTexts) calendar.LanguageSet {
		for _, l := range calendar.Languages {
			if slug := texts.in[l].slug; slug != "" {
				slugs = append(slugs, db.Slug.Create().SetKind(kind).SetSlug(slug).SetOwnerID(owner).
					SetLanguage(l).SetTrashedID(trashed))
			}
		}
		var langs []calendar.Language
		for l := range texts.in {
			langs = append(langs, l)
		}
		return calendar.LanguagesOf(langs...)
	}
	record := func(kind calendar.Kind, r *refRecord) (author *int64, languages calendar.LanguageSet, own refText) {
		records = append(records, db.Record.Create().SetID(r.id).SetKind(kind))
		var trashed int64
		if r.status == calendar.Trash {
			trashed = r.id
		}
		if r.author != 0 {
			author = &r.author
		}
		return author, claim(kind, r.id, trashed, r.texts), r.texts.in[r.texts.original]
	}
	others := func(texts refTexts, add func(calendar.Language, refText)) {
		for _, l := range calendar.Languages {
			if text, ok := texts.in[l]; ok && l != texts.original {
				add(l, text)
			}
		}
	}

	for _, kind := range []calendar.Kind{calendar.Category, calendar.Tag} {
		for _, term := range w.terms[kind] {
			languages, own := claim(kind, term.id, 0, term.texts), term.texts.in[term.texts.original]
			create := db.Term.Create().SetID(term.id).SetTaxonomy(kind).SetCreatedAt(written).SetModifiedAt(written).
				SetLanguage(term.texts.original).SetLanguages(languages).SetEventCount(term.count).SetName(own.title).
				SetNameKey(calendar.FoldName(own.title)).SetDescription(own.description).SetSlug(own.slug)
			if term.parent != 0 {
				create.SetParentID(term.parent)
			}
			do(create.Exec(ctx))
			others(term.texts, func(l calendar.Language, text refText) {
				do(db.TermTranslation.Create().SetTermID(term.id).SetLanguage(l).SetName(text.title).
					SetNameKey(calendar.FoldName(text.title)).SetDescription(text.description).SetSlug(text.slug).Exec(ctx))
			})
		}
	}

	var venues []*ent.VenueCreate
	var inVenues []*ent.VenueTranslationCreate
	for _, v := range w.linked[calendar.Venue] {
		author, languages, own := record(calendar.Venue, &v.refRecord)
		create := db.Venue.Create().SetID(v.id).SetNillableAuthorID(author).SetStatus(v.status).
			SetStatusBeforeTrash(v.before).SetPublishedAt(v.published).SetLanguage(v.texts.original).
			SetLanguages(languages).SetCreatedAt(written).SetModifiedAt(written).SetName(own.title).
			SetNameKey(calendar.FoldName(own.title)).SetDescription(own.description).SetSlug(own.slug).
			SetAddress(v.fields["address"]).SetCity(v.fields["city"]).SetCountry(v.fields["country"]).
			SetProvince(v.fields["province"]).SetState(v.fields["state"]).SetZip(v.fields["zip"]).
			SetPhone(v.fields["phone"]).SetWebsite(v.fields["website"])
		if v.located {
			create.SetLatitude(v.lat).SetLongitude(v.lng)
		}
		venues = append(venues, create)
		others(v.texts, func(l calendar.Language, text refText) {
			inVenues = append(inVenues, db.VenueTranslation.Create().SetVenueID(v.id).SetLanguage(l).SetName(text.title).
				SetNameKey(calendar.FoldName(text.title)).SetDescription(text.description).SetSlug(text.slug))
		})
	}
	var organizers []*ent.OrganizerCreate
	var inOrganizers []*ent.OrganizerTranslationCreate
	for _, o := range w.linked[calendar.Organizer] {
		author, languages, own := record(calendar.Organizer, &o.refRecord)
		organizers = append(organizers, db.Organizer.Create().SetID(o.id).SetNillableAuthorID(author).SetStatus(o.status).
			SetStatusBeforeTrash(o.before).SetPublishedAt(o.published).SetLanguage(o.texts.original).
			SetLanguages(languages).SetCreatedAt(written).SetModifiedAt(written).SetName(own.title).
			SetNameKey(calendar.FoldName(own.title)).SetDescription(own.description).SetSlug(own.slug).
			SetPhone(o.fields["phone"]).SetWebsite(o.fields["website"]).SetEmail(o.fields["email"]))
		others(o.texts, func(l calendar.Language, text refText) {
			inOrganizers = append(inOrganizers, db.OrganizerTranslation.Create().SetOrganizerID(o.id).SetLanguage(l).
				SetName(text.title).SetNameKey(calendar.FoldName(text.title)).SetDescription(text.description).
				SetSlug(text.slug))
		})
	}
	for _, r := range w.series {
		author, languages, own := record(calendar.Series, r)
		do(db.Series.Create().SetID(r.id).SetNillableAuthorID(author).SetStatus(r.status).SetStatusBeforeTrash(r.before).
			SetPublishedAt(r.published).SetLanguage(r.texts.original).SetLanguages(languages).SetCreatedAt(written).
			SetModifiedAt(written).SetSlug(own.slug).Exec(ctx))
		template, err := ent.EncodeTemplate(&ent.Event{Language: r.texts.original, Title: own.title})
		do(err)
		do(db.SeriesPhase.Create().SetSeriesID(r.id).SetPosition(0).SetStartWall(firstNominal).
			SetEndWall(firstNominal.Add(time.Hour)).SetTimezone("UTC").SetRrule("FREQ=DAILY").
			SetTemplate(template).Exec(ctx))
	}
	var events []*ent.EventCreate
	var inEvents []*ent.EventTranslationCreate
	var atVenues []*ent.EventVenueCreate
	var byOrganizers []*ent.EventOrganizerCreate
	var ofTerms []*ent.EventTermCreate
	for _, e := range w.events {
		author, languages, own := record(calendar.Event, &e.refRecord)
		create := db.Event.Create().SetID(e.id).SetNillableAuthorID(author).SetStatus(e.status).
			SetStatusBeforeTrash(e.before).SetPublishedAt(e.published).SetLanguage(e.texts.original).
			SetLanguages(languages).SetCreatedAt(written).SetModifiedAt(written).SetTitle(own.title).
			SetExcerpt(own.excerpt).SetDescription(own.description).SetSlug(own.slug).SetTimezone(e.zone).
			SetStartWall(calendar.WallOf(e.startWall)).SetEndWall(calendar.WallOf(e.endWall)).
			SetStartsAt(e.start.UTC()).SetEndsAt(e.end.UTC()).SetAllDay(e.allDay).SetHideFromListings(e.hidden)
		do(e.setColumns(create.Mutation()))
		if e.protected {
			create.SetPasswordHash(edit.HashPassword(api.Key, e.id, refPassword))
		}
		if e.parent != 0 {
			create.SetParentID(e.parent)
		}
		if e.series != 0 {
			create.SetSeriesID(e.series).SetOriginalStart(e.nominal())
		}
		events = append(events, create)
		others(e.texts, func(l calendar.Language, text refText) {
			inEvents = append(inEvents, db.EventTranslation.Create().SetEventID(e.id).SetLanguage(l).SetTitle(text.title).
				SetExcerpt(text.excerpt).SetDescription(text.description).SetSlug(text.slug))
		})
		for i, id := range e.venues {
			atVenues = append(atVenues, db.EventVenue.Create().SetEventID(e.id).SetVenueID(id).SetPosition(i))
		}
		for i, id := range e.organizers {
			byOrganizers = append(byOrganizers, db.EventOrganizer.Create().SetEventID(e.id).SetOrganizerID(id).SetPosition(i))
		}
		for _, id := range e.terms {
			ofTerms = append(ofTerms, db.EventTerm.Create().SetEventID(e.id).SetTermID(id))
		}
	}
	do(db.Record.CreateBulk(records...).Exec(ctx))
	do(db.Venue.CreateBulk(venues...).Exec(ctx))
	do(db.VenueTranslation.CreateBulk(inVenues...).Exec(ctx))
	do(db.Organizer.CreateBulk(organizers...).Exec(ctx))
	do(db.OrganizerTranslation.CreateBulk(inOrganizers...).Exec(ctx))
	do(db.Event.CreateBulk(events...).Exec(ctx))
	do(db.EventTranslation.CreateBulk(inEvents...).Exec(ctx))
	do(db.EventVenue.CreateBulk(atVenues...).Exec(ctx))
	do(db.EventOrganizer.CreateBulk(byOrganizers...).Exec(ctx))
	do(db.EventTerm.CreateBulk(ofTerms...).Exec(ctx))
	do(db.Slug.CreateBulk(slugs...).Exec(ctx))
}
