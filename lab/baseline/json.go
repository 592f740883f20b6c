package baseline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/represent"
)

// view writes the JSON of records that the service sends for an anonymous request at the time now.
type view struct {
	s   *Server
	now time.Time
}

func (v view) page(kind calendar.Kind, id int64, status calendar.Status, slug string) string {
	if slug != "" && status == calendar.Publish {
		return v.s.Site.BaseURL + "/" + string(kind) + "/" + slug + "/"
	}
	return v.s.Site.BaseURL + "/?p=" + strconv.FormatInt(id, 10)
}

func (v view) local(t time.Time) string { return v.s.Site.Zone.Wall(t).String() }

func utc(t time.Time) string { return t.UTC().Format(calendar.Layout) }

func languages(set calendar.LanguageSet) []string {
	list := set.List()
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = string(l)
	}
	return out
}

// event appends the JSON of an event. full adds json_ld. If the event has a password, protected fields are empty.
func (v view) event(b []byte, e *event, full bool) ([]byte, error) {
	id := strconv.FormatInt(e.id, 10)
	global := v.s.host + "?id=" + id
	status := e.status.Shown(v.now, e.published)
	url := v.page(calendar.Event, e.id, status, e.slug)
	zone, err := calendar.ParseZone(e.zone)
	if err != nil {
		return nil, err
	}
	hidden := e.locked
	text := func(s string) string {
		if hidden {
			return ""
		}
		return s
	}
	o := begin(b)
	o.Int("id", e.id)
	o.String("global_id", global)
	o.Strings("global_id_lineage", []string{global})
	author := "0"
	if e.author.Valid {
		author = strconv.FormatInt(e.author.Int64, 10)
	}
	o.String("author", author)
	o.String("status", string(status))
	o.String("date", v.local(e.published))
	o.String("date_utc", utc(e.published))
	o.String("modified", v.local(e.modified))
	o.String("modified_utc", utc(e.modified))
	o.String("url", url)
	o.String("rest_url", v.s.api+"/events/"+id)
	o.String("title", calendar.Escape(e.title))
	o.String("description", text(markup.Paragraphs(e.description)))
	o.String("excerpt", text(markup.Paragraphs(e.excerpt)))
	o.String("slug", e.slug)
	if hidden || !e.image.id.Valid {
		o.Bool("image", false)
	} else {
		v.image(o, &e.image)
	}
	flag := func(name string, value bool) {
		if hidden {
			o.Raw(name, "null")
			return
		}
		o.Bool(name, value)
	}
	flag("all_day", e.allDay)
	date(o, "start_date", e.startWall.String())
	date(o, "end_date", e.endWall.String())
	date(o, "utc_start_date", utc(e.starts))
	date(o, "utc_end_date", utc(e.ends))
	o.String("timezone", e.zone)
	o.String("timezone_abbr", zone.Abbreviation(e.starts))
	website := url
	if e.website.Valid {
		website = e.website.String
	}
	if hidden {
		o.String("cost", "")
		o.Raw("cost_details", `{"currency_symbol":"","currency_code":"","currency_position":"","values":[]}`)
	} else {
		o.String("cost", e.cost.Display(v.s.Site.Currency, "Free"))
		o.Key("cost_details")
		d := begin(o.B)
		d.String("currency_symbol", e.cost.Symbol)
		d.String("currency_code", "")
		d.String("currency_position", e.cost.Position)
		d.Strings("values", e.cost.Values())
		o.B = d.End()
	}
	o.String("website", text(website))
	flag("show_map", e.showMap)
	flag("show_map_link", e.showMapLink)
	flag("hide_from_listings", e.hidden)
	flag("sticky", e.sticky)
	flag("featured", e.featured)
	o.String("event_status", e.eventStatus)
	o.String("event_status_reason", markup.Inert(e.reason))
	o.String("attendance", e.attendance)
	o.String("virtual_url", text(e.virtualURL))
	venues, organizers := v.shown(e)
	if hidden {
		venues, organizers, e.terms = nil, nil, nil
	}
	v.terms(o, "categories", calendar.Category, e.terms)
	v.terms(o, "tags", calendar.Tag, e.terms)
	o.Key("venue")
	if len(venues) != 1 {
		o.B = append(o.B, '[')
	}
	for i, row := range venues {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = v.venue(o.B, row, full)
	}
	if len(venues) != 1 {
		o.B = append(o.B, ']')
	}
	o.Key("organizer")
	o.B = append(o.B, '[')
	for i, row := range organizers {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = v.organizer(o.B, row, full)
	}
	o.B = append(o.B, `],"custom_fields":[]`...)
	flag("ticketed", e.ticketed)
	o.Int("post_parent", e.parent.Int64)
	o.String("language", string(e.language))
	o.Strings("translations", languages(e.languages))
	o.B = append(o.B, `,"series":null`...)
	if full {
		v.linked(o, e, url, zone, venues, organizers)
	}
	return o.End(), nil
}

