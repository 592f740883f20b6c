package pages

import (
	"cmp"
	"context"
	"errors"
	"html"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/web"
)

// venuePage answers with the page of a venue.
func (r *request) venuePage() (*Reply, error) {
	linked := func(v *represent.View, row *ent.Venue) any { return v.PlacePageLD(row) }
	return placePage(r, calendar.Venue, r.words.Venue, (*ent.Client).ReadVenues, linked, func(row *ent.Venue) placeText {
		v := r.View().Venue(row, false)
		place := r.placeOf(&v)
		return placeText{
			id: v.ID, name: place.Name, language: v.Language, description: v.Description, image: v.Image, place: &place,
			words: r.words.DescVenue,
		}
	})
}

// organizerPage answers with the page of an organizer.
func (r *request) organizerPage() (*Reply, error) {
	linked := func(v *represent.View, row *ent.Organizer) any { return v.OrganizerPageLD(row) }
	return placePage(r, calendar.Organizer, r.words.Organizer, (*ent.Client).ReadOrganizers, linked, func(row *ent.Organizer) placeText {
		o := r.View().Organizer(row, false)
		place := r.organizerOf(&o)
		return placeText{
			id: o.ID, name: place.Name, language: o.Language, description: o.Description, image: o.Image, place: &place,
			words: r.words.DescOrganizer,
		}
	})
}

// placeText has the texts and the image in which the pages of venues and organizers differ.
type placeText struct {
	id                    int64
	name, language, words string
	description           string
	image                 *represent.Image
	place                 *web.Place
}

