// Package pages answers requests for calendar pages, sitemaps included (contract, section 21). An ambiguous URL has
// several interpretations, which are called its readings.
package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/web"
)

// Match is the result of matching a URL with the calendar pages (contract, section 21). readings has all
// interpretations of a URL that is ambiguous.
type Match struct {
	Route    string // kind of page in logs and metrics, such as "page event" or "page month"
	readings []address.Page
}

// Pages answers requests for the calendar pages, the sitemaps and robots.txt of a site.
type Pages struct {
	*read.Calendar
	names       address.Names
	prefix      string        // path of the base URL, such as "" or "/rest"
	apiRoot     string        // API path that pages link to, such as /wp-json/tribe/events/v1
	restRoot    string        // URL of the WordPress REST root; "" means that the API is not below it
	templates   *web.Calendar // renders pages; nil means that there are none
	filterNames []string      // list parameters that pages repeat in links
}

// Config has the settings of Pages that depend on the site's address.
type Config struct {
	Names             address.Names
	Prefix            string // path of the base URL, such as "" or "/rest"
	APIRoot, RESTRoot string // API path that pages link to; URL of the WordPress REST root, or ""
	Disabled          bool   // serve only sitemaps and robots.txt
}

// New returns the pages of a site. It returns an error if a template of package web is wrong.
func New(site *read.Calendar, c Config) (*Pages, error) {
	s := &Pages{Calendar: site, names: c.Names, prefix: c.Prefix, apiRoot: c.APIRoot, restRoot: c.RESTRoot}
	if c.Disabled {
		return s, nil
	}
	root := read.Root{Mount: s.apiRoot}
	s.filterNames = pageFilterNames(site.NewReader(context.Background(), site.Primary, site.Site.Now(), auth.Principal{}, root, site.Site.Language))
	languages := make([]string, len(calendar.Languages))
	for i, l := range calendar.Languages {
		languages[i] = string(l)
	}
	var err error
	s.templates, err = web.NewCalendar(languages, SiteFiles(site.PageSettings))
	return s, err
}

// HasPages reports whether the site serves calendar pages.
func (s *Pages) HasPages() bool { return s.templates != nil }

// Match returns the page of a path below the base URL and a query. It returns nil if there is none.
func (s *Pages) Match(path string, query []byte) *Match {
	if s.templates == nil {
		return nil
	}
	values, err := url.ParseQuery(string(query))
	if err != nil {
		values = url.Values{} // A broken query chooses no page. Its parameters still reach Serve.
	}
	readings := slices.DeleteFunc(address.Parse(path, values, s.names), func(p address.Page) bool {
		return p.View == address.ViewDevelopers || p.Format != address.FormatHTML ||
			p.View == address.ViewHome && s.PageSettings.Home == settings.HomeAPI
	})
	if len(readings) == 0 {
		return nil
	}
	return &Match{Route: "page " + string(readings[0].View), readings: readings}
}

// IsPagePath reports whether a path below the base URL begins like that of a page. The page need not exist.
func (s *Pages) IsPagePath(path string) bool {
	_, below := address.CutLanguage(path)
	first, _, _ := strings.Cut(strings.TrimPrefix(below, "/"), "/")
	first, err := url.PathUnescape(first)
	return err == nil && s.names.Begin(first)
}

// Language returns the language that the path names, or "" if it names none.
func (p *Match) Language() calendar.Language { return p.readings[0].Language }

// Redirects reports whether every interpretation of the URL is a redirect to another URL.
func (p *Match) Redirects() bool {
	return !slices.ContainsFunc(p.readings, func(one address.Page) bool { return one.Redirect == 0 })
}

// TakesPassword reports whether the page may have a form for a password.
func (p *Match) TakesPassword() bool {
	return p.readings[0].View == address.ViewEvent || p.readings[0].View == address.ViewSeries
}

// Call has the properties of a page request that package server determines.
type Call struct {
	Now      time.Time          // time of the request, in UTC and whole seconds
	Language calendar.Language  // language by parameter, path or site
	Query    []byte             // raw query string
	Password string             // password sent by the form; "" means that none was sent
	Judge    read.PasswordJudge // limits guesses of event passwords
	Revision int64              // newest revision of the calendar when the request began; 0 means unknown
}

