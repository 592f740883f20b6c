package wptest

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// defaultPage, maxPage and maxCorePage are numbers of records per page. The default is that of both REST APIs. maxPage
// is the largest of the plugin's API, maxCorePage that of WordPress itself.
const (
	defaultPage = 10
	maxPage     = 50
	maxCorePage = 100
)

// serveREST replies to a route below /wp-json/. Unknown routes are 404.
func (s *Site) serveREST(w http.ResponseWriter, r *http.Request, route []string) {
	switch {
	case len(route) == 0:
		root := map[string]any{"url": s.shown, "home": s.shown, "namespaces": []string{"tribe/events/v1", "wp/v2"}}
		if !s.options.NoIdentity {
			root["name"], root["description"] = html.EscapeString(Name), Tagline
			root["timezone_string"], root["gmt_offset"] = Zone, "1"
			root["site_icon_url"] = s.shown + Icon
		}
		writeJSON(w, http.StatusOK, root)
	case len(route) > 3 && slices.Equal(route[:3], []string{"tribe", "events", "v1"}):
		s.servePlugin(w, r, route[3:])
	case len(route) == 3 && slices.Equal(route[:2], []string{"wp", "v2"}) && !s.options.NoCoreAPI:
		s.serveCore(w, r, route[2])
	default:
		writeError(w, http.StatusNotFound, "rest_no_route", "No route was found matching the URL and request method.")
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	// The client has gone if this fails.
	_ = json.NewEncoder(w).Encode(body)
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	writeJSON(w, status, map[string]any{"code": code, "message": message, "data": map[string]any{"status": status}})
}

// listKinds maps the names of lists in the REST API to the kinds of their records.
var listKinds = map[string]calendar.Kind{
	"events": calendar.Event, "venues": calendar.Venue, "organizers": calendar.Organizer, "categories": calendar.Category,
	"tags": calendar.Tag,
}

// servePlugin replies to a route of the plugin's REST API. Unknown routes are 404.
func (s *Site) servePlugin(w http.ResponseWriter, r *http.Request, route []string) {
	kind, known := listKinds[route[0]]
	switch {
	case !known || len(route) > 3 || len(route) == 3 && route[1] != "by-slug":
		writeError(w, http.StatusNotFound, "rest_no_route", "No route was found matching the URL and request method.")
	case len(route) == 1 && kind == calendar.Event:
		s.serveEvents(w, r)
	case len(route) == 1:
		s.serveList(w, r, route[0], s.listed(kind))
	case kind == calendar.Event:
		s.serveEvent(w, r, s.findEvent(route[1:]))
	default:
		s.serveOther(w, kind, route[1:])
	}
}

// matches reports whether rest, the end of a route, names a record with this id or slug. It is {id} or
// by-slug/{slug}.
func matches(rest []string, id int64, slug string) bool {
	if len(rest) > 1 {
		return encodeSegment(rest[1]) == slug || strings.EqualFold(rest[1], slug)
	}
	return rest[0] == strconv.FormatInt(id, 10)
}

func (s *Site) findEvent(rest []string) *event {
	i := slices.IndexFunc(s.events, func(e *event) bool { return matches(rest, e.id, e.slug) })
	if i < 0 {
		return nil
	}
	return s.events[i]
}

func (s *Site) serveEvent(w http.ResponseWriter, r *http.Request, e *event) {
	switch {
	case e == nil:
		writeError(w, http.StatusNotFound, "event-not-found", "The event with the specified ID does not exist.")
	case e.password != "" && r.URL.Query().Get("password") != e.password:
		writeError(w, http.StatusForbidden, "event-password-protected", "The event is protected by a password.")
	default:
		writeJSON(w, http.StatusOK, s.eventJSON(e, false))
	}
}

// serveOther replies with the venue, organizer or term that rest names, or with 404.
func (s *Site) serveOther(w http.ResponseWriter, kind calendar.Kind, rest []string) {
	for _, p := range slices.Concat(s.venues, s.organizers) {
		if p.kind == kind && matches(rest, p.id, p.slug) {
			writeJSON(w, http.StatusOK, s.placeJSON(p))
			return
		}
	}
	for _, t := range slices.Concat(s.categories, s.tags) {
		if t.kind == kind && len(rest) == 1 && matches(rest, t.id, "") {
			writeJSON(w, http.StatusOK, s.termJSON(t))
			return
		}
	}
	writeError(w, http.StatusNotFound, string(kind)+"-not-found", "The record does not exist.")
}

// listed returns the JSON of all venues, organizers or terms of a kind.
func (s *Site) listed(kind calendar.Kind) []any {
	var out []any
	for _, p := range slices.Concat(s.venues, s.organizers) {
		if p.kind == kind {
			out = append(out, s.placeJSON(p))
		}
	}
	for _, t := range slices.Concat(s.categories, s.tags) {
		if t.kind == kind {
			out = append(out, s.termJSON(t))
		}
	}
	return out
}

// serveEvents replies with a page of the list of events. By default the list covers two years from Today.
func (s *Site) serveEvents(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	from, ok := dateParameter(query, "start_date", startOfToday, "00:00:00")
	until, ok2 := dateParameter(query, "end_date", wall(startOfToday).AddDate(2, 0, 0).Format(calendar.Layout), "23:59:59")
	if !ok || !ok2 {
		writeError(w, http.StatusBadRequest, "rest_invalid_param", "Invalid parameter(s): start_date, end_date")
		return
	}
	var out []any
	for _, e := range s.listing(from, until, s.filter(query)) {
		out = append(out, s.eventJSON(e, true))
	}
	s.serveList(w, r, "events", out)
}

// dateParameter returns a date parameter as a wall time. It returns missing if the parameter is not sent, and false
// for an invalid date. A date without a time gets timeOfDay.
func dateParameter(query url.Values, name, missing, timeOfDay string) (string, bool) {
	text := query.Get(name)
	if text == "" {
		return missing, true
	}
	if len(text) == len("2006-01-02") {
		text += " " + timeOfDay
	}
	if _, err := calendar.ParseWall(text); err != nil {
		return "", false
	}
	return text, true
}

// filter returns a function that reports whether an event satisfies the filters of a query. These are categories,
// tags, venue, organizer, featured and search.
func (s *Site) filter(query url.Values) func(*event) bool {
	values := func(name string) (out []string) {
		for key, all := range query {
			if before, _, _ := strings.Cut(key, "["); before == name {
				for _, v := range all {
					out = append(out, strings.Split(v, ",")...)
				}
			}
		}
		return out
	}
	categories, tags, venues, organizers := values("categories"), values("tags"), values("venue"), values("organizer")
	search, featured := strings.ToLower(query.Get("search")), query.Get("featured")
	return func(e *event) bool {
		hasTerm := func(of []*term, wanted []string) bool {
			return len(wanted) == 0 || slices.ContainsFunc(of, func(t *term) bool {
				return slices.ContainsFunc(
					wanted, func(w string) bool { return matches([]string{w}, t.id, "") || t.slug == encodeSegment(w) },
				)
			})
		}
		hasPlace := func(of []*place, wanted []string) bool {
			return len(wanted) == 0 || slices.ContainsFunc(of, func(p *place) bool {
				return p != nil && slices.Contains(wanted, strconv.FormatInt(p.id, 10))
			})
		}
		return hasTerm(e.categories, categories) && hasTerm(e.tags, tags) && hasPlace([]*place{e.venue}, venues) &&
			hasPlace(e.organizers, organizers) && strings.Contains(strings.ToLower(e.title), search) &&
			(featured == "" || e.featured)
	}
}

// serveList replies with the requested page of a list, as the plugin formats it. name is the member with the records.
// A page after the last one is 404.
func (s *Site) serveList(w http.ResponseWriter, r *http.Request, name string, all []any) {
	query := r.URL.Query()
	size, number := pageParameters(query, defaultPage, maxPage)
	pages := (len(all) + size - 1) / size
	if number > max(pages, 1) {
		writeError(
			w, http.StatusNotFound, strings.TrimSuffix(name, "s")+"-archive-page-not-found",
			"The requested page was not found.",
		)
		return
	}
	// link returns the address of a page. Its host is that of the server.
	link := func(page int) string {
		next := url.Values{}
		for key, values := range query {
			next[key] = values
		}
		next.Set("page", strconv.Itoa(page))
		if route := query.Get("rest_route"); route != "" {
			return s.URL + "/?" + next.Encode()
		}
		return s.API + "/" + name + "/?" + next.Encode()
	}
	body := map[string]any{
		name: slices.Concat([]any{}, all[(number-1)*size:min(number*size, len(all))]), "rest_url": link(number), "total": len(all), "total_pages": pages,
	}
	if number < pages {
		body["next_rest_url"] = link(number + 1)
	}
	if number > 1 {
		body["previous_rest_url"] = link(number - 1)
	}
	w.Header().Set("X-TEC-Total", strconv.Itoa(len(all)))
	w.Header().Set("X-TEC-TotalPages", strconv.Itoa(pages))
	writeJSON(w, http.StatusOK, body)
}

// pageParameters returns the page size and the page number of a query. An unsent or invalid size becomes missing,
// such a number 1. The size is at most limit.
func pageParameters(query url.Values, missing, limit int) (size, number int) {
	size, err := strconv.Atoi(query.Get("per_page"))
	if err != nil || size < 1 {
		size = missing
	}
	number, err = strconv.Atoi(query.Get("page"))
	if err != nil || number < 1 {
		number = 1
	}
	return min(size, limit), number
}

// eventJSON returns the JSON of an event. If inList, the protected fields of an event with a password are empty.
func (s *Site) eventJSON(e *event, inList bool) map[string]any {
	utc := func(text string) string { return e.instant(text).Format(calendar.Layout) }
	body := map[string]any{
		"id": e.id, "global_id": s.GlobalID(e.id), "global_id_lineage": []string{s.GlobalID(e.id)}, "author": "1",
		"status": "publish", "date": "2026-01-05 10:00:00", "date_utc": "2026-01-05 09:00:00", "modified": "2026-10-01 12:00:00",
		"modified_utc": "2026-10-01 10:00:00", "url": s.eventPage(e), "rest_url": s.restURL("events", e.id), "title": e.title,
		"description": e.description, "excerpt": e.excerpt, "slug": e.slug, "image": s.imageJSON(e.image),
		"all_day": e.allDay, "start_date": e.start, "start_date_details": dateDetails(e.start), "end_date": e.end,
		"end_date_details": dateDetails(e.end), "utc_start_date": utc(e.start), "utc_start_date_details": dateDetails(utc(e.start)),
		"utc_end_date": utc(e.end), "utc_end_date_details": dateDetails(utc(e.end)), "timezone": e.zone, "timezone_abbr": "CET",
		"cost": "", "cost_details": map[string]any{"currency_symbol": "", "currency_code": "", "currency_position": "prefix", "values": []string{}},
		"website": e.website, "show_map": true, "show_map_link": true, "hide_from_listings": e.hidden, "sticky": e.sticky,
		"featured": e.featured, "custom_fields": []string{}, "categories": s.termsJSON(e.categories), "tags": s.termsJSON(e.tags), "venue": []string{},
		"organizer": []any{},
	}
	if e.cost != "" {
		body["cost"] = "€" + e.cost
		body["cost_details"] = map[string]any{
			"currency_symbol": "€", "currency_code": "EUR", "currency_position": "prefix", "values": []string{e.cost},
		}
	}
	if e.venue != nil {
		body["venue"] = s.placeJSON(e.venue)
	}
	organizers := []any{}
	for _, o := range e.organizers {
		organizers = append(organizers, s.placeJSON(o))
	}
	body["organizer"] = organizers
	if inList && e.password != "" {
		for _, name := range []string{"all_day", "show_map", "show_map_link", "hide_from_listings", "sticky", "featured"} {
			body[name] = nil
		}
		for _, name := range []string{"description", "excerpt", "cost", "website"} {
			body[name] = ""
		}
		for _, name := range []string{"categories", "tags", "venue", "organizer"} {
			body[name] = []any{}
		}
		body["image"] = false
	}
	return body
}

// dateDetails splits a wall time into year, month and so on, for the members such as start_date_details.
func dateDetails(text string) map[string]string {
	t := wall(text)
	return map[string]string{
		"year": t.Format("2006"), "month": t.Format("01"), "day": t.Format("02"), "hour": t.Format("15"), "minutes": t.Format("04"),
		"seconds": t.Format("05"),
	}
}

// restURL returns the URL of a record in the plugin's REST API, as it appears in records.
func (s *Site) restURL(list string, id int64) string {
	return fmt.Sprintf("%s/wp-json/tribe/events/v1/%s/%d", s.shown, list, id)
}

// placeJSON returns the record of a venue or an organizer.
func (s *Site) placeJSON(p *place) map[string]any {
	list := "organizers"
	if p.kind == calendar.Venue {
		list = "venues"
	}
	body := map[string]any{
		"id": p.id, "global_id": s.GlobalID(p.id), "global_id_lineage": []string{s.GlobalID(p.id)}, "author": "1", "status": "publish",
		"date": "2026-01-04 10:00:00", "date_utc": "2026-01-04 09:00:00", "modified": "2026-01-04 10:00:00",
		"modified_utc": "2026-01-04 09:00:00", "url": s.shown + s.placePath(p), string(p.kind): p.name, "slug": p.slug,
		"rest_url": s.restURL(list, p.id),
	}
	if p.kind == calendar.Venue {
		body["show_map"], body["show_map_link"] = true, true
	}
	if p.image != nil {
		body["image"] = s.imageJSON(p.image)
	}
	for name, value := range p.members {
		body[name] = value
	}
	return body
}

// termJSON returns the record of a term.
func (s *Site) termJSON(t *term) map[string]any {
	list, taxonomy := "tags", "post_tag"
	if t.kind == calendar.Category {
		list, taxonomy = "categories", "tribe_events_cat"
	}
	urls := map[string]string{"self": s.restURL(list, t.id), "collection": s.shown + "/wp-json/tribe/events/v1/" + list}
	body := map[string]any{
		"id": t.id, "name": t.name, "slug": t.slug, "term_group": 0, "term_taxonomy_id": t.id, "taxonomy": taxonomy, "description": "",
		"parent": 0, "count": s.count(t), "filter": "raw", "urls": urls,
	}
	if t.parent != nil {
		body["parent"] = t.parent.id
		urls["up"] = s.restURL(list, t.parent.id)
	}
	return body
}

// count returns the number of events that have a term themselves, not through its children.
func (s *Site) count(t *term) (n int) {
	for _, e := range s.events {
		if slices.Contains(e.categories, t) || slices.Contains(e.tags, t) {
			n++
		}
	}
	return n
}

func (s *Site) termsJSON(terms []*term) []any {
	out := []any{}
	for _, t := range terms {
		out = append(out, s.termJSON(t))
	}
	return out
}

// imageJSON returns the JSON of an image with its smaller sizes, or false for nil.
func (s *Site) imageJSON(p *picture) any {
	if p == nil {
		return false
	}
	sizes := map[string]any{}
	for name, width := range imageWidths {
		if width < p.width {
			height := p.height * width / p.width
			sizes[name] = map[string]any{
				"width": width, "height": height, "mime-type": p.mimeType(), "filesize": 1000, "url": s.imageURL(p.sized(width, height)),
			}
		}
	}
	return map[string]any{
		"url": s.imageURL(p.name), "id": p.id, "extension": p.name[strings.LastIndex(p.name, ".")+1:], "width": p.width,
		"height": p.height, "filesize": 10000, "sizes": sizes,
	}
}

// serveCore replies with a list of the REST API of WordPress itself: events, categories or tags. Other routes are
// 404.
func (s *Site) serveCore(w http.ResponseWriter, r *http.Request, route string) {
	var all []map[string]any
	switch route {
	case "tribe_events":
		for i, e := range s.events {
			if e.day != "" && s.events[i-1].slug == e.slug {
				continue // the dates of a recurring event are one post
			}
			all = append(all, map[string]any{
				"id": e.id, "slug": e.slug, "status": "publish", "type": "tribe_events", "link": s.eventPage(e),
				"guid": map[string]string{"rendered": strings.ReplaceAll(e.guid, "&", "&#038;")},
			})
		}
		slices.Reverse(all) // the latest posts first
	case "tribe_events_cat", "tags":
		for _, t := range slices.Concat(s.categories, s.tags) {
			if (t.kind == calendar.Category) != (route == "tribe_events_cat") {
				continue
			}
			link := s.shown + s.termPath(t)
			if t.kind == calendar.Tag {
				link = s.page(s.options.Paths.Tag, t.slug)
			}
			all = append(all, map[string]any{"id": t.id, "name": t.name, "slug": t.slug, "link": link, "count": s.count(t)})
		}
	default:
		writeError(w, http.StatusNotFound, "rest_no_route", "No route was found matching the URL and request method.")
		return
	}
	query := r.URL.Query()
	size, number := pageParameters(query, defaultPage, maxCorePage)
	pages := (len(all) + size - 1) / size
	if number > max(pages, 1) {
		writeError(
			w, http.StatusBadRequest, "rest_post_invalid_page_number",
			"The page number requested is larger than the number of pages available.",
		)
		return
	}
	if query.Has("_fields") {
		fields := strings.Split(query.Get("_fields"), ",")
		for _, record := range all {
			for name := range record {
				if !slices.Contains(fields, name) {
					delete(record, name)
				}
			}
		}
	}
	w.Header().Set("X-WP-Total", strconv.Itoa(len(all)))
	w.Header().Set("X-WP-TotalPages", strconv.Itoa(pages))
	writeJSON(w, http.StatusOK, all[(number-1)*size:min(number*size, len(all))])
}
