package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
)

// Calendar has the records that a Reader read from a source.
type Calendar struct {
	Events []*Event
	// Parents are ancestors of the categories of events and of Terms. Neither has them itself.
	Parents []*Term
	// Terms, Venues and Organizers are the records in the lists of the source. Events may have others.
	Terms      []*Term
	Venues     []*Venue
	Organizers []*Organizer
	Problems   []Problem
	Notices    []string
	// Gone are the source ids of events that the source has without any date.
	Gone []string
	// Paths are the bases of the pages of a WordPress site where they differ from those of this program: events, event,
	// venue, organizer, category and tag. Letters beyond ASCII are percent-encoded in lower case.
	Paths map[string]string

	seen map[string]bool // source ids of the events read so far
}

// CommonZone returns the time zone of more than half of the events. It reports false if there is none. UTC does not count,
// because many programs write all times in it.
func (c *Calendar) CommonZone() (calendar.Zone, bool) {
	events := map[string]int{}
	for _, e := range c.Events {
		zone := e.Span.Zone.String()
		events[zone]++
		if zone != calendar.UTC().String() && 2*events[zone] > len(c.Events) {
			return e.Span.Zone, true
		}
	}
	return calendar.Zone{}, false
}

// Page is one page of the events of a service.
type Page struct {
	Events   []*Event
	Next     string // URL of the next page; "" means that this is the last page
	Total    int    // number of events on all pages; 0 means unknown
	Problems []Problem
	Notices  []string
}

// Origin identifies a record of the source.
type Origin struct {
	Key   string // source id, which is the same in every import
	Where string // position of the record in the source, for messages
	// Language is the language of the title. "" means that the source does not name it.
	Language calendar.Language
	// Languages are all languages in which the record has texts. "" means that the source does not name them.
	Languages calendar.LanguageSet
	// NameOnly reports whether the source knows little more than the name of a record. An existing record then
	// does not change.
	NameOnly bool

	// Number is the id at the source. 0 means that it has none that an import can keep.
	Number int64
	// Here is the id of the record in this calendar, if a table names it. 0 means unknown.
	Here int64
	// BySlug reports whether the name of a term may be a slug of this calendar.
	BySlug bool
}

func (o *Origin) source() *Origin { return o }

// Event is an event of the source. Fields that the source did not send are nil.
type Event struct {
	Origin
	Title                string
	Description, Excerpt *string
	Slug                 string
	Status               *calendar.Status
	Published, Modified  *time.Time
	Span                 calendar.Span
	Cost                 *calendar.Cost
	Website              *Website
	HasImage             bool // the source says whether there is an image
	Image                *Image

	ent.EventValues   // plain fields
	EventStatusReason *string

	// Page is the address of the event's page. "" means that the source sent none.
	Page string
	// GUID identifies the event in feeds of the source, and UID in its iCalendar files. "" means unknown.
	GUID, UID string

	HasVenues, HasOrganizers, HasCategories, HasTags bool // the source says which it has
	Venues                                           []*Venue
	Organizers                                       []*Organizer
	Terms                                            []*Term

	// Series is the recurrence of the event. Nil means a single event.
	Series *Recurrence
	// Protected reports whether the event needs a password at the source. Then the source shows only some of
	// its fields.
	Protected bool
	// InFile reports whether the event comes from an iCalendar file. Such a file has all dates of the event,
	// and identifies venues, organizers and categories by name only.
	InFile bool
	// Altered reports whether something of the event is left out or changed, which a notice says.
	Altered bool
	// Incomplete reports whether the file ends too early: something of the event may lack. A stored series keeps its dates.
	Incomplete bool
	// Replaces is the date of a series that this event replaces, if the source does not have the series itself.
	// Otherwise it is nil.
	Replaces *replacedDate
	// Nominal is the nominal start of a date of a series, as a wall time in the zone of the series.
	Nominal calendar.Wall
	// SeriesPage is the host and path of the page of the recurring event if this is one of its dates. "" means
	// another event.
	SeriesPage string
	// Edited is the row of a table that Almanac wrote, which names an event of this calendar. Otherwise it is nil.
	Edited *editedRow
}

