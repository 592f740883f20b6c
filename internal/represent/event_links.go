package represent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// linkedRow is what is scanned of a venue, an organizer or a term, and of the link that leads to it. Columns that a kind
// has not are empty.
type linkedRow struct {
	kind                                         string // venue, organizer or term
	event, position, id                          int64
	author, parent                               *int64
	status                                       calendar.Status
	published, modified                          time.Time
	language                                     calendar.Language
	languages                                    calendar.LanguageSet
	name, description, slug                      string
	phone, website, email                        string
	address, city, country, province, state, zip string
	stateProvince                                string
	showMap, showMapLink                         bool
	latitude, longitude                          *float64
	taxonomy                                     calendar.Kind
	count                                        int
	image                                        imageRow
}

// linkedColumn is a column of the statement that reads them: where its value goes, and what it is for each kind. The
// types are those of the first: values that stand for a column have to fit.
type linkedColumn struct {
	dst                    any
	venue, organizer, term string
}

func (l *linkedRow) columns() []linkedColumn {
	out := []linkedColumn{
		{&l.kind, "'venue'", "'organizer'", "'term'"},
		{&l.event, "l.event_id", "l.event_id", "l.event_id"},
		{&l.position, "l.position", "l.position", "0"},
		{&l.id, "v.id", "o.id", "t.id"},
		{&l.author, "v.author_id", "o.author_id", "NULL"},
		{&l.status, "v.status", "o.status", "''"},
		{&l.published, "v.published_at", "o.published_at", "t.modified_at"},
		{&l.modified, "v.modified_at", "o.modified_at", "t.modified_at"},
		{&l.language, "v.language", "o.language", "t.language"},
		{&l.languages, "v.languages", "o.languages", "t.languages"},
		{&l.name, "v.name", "o.name", "t.name"},
		{&l.description, "v.description", "o.description", "t.description"},
		{&l.slug, "v.slug", "o.slug", "t.slug"},
		{&l.phone, "v.phone", "o.phone", "''"},
		{&l.website, "v.website", "o.website", "''"},
		{&l.email, "''", "o.email", "''"},
		{&l.address, "v.address", "''", "''"},
		{&l.city, "v.city", "''", "''"},
		{&l.country, "v.country", "''", "''"},
		{&l.province, "v.province", "''", "''"},
		{&l.state, "v.state", "''", "''"},
		{&l.zip, "v.zip", "''", "''"},
		{&l.stateProvince, "v.stateprovince", "''", "''"},
		{&l.showMap, "v.show_map", "0", "0"},
		{&l.showMapLink, "v.show_map_link", "0", "0"},
		{&l.latitude, "v.latitude", "NULL", "NULL"},
		{&l.longitude, "v.longitude", "NULL", "NULL"},
		{&l.taxonomy, "''", "''", "t.taxonomy"},
		{&l.parent, "NULL", "NULL", "t.parent_id"},
		{&l.count, "0", "0", "t.event_count"},
	}
	for i, dst := range l.image.columns() {
		out = append(out, linkedColumn{dst, imageColumns[i], imageColumns[i], "NULL"})
	}
	return out
}

// eventLinksQuery reads everything that events are linked to, at once: most of what a statement takes is its way.
var eventLinksQuery = sizedQuery(func() string {
	var venue, organizer, term []string
	for _, c := range new(linkedRow).columns() {
		venue, organizer, term = append(venue, c.venue), append(organizer, c.organizer), append(term, c.term)
	}
	return "SELECT " + strings.Join(venue, ", ") + " FROM event_venues l JOIN venues v ON v.id = l.venue_id " +
		"LEFT JOIN images i ON i.id = v.image_id WHERE l.event_id IN ? UNION ALL " +
		"SELECT " + strings.Join(organizer, ", ") + " FROM event_organizers l JOIN organizers o ON o.id = l.organizer_id " +
		"LEFT JOIN images i ON i.id = o.image_id WHERE l.event_id IN ? UNION ALL " +
		"SELECT " + strings.Join(term, ", ") + " FROM event_terms l JOIN terms t ON t.id = l.term_id WHERE l.event_id IN ?"
}())

