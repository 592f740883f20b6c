package apitest

import (
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// Example fills the database with the example calendar that the golden files show. It inserts rows without package
// edit, so that tests of reads do not depend on writes. For sites in English, a process writes the rows once per
// database engine and copies them to further databases.
func (a *API) Example(t testing.TB) {
	t.Helper()
	if a.Site.Language == calendar.English {
		a.copyExample(t)
	} else {
		a.writeExample(t)
	}
}

func (a *API) writeExample(t testing.TB) {
	t.Helper()
	a.SignIn(t, "admin", calendar.Administrator)
	tx, err := a.Store.Ent.Tx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x := example{t: t, a: a, db: tx.Client()}
	x.records()
	x.terms()
	x.venues()
	x.organizers()
	x.image()
	x.events()
	x.do(tx.Commit())
	a.Rewritten()
	a.Reindex(t)
}

// recordPaths replaces names of records in request paths by the ids of records in the example: "/events/{jazzNight}".
var recordPaths = strings.NewReplacer(
	"{morningSong}", "1",
	"{eveningSong}", "2",
	"{choir}", "3",
	"{organHour}", "4",
	"{openStage}", "5",
	"{cityRun}", "6",
	"{longGone}", "7",
	"{hiddenEvent}", "8",
	"{jazzNight}", "15",
	"{minimalEvent}", "16",
	"{musicWalk}", "17",
	"{museumNight}", "18",
	"{jazzFestival}", "19",
	"{secretPlans}", "20",
	"{trashedEvent}", "21",
	"{membersOnly}", "22",
	"{grandHall}", "10",
	"{bareVenue}", "11",
	"{alice}", "12",
	"{bob}", "13",
	"{poster}", "14",
	"{music}", "2",
	"{jazz}", "3",
	"{freeEntry}", "4",
	"{sport}", "5",
	"{emptyCategory}", "6",
)

// Named replaces names such as {jazzNight} in a request path by the ids of records in the example.
func Named(path string) string { return recordPaths.Replace(path) }

type example struct {
	t  testing.TB
	a  *API
	db *ent.Client
}

func (x example) do(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func exampleTime(day, hour, minute int) time.Time {
	return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC)
}

// writtenAt is the time at which most records of the example were written.
var writtenAt = exampleTime(20, 9, 30)

// adminID is the user id of the example's administrator.
const adminID = int64(1)

// membersOnlyID and membersOnlyPassword are the id and the password of the example's event with a password.
const (
	membersOnlyID       = int64(22)
	membersOnlyPassword = "sesame"
)

func (x example) records() {
	kinds := map[int64]calendar.Kind{
		10: calendar.Venue, 11: calendar.Venue, 12: calendar.Organizer, 13: calendar.Organizer,
		14: calendar.Image,
	}
	for id := int64(1); id <= 24; id++ {
		kind, ok := kinds[id]
		if !ok {
			kind = calendar.Event
		}
		x.do(x.db.Record.Create().SetID(id).SetKind(kind).Exec(x.t.Context()))
	}
}

func (x example) slug(kind calendar.Kind, slug string, owner int64) {
	x.do(x.db.Slug.Create().SetKind(kind).SetSlug(slug).SetOwnerID(owner).SetLanguage(calendar.English).
		Exec(x.t.Context()))
}

func (x example) terms() {
	for _, term := range []struct {
		id                      int64
		taxonomy                calendar.Kind
		name, slug, description string
		parent                  int64
		count                   int
	}{
		{2, calendar.Category, "Music", "music", "Music events", 0, 7},
		{3, calendar.Category, "Jazz", "jazz", "", 2, 2},
		{4, calendar.Tag, "Free entry", "free-entry", "", 0, 2},
		{5, calendar.Category, "Sport", "sport", "", 0, 1},
		{6, calendar.Category, "Empty", "empty", "", 0, 0},
	} {
		create := x.db.Term.Create().SetID(term.id).SetTaxonomy(term.taxonomy).SetName(term.name).
			SetNameKey(calendar.FoldName(term.name)).SetSlug(term.slug).SetDescription(term.description).
			SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).
			SetEventCount(term.count)
		if term.parent != 0 {
			create.SetParentID(term.parent)
		}
		x.do(create.Exec(x.t.Context()))
		x.slug(term.taxonomy, term.slug, term.id)
	}
}

func (x example) venues() {
	x.do(x.db.Venue.Create().SetID(10).SetAuthorID(adminID).SetStatus(calendar.Publish).SetPublishedAt(writtenAt).
		SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).
		SetName("Grand Hall").SetNameKey("grand hall").SetDescription("A big hall").SetSlug("grand-hall").
		SetAddress("1 Main St").SetCity("Warsaw").SetCountry("Poland").SetProvince("Mazowieckie").SetZip("00-001").
		SetPhone("+48 22 000 00 00").SetWebsite("https://hall.example.org").
		SetLatitude(52.2318).SetLongitude(21.0067).Exec(x.t.Context()))
	x.slug(calendar.Venue, "grand-hall", 10)
	x.do(x.db.Venue.Create().SetID(11).SetAuthorID(adminID).SetStatus(calendar.Publish).SetPublishedAt(writtenAt).
		SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).
		SetName("Bare Venue").SetNameKey("bare venue").SetSlug("bare-venue").Exec(x.t.Context()))
	x.slug(calendar.Venue, "bare-venue", 11)
}