// isAltered reports whether the event or one of its dates is altered.
func (e *Event) isAltered() bool {
	return e.Altered || e.Series != nil && slices.ContainsFunc(e.Series.Changed, func(o *Event) bool { return o.Altered })
}

// Recurrence is the recurrence of an event of the source.
type Recurrence struct {
	Schedule recur.Schedule
	// Changed are the dates that have fields of their own at the source. A date that differs from the series is
	// an exception.
	Changed []*Event
	// Single are the dates as separate events, from a source that has an id for each. Such a source may have
	// more dates than it sent.
	Single []*Event
	// Typical reports whether more than half of the single dates have the fields of the event. Only then do the
	// fields of a stored series change.
	Typical bool
	// Partial reports whether the source may have more dates than it sent. The import then removes no date and
	// no exception.
	Partial bool
}

// replacedDate identifies a date of a series that an event of the source replaces. The source has that event,
// but not the series itself.
type replacedDate struct {
	series string // source id of the series
	date   icalDate
}

// Website is the website of an event. Own reports that the source sent its own page of the event: then URL is
// empty, and the event has no website.
type Website struct {
	URL string
	Own bool
}

// Venue is a venue of the source. Fields that the source did not send are empty.
type Venue struct {
	Origin
	Name, Description, Slug                             string
	Page                                                string // address of its page
	Status                                              *calendar.Status
	Published, Modified                                 *time.Time
	Address, City, Country, Province, State, Zip, Phone string
	StateProvince                                       string // "" means that it follows from Province, State and Country
	Website                                             string
	Image                                               *Image
	ShowMap, ShowMapLink                                bool
	Latitude, Longitude                                 *float64 // degrees; both are set or both are nil
}

// Organizer is an organizer of the source. Fields that the source did not send are empty.
type Organizer struct {
	Origin
	Name, Description, Slug string
	Page                    string // address of its page
	Status                  *calendar.Status
	Published, Modified     *time.Time
	Phone, Email, Website   string
	Image                   *Image
}

// Term is a category or tag of the source. Fields that the source did not send are empty.
type Term struct {
	Origin
	Kind                    calendar.Kind
	Name, Slug, Description string
	Parent                  string // source id of the parent; "" means the top level
	ParentURL               string // address of the parent; "" means that the source sent none
}

// Image is an image of the source, which may not be downloaded yet.
type Image struct {
	Origin
	URL           string
	Extension     string
	MIMEType      string
	Width, Height int   // pixels
	Filesize      int64 // bytes
	Sizes         map[string]calendar.ImageSize
}

func (e *Event) shown() string     { return e.Title }
func (v *Venue) shown() string     { return v.Name }
func (o *Organizer) shown() string { return o.Name }
func (t *Term) shown() string      { return t.Name }
func (i *Image) shown() string     { return i.URL }

// Decode reads page number of a list of events. An invalid event becomes a Problem, and Decode continues with
// the next one. It ignores unknown members. Times without a zone and without a time in UTC are in the zone of the
// site. It returns an error if data is not a page of events.
func Decode(data []byte, number int, site calendar.Site) (*Page, error) {
	return decodePage(bytes.NewReader(bytes.TrimPrefix(data, byteOrderMark)), number, site)
}

// decodePage is Decode for a stream. It has the JSON of only one event in memory at a time.
func decodePage(from io.Reader, number int, site calendar.Site) (*Page, error) {
	p := &Page{}
	index := 0
	top, err := readList(from, "events", func(raw json.RawMessage) {
		index++
		log := &journal{}
		e := decodeEvent(raw, number, index, site, log)
		for _, n := range log.notices {
			p.Notices = append(p.Notices, e.Where+": "+n)
		}
		if len(log.faults) > 0 {
			p.Problems = append(p.Problems, Problem{Kind: calendar.Event, Where: e.Where, Reason: joinErrors(log.faults)})
			return
		}
		p.Events = append(p.Events, e)
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errEmptyPage, err)
	}
	log := &journal{}
	o := object{top, "", log}
	if _, ok := top["events"]; !ok {
		if code := o.raw("code"); code != "" {
			return nil, fmt.Errorf("%w but the error %s: %s", errEmptyPage, code, o.raw("message"))
		}
		return nil, fmt.Errorf(`%w: it has no "events"`, errEmptyPage)
	}
	p.Next, p.Total = o.raw("next_rest_url"), int(o.size("total"))
	// A missing next page or total is not a reason to lose the events.
	var notices []string
	for _, fault := range log.faults {
		notices = append(notices, fmt.Sprintf("page %d: %v", number, fault))
	}
	p.Notices = append(notices, p.Notices...)
	return p, nil
}

