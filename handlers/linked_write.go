package handlers

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// venueInput is the input of a request that creates or updates a venue.
type venueInput struct {
	target
	edit.VenueInput
	Image *picture
	place int // position in the list of venues of the event that it is sent with
}

// organizerInput is the input of a request that creates or updates an organizer.
type organizerInput struct {
	target
	edit.OrganizerInput
	Image *picture
	place int // position in the list of organizers of the event that it is sent with
}

// declareTarget declares the id or slug in the path of an update or delete. The record must exist.
func (r *request) declareTarget(p *param.Set, q *target, kind calendar.Kind, by string) {
	if by == "slug" {
		p.PathString(&q.Slug, "slug", "Slug of the "+string(kind)).Check(r.slugExists(kind, &q.Slug))
		return
	}
	p.PathID(&q.ID, "id", "ID of the "+string(kind)).Check(func(ctx context.Context) *param.Fault {
		var known bool
		var err error
		switch kind {
		case calendar.Venue:
			known, err = r.db.Venue.Query().Where(venue.ID(q.ID)).Exist(ctx)
		case calendar.Organizer:
			known, err = r.db.Organizer.Query().Where(organizer.ID(q.ID)).Exist(ctx)
		default:
			_, err = r.findTerm(kind, q.ID)
			if _, unknown := err.(param.Invalid); unknown { //nolint:errorlint // findTerm returns it as it is
				return noRecord(kind, q.ID)
			}
			known = true
		}
		if err != nil {
			return &param.Fault{Err: err}
		}
		if !known {
			return noRecord(kind, q.ID)
		}
		return nil
	})
}

func venueCreate(r *request, p *param.Set, in *venueInput) {
	r.declareVenue(fields{p: p, r: r, create: true}, in)
	r.declareLanguage(p)
}

// venueUpdate returns the declaration of a venue update. by is "id" or "slug".
func venueUpdate(by string) func(*request, *param.Set, *venueInput) {
	return func(r *request, p *param.Set, in *venueInput) {
		r.declareTarget(p, &in.target, calendar.Venue, by)
		r.declareVenue(fields{p: p, r: r}, in)
		r.declareLanguage(p)
	}
}

// declareVenue declares the fields of a venue (contract, section 10.2). Venues inside an event have the same
// fields.
func (r *request) declareVenue(f fields, in *venueInput) {
	p := f.p
	f.author(&in.AuthorID, nil)
	f.published(&in.Published)
	f.title(&in.Name, "venue", "Name")
	f.html(&in.Description, "description", "Description, HTML").PublishDefault(nil)
	f.slug(&in.VenueInput.Slug)
	f.status(&in.Status)
	param.Opt(p, &in.ShowMap, "show_map", "Show a map", "string", boolOrEmpty).PublishDefault(nil)
	param.Opt(p, &in.ShowMapLink, "show_map_link", "Show a map link", "string", boolOrEmpty).PublishDefault(nil)
	for _, one := range f.plain(in.Plain()) {
		one.PublishDefault(nil)
	}
	f.image(&in.Image, "Image ID or URL", true).PublishDefault(nil)
	f.coordinate(&in.Latitude, "geo_lat", "Latitude, degrees north", 90)
	f.coordinate(&in.Longitude, "geo_lng", "Longitude, degrees east", 180)
}

// boolOrEmpty parses a boolean. "" means false.
func boolOrEmpty(raw any) (bool, *param.Fault) {
	if param.LastValue(raw) == "" {
		return false, nil
	}
	return param.Boolean(raw)
}

// coordinate declares a latitude or longitude in degrees. "" and null remove it. limit is its largest absolute
// value.
func (f fields) coordinate(dst **edit.Coordinate, name, description string, limit float64) {
	p := param.Opt(f.p, dst, name, description, "number", func(raw any) (edit.Coordinate, *param.Fault) {
		if last := param.LastValue(raw); last == nil || last == "" {
			return edit.Coordinate{}, nil
		}
		degrees, fault := param.Number(raw)
		if fault != nil {
			return edit.Coordinate{}, fault
		}
		if degrees < -limit || degrees > limit {
			return edit.Coordinate{}, param.OutOfBounds(name, -limit, limit)
		}
		return edit.Coordinate{Set: true, Degrees: degrees}, nil
	})
	p.Format = "double"
	f.nullClears(p)
	p.Minimum, p.Maximum = -limit, limit // the parser above enforces these limits
}

func organizerCreate(r *request, p *param.Set, in *organizerInput) {
	r.declareOrganizer(fields{p: p, r: r, create: true}, in)
	r.declareLanguage(p)
}

// organizerUpdate returns the declaration of an organizer update. by is "id" or "slug".
func organizerUpdate(by string) func(*request, *param.Set, *organizerInput) {
	return func(r *request, p *param.Set, in *organizerInput) {
		r.declareTarget(p, &in.target, calendar.Organizer, by)
		r.declareOrganizer(fields{p: p, r: r}, in)
		r.declareLanguage(p)
	}
}

// declareOrganizer declares the fields of an organizer (contract, section 10.3). Organizers inside an event have
// the same fields.
func (r *request) declareOrganizer(f fields, in *organizerInput) {
	f.author(&in.AuthorID, nil).PublishDefault(nil)
	date, dateUTC := f.published(&in.Published)
	date.PublishDefault(nil)
	dateUTC.PublishDefault(nil)
	f.title(&in.Name, "organizer", "Name").PublishDefault(nil)
	f.html(&in.Description, "description", "Description, HTML").PublishDefault(nil)
	f.slug(&in.OrganizerInput.Slug)
	f.status(&in.Status).PublishDefault(nil)
	for _, one := range f.plain(in.Plain()) {
		one.PublishDefault(nil)
	}
	f.image(&in.Image, "Image ID or URL", true).PublishDefault(nil)
}