// Reply is a finished page.
type Reply struct {
	Status   int
	Location string // target of a redirect; "" means no redirect
	Header   [][2]string
	Body     []byte
	// Private marks a page for visitors with a password, or one that asks for it. No cache may store the page.
	Private bool
	// Refused is the error of Call.Judge. Nil means that it refused nothing.
	Refused error
	Until   time.Time // when the page changes without a write; zero means never
}

// Serve answers a page request. The page shows what anonymous callers may see.
func (s *Pages) Serve(ctx context.Context, p *Match, call Call) (*Reply, error) {
	values, err := endpoint.QueryValues(call.Query)
	if err != nil {
		return nil, err
	}
	// Pages show published events only, so parameters that could reveal others are ignored. The settings of the
	// site, rather than per_page, decide the length of a page.
	for _, name := range []string{"status", "password", "per_page"} {
		delete(values, name)
	}
	for name, value := range values {
		if value == "" {
			delete(values, name)
		}
	}
	db := s.Primary
	if s.Replica != nil && call.Password == "" {
		db = s.Replica
	}
	for _, path := range p.readings {
		r := s.newRequest(ctx, db, call.Now, call.Language)
		r.Revision, r.Password, r.Judge = call.Revision, call.Password, call.Judge
		r.path, r.values, r.query = path, values, call.Query
		r.path.Language = s.PathLanguage(call.Language)
		reply, err := r.serve()
		if errors.Is(err, errOtherReading) {
			continue
		}
		if err != nil {
			return nil, err
		}
		reply.Until = r.Until
		return reply, nil
	}
	return nil, address.ErrNoPage
}

// errOtherReading means that terms in an interpretation of the URL do not exist, so the next one must be tried.
var errOtherReading = errors.New("the terms of the path do not exist")

// request is a page request that is being answered.
type request struct {
	*read.Reader
	pages   *Pages
	path    address.Page
	values  map[string]any // query parameters, except those that pages ignore
	query   []byte
	words   *web.CalendarWords
	dates   pageDates
	apiRoot string      // value of X-TEC-API-ROOT below the API; "" means the API itself
	terms   []*ent.Term // term of the path after its ancestors, with translations
}

// newRequest returns a request of an anonymous visitor for a page in a language.
func (s *Pages) newRequest(ctx context.Context, db *ent.Client, now time.Time, language calendar.Language) *request {
	root := read.Root{Segment: s.SegmentOf(language), Mount: s.apiRoot}
	return &request{
		Reader: s.NewReader(ctx, db, now, auth.Principal{}, root, language), pages: s,
		words: s.templates.Words(string(language)), dates: pageDates{s.PageSettings.Dates(language)},
	}
}

// serve answers with the page for one interpretation of the URL (see Match). It redirects if the URL is not the
// canonical one.
func (r *request) serve() (*Reply, error) {
	if r.path.View == address.ViewNone {
		return nil, address.ErrNoPage
	}
	path := r.path
	if path.Taxonomy != "" {
		var err error
		if path, err = r.resolveTerms(); err != nil {
			return nil, err
		}
	}
	if path.Redirect != 0 {
		var without []string
		if path.ByQuery {
			without = address.ParamsInPath(r.values)
		}
		return r.redirect(path.Redirect, path, without...), nil
	}
	if path.View == address.ViewList && path.Taxonomy != "" && !r.pages.servesView(address.ViewList) {
		if to := path; to.Past || to.Page > 0 {
			to.Past, to.Page = false, 0
			return r.redirect(http.StatusFound, to, address.ParamDisplay, "page"), nil
		}
		path.View = r.defaultView()
	}
	path = path.WithDefault(r.defaultView())
	if !r.pages.servesView(path.View) || path.Taxonomy != "" && !r.pages.servesTerms(path.Taxonomy) {
		return nil, address.ErrNoPage
	}
	return r.withAddress(addressOf(path, r.values)).page()
}

// withAddress returns a copy of the request with another interpretation of its URL and other parameters.
func (r *request) withAddress(path address.Page, values map[string]any) *request {
	next := *r
	next.path, next.values = path, values
	return &next
}

