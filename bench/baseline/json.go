package baseline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/markup"
)

// view writes records as the service does for a request without credentials.
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

// event appends an event; full adds json_ld. Nothing is said of a protected one.
func (v view) event(b []byte, e *event, full bool) ([]byte, error) {
	id := strconv.FormatInt(e.id, 10)
	global := v.s.host + "?id=" + id
	status := e.status.At(v.now, e.published)
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
	o.int("id", e.id)
	o.str("global_id", global)
	o.list("global_id_lineage", []string{global})
	author := "0"
	if e.author.Valid {
		author = strconv.FormatInt(e.author.Int64, 10)
	}
	o.str("author", author)
	o.str("status", string(status))
	o.str("date", v.local(e.published))
	o.str("date_utc", utc(e.published))
	o.str("modified", v.local(e.modified))
	o.str("modified_utc", utc(e.modified))
	o.str("url", url)
	o.str("rest_url", v.s.api+"/events/"+id)
	o.str("title", calendar.Escape(e.title))
	o.str("description", text(markup.Paragraphs(e.description)))
	o.str("excerpt", text(markup.Paragraphs(e.excerpt)))
	o.str("slug", e.slug)
	if hidden || !e.image.id.Valid {
		o.bool("image", false)
	} else {
		v.image(o, &e.image)
	}
	flag := func(name string, value bool) {
		if hidden {
			o.raw(name, "null")
			return
		}
		o.bool(name, value)
	}
	flag("all_day", e.allDay)
	o.date("start_date", e.startWall.String())
	o.date("end_date", e.endWall.String())
	o.date("utc_start_date", utc(e.starts))
	o.date("utc_end_date", utc(e.ends))
	o.str("timezone", e.zone)
	o.str("timezone_abbr", zone.Abbreviation(e.starts))
	website := url
	if e.website.Valid {
		website = e.website.String
	}
	if hidden {
		o.str("cost", "")
		o.raw("cost_details", `{"currency_symbol":"","currency_code":"","currency_position":"","values":[]}`)
	} else {
		o.str("cost", e.cost.Display(v.s.Site.Currency, "Free"))
		o.key("cost_details")
		d := begin(o.b)
		d.str("currency_symbol", e.cost.Symbol)
		d.str("currency_code", "")
		d.str("currency_position", e.cost.Position)
		d.list("values", e.cost.Values())
		o.b = d.end()
	}
	o.str("website", text(website))
	flag("show_map", e.showMap)
	flag("show_map_link", e.showMapLink)
	flag("hide_from_listings", e.hidden)
	flag("sticky", e.sticky)
	flag("featured", e.featured)
	venues, organizers := v.shown(e)
	if hidden {
		venues, organizers, e.terms = nil, nil, nil
	}
	v.terms(o, "categories", calendar.Category, e.terms)
	v.terms(o, "tags", calendar.Tag, e.terms)
	o.key("venue")
	if len(venues) != 1 {
		o.b = append(o.b, '[')
	}
	for i, row := range venues {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = v.venue(o.b, row, full)
	}
	if len(venues) != 1 {
		o.b = append(o.b, ']')
	}
	o.key("organizer")
	o.b = append(o.b, '[')
	for i, row := range organizers {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = v.organizer(o.b, row, full)
	}
	o.b = append(o.b, `],"custom_fields":[]`...)
	flag("ticketed", e.ticketed)
	o.int("post_parent", e.parent.Int64)
	o.str("language", string(e.language))
	o.list("translations", languages(e.languages))
	if full {
		v.linked(o, e, url, zone, venues, organizers)
	}
	return o.end(), nil
}

// shown are the venues and organizers that everybody may see.
func (v view) shown(e *event) (venues []*venue, organizers []*organizer) {
	for _, row := range e.venues {
		if row.status.At(v.now, row.published) == calendar.Publish {
			venues = append(venues, row)
		}
	}
	for _, row := range e.organizers {
		if row.status.At(v.now, row.published) == calendar.Publish {
			organizers = append(organizers, row)
		}
	}
	return venues, organizers
}

func (v view) address(i *image) string {
	if i.path.String == "" {
		return i.sourceURL.String
	}
	return v.s.Site.BaseURL + handlers.MediaPath + i.path.String
}

func (v view) image(o *object, i *image) {
	o.key("image")
	m := begin(o.b)
	m.str("url", v.address(i))
	m.int("id", i.id.Int64)
	m.str("extension", i.extension.String)
	m.int("width", i.width.Int64)
	m.int("height", i.height.Int64)
	m.int("filesize", i.size.Int64)
	m.key("sizes")
	all := begin(m.b)
	for _, name := range [...]string{"thumbnail", "medium", "large"} {
		size, ok := i.sizes[name]
		if !ok {
			continue
		}
		all.key(name)
		one := begin(all.b)
		one.int("width", int64(size.Width))
		one.int("height", int64(size.Height))
		one.str("mime-type", size.MIMEType)
		one.int("filesize", size.Filesize)
		if strings.Contains(size.Path, "://") {
			one.str("url", size.Path)
		} else {
			one.str("url", v.s.Site.BaseURL+handlers.MediaPath+size.Path)
		}
		all.b = one.end()
	}
	m.b = all.end()
	o.b = m.end()
}

