package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/when"
)

// eventInput is the input of a request that writes an event or a series, or previews a schedule.
type eventInput struct {
	target
	edit.EventInput
	Image      *picture
	series     bool // the target is a series, not an event
	exceptions exceptionsChoice
	// row is the stored event of an update. It is valid after eventLoaded is set. Nil means that no such event
	// exists, or that the caller may not edit it.
	row         *ent.Event
	eventLoaded bool          // row was loaded
	expanded    *sentSchedule // result of expandSchedule; nil before its first call
	venues      []*venueInput // venues sent as objects instead of ids
	organizers  []*organizerInput
}

func (r *writing) declareEventCreate(p *param.Set, in *eventInput) {
	r.declareEvent(fields{p: p, r: r, create: true}, in)
}

// eventUpdate returns a function that registers the request parameters for updating an event or a series. The
// argument by is the parameter in the path: "id" or "slug".
func eventUpdate(kind calendar.Kind, by string) func(*writing, *param.Set, *eventInput) {
	return func(r *writing, p *param.Set, in *eventInput) {
		in.series = kind == calendar.Series
		if by == "id" {
			p.PathID(&in.ID, "id", "ID of the "+string(kind))
		} else {
			// The slug in the path is optional here, because it is also a field of the record.
			p.PathString(&in.target.Slug, "slug", "Slug of the "+string(kind)).Optional()
		}
		r.declareEvent(fields{p: p, r: r}, in)
	}
}

// declareEvent registers the request fields of an event, with their checks (contract, sections 10.1, 19.2 and
// 27.3).
func (r *writing) declareEvent(f fields, in *eventInput) {
	p := f.p
	f.author(&in.AuthorID, func(id int64) (bool, error) {
		e, err := r.eventOfUpdate(in)
		return id == 0 && e != nil && e.SeriesID != nil && e.AuthorID == nil, err
	})
	f.published(&in.Published)
	if !f.preview {
		f.title(&in.Title, "title", "Title")
	}
	f.html(&in.Description, "description", "Description, HTML")
	f.slug(&in.EventInput.Slug)
	f.html(&in.Excerpt, "excerpt", "Excerpt, HTML")
	f.status(&in.Status)
	zone := f.nullClears(param.Opt(p, &in.Zone, "timezone", "Time zone", "string", r.zoneOf))
	allDay := p.OptBool(&in.AllDay, "all_day", "Whole days")
	if f.create {
		allDay.PublishDefault(false)
	}
	type parser = func(raw any) (when.Date, *param.Fault)
	date := func(parse func(time.Time, calendar.Zone) parser) parser {
		return func(raw any) (when.Date, *param.Fault) {
			zone, err := r.dateZone(in, raw)
			if err != nil {
				return when.Date{}, &param.Fault{Err: err}
			}
			return parse(p.Now, zone)(raw)
		}
	}
	start := param.Opt(p, &in.Start, "start_date", "Start", "string", date(read.ParseDate))
	end := param.Opt(p, &in.End, "end_date", "End", "string", date(read.ParseEnd))
	if f.create {
		start.Required()
		end.Required()
	}
	for _, one := range []*param.Param{zone, start, end} {
		one.CheckAlways(func(context.Context) *param.Fault { return r.spanFault(in, one.Name) })
	}
	f.image(&in.Image, "Image ID or URL", false)
	f.nullClears(param.Opt(p, &in.Cost, "cost", "Cost", "", costOf(r.decimal()))).Check(func(context.Context) *param.Fault {
		return read.ReferenceFault(nil, r.keepShownCost(in))
	})
	f.nullClears(param.Opt(p, &in.Website, "website", "URL of the event site", "", websiteOf).PublishDefault(nil))
	f.plain(in.Plain(), "show_map", "show_map_link", "hide_from_listings", "sticky", "featured")
	f.terms(&in.Categories, calendar.Category, "categories", "Categories, by ID or name")
	f.terms(&in.Tags, calendar.Tag, "tags", "Tags, by ID or name")
	f.venues(in)
	f.organizers(in)
	f.nullClears(param.Opt(p, &in.EventInput.Password, "password", "Access password", "string", passwordOf)).Longest(maxText)
	f.plain(in.Plain(), "ticketed")
	f.nullClears(param.Opt(p, &in.ParentID, "post_parent", "ID of the parent event", "integer", idOrNone)).
		Check(func(ctx context.Context) *param.Fault {
			switch e, err := r.eventOfUpdate(in); {
			case err != nil:
				return &param.Fault{Err: err}
			case e != nil && e.ParentID != nil && *e.ParentID == *in.ParentID:
				return nil // the client sends the stored parent back
			}
			return read.ReferenceFault(r.Editor().ParentFault(ctx, r.DB, *in.ParentID))
		})
	f.plain(in.Plain(), "event_status")
	f.text(&in.EventStatusReason, "event_status_reason", "Why the event does not take place as planned", maxText)
	f.plain(in.Plain())
	f.recurrence(in, end)
	read.DeclareLanguage(p)
}