// page answers with the page of a view that the site serves.
func (r *request) page() (*Reply, error) {
	switch r.path.View {
	case address.ViewHome:
		return r.homePage()
	case address.ViewRecord:
		return r.recordPage()
	case address.ViewMonth:
		return r.monthPage()
	case address.ViewDay:
		return r.dayPage()
	case address.ViewEvent:
		return r.eventPage()
	case address.ViewSeries:
		return r.seriesPage()
	case address.ViewVenue:
		return r.venuePage()
	case address.ViewOrganizer:
		return r.organizerPage()
	}
	return r.listPage()
}

// addressOf combines the path of a page with its query. It returns the page, and the parameters that the path does
// not already determine. If the path of a list, venue or organizer has no page number, that of the query applies.
func addressOf(path address.Page, sent map[string]any) (address.Page, map[string]any) {
	values := maps.Clone(sent)
	if path.Taxonomy != "" {
		delete(values, path.Taxonomy.Plural())
	}
	if path.Featured {
		delete(values, "featured")
	}
	switch path.View {
	case address.ViewMonth, address.ViewDay:
		for _, name := range dateParameters {
			delete(values, name)
		}
	case address.ViewList, address.ViewVenue, address.ViewOrganizer:
		if n, err := strconv.Atoi(param.SentText(values["page"])); err == nil && n > 1 && path.Page == 0 {
			path.Page = n
		}
	}
	return path, values
}

// today returns the start of the current day in the zone of the site. The current time is that of the request.
func (r *request) today() calendar.Wall { return r.Zone().Wall(r.Now).StartOfDay() }

// defaultView returns the view of /events/. If dates were sent and the site has lists, it is the list. Otherwise it
// is the default of the site.
func (r *request) defaultView() address.View {
	view := r.pages.defaultView()
	if view == address.ViewMonth && r.pages.servesView(address.ViewList) && slices.ContainsFunc(dateParameters, func(name string) bool { return r.values[name] != nil }) {
		return address.ViewList
	}
	return view
}

// dateParameters are the query parameters that filter events by date.
var dateParameters = []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"}

// redirect returns a redirect to another page. It keeps the query except for the parameters in without.
func (r *request) redirect(status int, to address.Page, without ...string) *Reply {
	location := r.pages.pathOf(to)
	query := strings.Join(slices.DeleteFunc(strings.Split(string(r.query), "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(without, name)
	}), "&")
	if query != "" {
		location += "?" + query
	}
	return &Reply{Status: status, Location: location}
}

// reply renders the model of a page with a template, given by its name. The argument frame determines the
// headers.
func (r *request) reply(status int, template string, frame *web.Frame, model any) (*Reply, error) {
	var b bytes.Buffer
	if err := r.pages.templates.Write(&b, template, model); err != nil {
		return nil, err
	}
	return &Reply{Status: status, Body: b.Bytes(), Header: r.headers(frame)}, nil
}

// filters returns the sent parameters that filter a list, in a fixed order. It leaves out those whose names are
// in without.
func (r *request) filters(without ...string) []web.Field {
	var out []web.Field
	for _, name := range r.pages.filterNames {
		if text := param.SentText(r.values[name]); text != "" && !slices.Contains(without, name) {
			out = append(out, web.Field{Name: name, Value: text})
		}
	}
	return out
}

// encode returns parameters as a query string with its question mark. No parameters give "".
func encode(fields []web.Field) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteByte("?&"[min(b.Len(), 1)])
		b.WriteString(url.QueryEscape(f.Name) + "=" + url.QueryEscape(f.Value))
	}
	return b.String()
}

// href returns the link to a page with filters.
func (r *request) href(p address.Page, filters []web.Field) string {
	return r.pages.pathOf(p) + encode(withParams(p, filters))
}

// pathOf returns the path of a page with that of the base URL.
func (s *Pages) pathOf(p address.Page) string { return s.prefix + p.Path(&s.PageSettings.Paths) }

// withParams returns filters together with the query parameters that the address of a page needs.
func withParams(p address.Page, filters []web.Field) []web.Field {
	out := slices.Clone(filters)
	for name, values := range p.Params() {
		out = append(out, web.Field{Name: name, Value: values[0]})
	}
	return out
}

