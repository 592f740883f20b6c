package handlers

import (
	"context"
	"net/http"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/search"
)

// namedResource is a kind of records with a name in the API, such as venues. R is the type of its rows, J that of its
// representation. V has the values of the fields that only this kind has.
type namedResource[R ent.Row, V any, J any] struct {
	kind calendar.Kind
	// one is the kind with its article, such as "a venue", for summaries.
	one string
	// rows reads rows by their ids.
	rows      func(*ent.Client, context.Context, []int64) ([]R, error)
	represent func(v *represent.View, row R, full bool) J
	table     func(v *represent.View, row R) represent.Row
	// plain returns the fields that only this kind has.
	plain func(*V) []ent.PlainField
	// declareOwn registers the request fields of a record. Nil means that the method declare does.
	declareOwn func(*writing, fields, *namedInput[V])
	// filters are the list parameters that select records by the stored value of a column.
	filters []wordFilter
	writes  namedWrites[R, V]
}

// wordFilter is a list parameter that selects records whose column has one of the sent values. The field sample is an
// example of such a value.
type wordFilter struct{ name, column, description, sample string }

// namedWrites is the set of writes that a kind of named records supports. edit.Named implements it.
type namedWrites[R, V any] interface {
	Lock(context.Context, *entTx, int64) (R, error)
	Create(context.Context, *entTx, *edit.Editor, *edit.NamedInput[V]) (R, bool, error)
	Update(context.Context, *entTx, *edit.Editor, R, *edit.NamedInput[V]) (R, error)
	Trash(context.Context, *entTx, *edit.Editor, R) (R, error)
}

// patterns returns the routes of the resource.
func (n *namedResource[R, V, J]) patterns(h *Handlers) []*endpoint.Pattern {
	get, ok := endpoint.MethodsRead, http.StatusOK
	collection := n.kind.Plural()
	one := func(by, suffix string) []*endpoint.Endpoint {
		find := byID("the " + string(n.kind))
		if by == "slug" {
			find = bySlug("the " + string(n.kind))
		}
		return []*endpoint.Endpoint{
			readFor(h, "Read "+n.one+suffix, get, ok, find, n.get),
			writeFor(h, "Update "+n.one+suffix, endpoint.MethodsUpdate, ok, n.declareUpdate(by), n.patch),
			writeFor(h, "Delete "+n.one+suffix, endpoint.MethodsDelete, ok, deleteTarget(n.kind, by), n.remove),
		}
	}
	return []*endpoint.Pattern{
		endpoint.NewPattern("/"+collection,
			readFor(h, "List "+collection, get, ok, n.declareQuery, n.list).WithTables(),
			writeFor(h, "Create "+n.one, endpoint.MethodsCreate, http.StatusCreated, n.declareCreate, n.post)),
		endpoint.NewPattern("/"+collection+"/{id}", one("id", "")...),
		endpoint.NewPattern("/"+collection+"/by-slug/{slug}", one("slug", " by slug")...),
	}
}

func (n *namedResource[R, V, J]) of() calendar.Kind { return n.kind }

// replies returns the functions that make replies with one record of the kind.
func (n *namedResource[R, V, J]) replies() recordReplies { return recordReplies{n.get, n.written} }

// namedQuery is the input of a list of named records, such as GET /venues.
type namedQuery struct {
	read.Paging
	Search       *string
	Event        *int64
	HasEvents    *bool
	OnlyUpcoming bool
	Status       []calendar.Status

	pieces []string   // words of Search, folded for comparison
	words  [][]string // values of namedResource.filters
}

// declareQuery registers the request parameters of the list.
func (n *namedResource[R, V, J]) declareQuery(r *request, p *param.Set, q *namedQuery) {
	lower := n.kind.Plural()
	noun := strings.ToUpper(lower[:1]) + lower[1:]
	r.DeclarePaging(p, &q.Paging, noun, r.LargestPage())
	read.DeclareSearch(p, &q.Search, "Text in name, description or contact fields", func(text string) (ok bool) {
		q.pieces, ok = search.ParseLinked(text)
		return ok
	})
	if n.kind.IsLinked() {
		p.OptInt(&q.Event, "event", noun+" of this event").Check(r.IsOpenEvent(&q.Event))
		p.OptBool(&q.HasEvents, "has_events", "Only "+lower+" with events, or without").Untyped()
		param.Default(p.Bool(&q.OnlyUpcoming, "only_with_upcoming", "Only "+lower+" with upcoming events").Untyped(),
			&q.OnlyUpcoming, false)
	}
	q.words = make([][]string, len(n.filters))
	for i, f := range n.filters {
		p.Words(&q.words[i], f.name, f.description).ListOf("string").Sample = f.sample
	}
	r.DeclareStatuses(p, &q.Status)
	read.DeclareLanguage(p)
}

