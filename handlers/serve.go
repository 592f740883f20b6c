package handlers

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/represent"
)

// Call has the properties of an API request that package server determines.
type Call struct {
	Now      time.Time // time of the request, in UTC and whole seconds
	Caller   auth.Principal
	Root     Root
	Language calendar.Language // language by path, header or site
	// OnLanguage receives the language that a parameter chooses. Later steps of package server use it.
	OnLanguage func(calendar.Language)
	// Expect is the precondition on the version of the record that the path names.
	Expect calendar.Precondition
	// Strict refuses parameters that the route does not declare. It is the result of PrefersStrict.
	Strict bool
	// Mark receives the id of the written record, in the transaction that writes it. An error rolls the
	// transaction back. Nil disables it.
	Mark func(ctx context.Context, tx *ent.Tx, id int64) error
	// EnterMedia waits for a slot to decode or download pictures. The request keeps the slot until its end. Nil
	// means no limit.
	EnterMedia func() error
	// EnterSeries waits for a slot to write many occurrences of a series. The request keeps the slot until its
	// end. Nil means no limit.
	EnterSeries func() error
	// Judge limits guesses of event passwords.
	Judge Judge
	// Revision is the newest revision of the calendar when the request began, or a later one. 0 means unknown.
	Revision int64
	// Made is the id of the record that an earlier attempt with the same key wrote. The request then writes
	// nothing and returns that record. 0 means that there was no such attempt.
	Made int64
}

// Judge calls compare, which compares a password with those of events and reports whether it was wrong. If the
// client may not guess, Judge returns an error with the code rest_too_many_requests instead. secret identifies the
// password that is guessed; 0 means those of several events. A nil Judge means no limit.
type Judge func(secret int64, compare func() (wrong bool)) error

// Outcome has the properties of a reply that its bytes do not show.
type Outcome struct {
	Version   calendar.ShownVersion
	Until     time.Time // when the reply changes without a write; zero means never
	Unchanged Unchanged
	Strong    bool // the entity tag of the reply is strong
}

// Unchanged reports whether a reply made at the revision made is still right at the revision at and time now. The
// caller must pass a time before the next scheduled publication. A nil Unchanged means that this is unknown.
type Unchanged func(ctx context.Context, made, at int64, now time.Time) (bool, error)

// Serve parses the parameters of a matched request, runs its handler and writes the reply. If it returns an
// error, it has written at most the header Preference-Applied. A *calendar.Error, param.Missing or param.Invalid
// is for the client. Any other error is internal.
func (h *Handlers) Serve(ctx context.Context, c *fiber.Ctx, m *Match, call Call) (Outcome, error) {
	r := h.request(ctx, h.readDatabase(c.Method(), call.Caller), m, call)
	values, duplicates, err := h.values(c, m)
	if err != nil {
		return Outcome{}, err
	}
	if m.endpoint.rawFile {
		if file := rawFile(c); file != nil {
			values["file"] = file
		}
	}
	if text, fault := param.String(values["ml_language"]); fault == nil && calendar.Language(text).Known() {
		r.lang, r.write = calendar.Language(text), calendar.Language(text)
		call.OnLanguage(r.lang)
	}
	if m.page != nil {
		if err := r.readPage(m, values); err != nil {
			return Outcome{}, err
		}
	}
	r.fields = fieldNames(values["_fields"])
	r.codec = m.endpoint.codecFor(values["format"], c.Request().Header.PeekAll(fiber.HeaderAccept))
	if call.Made != 0 {
		if err := r.checkAccess(m, call.Made); err != nil {
			return Outcome{}, err
		}
		rep, err := r.writtenReply(m, call.Made)
		if err != nil {
			return Outcome{}, err
		}
		return Outcome{Version: rep.version, Until: r.until}, writeReply(c, m.endpoint.codec, rep, r.fields)
	}
	r.params = param.NewSet(r.now, m.endpoint.in, m.path, values)
	m.endpoint.declare(r, r.params)
	ignored, err := r.parse(c, m, values, duplicates, call.Strict)
	if err != nil {
		return Outcome{}, err
	}
	rep, err := m.endpoint.serve(r)
	if err != nil {
		return Outcome{}, errors.Join(err, r.dropPictures())
	}
	if ignored != "" {
		rep.header = append(rep.header, [2]string{HeaderIgnored, ignored})
	}
	return Outcome{
		Version: rep.version, Until: r.until, Unchanged: r.unchanged(), Strong: m.endpoint.strong,
	}, writeReply(c, r.codec, rep, r.fields)
}