// linkedRows are the records that events are linked to: each once, though several events lead to it.
type linkedRows struct {
	venues     []*ent.Venue
	organizers []*ent.Organizer
	terms      []*ent.Term
}

// link gives events what they are linked to, in the order in which it was sent.
func (r *Reader) link(ctx context.Context, events []*ent.Event) (out linkedRows, err error) {
	type link struct {
		position, id int64
		give         func()
	}
	ids := make([]int64, len(events))
	edges := make(map[int64]*ent.EventEdges, len(events))
	for i, e := range events {
		ids[i], edges[e.ID] = e.ID, &e.Edges
	}
	var row linkedRow
	columns := row.columns()
	dst := make([]any, len(columns))
	for i, c := range columns {
		dst[i] = c.dst
	}
	var links []link
	venues, organizers, terms := map[int64]*ent.Venue{}, map[int64]*ent.Organizer{}, map[int64]*ent.Term{}
	err = r.queryByIDs(ctx, eventLinksQuery, ids, dst, func() error {
		to := edges[row.event]
		var give func()
		switch row.kind {
		case "venue":
			one, err := once(venues, &out.venues, row.id, row.venue)
			if err != nil {
				return err
			}
			give = func() { to.Venues = append(to.Venues, one) }
		case "organizer":
			one, err := once(organizers, &out.organizers, row.id, row.organizer)
			if err != nil {
				return err
			}
			give = func() { to.Organizers = append(to.Organizers, one) }
		default:
			one, err := once(terms, &out.terms, row.id, row.term)
			if err != nil {
				return err
			}
			give = func() { to.Terms = append(to.Terms, one) }
		}
		links = append(links, link{row.position, row.id, give})
		return nil
	})
	slices.SortFunc(links, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.id, b.id))
	})
	for _, l := range links {
		l.give()
	}
	return out, err
}

// once is the record with an id: that which is known, or the one that is made of the row, which all has from then on.
func once[R any](known map[int64]*R, all *[]*R, id int64, made func() (*R, error)) (*R, error) {
	if one := known[id]; one != nil {
		return one, nil
	}
	one, err := made()
	if err != nil {
		return nil, err
	}
	known[id] = one
	*all = append(*all, one)
	return one, nil
}

func (l *linkedRow) venue() (*ent.Venue, error) {
	image, err := l.image.row()
	return &ent.Venue{
		ID: l.id, AuthorID: l.author, Status: l.status, PublishedAt: l.published, ModifiedAt: l.modified,
		Language: l.language, Languages: l.languages, Name: l.name, Description: l.description, Slug: l.slug,
		Address: l.address, City: l.city, Country: l.country, Province: l.province, State: l.state, Zip: l.zip,
		Phone: l.phone, Stateprovince: l.stateProvince, Website: l.website, ShowMap: l.showMap, ShowMapLink: l.showMapLink,
		Latitude: l.latitude, Longitude: l.longitude, Edges: ent.VenueEdges{Image: image},
	}, err
}

func (l *linkedRow) organizer() (*ent.Organizer, error) {
	image, err := l.image.row()
	return &ent.Organizer{
		ID: l.id, AuthorID: l.author, Status: l.status, PublishedAt: l.published, ModifiedAt: l.modified,
		Language: l.language, Languages: l.languages, Name: l.name, Description: l.description, Slug: l.slug,
		Phone: l.phone, Website: l.website, Email: l.email, Edges: ent.OrganizerEdges{Image: image},
	}, err
}

func (l *linkedRow) term() (*ent.Term, error) {
	return &ent.Term{
		ID: l.id, Language: l.language, Languages: l.languages, Name: l.name, Description: l.description, Slug: l.slug,
		Taxonomy: l.taxonomy, ParentID: l.parent, EventCount: l.count,
	}, nil
}
