package handlers

import (
	"errors"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/param"
)

// request is a request that reads from the API, with the handlers that answer it.
type request struct {
	*endpoint.Request
	h *Handlers
}

// writing is a request that writes to the API.
type writing struct {
	*request
	// changes is the version that the record to change had when it was read. The zero value means that none has been read.
	changes calendar.Version
	// unclean points to the HTML texts of the write that are not sanitised yet.
	unclean []**string
	// fetched has the images downloaded for the write while it is not committed.
	fetched []*ent.Image
}

// readFor returns an endpoint for a request that reads. The function declare registers its parameters, and
// handle answers it.
func readFor[Q any](h *Handlers, summary string, methods []string, status int,
	declare func(*request, *param.Set, *Q), handle func(*request, *Q) (*endpoint.Reply, error),
) *endpoint.Endpoint {
	wrap := func(r *endpoint.Request) *request { return &request{r, h} }
	return endpoint.For(wrap, summary, methods, status, declare, handle)
}

// writeFor returns an endpoint for a request that writes. The function declare registers its parameters, and
// handle answers it. If the write fails, the images that were downloaded for it are removed.
func writeFor[Q any](h *Handlers, summary string, methods []string, status int,
	declare func(*writing, *param.Set, *Q), handle func(*writing, *Q) (*endpoint.Reply, error),
) *endpoint.Endpoint {
	wrap := func(r *endpoint.Request) *writing { return &writing{request: &request{r, h}} }
	return endpoint.For(wrap, summary, methods, status, declare, func(r *writing, q *Q) (*endpoint.Reply, error) {
		rep, err := handle(r, q)
		if err != nil {
			return nil, errors.Join(err, r.dropPictures())
		}
		return rep, nil
	})
}
