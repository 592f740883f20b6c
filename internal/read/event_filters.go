package read

import (
	"context"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/search"
	"github.com/almanac-cal/almanac/internal/when"
)

// eventFilter is a row of the table eventFilters. It is either a column, or a function that declares its
// parameters.
type eventFilter struct {
	query.Column
	written func(*EventQuery, *Reader, *param.Set)
	// secret is true for a filter of events or fields that are not public. Feeds refuse such filters.
	secret bool
}

// eventFilters lists the filters of events (contract, sections 9.1, 19.7 and 27.1). Descriptions and links have
// them in this order. The row of a column determines its parameter, validation, both engines, descriptions and
// tests. The password of an event also guards its column, unless the column is OpenToAll.
var eventFilters = [...]eventFilter{
	{written: (*EventQuery).declareDates},
	{written: (*EventQuery).declareSearch},
	{Column: query.Terms("categories", event.TermsTable, event.HasTermsWith, term.IDIn, calendar.Category,
		"Categories, by ID or slug")},
	{Column: query.Terms("tags", event.TermsTable, event.HasTermsWith, term.IDIn, calendar.Tag, "Tags, by ID or slug")},
	{Column: query.Link("venue", event.VenuesTable, event.HasVenuesWith, venue.IDIn, calendar.Venue, "Venue IDs")},
	{Column: query.Link("organizer", event.OrganizersTable, event.HasOrganizersWith, organizer.IDIn, calendar.Organizer,
		"Organizer IDs")},
	{Column: query.Flag("featured", event.FieldFeatured, event.Featured, "Featured or not")},
	{written: (*EventQuery).declareStatuses, secret: true},
	{written: (*EventQuery).declareCircle},
	{written: (*EventQuery).declareInclude},
	{Column: query.Record("post_parent", event.FieldParentID, event.ParentIDIn, "ID of the parent event").OpenToAll()},
	{Column: query.Flag("ticketed", event.FieldTicketed, event.Ticketed, "With tickets or without")},
	{written: (*EventQuery).declareSeries},
	{Column: query.OneOf("event_status", event.FieldEventStatus, event.EventStatusIn, calendar.EventStatuses,
		"Whether events take place as planned").OpenToAll()},
}

// EventColumns returns the columns of the table eventFilters, which the index needs in order to answer filters.
func EventColumns() []*query.Column {
	var out []*query.Column
	for i := range eventFilters {
		if f := &eventFilters[i]; f.written == nil {
			out = append(out, &f.Column)
		}
	}
	return out
}

// Declare declares the parameters of a list of events. A page has at most largest events.
func (q *EventQuery) Declare(r *Reader, p *param.Set, largest int64) {
	r.DeclarePaging(p, &q.Paging, "Events", largest)
	q.DeclareFilters(r, p, nil)
	p.OptString(&q.Password, "password", "Access password of protected events").NoLink()
	DeclareLanguage(p)
}

// DeclareFilters declares all filters of the table eventFilters. If refuse is not nil, it is called instead for
// each filter with the field secret. Feeds use that to refuse such filters.
func (q *EventQuery) DeclareFilters(r *Reader, p *param.Set, refuse func()) {
	for i := range eventFilters {
		switch f := &eventFilters[i]; {
		case f.secret && refuse != nil:
			refuse()
		case f.written != nil:
			f.written(q, r, p)
		default:
			q.declareColumn(r, p, &f.Column)
		}
	}
}

// declareColumn declares the parameter of a column. If the request has a valid value, it becomes a condition of
// the query.
func (q *EventQuery) declareColumn(r *Reader, p *param.Set, c *query.Column) {
	var (
		one   *param.Param
		flag  bool
		words []string
		ids   []int64
	)
	switch c.Kind {
	case query.FlagKind:
		one = p.Bool(&flag, c.Name, c.Description)
	case query.LinkKind:
		one = p.IDs(&ids, c.Name, c.Description).Check(r.areRecords(c.LinksTo, &ids))
	case query.TermKind:
		one = p.Words(&words, c.Name, c.Description).Check(r.areTerms(c.LinksTo, &words, &ids))
	case query.WordKind:
		one = param.Var(p, &words, c.Name, c.Description, "array", param.Strings).ListOf("string")
		if c.Words != nil {
			one.EachOf(c.Words)
		}
	case query.RecordKind:
		var id *int64
		one = p.OptInt(&id, c.Name, c.Description).Check(r.isReadableEvent(&id)).Check(func(context.Context) *param.Fault {
			ids = []int64{*id}
			return nil
		})
	}
	one.Check(func(context.Context) *param.Fault {
		q.Conditions = append(q.Conditions, query.Condition{Column: c, Flag: flag, Words: words, IDs: ids})
		return nil
	})
}