// findPage returns the ids of the records on the page, and the number on all pages. The index in memory finds
// them, or the database if the index cannot answer.
func (n *namedResource[R, V, J]) findPage(r *request, q *namedQuery) (_ query.Page, err error) {
	if q.OnlyUpcoming {
		r.ExpireBy(r.Now.Add(time.Second)) // the next event may begin in a second
	}
	l := &query.Linked{
		Now: r.Now, Visible: read.VisibleTo(r.Caller, q.Status), Event: q.Event, HasEvents: q.HasEvents, Upcoming: q.OnlyUpcoming,
		Events: read.VisibleTo(r.Caller, nil), Readable: r.ReadableEvents(nil), Pieces: q.pieces, Language: r.Language,
	}
	for i, f := range n.filters {
		if q.words[i] != nil {
			l.Where = append(l.Where, sql.FieldIn(f.column, q.words[i]...))
		}
	}
	offset, limit := q.Span()
	return read.ByIndex(r.Reader, func(x *index.Index, revision int64) (query.Page, error) {
		if q.Event == nil {
			r.FindAgain = func(ctx context.Context, revision int64, now time.Time) (query.Page, error) {
				again := *l
				again.Revision, again.Now = revision, now
				return x.FindLinked(ctx, n.kind, &again, offset, limit)
			}
		}
		l.Revision = revision
		return x.FindLinked(r.Ctx, n.kind, l, offset, limit)
	}, func(db query.Database) (query.Page, error) { return db.FindLinked(r.Ctx, n.kind, l, offset, limit) })
}

// list answers GET of the list of records.
func (n *namedResource[R, V, J]) list(r *request, q *namedQuery) (*endpoint.Reply, error) {
	page, err := n.findPage(r, q)
	if err != nil {
		return nil, err
	}
	v := r.View()
	items, err := reply.Render(r.Ctx, r.TableRows(n.kind).Cut(r.Rendering()), page, reply.Renderer[R]{
		Kind: n.kind, Media: r.Codec.MediaType, Encode: r.Codec.EncodeRecord,
		Read: func(ids []int64) ([]R, error) {
			rows, err := n.rows(r.DB, r.Ctx, ids)
			if err != nil {
				return nil, err
			}
			return rows, r.Translate(ent.PageOf(rows...))
		},
		Value: func(row R) (any, reply.Audience) {
			if r.IsTable() {
				return n.table(v, row), reply.SameScope
			}
			return n.represent(v, row, false), reply.SameScope
		},
		Parts: func(row R) []ent.Core { return []ent.Core{row.Core()} },
	})
	if err != nil {
		return nil, err
	}
	r.Complete, r.Found = r.FindAgain != nil && q.Search == nil && len(page.IDs) <= ent.MaxRead, page
	return r.ListReply(n.kind, q.Paging, items, page.Total)
}

// find loads the record that a path names. It returns a parameter error if there is none.
func (n *namedResource[R, V, J]) find(r *request, q *target) (row R, err error) {
	id, name, err := r.resolve(n.kind, q)
	if err != nil {
		return row, err
	}
	rows, err := n.rows(r.DB, r.Ctx, []int64{id})
	if err == nil && len(rows) == 0 {
		err = invalidPath(name, unknownTarget(n.kind, q))
	}
	if err != nil {
		return row, err
	}
	return rows[0], nil
}

// get answers GET of one record.
func (n *namedResource[R, V, J]) get(r *request, q *target) (*endpoint.Reply, error) {
	row, err := n.find(r, q)
	if err != nil {
		return nil, err
	}
	if !r.mayRead(r.recordOf(row.Core())) {
		return nil, notAccessible(n.kind)
	}
	r.DependsOn(n.kind, row.Core().ID)
	r.Complete = true
	return n.reply(r, row, true)
}

// written returns the reply to a write of the record with an id. It shows the record as stored.
func (n *namedResource[R, V, J]) written(r *request, id int64) (*endpoint.Reply, error) {
	row, err := n.find(r, &target{ID: id})
	if err != nil {
		return nil, err
	}
	return n.reply(r, row, false)
}

// reply returns the reply with a record. If full is true, the body includes json_ld.
func (n *namedResource[R, V, J]) reply(r *request, row R, full bool) (*endpoint.Reply, error) {
	if err := r.Translate(ent.PageOf(row)); err != nil {
		return nil, err
	}
	v := r.View()
	_, version := v.LastWrite(row.Core(), false)
	return &endpoint.Reply{Status: 200, Body: n.represent(v, row, full), Version: version}, nil
}

// byID and bySlug return functions that register the id or slug in the path of a record. The noun is the kind
// with its article, such as "the venue".
func byID(noun string) func(*request, *param.Set, *target) {
	return func(r *request, p *param.Set, q *target) {
		p.PathID(&q.ID, "id", "ID of "+noun)
		read.DeclareLanguage(p)
	}
}

func bySlug(noun string) func(*request, *param.Set, *target) {
	return func(r *request, p *param.Set, q *target) {
		p.PathString(&q.Slug, "slug", "Slug of "+noun)
		read.DeclareLanguage(p)
	}
}

// resolve returns the id that a path names, and the name of the path parameter: "id" or "slug".
func (r *request) resolve(kind calendar.Kind, q *target) (id int64, name string, err error) {
	if q.Slug == "" {
		return q.ID, "id", nil
	}
	id, err = r.OwnerBySlug(kind, q.Slug)
	return id, "slug", err
}

// recordOf returns the properties of a record that permissions depend on.
func (r *request) recordOf(c ent.Core) auth.Record {
	return auth.RecordOf(c.Kind, c.AuthorID, c.Status.Shown(r.Now, c.PublishedAt), c.StatusBeforeTrash)
}

// mayRead reports whether the caller may read a record. A record in the trash may be read by those who may edit
// it.
func (r *request) mayRead(rec auth.Record) bool {
	if rec.Status == calendar.Trash {
		return auth.May(r.Caller, auth.Edit, rec)
	}
	return auth.May(r.Caller, auth.Read, rec)
}
