package represent

import (
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/markup"
)

// Entry returns a loaded event as a feed entry (contract, section 20). The caller must set its UIDs and
// sequence. If protected is true, the entry hides what the event's password protects. The number characters
// limits each text; 0 means no limit. Longer HTML is cut before it is copied.
func (v *View) Entry(e *ent.Event, protected bool, characters int) (feed.Entry, error) {
	t := v.Text(e)
	zone, err := calendar.ParseZone(e.Timezone)
	if err != nil {
		return feed.Entry{}, err
	}
	out := feed.Entry{
		ID: e.ID, Stamp: v.LastChange(e, protected), Created: e.PublishedAt,
		Start: e.StartsAt, End: e.EndsAt, StartWall: e.StartWall, EndWall: e.EndWall, Zone: zone, AllDay: e.AllDay,
		Status: e.EventStatus, Protected: protected, Title: t.Title,
		URL: v.page(calendar.Event, e.ID, e.Status.Shown(v.Now, e.PublishedAt), t.Slug),
	}
	if protected {
		out.AllDay = false
		return out, nil
	}
	if characters > 0 {
		t.Description, t.Excerpt = markup.Head(t.Description, characters), markup.Head(t.Excerpt, characters)
	}
	out.Description, out.Excerpt = markup.Paragraphs(t.Description), markup.Paragraphs(t.Excerpt)
	out.VirtualURL, out.Image = e.VirtualURL, v.picture(e.Edges.Image)
	for _, row := range readableRows(v, e.Edges.Venues) {
		p := feed.Place{
			Name: v.Text(row).Title, Address: row.Address, Zip: row.Zip, City: row.City, Region: stateProvince(row),
			Country: row.Country,
		}
		if row.Latitude != nil && row.Longitude != nil {
			p.Located, p.Latitude, p.Longitude = true, *row.Latitude, *row.Longitude
		}
		out.Places = append(out.Places, p)
	}
	for _, row := range readableRows(v, e.Edges.Organizers) {
		out.Organizers = append(out.Organizers, feed.Organizer{Name: v.Text(row).Title, Phone: row.Phone, Email: row.Email})
	}
	for _, taxonomy := range []calendar.Kind{calendar.Category, calendar.Tag} {
		for _, one := range v.sortedTerms(e, taxonomy) {
			out.Categories = append(out.Categories, one.text.Title)
		}
	}
	return out, nil
}

// LastChange returns the time of the last change of an event that the public could see. Publication of the
// event counts as a change. So do changes and publication of the venues, organizers and terms that feeds show
// with it. If protected is true, the event has a password, and feeds show none of these, so they do not count.
func (v *View) LastChange(e *ent.Event, protected bool) time.Time {
	last := e.ModifiedAt
	note := func(at time.Time) {
		if at.After(last) && !at.After(v.Now) {
			last = at
		}
	}
	note(e.PublishedAt)
	if protected {
		return last
	}
	for _, row := range readableRows(v, e.Edges.Venues) {
		note(row.ModifiedAt)
		note(row.PublishedAt)
	}
	for _, row := range readableRows(v, e.Edges.Organizers) {
		note(row.ModifiedAt)
		note(row.PublishedAt)
	}
	for _, row := range e.Edges.Terms {
		note(row.ModifiedAt)
	}
	return last
}

// picture returns the large copy of an image, or the image itself if it has no large copy. Nil gives an empty
// image.
func (v *View) picture(row *ent.Image) feed.Image {
	if row == nil {
		return feed.Image{}
	}
	if s, ok := row.Sizes["large"]; ok {
		return feed.Image{URL: v.sizeURL(s), MediaType: s.MIMEType, Size: s.Filesize}
	}
	return feed.Image{URL: v.imageURL(row), MediaType: mediaTypes[strings.ToLower(row.Extension)], Size: row.Filesize}
}

// mediaTypes are the media types of images, by lower-case file extension.
var mediaTypes = map[string]string{
	"jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
	"avif": "image/avif", "svg": "image/svg+xml",
}

// sortedTerms returns the terms of an event that belong to a taxonomy, in the order in which its representation
// lists them.
func (v *View) sortedTerms(e *ent.Event, taxonomy calendar.Kind) []*namedTerm {
	var terms []*namedTerm
	for _, row := range e.Edges.Terms {
		if row.Taxonomy == taxonomy {
			terms = append(terms, &namedTerm{row, v.Text(row)})
		}
	}
	slices.SortFunc(terms, byName)
	return terms
}
