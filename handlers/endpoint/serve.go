package endpoint

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
)

// Call has the properties of an API request that package server determines.
type Call struct {
	Now      time.Time // time of the request, in UTC and whole seconds
	Caller   auth.Principal
	Root     read.Root
	Language calendar.Language // language by path, header or site
	// OnLanguage receives the language that a parameter chooses. Later steps of package server use it.
	OnLanguage func(calendar.Language)
	// Precondition is the condition on the version of the record that the path names.
	Precondition calendar.Precondition
	// Strict makes unknown request parameters an error. It is the result of PrefersStrict.
	Strict bool
	// OnWritten receives the id of the written record, in the transaction that writes it. An error rolls the
	// transaction back. Nil disables it.
	OnWritten func(ctx context.Context, tx *ent.Tx, id int64) error
	// EnterMedia waits for a slot to decode or download pictures. The request keeps the slot until its end. Nil
	// means no limit.
	EnterMedia func() error
	// EnterSeries waits for a slot to write many occurrences of a series. The request keeps the slot until its
	// end. Nil means no limit.
	EnterSeries func() error
	// Judge limits guesses of event passwords (read.PasswordJudge).
	Judge read.PasswordJudge
	// Revision is the newest revision of the calendar when the request began, or a later one. 0 means unknown.
	Revision int64
	// AlreadyWritten is the id of the record that an earlier request with the same idempotency key wrote. The
	// request then writes nothing and returns that record. 0 means that there was no such request.
	AlreadyWritten int64
}

// Outcome has the properties of a reply that its bytes do not show.
type Outcome struct {
	Version   calendar.ShownVersion
	Until     time.Time // when the reply changes without a write; zero means never
	Unchanged reply.Unchanged
	Strong    bool // the entity tag of the reply is strong
}

// Written returns the reply to a write that an earlier request has already carried out. id is that of the written
// record. The reply shows the record as it is now.
type Written func(r *Request, id int64) (*Reply, error)

// NewRequest returns the Request of a call that matched a route with an endpoint. It reads from the database db.
func NewRequest(ctx context.Context, site *read.Calendar, db *ent.Client, m *Match, call Call) *Request {
	r := site.NewReader(ctx, db, call.Now, call.Caller, call.Root, call.Language)
	r.Chosen, r.Judge, r.Revision = call.Root.Language(), call.Judge, call.Revision
	return &Request{Reader: r, Call: call, Match: m, Codec: m.Endpoint.Codec}
}

// Serve parses the parameters of a matched request, runs its handler and writes the reply. If it returns an
// error, it has written at most the header Preference-Applied. A *calendar.Error, param.Missing or param.Invalid
// is for the client. Any other error is internal.
func Serve(ctx context.Context, c *fiber.Ctx, site *read.Calendar, m *Match, call Call) (Outcome, error) {
	r := NewRequest(ctx, site, readDatabase(site, c.Method(), call.Caller), m, call)
	values, duplicates, err := sentValues(c, m)
	if err != nil {
		return Outcome{}, err
	}
	if m.Endpoint.rawFile {
		if file := rawFile(c); file != nil {
			values["file"] = file
		}
	}
	if text, fault := param.String(values["ml_language"]); fault == nil && calendar.Language(text).Known() {
		r.Language, r.Chosen = calendar.Language(text), calendar.Language(text)
		call.OnLanguage(r.Language)
	}
	path := m.Path
	if m.Input != nil {
		if path, values, err = m.Input(r, values); err != nil {
			return Outcome{}, err
		}
	}
	r.Fields = fieldNames(values["_fields"])
	r.Codec = m.Endpoint.codecFor(values["format"], c.Request().Header.PeekAll(fiber.HeaderAccept))
	if call.AlreadyWritten != 0 {
		rep, err := m.Pattern.Written(r, call.AlreadyWritten)
		if err != nil {
			return Outcome{}, err
		}
		return Outcome{Version: rep.Version, Until: r.Until}, WriteReply(c, m.Endpoint.Codec, rep, r.Fields)
	}
	r.Params = param.NewSet(r.Now, m.Endpoint.In, path, values)
	m.Endpoint.Declare(r, r.Params)
	ignored, err := r.parse(c, m, values, duplicates, call.Strict)
	if err != nil {
		return Outcome{}, err
	}
	rep, err := m.Endpoint.serve(r)
	if err != nil {
		return Outcome{}, err
	}
	if ignored != "" {
		rep.Header = append(rep.Header, [2]string{HeaderIgnored, ignored})
	}
	return Outcome{
		Version: rep.Version, Until: r.Until, Unchanged: r.unchanged(), Strong: m.Endpoint.Strong,
	}, WriteReply(c, r.Codec, rep, r.Fields)
}

// readDatabase returns the replica for an anonymous GET or HEAD, if the site has one, else the primary database.
// A replica may lag behind.
func readDatabase(site *read.Calendar, method string, caller auth.Principal) *ent.Client {
	if site.Replica == nil || method != fiber.MethodGet && method != fiber.MethodHead || caller.UserID != 0 {
		return site.Primary
	}
	return site.Replica
}

// WriteReply encodes and sends a reply with a codec. The argument fields is that of Codec.Encode.
func WriteReply(c *fiber.Ctx, as Codec, rep *Reply, fields string) error {
	body, err := as.Encode(rep.Body, fields)
	if err != nil {
		return err
	}
	for _, h := range rep.Header {
		c.Set(h[0], h[1])
	}
	c.Set(fiber.HeaderContentType, as.ContentType)
	// body belongs to this reply alone, so it is sent without a copy.
	c.Status(rep.Status).Response().SetBodyRaw(body)
	return nil
}

// unchanged returns a function that reports later whether the reply is still up to date. Nil means that this is
// unknown.
func (r *Request) unchanged() reply.Unchanged {
	if r.Revision == 0 {
		return nil
	}
	return r.Unchanged(r.Index)
}