// readList reads a JSON object and calls each for every item of its member name, which must be a list. It
// returns the other members, and null for that one.
func readList(from io.Reader, name string, each func(json.RawMessage)) (map[string]json.RawMessage, error) {
	top, err := readMembers(json.NewDecoder(from), name, each)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return top, err
}

// readMembers is readList for a decoder. If the text ends too early, its error is io.EOF or io.ErrUnexpectedEOF.
func readMembers(dec *json.Decoder, name string, each func(json.RawMessage)) (map[string]json.RawMessage, error) {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, cmp.Or(err, errNotObject)
	}
	top := make(map[string]json.RawMessage)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		text, _ := key.(string) // the keys of an object are texts
		if text != name {
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return nil, err
			}
			top[text] = value
			continue
		}
		if t, err := dec.Token(); err != nil || t != json.Delim('[') {
			return nil, cmp.Or(err, fmt.Errorf("%q is not a list", name))
		}
		for dec.More() {
			var item json.RawMessage
			if err := dec.Decode(&item); err != nil {
				return nil, err
			}
			each(item)
		}
		if _, err := dec.Token(); err != nil {
			return nil, err
		}
		top[name] = json.RawMessage("null")
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, cmp.Or(err, errors.New("text after the end"))
	}
	return top, nil
}

// reader reads one event and the records in it.
type reader struct {
	prefix string // prefix of the source ids: the host and path of the service
	root   string // address of the API of the service; "" means unknown
	where  string
	site   calendar.Site
}

func decodeEvent(raw json.RawMessage, page, index int, site calendar.Site, log *journal) *Event {
	e := &Event{Origin: Origin{Where: recordPosition(page, index, "")}}
	o, ok := newObject(raw, "", log)
	if !ok {
		log.faults = append(log.faults, errNotObject)
		return e
	}
	id := o.id("id")
	e.Where = recordPosition(page, index, id)
	d := reader{prefix: prefixOf(o), where: e.Where, site: site}
	if root, ok := strings.CutSuffix(o.raw("rest_url"), "/events/"+id); ok {
		d.root = root
	}
	e.Origin = d.origin(o, id, "")
	e.Title = o.named("title")
	e.Description, e.Excerpt = o.sentHTML("description"), o.sentHTML("excerpt")
	e.Slug = o.slug("slug")
	e.Span = d.span(o)
	e.Page = o.page()
	e.SeriesPage = seriesPageOf(o.raw("url"))
	e.Status = o.status()
	e.Published = o.instant("date_utc", "date", e.Span.Zone)
	e.Modified = o.instant("modified_utc", "modified", e.Span.Zone)
	if o.has("cost") || o.has("cost_details") {
		e.Cost = new(o.cost(site))
	}
	if o.has("website") {
		e.Website = &Website{URL: o.link("website")}
		if e.Website.URL != "" && e.Website.URL == o.raw("url") {
			e.Website = &Website{Own: true}
		}
	}
	if e.HasImage = o.has("image"); e.HasImage {
		e.Image = d.image(o)
	}
	for _, f := range e.Plain() {
		o.setPlain(f, o.flag)
	}
	if o.has("event_status_reason") {
		e.EventStatusReason = new(o.inert("event_status_reason", maxText))
	}
	e.HasVenues, e.HasOrganizers = o.has("venue"), o.has("organizer")
	for _, v := range o.objects("venue") {
		e.Venues = append(e.Venues, d.venue(v))
	}
	for _, v := range o.objects("organizer") {
		e.Organizers = append(e.Organizers, d.organizer(v))
	}
	e.HasCategories, e.HasTags = o.has("categories"), o.has("tags")
	for _, t := range o.objects("categories") {
		e.Terms = append(e.Terms, d.term(t, calendar.Category))
	}
	for _, t := range o.objects("tags") {
		e.Terms = append(e.Terms, d.term(t, calendar.Tag))
	}
	if o.isProtected() {
		e.protect()
	}
	return e
}