func (q *EventQuery) declareDates(r *Reader, p *param.Set) {
	zone := r.Zone()
	date := ParseDate(p.Now, zone)
	first, last := defaultWindow(p.Now, zone)
	dates := []struct {
		dst               **when.Date
		name, description string
		link              func() string
		published         any
	}{
		{
			&q.StartDate, "start_date", "Events starting on or after this date",
			func() string { return q.startLink(zone, first) }, first.String(),
		},
		{
			&q.EndDate, "end_date", "Events ending on or before this date",
			func() string { return q.endLink(zone, last) }, last.String(),
		},
		{&q.StartsBefore, "starts_before", "Events starting before this date", nil, nil},
		{&q.StartsAfter, "starts_after", "Events starting after this date", nil, nil},
		{&q.EndsBefore, "ends_before", "Events ending before this date", nil, nil},
		{&q.EndsAfter, "ends_after", "Events ending after this date", nil, nil},
	}
	for _, d := range dates {
		parse := date
		if d.name == "end_date" {
			parse = ParseEnd(p.Now, zone)
		}
		decl := param.Opt(p, d.dst, d.name, d.description, "", parse)
		if q.Endless {
			decl.Link(LinkAsSent(p, d.name)) // "today" stays relative, so that subscribers see the current day
			continue
		}
		if d.published != nil {
			decl.PublishDefault(d.published).OfToday()
		}
		if d.link == nil {
			d.link = func() string { return q.dateLink(*d.dst, zone, calendar.Wall.EndOfDay) }
		}
		decl.Link(d.link)
	}
	param.Default(p.Bool(&q.Strict, "strict_dates", "Compare exact times instead of whole days").Untyped(),
		&q.Strict, false)
}

func (q *EventQuery) declareSearch(_ *Reader, p *param.Set) {
	DeclareSearch(p, &q.Search, "Text in title, excerpt or description", func(text string) (ok bool) {
		q.text, ok = search.ParseEvents(text)
		return ok
	})
}

// DeclareSearch declares the parameter of a text search. The function parse reports whether a text is a valid
// search.
func DeclareSearch(p *param.Set, dst **string, description string, parse func(string) bool) {
	p.OptString(dst, "search", description).Longest(search.MaxChars).Check(func(context.Context) *param.Fault {
		if !parse(**dst) {
			return &param.Fault{Key: "not-a-search"}
		}
		return nil
	})
}

func (q *EventQuery) declareStatuses(r *Reader, p *param.Set) { r.DeclareStatuses(p, &q.Status) }

// declareCircle declares the filters by the position of the venue.
func (q *EventQuery) declareCircle(_ *Reader, p *param.Set) {
	p.OptBool(&q.Geoloc, "geoloc", "With a located venue or without").CheckAlways(func(context.Context) *param.Fault {
		if q.Geoloc != nil && !*q.Geoloc && (q.Lat != nil || q.Lng != nil) {
			return param.Bad()
		}
		return nil
	})
	p.OptNumber(&q.Lat, "geoloc_lat", "Latitude of the centre; needs geoloc_lng").Between(-90, 90).
		CheckAlways(requirePair("geoloc_lat", "geoloc_lng", &q.Lat, &q.Lng))
	p.OptNumber(&q.Lng, "geoloc_lng", "Longitude of the centre; needs geoloc_lat").Between(-180, 180).
		CheckAlways(requirePair("geoloc_lng", "geoloc_lat", &q.Lng, &q.Lat))
	param.Default(p.Number(&q.Radius, "geoloc_radius", "Radius in kilometres, at most 500"), &q.Radius, 25).Above(0, 500)
}

func (q *EventQuery) declareInclude(_ *Reader, p *param.Set) {
	p.IDs(&q.Include, "include", "Event IDs; date filters are ignored").Between(1, nil)
}

// declareSeries declares the filter by series (contract, section 19.7).
func (q *EventQuery) declareSeries(r *Reader, p *param.Set) {
	var words []string
	param.Var(p, &words, "series", "Series IDs; next: only the first event of each series; none: no events of series",
		"array", param.Strings).ListOf("string").Check(func(ctx context.Context) *param.Fault {
		switch {
		case slices.Equal(words, []string{"next"}) && q.Endless:
			return param.Bad()
		case slices.Equal(words, []string{"next"}):
			q.Series.First = true
			return nil
		case slices.Equal(words, []string{"none"}):
			q.Series.None = true
			return nil
		}
		q.Series.IDs = []int64{}
		for _, word := range words {
			id, fault := param.Integer(word)
			if fault != nil {
				return param.Bad()
			}
			q.Series.IDs = append(q.Series.IDs, id)
		}
		r.DependsOn(calendar.Series, q.Series.IDs...)
		return ReferenceFault(r.Editor().SeriesFault(ctx, r.DB, q.Series.IDs))
	})
}

// requirePair returns a check for two parameters that must be sent together. It finds a fault if name is missing
// although other was sent. Their values are v and o.
func requirePair(name, other string, v, o **float64) func(context.Context) *param.Fault {
	return func(context.Context) *param.Fault {
		if *v == nil && *o != nil {
			return &param.Fault{Key: "needs-other", Args: map[string]any{"Param": other, "Other": name}}
		}
		return nil
	}
}

// LinkAsSent returns a function for param.Param.Link that repeats a parameter in links as the client sent it. If
// the client sent it several times, the last value counts.
func LinkAsSent(p *param.Set, name string) func() string {
	return func() string {
		raw, ok := p.Raw(name)
		text, fault := param.String(raw)
		if !ok || fault != nil {
			return ""
		}
		return text
	}
}