func (x example) organizers() {
	x.do(x.db.Organizer.Create().SetID(12).SetAuthorID(adminID).SetStatus(calendar.Publish).SetPublishedAt(writtenAt).
		SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).
		SetName("Alice & Co").SetNameKey("alice & co").SetDescription("Concert agency").SetSlug("alice-co").
		SetPhone("+48 500 000 000").SetWebsite("https://alice.example.org").SetEmail("alice@example.org").
		Exec(x.t.Context()))
	x.slug(calendar.Organizer, "alice-co", 12)
	x.do(x.db.Organizer.Create().SetID(13).SetAuthorID(adminID).SetStatus(calendar.Publish).SetPublishedAt(writtenAt).
		SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).
		SetName("Bob").SetNameKey("bob").SetSlug("bob").Exec(x.t.Context()))
	x.slug(calendar.Organizer, "bob", 13)
}

func (x example) image() {
	size := func(name string, w, h int, bytes int64) calendar.ImageSize {
		return calendar.ImageSize{Path: "2026/11/" + name, MIMEType: "image/png", Width: w, Height: h, Filesize: bytes}
	}
	x.do(x.db.Image.Create().SetID(14).SetAuthorID(adminID).SetPath("2026/11/pic.png").SetExtension("png").
		SetMimeType("image/png").SetWidth(640).SetHeight(480).SetFilesize(1970).SetCreatedAt(writtenAt).
		SetSizes(map[string]calendar.ImageSize{
			"thumbnail": size("pic-150x150.png", 150, 150, 489),
			"medium":    size("pic-300x225.png", 300, 225, 845),
		}).Exec(x.t.Context()))
}

// row is an event of the example. change sets further columns, nil for none.
type row struct {
	id          int64
	title, slug string
	start, end  calendar.Wall
	zone        string
	terms       []int64
	change      func(*ent.EventCreate)
}

func exampleWall(month time.Month, day, hour, minute, second int) calendar.Wall {
	return calendar.WallAt(2026, month, day, hour, minute, second)
}