// setPlain reads a plain field, a boolean with flag. A text that is null is empty.
func (o object) setPlain(f ent.PlainField, flag func(name string) *bool) {
	_, said := o.members[f.Name]
	switch value := f.Value.(type) {
	case **bool:
		*value = flag(f.Name)
	case **int:
		*value = o.integer(f)
	case **string:
		switch {
		case !said:
		case f.Address:
			*value = new(o.address(f.Name))
		default:
			*value = new(o.inert(f.Name, f.Longest))
		}
	case **calendar.EventStatus:
		*value = o.eventStatus()
	case **calendar.Attendance:
		*value = o.attendance()
	}
}

// integer reads an integer within the bounds of a field. Nil means that there is none.
func (o object) integer(f ent.PlainField) *int {
	text := strings.TrimSpace(o.raw(f.Name))
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.Min || n > f.Max {
		o.notice(f.Name, fmt.Sprintf("%q is no integer between %d and %d; left out", shorten(text), f.Min, f.Max))
		return nil
	}
	return &n
}

// redactedFlags are members that are null in a list if the reader lacks the password of the event (contract,
// section 13). Ticketed is null too, but is not checked.
var redactedFlags = []string{"all_day", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured"}

// isProtected reports whether the service requires a password for an event.
func (o object) isProtected() bool {
	for _, name := range redactedFlags {
		if _, said := o.members[name]; !said || o.has(name) {
			return false
		}
	}
	return true
}

// protect marks an event as protected by a password at the source. It clears fields that the source hides, so
// that the import does not change them.
func (e *Event) protect() {
	e.Protected = true
	e.Description, e.Excerpt, e.Cost, e.Website = nil, nil, nil, nil
	e.DropGuarded()
	e.HasImage, e.HasVenues, e.HasOrganizers, e.HasCategories, e.HasTags = false, false, false, false, false
	e.Image, e.Venues, e.Organizers, e.Terms = nil, nil, nil, nil
	e.SeriesPage = "" // its dates share no visible fields
	if days := (calendar.Span{Start: e.Span.Start, End: e.Span.End, Zone: e.Span.Zone, AllDay: true}).Rounded(); days.Start.Equal(e.Span.Start) &&
		days.End.Equal(e.Span.End) {
		e.Span = days
	}
}

// prefixOf returns the prefix of the source ids of a service: its host and path, or the host alone.
func prefixOf(o object) string {
	if prefix, _, ok := strings.Cut(o.raw("global_id"), "?id="); ok && prefix != "" {
		return prefix
	}
	for _, name := range []string{"rest_url", "url"} {
		if u, err := url.Parse(o.raw(name)); err == nil && u.Hostname() != "" {
			return u.Hostname()
		}
	}
	return ""
}

// origin returns the Origin of a record. Kind is "" for the event, otherwise the kind of a record in it.
func (d reader) origin(o object, id, kind string) Origin {
	key := strings.TrimSpace(o.raw("global_id"))
	if key == "" && id != "" && d.prefix != "" {
		key = d.prefix + "?id=" + id
	}
	switch {
	case key == "":
		o.fault("global_id", "missing, and no id with an address to make it of")
	case len(key) > maxSource:
		o.fault("global_id", "longer than %d characters", maxSource)
	}
	where := d.where
	if kind != "" {
		where = fmt.Sprintf("%s %s, first in %s", kind, key, d.where)
	}
	title, all := o.spokenIn()
	return Origin{Key: key, Number: numberOf(id), Where: where, Language: title, Languages: all}
}

// named returns the text of a required title or name.
func (o object) named(name string) string {
	before := len(o.log.faults)
	s := o.text(name, maxTitle)
	if s == "" && len(o.log.faults) == before {
		o.fault(name, "missing")
	}
	return s
}

// page returns the address of a record's page. It returns "" for nothing and for anything else than an address.
func (o object) page() string {
	address := object{o.members, "", &journal{}}.raw("url") // the import does without it
	if u, err := url.Parse(address); err != nil || u.Host == "" || len(address) > maxURL {
		return ""
	}
	return address
}

func (o object) sentHTML(name string) *string {
	if !o.has(name) {
		return nil
	}
	return new(o.html(name))
}

func (o object) status() *calendar.Status {
	s := calendar.Status(o.raw("status"))
	if s == "" {
		return nil
	}
	if !s.Known() {
		o.fault("status", "%q is unknown", s)
	}
	return &s
}

// eventStatus returns the event status. Nil means missing or unknown.
func (o object) eventStatus() *calendar.EventStatus {
	if !o.has("event_status") {
		return nil
	}
	s := cmp.Or(calendar.EventStatus(strings.ToLower(o.raw("event_status"))), calendar.Scheduled)
	if !s.Known() {
		o.notice("event_status", fmt.Sprintf("%q is unknown; left out", s))
		return nil
	}
	return &s
}

// attendance returns whether people attend an event in person or online. Nil means missing or unknown. Some
// services send is_virtual instead, and virtual_event_type for events that also take place at a venue.
func (o object) attendance() *calendar.Attendance {
	if o.has("attendance") {
		a := cmp.Or(calendar.Attendance(strings.ToLower(o.raw("attendance"))), calendar.Offline)
		if !a.Known() {
			o.notice("attendance", fmt.Sprintf("%q is unknown; left out", a))
			return nil
		}
		return &a
	}
	virtual := o.flag("is_virtual")
	switch {
	case virtual == nil:
		return nil
	case !*virtual:
		return new(calendar.Offline)
	case strings.EqualFold(o.raw("virtual_event_type"), "hybrid"):
		return new(calendar.Mixed)
	}
	return new(calendar.Online)
}

// span returns the time of an event. Its dates are wall times in its zone.
func (d reader) span(o object) calendar.Span {
	start, started := o.wall("start_date")
	end, ended := o.wall("end_date")
	switch {
	case !started && o.nothing("start_date"):
		o.fault("start_date", "missing")
	case !ended && o.nothing("end_date"):
		o.fault("end_date", "missing")
	}
	s := calendar.Span{Start: start, End: end, Zone: d.zone(o, start)}
	if allDay := o.flag("all_day"); allDay != nil {
		s.AllDay = *allDay
	}
	s = s.Rounded()
	if !s.AllDay && started && ended {
		// A wall time that the clock of the zone skips is replaced by the time at that instant.
		s.Start, s.End = s.Zone.Wall(s.StartsAt()), s.Zone.Wall(s.EndsAt())
	}
	if started && ended {
		if err := s.Check(); err != nil {
			o.fault("end_date", "%v", err)
		}
	}
	return s
}

// zone returns the zone of an event. If the event names none, it is the zone of the site. If the start in UTC does
// not fit that, the zone has the offset between the two starts.
func (d reader) zone(o object, start calendar.Wall) calendar.Zone {
	text := strings.TrimSpace(o.raw("timezone"))
	if text != "" {
		z, err := parseZone(text)
		if err != nil {
			o.fault("timezone", "%q is unknown", text)
		}
		return z
	}
	utc, ok := o.wall("utc_start_date")
	if !ok || start.IsZero() || d.site.Zone.Instant(start).Equal(calendar.UTC().Instant(utc)) {
		return d.site.Zone
	}
	minutes := int(start.Sub(utc).Minutes())
	sign := '+'
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	z, err := calendar.ParseZone(fmt.Sprintf("UTC%c%d:%02d", sign, minutes/60, minutes%60))
	if err != nil {
		o.fault("utc_start_date", "too far from start_date")
	}
	return z
}

// offsetFractions replaces the fractions of an hour that some services write in offsets, as in UTC+5.75.
var offsetFractions = strings.NewReplacer(".25", ":15", ".5", ":30", ".75", ":45")

func parseZone(text string) (calendar.Zone, error) {
	z, err := calendar.ParseZone(text)
	if err != nil && len(text) > 3 && strings.EqualFold(text[:3], "UTC") {
		return calendar.ParseZone(offsetFractions.Replace(text))
	}
	return z, err
}
