// Package endpoint turns a request for a route into the reply of its handler.
package endpoint

import (
	"context"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// Endpoint is the handler of a group of methods on one path.
type Endpoint struct {
	Methods []string
	In      param.Location
	Declare func(*Request, *param.Set)
	serve   func(*Request) (*Reply, error)
	Codec   Codec // encodes the values of replies
	Tables  bool  // clients may choose Table instead
	Summary string
	Success int  // HTTP status of a successful reply
	upload  bool // the endpoint accepts files
	rawFile bool // the body may be the file itself, rather than a form with it
	Strong  bool // entity tags of replies are strong, even without a record in the reply
}

// Request is one HTTP request to a route of the API or to a feed, with its parameters and caller.
type Request struct {
	*read.Reader
	Call   Call
	Match  *Match
	Fields string     // comma-separated names in the parameter _fields; "" means all fields
	Params *param.Set // parameters of the endpoint
	Codec  Codec      // codec of the reply
	// Page is the calendar page whose feed is requested. Nil means that the address is not that of a page.
	Page *address.Page
}

// Reply is the result of a handler. It has a value for the codec of the endpoint, and headers.
type Reply struct {
	Status  int
	Body    any
	Header  [][2]string
	Version calendar.ShownVersion // version of the record that the body shows, for Outcome.Version
}

// For returns an endpoint for some HTTP methods of a path. The function wrap turns a Request into the type R.
// The function declare registers the request parameters and binds them to fields of Q. The function handle
// answers once they are parsed. The argument status is the HTTP status of a successful reply.
func For[R, Q any](wrap func(*Request) R, summary string, methods []string, status int,
	declare func(R, *param.Set, *Q), handle func(R, *Q) (*Reply, error),
) *Endpoint {
	in := param.InQuery
	if slices.Contains(methods, "POST") {
		in = param.InBody
	}
	// The declaration binds variables of an input, which must live as long as its request.
	type bound struct {
		r R
		q Q
	}
	return &Endpoint{
		Methods: methods, In: in, Codec: JSON, Summary: summary, Success: status,
		Declare: func(r *Request, p *param.Set) {
			b := &bound{r: wrap(r)}
			p.SetInput(b)
			declare(b.r, p, &b.q)
		},
		serve: func(r *Request) (*Reply, error) {
			b := r.Params.Input().(*bound) //nolint:forcetypeassert // declare has set it
			return handle(b.r, &b.q)
		},
	}
}

// TakingFiles lets the endpoint accept files, and so a body as large as an upload. It returns the endpoint.
func (e *Endpoint) TakingFiles() *Endpoint {
	e.upload = true
	return e
}

// TakingRawFiles lets the body be the file itself, rather than a form with it. It returns the endpoint.
func (e *Endpoint) TakingRawFiles() *Endpoint {
	e.rawFile = true
	return e
}

// Describe returns the parameters that the endpoint registers for a request r. It parses no values.
func (e *Endpoint) Describe(r *Request) []*param.Param {
	return param.Describe(r.Now, e.In, func(p *param.Set) { e.Declare(r, p) })
}

// DescribingRequest returns an anonymous request for describing endpoints, as in OPTIONS or the OpenAPI
// document. It matches no route and has no parameters.
func DescribingRequest(c *read.Calendar, now time.Time, root read.Root, language calendar.Language) *Request {
	return &Request{Reader: c.NewReader(context.Background(), c.Primary, now, auth.Principal{}, root, language), Codec: JSON}
}

// InFormat makes the endpoint encode its replies with a codec for feeds, and gives them strong entity tags. It
// returns the endpoint.
func (e *Endpoint) InFormat(as Codec) *Endpoint {
	e.Codec, e.Strong = as, true
	return e
}