// deleteTarget returns the declaration of a delete. by is "id" or "slug".
func deleteTarget(kind calendar.Kind, by string) func(*request, *param.Set, *target) {
	return func(r *request, p *param.Set, q *target) {
		r.declareTarget(p, q, kind, by)
		r.declareLanguage(p)
	}
}

// linkedWrites has the operations in which writes of venues and organizers differ. I is the input type, R the row
// type.
type linkedWrites[I any, R ent.Row] struct {
	kind    calendar.Kind
	parts   func(*I) (at *target, image *picture, id **int64)
	find    func(*request, *target) (R, error)
	lock    func(context.Context, *entTx, int64) (R, error)
	create  func(context.Context, *entTx, *edit.Editor, *I) (R, bool, error)
	update  func(context.Context, *entTx, *edit.Editor, R, *I) (R, error)
	trash   func(*edit.Editor, context.Context, *entTx, R) (R, error)
	written func(*request, int64) (*reply, error)
}

// venueWrites has the write operations of venues.
var venueWrites = linkedWrites[venueInput, *ent.Venue]{
	kind:  calendar.Venue,
	parts: func(in *venueInput) (*target, *picture, **int64) { return &in.target, in.Image, &in.ImageID },
	find:  venues.find, lock: edit.LockVenue, trash: (*edit.Editor).TrashVenue, written: venues.written,
	create: func(ctx context.Context, tx *entTx, e *edit.Editor, in *venueInput) (*ent.Venue, bool, error) {
		return e.CreateVenue(ctx, tx, &in.VenueInput)
	},
	update: func(ctx context.Context, tx *entTx, e *edit.Editor, row *ent.Venue, in *venueInput) (*ent.Venue, error) {
		return e.UpdateVenue(ctx, tx, row, &in.VenueInput)
	},
}

// organizerWrites has the write operations of organizers.
var organizerWrites = linkedWrites[organizerInput, *ent.Organizer]{
	kind:  calendar.Organizer,
	parts: func(in *organizerInput) (*target, *picture, **int64) { return &in.target, in.Image, &in.ImageID },
	find:  organizers.find, lock: edit.LockOrganizer, trash: (*edit.Editor).TrashOrganizer, written: organizers.written,
	create: func(ctx context.Context, tx *entTx, e *edit.Editor, in *organizerInput) (*ent.Organizer, bool, error) {
		return e.CreateOrganizer(ctx, tx, &in.OrganizerInput)
	},
	update: func(ctx context.Context, tx *entTx, e *edit.Editor, row *ent.Organizer, in *organizerInput) (*ent.Organizer, error) {
		return e.UpdateOrganizer(ctx, tx, row, &in.OrganizerInput)
	},
}

// post answers a create.
func (w linkedWrites[I, R]) post(r *request, in *I) (*reply, error) {
	if !auth.May(r.caller, auth.Create, auth.Record{Kind: w.kind}) {
		return nil, edit.Forbidden()
	}
	_, image, imageID := w.parts(in)
	if err := r.resolvePicture(image, imageID); err != nil {
		return nil, err
	}
	var id int64
	err := r.change(&id, func(tx *entTx, e *edit.Editor) error {
		row, _, err := w.create(r.ctx, tx, e, in)
		if err != nil {
			return err
		}
		id = row.Core().ID
		return nil
	})
	if err != nil {
		return nil, err
	}
	rep, err := w.written(r, id)
	if err != nil {
		return nil, err
	}
	return r.createdReply(w.kind, id, rep.version, rep.body), nil
}

// patch answers an update.
func (w linkedWrites[I, R]) patch(r *request, in *I) (*reply, error) {
	at, image, imageID := w.parts(in)
	id, err := w.permitted(r, at, auth.Edit)
	if err != nil {
		return nil, err
	}
	if err := r.resolvePicture(image, imageID); err != nil {
		return nil, err
	}
	return w.change(r, id, func(tx *entTx, e *edit.Editor, row R) (R, error) { return w.update(r.ctx, tx, e, row, in) })
}

// remove answers a delete. It moves the record to the trash.
func (w linkedWrites[I, R]) remove(r *request, q *target) (*reply, error) {
	id, err := w.permitted(r, q, auth.Delete)
	if err != nil {
		return nil, err
	}
	return w.change(r, id, func(tx *entTx, e *edit.Editor, row R) (R, error) { return w.trash(e, r.ctx, tx, row) })
}

// permitted returns the id of the record that a path names. It returns an error if the caller may not do op on
// the record.
func (w linkedWrites[I, R]) permitted(r *request, q *target, op auth.Operation) (int64, error) {
	row, err := w.find(r, q)
	if err != nil {
		return 0, err
	}
	c := row.Core()
	if !r.mayWrite(op, r.recordOf(c)) {
		return 0, edit.Forbidden()
	}
	r.changes = c.Writes()
	return c.ID, nil
}

// change runs do on a locked record in a transaction. It answers with the record as it is then.
func (w linkedWrites[I, R]) change(r *request, id int64, do func(*entTx, *edit.Editor, R) (R, error)) (*reply, error) {
	err := r.change(&id, func(tx *entTx, e *edit.Editor) error {
		row, err := w.lock(r.ctx, tx, id)
		if err != nil {
			return err
		}
		_, err = do(tx, e, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return w.written(r, id)
}