// localAddress returns a URL of this service as a path for links. It returns other URLs unchanged.
func (r *request) localAddress(address string) string {
	if rest, ok := strings.CutPrefix(address, r.Site.BaseURL); ok && (rest == "" || rest[0] == '/' || rest[0] == '?') {
		return r.pages.prefix + rest
	}
	return address
}

// newPagePath returns the address of a view in the language of the page's links.
func (r *request) newPagePath(view address.View) address.Page {
	return address.Page{Language: r.path.Language, View: view}
}

// readingIn returns the address of another view of the same events: those of the page's term, or the featured
// ones.
func (r *request) readingIn(view address.View) address.Page {
	p := address.Page{Language: r.path.Language, View: view, Taxonomy: r.path.Taxonomy, Featured: r.path.Featured}
	if p.Taxonomy != "" {
		p.Slugs = r.path.Slugs
	}
	return p
}

// parse parses the parameters of a list page. The term, featured and page number of the path override them. The
// error is param.Invalid for invalid parameters. Any other error is internal.
func (r *request) parse() (*read.EventQuery, error) {
	values := make(map[string]any, len(r.values)+2)
	for name, value := range r.values {
		values[name] = value
	}
	if n := len(r.terms); n > 0 {
		column := map[calendar.Kind]string{calendar.Category: "categories", calendar.Tag: "tags"}[r.path.Taxonomy]
		values[column] = r.terms[n-1].Slug
	}
	if r.path.Featured {
		values["featured"] = "1"
	}
	if r.path.Page > 0 {
		values["page"] = fmt.Sprint(r.path.Page)
	}
	q := &read.EventQuery{}
	params := param.NewSet(r.Now, param.InQuery, nil, values)
	q.Declare(r.Reader, params, ent.MaxRead)
	q.Undated = true
	return q, params.Parse(r.Ctx)
}

// faults returns the messages of invalid parameters, by the name of their form field. Parameters without a field
// share the message under "".
func (r *request) faults(invalid param.Invalid, fields ...string) map[string]string {
	out := make(map[string]string, len(invalid.Faults))
	others := map[string]bool{}
	for _, f := range invalid.Faults {
		text := r.Words.Message(r.Language, f.Key, f.Args)
		switch {
		case slices.Contains(dateParameters, f.Param) || f.Param == "tribe-bar-date":
			text = r.words.BadDate
		case f.Param == "categories":
			text = r.words.BadCategory
		}
		if slices.Contains(fields, f.Param) {
			out[f.Param] = text
			continue
		}
		// These parameters have no form field, and visitors do not know their names.
		if text != r.words.BadDate {
			text = r.words.InvalidText
		}
		if !others[text] {
			others[text] = true
			out[""] = strings.TrimSpace(out[""] + " " + text)
		}
	}
	return out
}

// Error returns the HTML page of an error status. A status without a text of its own gets the text for internal
// errors.
func (s *Pages) Error(status int, language calendar.Language, now time.Time) ([]byte, error) {
	r := s.newRequest(context.Background(), s.Primary, now, language)
	r.path.Language = s.PathLanguage(language)
	w := r.words
	m := &web.ErrorPage{Status: status, Heading: w.FaultTitle, Text: w.FaultText}
	switch status {
	case http.StatusNotFound:
		m.Heading, m.Text = w.NotFoundTitle, w.NotFoundText
	case http.StatusGone:
		m.Heading, m.Text = w.GoneTitle, w.GoneText
	case http.StatusTooManyRequests:
		m.Heading, m.Text = w.ManyTitle, w.ManyText
	case http.StatusServiceUnavailable:
		m.Heading, m.Text = w.BusyTitle, w.BusyText
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong:
		m.Heading, m.Text = w.InvalidTitle, w.InvalidText
	}
	m.Links = []web.Link{{Text: w.AllEvents, Href: r.href(r.newPagePath(address.ViewDefault), nil)}}
	m.Frame = r.frame(frameInput{kind: "error-page", title: m.Heading, index: false})
	m.Canonical = ""
	var b bytes.Buffer
	err := s.templates.Write(&b, "error", m)
	return b.Bytes(), err
}