func (r *writing) decimal() string { return r.Site.Currency.Decimal }

// zoneOf parses a time zone. "" and null mean the zone of the site.
func (r *writing) zoneOf(raw any) (calendar.Zone, *param.Fault) {
	if raw == nil {
		return r.Zone(), nil
	}
	name, fault := param.String(raw)
	if fault != nil {
		return calendar.Zone{}, fault
	}
	if name == "" {
		return r.Zone(), nil
	}
	zone, err := calendar.ParseZone(name)
	if err != nil {
		return calendar.Zone{}, &param.Fault{Key: "no-zone", Args: map[string]any{"Zone": read.Shorten(name)}}
	}
	return zone, nil
}

// dateZone returns the zone in which dates and the rule of a request are parsed. It is that of the request, else
// the stored event's, else the site's. If the sent value raw is a number, dateZone reads no stored event. The
// parameter timezone is registered before the dates, so it is parsed already.
func (r *writing) dateZone(in *eventInput, raw any) (calendar.Zone, error) {
	if in.Zone != nil {
		return *in.Zone, nil
	}
	if _, isNumber := raw.(json.Number); isNumber {
		return r.Zone(), nil
	}
	e, err := r.eventOfUpdate(in)
	if e == nil || err != nil {
		return r.Zone(), err
	}
	return calendar.ParseZone(e.Timezone)
}

// eventOfUpdate returns the event that an update names. It returns nil for a create, an unknown event, and an
// event that the caller may not edit. The last two are refused after parsing. Until then no error may reveal a
// hidden record.
func (r *writing) eventOfUpdate(in *eventInput) (*ent.Event, error) {
	if in.eventLoaded || in.target == (target{}) {
		return in.row, nil
	}
	kind, find := calendar.Event, r.findEvent
	if in.series {
		kind, find = calendar.Series, r.findSeriesEvent
	}
	e, err := find(&in.target)
	in.eventLoaded = true
	var refusal *calendar.Error
	var invalid param.Invalid
	if errors.As(err, &refusal) || errors.As(err, &invalid) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	status := e.Status.Shown(r.Now, e.PublishedAt)
	if !r.mayWrite(auth.Edit, auth.RecordOf(kind, e.AuthorID, status, e.StatusBeforeTrash)) {
		return nil, nil
	}
	in.row = e
	return e, nil
}

// spanFault checks sent start and end dates against each other. It returns the error if that belongs to the parameter
// with the given name, else nil. It is nil unless both dates are sent. Package edit checks a sent date together with
// a stored one.
func (r *writing) spanFault(in *eventInput, name string) *param.Fault {
	if in.Start == nil || in.End == nil {
		return nil
	}
	e, err := r.eventOfUpdate(in)
	if err != nil {
		return &param.Fault{Err: err}
	}
	fault, err := edit.SpanFault(r.Zone(), e, &in.EventInput)
	if err != nil {
		return &param.Fault{Err: err}
	}
	if fault == nil || fault.Param != name {
		return nil
	}
	return fault
}

// keepShownCost keeps the stored cost if the sent text equals the displayed cost. A displayed range omits the
// prices in between, so parsing it would lose them.
func (r *writing) keepShownCost(in *eventInput) error {
	raw, _ := r.Params.Raw("cost")
	text, isText := raw.(string)
	e, err := r.eventOfUpdate(in)
	if !isText || e == nil || err != nil {
		return err
	}
	sent, err := markup.Text(text)
	if err != nil {
		return nil // the parser of the parameter has refused it
	}
	for _, lang := range calendar.Languages {
		if calendar.Escape(sent) == e.Cost.Display(r.Site.Currency, r.Words.Message(lang, "free", nil)) {
			in.Cost = &e.Cost
			break
		}
	}
	return nil
}

// websiteOf parses the website of an event. Null resets it to "not set". "" means that the event has none.
func websiteOf(raw any) (edit.Website, *param.Fault) {
	if raw == nil {
		return edit.Website{}, nil
	}
	text, fault := webAddress(raw)
	if fault != nil {
		return edit.Website{}, &param.Fault{Key: "not-an-address"}
	}
	return edit.Website{Set: true, URL: text}, nil
}

// passwordOf parses an access password, without changing it. Null means no password.
func passwordOf(raw any) (string, *param.Fault) {
	if raw == nil {
		return "", nil
	}
	text, fault := param.String(raw)
	if fault == nil && utf8.RuneCountInString(text) > maxText {
		return "", param.TooLong("password", maxText)
	}
	return text, fault
}

// idOrNone parses an id. Null and 0 mean no record, and give 0.
func idOrNone(raw any) (int64, *param.Fault) {
	if raw == nil {
		return 0, nil
	}
	return param.Integer(raw)
}