// placePage answers with the page of a venue or organizer and its events. The name of the kind is also the name
// of the event filter for it. The function load reads rows by their ids, linked returns the JSON-LD, and
// describe the texts.
func placePage[R ent.Row](
	r *request, kind calendar.Kind, label string, load func(*ent.Client, context.Context, []int64) ([]R, error),
	linked func(*represent.View, R) any, describe func(R) placeText,
) (*Reply, error) {
	id, err := r.findBySlug(kind)
	if err != nil {
		return nil, err
	}
	rows, err := load(r.DB, r.Ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !r.isPublicRecord(rows[0].Core()) {
		return nil, address.ErrNoPage
	}
	row := rows[0]
	if err := r.translateFully(ent.PageOf(row)); err != nil {
		return nil, err
	}
	if to := r.redirectIfMoved(row); to != nil {
		return to, nil
	}
	t := describe(row)
	m := &web.PlacePage{Label: label, Lang: r.foreignLanguage(t.language), Place: t.place, Picture: r.largePicture(imageOf(t.image))}
	m.Heading = t.name
	if m.Prose, err = r.prose(t.description); err != nil {
		return nil, err
	}
	m.ProseLang = m.Lang
	f := frameInput{
		kind: "place-page", title: t.name, paths: r.recordPaths(row), languages: row.Core().Languages.List(),
		original: row.Text().Language, image: r.sharedPicture(m.Picture), linked: linked(r.View(), row), index: !r.path.Past,
		description: cmp.Or(summary(t.description, 160), strings.ReplaceAll(t.words, "{title}", t.name)),
	}
	number := strconv.FormatInt(t.id, 10)
	r.apiRoot = "/events/" + encode([]web.Field{{Name: string(kind), Value: number}})
	return r.finishPlace(m, &f, web.Field{Name: string(kind), Value: number})
}

func imageOf(image *represent.Image) represent.OrFalse {
	if image == nil {
		return false
	}
	return image
}

// finishPlace adds the events of a venue, organizer or series to its page, and renders the page. The filter by
// selects these events.
func (r *request) finishPlace(m *web.PlacePage, f *frameInput, by web.Field) (*Reply, error) {
	// The page accepts only one parameter: the number of the list's page.
	values := map[string]any{by.Name: by.Value}
	if number := r.values["page"]; number != nil {
		values["page"] = number
	}
	q, err := r.withAddress(r.path, values).parse()
	var invalid param.Invalid
	if errors.As(err, &invalid) {
		return nil, address.ErrNoPage // page is the only parameter that can be invalid here
	}
	if err != nil {
		return nil, err
	}
	e, err := q.Events(r.Reader)
	if err != nil {
		return nil, err
	}
	list, err := r.findList(e, q, r.path.Past)
	if err != nil {
		return nil, err
	}
	r = r.withAddress(r.path, nil) // the links must not repeat the filter
	if err := r.fillList(&m.ListPage, list, f); err != nil {
		return nil, err
	}
	m.ListHeading = r.words.UpcomingEvents
	if r.path.Past {
		m.ListHeading = r.words.PastEvents
	}
	if list.Total == 0 {
		m.Empty = &web.Empty{Title: r.words.NothingTitle}
	}
	if r.path.Past {
		f.title += " – " + r.words.PastEvents
		f.description = f.title
	}
	f.feed = []web.Field{by}
	if r.Password == "" {
		f.api = "/events" + encode(append([]web.Field{by}, r.pastFilter()...))
	}
	m.Crumbs = []web.Link{{Text: r.words.Events, Href: r.href(r.newPagePath(address.ViewDefault), nil)}}
	m.Frame = r.frame(*f)
	m.Subscribe = r.subscribe(m.Heading, f.feed)
	return r.reply(http.StatusOK, "place", &m.Frame, m)
}

// seriesPage answers with the page of a series: its schedule in words and its dates.
func (r *request) seriesPage() (*Reply, error) {
	id, err := r.findBySlug(calendar.Series)
	if err != nil {
		return nil, err
	}
	rows, err := r.SeriesRows([]int64{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || rows[0].Status.Shown(r.Now, rows[0].PublishedAt) != calendar.Publish {
		return nil, address.ErrNoPage
	}
	s := rows[0]
	e, err := read.SeriesEvent(s)
	if err != nil {
		return nil, err
	}
	if to := r.redirectIfMoved(e); to != nil {
		return to, nil
	}
	refused := r.TryPassword(e)
	if refused != nil && !isTooMany(refused) {
		return nil, refused
	}
	redacted := r.IsProtected(e)
	shown, err := r.RepresentSeries(rows)
	if err != nil {
		return nil, err
	}
	j := shown[0]
	m := &web.PlacePage{Label: r.words.SeriesLabel, Lang: r.foreignLanguage(j.Language)}
	m.Heading = html.UnescapeString(j.Title)
	f := frameInput{
		kind: "place-page", title: m.Heading, paths: r.recordPaths(e), languages: e.Languages.List(), original: e.Language,
		index: !s.HideFromListings && !edit.HasPassword(e) && !r.path.Past, description: m.Heading,
	}
	if redacted {
		var status int
		m.Password, status = r.passwordForm(refused)
		m.Frame = r.frame(f)
		reply, err := r.reply(status, "place", &m.Frame, m)
		if err != nil {
			return nil, err
		}
		reply.Private, reply.Refused = true, refused
		return reply, nil
	}
	m.Schedule = j.Text
	m.Picture = r.largePicture(j.Image)
	if m.Prose, err = r.prose(j.Description); err != nil {
		return nil, err
	}
	m.ProseLang, m.Colour = m.Lang, colourOf(j.Categories)
	f.image = r.sharedPicture(m.Picture)
	f.description = cmp.Or(summary(cmp.Or(j.Excerpt, j.Description), 160), m.Heading+" – "+j.Text)
	if list := venueList(j.Venue); len(list) > 0 {
		place := r.placeOf(&list[0])
		place.Lines = append([]string{place.Name}, place.Lines...)
		m.Place = &place
	}
	reply, err := r.finishPlace(m, &f, web.Field{Name: "series", Value: strconv.FormatInt(s.ID, 10)})
	if err != nil {
		return nil, err
	}
	reply.Private = r.Password != ""
	return reply, nil
}

// venueList returns the venues of a representation as a slice.
func venueList(of represent.OneOrMany) []represent.Venue {
	switch v := of.(type) {
	case *represent.Venue:
		return []represent.Venue{*v}
	case []represent.Venue:
		return v
	}
	return nil
}

// placeName returns the name of a venue as plain text, followed by its city. It leaves out a city that is empty
// or part of the name.
func placeName(v *represent.Venue) string {
	name, city := html.UnescapeString(v.Venue), html.UnescapeString(v.City)
	if city == "" || strings.Contains(name, city) {
		return name
	}
	return name + ", " + city
}

// hostOf returns the host of a URL for display, without "www.".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return strings.TrimPrefix(u.Host, "www.")
}

// emailLink returns a link to an e-mail address, as character references. Programs that collect addresses do not
// find it in the page, but browsers show it.
func emailLink(email string) template.HTML {
	return template.HTML(`<a href="` + characterReferences("mailto:"+url.PathEscape(email)) + `">` + characterReferences(email) + `</a>`) //nolint:gosec // both parts are character references only
}

// characterReferences returns a text as decimal character references of HTML.
func characterReferences(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
	}
	return b.String()
}

// callNumber returns a telephone number for a tel: link. It returns "" if the text is not a telephone number.
func callNumber(text string) string {
	var b strings.Builder
	for i, c := range text {
		switch {
		case '0' <= c && c <= '9', c == '+' && i == 0:
			b.WriteRune(c)
		case strings.ContainsRune(" -./()\u00a0", c):
		default:
			return ""
		}
	}
	if b.Len() < 3 {
		return ""
	}
	return b.String()
}

// mapLink returns the URL of a map with the venue. It is "" if the venue has no position or no map link is wanted, or
// the site has no map.
func (r *request) mapLink(v *represent.Venue) string {
	link := r.PageSettings.MapLink
	if link == "" || !v.ShowMap && !v.ShowMapLink || v.GeoLat == nil || v.GeoLng == nil {
		return ""
	}
	decimal := func(degrees float64) string { return strconv.FormatFloat(degrees, 'f', 6, 64) }
	var parts []string
	for _, part := range []string{v.Address, v.City, v.Country} {
		if part != "" {
			parts = append(parts, html.UnescapeString(part))
		}
	}
	return strings.NewReplacer("{lat}", decimal(*v.GeoLat), "{lon}", decimal(*v.GeoLng),
		"{query}", url.QueryEscape(strings.Join(parts, ", "))).Replace(link)
}

// placeOf returns a venue in the form that pages show.
func (r *request) placeOf(v *represent.Venue) web.Place {
	out := web.Place{
		Name: html.UnescapeString(v.Venue), Lang: r.foreignLanguage(v.Language), Phone: v.Phone, Call: callNumber(v.Phone),
		Website: v.Website, Host: hostOf(v.Website), Map: r.mapLink(v),
	}
	if v.Slug != "" && v.Status == calendar.Publish && r.pages.servesView(address.ViewVenue) {
		out.Href = r.localAddress(v.URL)
	}
	town := strings.TrimSpace(v.Zip + " " + v.City)
	for _, line := range []string{v.Address, town, v.Stateprovince, v.Country} {
		if line != "" {
			out.Lines = append(out.Lines, html.UnescapeString(line))
		}
	}
	return out
}