func (h *Handlers) request(ctx context.Context, db *ent.Client, m *Match, call Call) *request {
	return &request{
		ctx: ctx, h: h, moves: h.Moves.Number(), db: db, now: call.Now, caller: call.Caller, root: call.Root,
		lang: call.Language, write: call.Root.Language(), expect: call.Expect, mark: call.Mark, upload: m.Upload(),
		enterMedia: call.EnterMedia, enterSeries: call.EnterSeries, judge: call.Judge, revision: call.Revision, codec: m.endpoint.codec,
	}
}

// Accessible returns nil if the caller may read what an earlier attempt at the same write wrote. Otherwise it
// returns the error of reading that record by id (contract, section 18).
func (h *Handlers) Accessible(ctx context.Context, m *Match, call Call) error {
	if call.Made == 0 {
		return nil
	}
	return h.request(ctx, h.DB, m, call).checkAccess(m, call.Made)
}

// recordReplies are the replies with one record of a kind: to GET by id, and to a write of the record with an id.
type recordReplies struct {
	get     func(*request, *target) (*reply, error)
	written func(*request, int64) (*reply, error)
}

// repliesOf has the recordReplies of each kind.
var repliesOf = func() map[calendar.Kind]recordReplies {
	all := map[calendar.Kind]recordReplies{
		calendar.Event:  {(*request).getEvent, (*request).writtenEvent},
		calendar.Series: {(*request).getSeries, (*request).writtenSeries},
		calendar.Image: {(*request).getImage, func(r *request, id int64) (*reply, error) {
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
func (r *request) checkAccess(m *Match, id int64) error {
	_, err := repliesOf[m.pattern.kind()].get(r, &target{ID: id})
	return err
}

// writtenReply returns the reply to a write that an earlier request carried out. It shows the record as it is
// now.
func (r *request) writtenReply(m *Match, id int64) (rep *reply, err error) {
	kind := m.pattern.kind()
	if rep, err = repliesOf[kind].written(r, id); err != nil {
		return nil, err
	}
	if m.endpoint.success == http.StatusCreated {
		rep = r.createdReply(kind, id, rep.version, rep.body)
	}
	return rep, nil
}

// readDatabase returns the database that a request reads. A replica may lag behind, so only anonymous reads use
// it.
func (h *Handlers) readDatabase(method string, caller auth.Principal) *ent.Client {
	if h.Replica == nil || method != fiber.MethodGet && method != fiber.MethodHead || caller.UserID != 0 {
		return h.DB
	}
	return h.Replica
}

// view returns the settings for making representations in the reply.
func (r *request) view() *represent.View {
	return &represent.View{
		Site: r.h.Site, Words: r.h.Words, Host: r.h.host, Now: r.now, Caller: r.caller, Language: r.lang,
		Base: r.h.Site.BaseURL + r.h.segment(r.lang), Paths: r.h.PageSettings.Paths, API: r.h.Site.BaseURL + r.root.Segment + r.root.Mount,
		Recurrences: r.recurrences,
	}
}

// translate loads the texts of records in the languages that the reply may show.
func (r *request) translate(page ent.Page) error {
	languages := []calendar.Language{r.lang}
	if r.h.Site.Language != r.lang {
		languages = append(languages, r.h.Site.Language)
	}
	return r.db.ReadTranslations(r.ctx, languages, page)
}

// sinceRevision returns the revision that the index must have reached. 0 means the newest one of its database.
// The index follows the replica, if there is one, and may lag behind this request.
func (r *request) sinceRevision() (int64, error) {
	if r.h.Replica == nil || r.db == r.h.Replica || r.h.Replica == r.h.DB {
		return r.revision, nil
	}
	return edit.Revision(r.ctx, r.db)
}

// Options answers OPTIONS on the matched path.
func (h *Handlers) Options(c *fiber.Ctx, m *Match, call Call) error {
	c.Set(fiber.HeaderAllow, m.Allow)
	return writeReply(c, jsonCodec, &reply{status: fiber.StatusOK, body: h.options(m.pattern, call)}, "")
}

// writeReply encodes and sends a reply with a codec.
func writeReply(c *fiber.Ctx, as codec, rep *reply, fields string) error {
	body, err := as.encode(rep.body, fields)
	if err != nil {
		return err
	}
	for _, h := range rep.header {
		c.Set(h[0], h[1])
	}
	c.Set(fiber.HeaderContentType, as.contentType)
	// body belongs to this reply alone, so it is sent without a copy.
	c.Status(rep.status).Response().SetBodyRaw(body)
	return nil
}