// shown returns the event's venues and organizers that are public.
func (v view) shown(e *event) (venues []*venue, organizers []*organizer) {
	for _, row := range e.venues {
		if row.status.Shown(v.now, row.published) == calendar.Publish {
			venues = append(venues, row)
		}
	}
	for _, row := range e.organizers {
		if row.status.Shown(v.now, row.published) == calendar.Publish {
			organizers = append(organizers, row)
		}
	}
	return venues, organizers
}

func (v view) address(i *image) string {
	if i.path.String == "" {
		return i.sourceURL.String
	}
	return v.s.Site.BaseURL + represent.MediaPath + i.path.String
}

func (v view) image(o *jsonwrite.Builder, i *image) {
	o.Key("image")
	m := begin(o.B)
	m.String("url", v.address(i))
	m.Int("id", i.id.Int64)
	m.String("extension", i.extension.String)
	m.Int("width", i.width.Int64)
	m.Int("height", i.height.Int64)
	m.Int("filesize", i.size.Int64)
	m.Key("sizes")
	all := begin(m.B)
	for _, name := range [...]string{"thumbnail", "medium", "large"} {
		size, ok := i.sizes[name]
		if !ok {
			continue
		}
		all.Key(name)
		one := begin(all.B)
		one.Int("width", int64(size.Width))
		one.Int("height", int64(size.Height))
		one.String("mime-type", size.MIMEType)
		one.Int("filesize", size.Filesize)
		if strings.Contains(size.Path, "://") {
			one.String("url", size.Path)
		} else {
			one.String("url", v.s.Site.BaseURL+represent.MediaPath+size.Path)
		}
		all.B = one.End()
	}
	m.B = all.End()
	o.B = m.End()
}

func (v view) terms(o *jsonwrite.Builder, name string, taxonomy calendar.Kind, all []*term) {
	published, collection := "tribe_events_cat", v.s.api+"/categories"
	if taxonomy == calendar.Tag {
		published, collection = "post_tag", v.s.api+"/tags"
	}
	var some []*term
	for _, t := range all {
		if t.taxonomy == taxonomy {
			some = append(some, t)
		}
	}
	if len(some) > 1 {
		slices.SortFunc(some, func(a, b *term) int {
			return cmp.Or(strings.Compare(calendar.FoldName(a.name), calendar.FoldName(b.name)), cmp.Compare(a.id, b.id))
		})
	}
	o.Key(name)
	o.B = append(o.B, '[')
	for i, t := range some {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		m := begin(o.B)
		m.String("name", calendar.Escape(t.name))
		m.String("slug", t.slug)
		m.Int("term_group", 0)
		m.Int("term_taxonomy_id", t.id)
		m.String("taxonomy", published)
		m.String("description", t.description)
		m.Int("parent", t.parent.Int64)
		m.Int("count", t.count)
		m.String("filter", "raw")
		m.Int("id", t.id)
		m.Key("urls")
		u := begin(m.B)
		u.String("self", collection+"/"+strconv.FormatInt(t.id, 10))
		u.String("collection", collection)
		if t.parent.Valid {
			u.String("up", collection+"/"+strconv.FormatInt(t.parent.Int64, 10))
		}
		m.B = u.End()
		o.B = m.End()
	}
	o.B = append(o.B, ']')
}

// published writes the first members of a venue or organizer, and returns the URL of its page.
func (v view) published(o *jsonwrite.Builder, kind calendar.Kind, r *record) string {
	status := r.status.Shown(v.now, r.published)
	url := v.page(kind, r.id, status, r.slug)
	o.Int("id", r.id)
	if r.author.Valid && r.author.Int64 != 0 {
		o.String("author", strconv.FormatInt(r.author.Int64, 10))
	}
	o.String("status", string(status))
	o.String("date", v.local(r.published))
	o.String("date_utc", utc(r.published))
	o.String("modified", v.local(r.modified))
	o.String("modified_utc", utc(r.modified))
	o.String("url", url)
	o.Some(string(kind), calendar.Escape(r.title))
	o.Some("description", markup.Paragraphs(r.description))
	o.Some("slug", r.slug)
	if r.image.id.Valid {
		v.image(o, &r.image)
	}
	return url
}

// named writes the last members of a venue or organizer: global ids and languages.
func (v view) named(o *jsonwrite.Builder, r *record) {
	global := v.s.host + "?id=" + strconv.FormatInt(r.id, 10)
	o.String("global_id", global)
	o.Strings("global_id_lineage", []string{global})
	o.String("language", string(r.language))
	o.Strings("translations", languages(r.languages))
}