func (x example) events() {
	dec := time.December
	for _, e := range []row{
		{
			id: 15, title: "Winter Jazz & Blues", slug: "winter-jazz-blues", zone: "Europe/Warsaw",
			start: exampleWall(dec, 5, 18, 0, 0), end: exampleWall(dec, 5, 20, 30, 0), terms: []int64{2, 3, 4},
			change: func(c *ent.EventCreate) {
				c.SetDescription("Hello <b>world</b>").SetExcerpt("Short").SetImageID(14).SetModifiedAt(exampleTime(21, 10, 0)).
					SetCost(calendar.Cost{Symbol: "$", Position: calendar.Prefix, Prices: []string{"12.50", "20"}}).
					SetWebsite("https://event.example.org/x").SetShowMap(true).SetShowMapLink(true).
					SetSticky(true).SetFeatured(true).SetTicketed(true).SetLanguages("en,pl")
			},
		},
		{
			id: 16, title: "Minimal event", slug: "minimal-event", start: exampleWall(dec, 1, 10, 0, 0), end: exampleWall(dec, 1, 12, 0, 0),
			change: func(c *ent.EventCreate) { c.SetPublishedAt(Now).SetModifiedAt(Now) },
		},
		{
			id: 17, title: "Walk with music", slug: "walk-with-music", terms: []int64{2},
			start: exampleWall(dec, 12, 9, 0, 0), end: exampleWall(dec, 12, 11, 0, 0),
			change: func(c *ent.EventCreate) {
				c.SetDescription("Meet at the gate").SetCost(calendar.Cost{Prices: []string{"0"}})
			},
		},
		{
			id: 18, title: "Night of museums", slug: "night-of-museums",
			start: exampleWall(dec, 20, 18, 0, 0), end: exampleWall(dec, 21, 1, 0, 0),
			change: func(c *ent.EventCreate) { c.SetPublishedAt(Now).SetModifiedAt(Now) },
		},
		{
			id: 19, title: "Jazz festival", slug: "jazz-festival", terms: []int64{3},
			start: exampleWall(dec, 10, 0, 0, 0), end: exampleWall(dec, 11, 23, 59, 59),
			change: func(c *ent.EventCreate) { c.SetAllDay(true) },
		},
		{
			id: 20, title: "Secret plans", slug: "", start: exampleWall(dec, 24, 10, 0, 0), end: exampleWall(dec, 24, 11, 0, 0),
			change: func(c *ent.EventCreate) { c.SetStatus(calendar.Draft) },
		},
		{
			id: 21, title: "To delete", slug: "to-delete__trashed", start: exampleWall(dec, 1, 10, 0, 0), end: exampleWall(dec, 1, 12, 0, 0),
			change: func(c *ent.EventCreate) {
				c.SetStatus(calendar.Trash).SetStatusBeforeTrash(calendar.Publish).SetModifiedAt(Now)
			},
		},
		{
			id: membersOnlyID, title: "Members only", slug: "members-only", start: exampleWall(dec, 4, 10, 0, 0), end: exampleWall(dec, 4, 11, 0, 0),
			change: func(c *ent.EventCreate) {
				c.SetPasswordHash(edit.HashPassword(x.a.Key, membersOnlyID, membersOnlyPassword)).SetDescription("Handshake").SetTicketed(true)
			},
		},
		// The rest fills pages of categories 2 and 3.
		{id: 1, title: "Morning song", slug: "morning-song", terms: []int64{2}, start: exampleWall(dec, 2, 8, 0, 0), end: exampleWall(dec, 2, 9, 0, 0)},
		{id: 2, title: "Evening song", slug: "evening-song", terms: []int64{2}, start: exampleWall(dec, 2, 18, 0, 0), end: exampleWall(dec, 2, 19, 0, 0)},
		{id: 3, title: "Choir", slug: "choir", terms: []int64{2}, start: exampleWall(dec, 3, 18, 0, 0), end: exampleWall(dec, 3, 19, 0, 0)},
		{id: 4, title: "Organ hour", slug: "organ-hour", terms: []int64{2}, start: exampleWall(dec, 13, 18, 0, 0), end: exampleWall(dec, 13, 19, 0, 0)},
		{id: 5, title: "Open stage", slug: "open-stage", terms: []int64{2}, start: exampleWall(dec, 14, 18, 0, 0), end: exampleWall(dec, 14, 19, 0, 0)},
		{id: 6, title: "City run", slug: "city-run", terms: []int64{5, 4}, start: exampleWall(dec, 15, 9, 0, 0), end: exampleWall(dec, 15, 12, 0, 0)},
		{id: 7, title: "Long gone", slug: "long-gone", start: exampleWall(time.October, 1, 9, 0, 0), end: exampleWall(time.October, 1, 12, 0, 0)},
		{
			id: 8, title: "Behind the scenes", slug: "behind-the-scenes", start: exampleWall(dec, 16, 9, 0, 0), end: exampleWall(dec, 16, 12, 0, 0),
			change: func(c *ent.EventCreate) { c.SetHideFromListings(true) },
		},
	} {
		x.event(e)
	}
	x.do(x.db.EventTranslation.Create().SetEventID(15).SetLanguage(calendar.Polish).
		SetTitle("Zimowy jazz i blues").SetSlug("zimowy-jazz").Exec(x.t.Context()))
	x.do(x.db.Slug.Create().SetKind(calendar.Event).SetSlug("zimowy-jazz").SetOwnerID(15).
		SetLanguage(calendar.Polish).Exec(x.t.Context()))
	x.do(x.db.EventVenue.CreateBulk(
		x.db.EventVenue.Create().SetEventID(15).SetVenueID(10),
		x.db.EventVenue.Create().SetEventID(18).SetVenueID(10),
		x.db.EventVenue.Create().SetEventID(19).SetVenueID(11),
		x.db.EventVenue.Create().SetEventID(18).SetVenueID(11).SetPosition(1),
	).Exec(x.t.Context()))
	x.do(x.db.EventOrganizer.CreateBulk(
		x.db.EventOrganizer.Create().SetEventID(15).SetOrganizerID(12),
		x.db.EventOrganizer.Create().SetEventID(15).SetOrganizerID(13).SetPosition(1),
		x.db.EventOrganizer.Create().SetEventID(18).SetOrganizerID(13),
	).Exec(x.t.Context()))
}

func (x example) event(e row) {
	if e.zone == "" {
		e.zone = "UTC"
	}
	zone, err := calendar.ParseZone(e.zone)
	x.do(err)
	span := calendar.Span{Start: e.start, End: e.end, Zone: zone}
	create := x.db.Event.Create().SetID(e.id).SetAuthorID(adminID).SetStatus(calendar.Publish).
		SetPublishedAt(writtenAt).SetLanguage(calendar.English).SetLanguages("en").
		SetCreatedAt(writtenAt).SetModifiedAt(writtenAt).SetTitle(e.title).SetSlug(e.slug).
		SetStartWall(e.start).SetEndWall(e.end).SetTimezone(e.zone).
		SetStartsAt(span.StartsAt()).SetEndsAt(span.EndsAt())
	if e.change != nil {
		e.change(create)
	}
	x.do(create.Exec(x.t.Context()))
	if e.slug != "" && e.slug != "to-delete__trashed" {
		x.slug(calendar.Event, e.slug, e.id)
	}
	if e.slug == "to-delete__trashed" {
		x.do(x.db.Slug.Create().SetKind(calendar.Event).SetSlug(e.slug).SetOwnerID(e.id).
			SetLanguage(calendar.English).SetTrashedID(e.id).Exec(x.t.Context()))
	}
	for _, id := range e.terms {
		x.do(x.db.EventTerm.Create().SetEventID(e.id).SetTermID(id).Exec(x.t.Context()))
	}
}
