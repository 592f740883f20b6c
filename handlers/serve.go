package handlers

import (
	"context"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/endpoint"
)

// Serve answers a matched request (endpoint.Serve).
func (h *Handlers) Serve(ctx context.Context, c *fiber.Ctx, m *endpoint.Match, call endpoint.Call) (endpoint.Outcome, error) {
	return endpoint.Serve(ctx, c, &h.Calendar, m, call)
}

// Accessible returns nil if the caller may read what an earlier attempt at the same write wrote. Otherwise it
// returns the error of reading that record by id (contract, section 18).
func (h *Handlers) Accessible(ctx context.Context, m *endpoint.Match, call endpoint.Call) error {
	if call.AlreadyWritten == 0 {
		return nil
	}
	r := &request{endpoint.NewRequest(ctx, &h.Calendar, h.Primary, m, call), h}
	return r.checkAccess(m.Pattern.Kind(), call.AlreadyWritten)
}

// recordReplies are the replies with one record of a kind: to GET by id, and to a write of the record with an id.
type recordReplies struct {
	get     func(*request, *target) (*endpoint.Reply, error)
	written func(*request, int64) (*endpoint.Reply, error)
}

// repliesOf has the recordReplies of each kind.
var repliesOf = func() map[calendar.Kind]recordReplies {
	all := map[calendar.Kind]recordReplies{
		calendar.Event:  {(*request).getEvent, (*request).writtenEvent},
		calendar.Series: {(*request).getSeries, (*request).writtenSeries},
		calendar.Image: {(*request).getImage, func(r *request, id int64) (*endpoint.Reply, error) {
			return r.getImage(&target{ID: id})
		}},
		calendar.Category: termReplies(calendar.Category),
		calendar.Tag:      termReplies(calendar.Tag),
	}
	for _, n := range namedResources {
		all[n.of()] = n.replies()
	}
	return all
}()

// checkAccess returns the error that GET of a record by id would return to the caller.
func (r *request) checkAccess(kind calendar.Kind, id int64) error {
	_, err := repliesOf[kind].get(r, &target{ID: id})
	return err
}

// writtenReply returns the reply to a write that an earlier request carried out. It shows the record as it is now.
func (h *Handlers) writtenReply(base *endpoint.Request, id int64) (rep *endpoint.Reply, err error) {
	r, kind := &request{base, h}, base.Match.Pattern.Kind()
	if err := r.checkAccess(kind, id); err != nil {
		return nil, err
	}
	if rep, err = repliesOf[kind].written(r, id); err != nil {
		return nil, err
	}
	if r.Match.Endpoint.Success == http.StatusCreated {
		rep = r.createdReply(kind, id, rep.Version, rep.Body)
	}
	return rep, nil
}

// Options answers OPTIONS on the matched path.
func (h *Handlers) Options(c *fiber.Ctx, m *endpoint.Match, call endpoint.Call) error {
	c.Set(fiber.HeaderAllow, m.Allow)
	return endpoint.WriteReply(c, endpoint.JSON, &endpoint.Reply{Status: fiber.StatusOK, Body: h.options(m.Pattern, call)}, "")
}

// createdReply returns the reply to a request that created a record.
func (r *request) createdReply(kind calendar.Kind, id int64, version calendar.ShownVersion, body any) *endpoint.Reply {
	collection := kind.Plural()
	if r.isWordPress() {
		collection = wordPressMedia
	}
	return &endpoint.Reply{Status: 201, Body: body, Version: version, Header: [][2]string{
		{"Location", r.View().Resource(collection, id)},
	}}
}