func (v view) venue(b []byte, e *venue, full bool) []byte {
	o := begin(b)
	url := v.published(o, calendar.Venue, &e.record)
	for _, m := range [...][2]string{
		{"address", e.address},
		{"city", e.city},
		{"country", e.country},
		{"province", e.province},
		{"state", e.state},
		{"zip", e.zip},
		{"phone", e.phone},
		{"website", e.website},
		{"stateprovince", e.region()},
	} {
		o.Some(m[0], m[1])
	}
	if e.latitude.Valid {
		o.Float("geo_lat", e.latitude.Float64)
		o.Float("geo_lng", e.longitude.Float64)
	}
	if full {
		o.Key("json_ld")
		o.B = jsonwrite.ForScript(v.place(o.B, e, url), len(o.B))
	}
	o.Bool("show_map", e.showMap)
	o.Bool("show_map_link", e.showMapLink)
	v.named(o, &e.record)
	return o.End()
}

// region returns the region of an address: stateprovince if set, or else the state or the province. The state counts
// if it is set and the country is the United States or unknown.
func (e *venue) region() string {
	switch {
	case e.stateProvince != "":
		return e.stateProvince
	case e.state == "":
		return e.province
	}
	switch strings.ToLower(e.country) {
	case "", "us", "usa", "united states":
		return e.state
	}
	return e.province
}

func (v view) place(b []byte, e *venue, url string) []byte {
	o := begin(b)
	o.String("@type", "Place")
	o.Some("name", e.title)
	o.Some("description", markup.Plain(e.description))
	if e.image.id.Valid {
		o.Some("image", v.address(&e.image))
	}
	o.Some("url", url)
	if e.address+e.city+e.region()+e.zip+e.country != "" {
		o.Key("address")
		a := begin(o.B)
		a.String("@type", "PostalAddress")
		a.Some("streetAddress", e.address)
		a.Some("addressLocality", e.city)
		a.Some("addressRegion", e.region())
		a.Some("postalCode", e.zip)
		a.Some("addressCountry", e.country)
		o.B = a.End()
	}
	if e.latitude.Valid {
		o.Key("geo")
		g := begin(o.B)
		g.String("@type", "GeoCoordinates")
		g.Float("latitude", e.latitude.Float64)
		g.Float("longitude", e.longitude.Float64)
		o.B = g.End()
	}
	o.Some("telephone", e.phone)
	o.Some("sameAs", e.website)
	return o.End()
}

func (v view) organizer(b []byte, e *organizer, full bool) []byte {
	o := begin(b)
	url := v.published(o, calendar.Organizer, &e.record)
	o.Some("phone", e.phone)
	o.Some("website", e.website)
	o.Some("email", e.email)
	if full {
		o.Key("json_ld")
		o.B = jsonwrite.ForScript(v.person(o.B, e, url), len(o.B))
	}
	v.named(o, &e.record)
	return o.End()
}

func (v view) person(b []byte, e *organizer, url string) []byte {
	o := begin(b)
	o.String("@type", "Person")
	o.Some("name", e.title)
	o.Some("description", markup.Plain(e.description))
	o.Some("url", url)
	o.Some("telephone", e.phone)
	o.Some("email", e.email)
	o.Some("sameAs", e.website)
	return o.End()
}

// linked writes the member json_ld of an event (schema.org). It contains only its first venue and organizer.
func (v view) linked(
	o *jsonwrite.Builder, e *event, url string, zone calendar.Zone, venues []*venue, organizers []*organizer,
) {
	const iso = "2006-01-02T15:04:05-07:00"
	o.Key("json_ld")
	from := len(o.B)
	d := begin(o.B)
	d.String("@context", "http://schema.org")
	d.String("@type", "Event")
	d.Some("name", e.title)
	d.Some("description", markup.Plain(e.description))
	if e.image.id.Valid {
		d.Some("image", v.address(&e.image))
	}
	d.Some("url", url)
	d.String("eventAttendanceMode", "https://schema.org/OfflineEventAttendanceMode")
	d.String("eventStatus", "https://schema.org/EventScheduled")
	d.String("startDate", e.starts.In(zone.Location()).Format(iso))
	d.String("endDate", e.ends.In(zone.Location()).Format(iso))
	if len(venues) > 0 {
		d.Key("location")
		first := venues[0]
		d.B = v.place(d.B, first, v.page(calendar.Venue, first.id, calendar.Publish, first.slug))
	}
	if len(organizers) > 0 {
		d.Key("organizer")
		first := organizers[0]
		d.B = v.person(d.B, first, v.page(calendar.Organizer, first.id, calendar.Publish, first.slug))
	}
	if !e.cost.IsZero() {
		d.Key("offers")
		f := begin(d.B)
		f.String("@type", "Offer")
		f.String("price", e.cost.Lowest())
		f.Some("priceCurrency", e.cost.CodeOn(v.s.Site.Currency))
		f.Some("url", url)
		f.String("availability", "https://schema.org/InStock")
		f.String("validFrom", e.published.In(v.s.Site.Zone.Location()).Format(iso))
		d.B = f.End()
	}
	o.B = jsonwrite.ForScript(d.End(), from)
}