func (v view) terms(o *object, name string, taxonomy calendar.Kind, all []*term) {
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
	o.key(name)
	o.b = append(o.b, '[')
	for i, t := range some {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		m := begin(o.b)
		m.str("name", calendar.Escape(t.name))
		m.str("slug", t.slug)
		m.int("term_group", 0)
		m.int("term_taxonomy_id", t.id)
		m.str("taxonomy", published)
		m.str("description", t.description)
		m.int("parent", t.parent.Int64)
		m.int("count", t.count)
		m.str("filter", "raw")
		m.int("id", t.id)
		m.key("urls")
		u := begin(m.b)
		u.str("self", collection+"/"+strconv.FormatInt(t.id, 10))
		u.str("collection", collection)
		if t.parent.Valid {
			u.str("up", collection+"/"+strconv.FormatInt(t.parent.Int64, 10))
		}
		m.b = u.end()
		o.b = m.end()
	}
	o.b = append(o.b, ']')
}

// published writes what venues and organizers begin with, and returns their address.
func (v view) published(o *object, kind calendar.Kind, r *record) string {
	status := r.status.At(v.now, r.published)
	url := v.page(kind, r.id, status, r.slug)
	o.int("id", r.id)
	if r.author.Valid && r.author.Int64 != 0 {
		o.str("author", strconv.FormatInt(r.author.Int64, 10))
	}
	o.str("status", string(status))
	o.str("date", v.local(r.published))
	o.str("date_utc", utc(r.published))
	o.str("modified", v.local(r.modified))
	o.str("modified_utc", utc(r.modified))
	o.str("url", url)
	o.some(string(kind), calendar.Escape(r.title))
	o.some("description", markup.Paragraphs(r.description))
	o.some("slug", r.slug)
	if r.image.id.Valid {
		v.image(o, &r.image)
	}
	return url
}

// named writes what venues and organizers end with.
func (v view) named(o *object, r *record) {
	global := v.s.host + "?id=" + strconv.FormatInt(r.id, 10)
	o.str("global_id", global)
	o.list("global_id_lineage", []string{global})
	o.str("language", string(r.language))
	o.list("translations", languages(r.languages))
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
		o.some(m[0], m[1])
	}
	if e.latitude.Valid {
		o.float("geo_lat", e.latitude.Float64)
		o.float("geo_lng", e.longitude.Float64)
	}
	if full {
		o.key("json_ld")
		o.b = v.place(o.b, e, url)
	}
	o.bool("show_map", e.showMap)
	o.bool("show_map_link", e.showMapLink)
	v.named(o, &e.record)
	return o.end()
}

// region is what was written, else the state of an address in the United States, else the province.
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
	o.str("@type", "Place")
	o.some("name", e.title)
	o.some("description", markup.Plain(e.description))
	if e.image.id.Valid {
		o.some("image", v.address(&e.image))
	}
	o.some("url", url)
	if e.address+e.city+e.region()+e.zip+e.country != "" {
		o.key("address")
		a := begin(o.b)
		a.str("@type", "PostalAddress")
		a.some("streetAddress", e.address)
		a.some("addressLocality", e.city)
		a.some("addressRegion", e.region())
		a.some("postalCode", e.zip)
		a.some("addressCountry", e.country)
		o.b = a.end()
	}
	if e.latitude.Valid {
		o.key("geo")
		g := begin(o.b)
		g.str("@type", "GeoCoordinates")
		g.float("latitude", e.latitude.Float64)
		g.float("longitude", e.longitude.Float64)
		o.b = g.end()
	}
	o.some("telephone", e.phone)
	o.some("sameAs", e.website)
	return o.end()
}

func (v view) organizer(b []byte, e *organizer, full bool) []byte {
	o := begin(b)
	url := v.published(o, calendar.Organizer, &e.record)
	o.some("phone", e.phone)
	o.some("website", e.website)
	o.some("email", e.email)
	if full {
		o.key("json_ld")
		o.b = v.person(o.b, e, url)
	}
	v.named(o, &e.record)
	return o.end()
}

func (v view) person(b []byte, e *organizer, url string) []byte {
	o := begin(b)
	o.str("@type", "Person")
	o.some("name", e.title)
	o.some("description", markup.Plain(e.description))
	o.some("url", url)
	o.some("telephone", e.phone)
	o.some("email", e.email)
	o.some("sameAs", e.website)
	return o.end()
}

// linked writes json_ld.
func (v view) linked(
	o *object, e *event, url string, zone calendar.Zone, venues []*venue, organizers []*organizer,
) {
	const iso = "2006-01-02T15:04:05-07:00"
	o.key("json_ld")
	d := begin(o.b)
	d.str("@context", "http://schema.org")
	d.str("@type", "Event")
	d.some("name", e.title)
	d.some("description", markup.Plain(e.description))
	if e.image.id.Valid {
		d.some("image", v.address(&e.image))
	}
	d.some("url", url)
	d.str("eventAttendanceMode", "https://schema.org/OfflineEventAttendanceMode")
	d.str("eventStatus", "https://schema.org/EventScheduled")
	d.str("startDate", e.starts.In(zone.Location()).Format(iso))
	d.str("endDate", e.ends.In(zone.Location()).Format(iso))
	if len(venues) > 0 {
		d.key("location")
		first := venues[0]
		d.b = v.place(d.b, first, v.page(calendar.Venue, first.id, calendar.Publish, first.slug))
	}
	if len(organizers) > 0 {
		d.key("organizer")
		first := organizers[0]
		d.b = v.person(d.b, first, v.page(calendar.Organizer, first.id, calendar.Publish, first.slug))
	}
	if !e.cost.IsZero() {
		d.key("offers")
		f := begin(d.b)
		f.str("@type", "Offer")
		f.str("price", e.cost.Lowest())
		f.some("priceCurrency", v.s.Site.Currency.Code)
		f.some("url", url)
		f.str("availability", "https://schema.org/InStock")
		f.str("validFrom", e.published.In(v.s.Site.Zone.Location()).Format(iso))
		d.b = f.end()
	}
	o.b = d.end()
}
