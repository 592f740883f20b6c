package server

import (
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/pages"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/reply"
)

// maxForm is the largest accepted form with the password of an event, in bytes.
const maxForm = 8 << 10

// chooseErrorForm decides whether an error outside the API is sent as an HTML page, and in which language. It
// also sets the language of a calendar page.
func (s *Server) chooseErrorForm(c *fiber.Ctx, x *exchange) {
	if !s.API.Pages.HasPages() {
		return
	}
	if x.errorPage = x.kind == kindPage || s.isPagePath(x.rest) || prefersHTML(c); !x.errorPage {
		return
	}
	root, _ := cutLanguage(x.rest)
	if x.kind == kindPage {
		x.route = x.page.Route
		if l := x.page.Language(); l != "" {
			root.Segment = "/" + string(l)
		}
	}
	x.lang = s.pageLanguage(c, root)
}

// isPagePath reports whether a path begins like that of a page, and is not that of a feed.
func (s *Server) isPagePath(path string) bool {
	return s.API.Feeds.Match(fiber.MethodGet, path, "") == nil && s.API.Pages.IsPagePath(path)
}

// prefersHTML reports whether the Accept header prefers HTML to JSON, as that of browsers does. "*/*" prefers
// neither.
func prefersHTML(c *fiber.Ctx) bool {
	// Media types ignore case, but Fiber compares it.
	accept := strings.ToLower(c.Get(fiber.HeaderAccept))
	if !strings.Contains(accept, fiber.MIMETextHTML) {
		return false
	}
	c.Request().Header.Set(fiber.HeaderAccept, accept)
	return c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML
}

// isPage reports whether the reply is a calendar page or an error sent as a page.
func (x *exchange) isPage() bool { return x.kind == kindPage || x.errorPage && x.failed != nil }

// servesPage reports whether the calendar page of the path answers the method of the request.
func (x *exchange) servesPage(c *fiber.Ctx) bool {
	return x.kind == kindPage && (isRead(c) || c.Method() == fiber.MethodPost && x.page.TakesPassword())
}

// serveCalendar answers requests for calendar pages.
func (s *Server) serveCalendar(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if !x.servesPage(c) {
		return c.Next()
	}
	call := pages.Call{
		Now: x.now, Language: x.lang, Query: c.Request().URI().QueryString(), Revision: x.revision,
		Judge: s.judgePasswords(x),
	}
	if !isRead(c) {
		var err error
		if call.Password, err = formPassword(c); err != nil {
			return err
		}
	}
	page, err := s.API.Pages.Serve(x.ctx, x.page, call)
	if err != nil {
		return err
	}
	if page.Refused != nil {
		x.failed = page.Refused
		setRetry(c, page.Refused)
	}
	for _, h := range page.Header {
		c.Set(h[0], h[1])
	}
	c.Status(page.Status)
	if page.Status == fiber.StatusMovedPermanently && !isRead(c) {
		c.Status(fiber.StatusPermanentRedirect) // which keeps the method and the form
	}
	if page.Location != "" {
		c.Set(fiber.HeaderCacheControl, "no-cache") // slugs change, and browsers cache a 301 forever
		c.Set(fiber.HeaderLocation, page.Location)
		c.Set(fiber.HeaderContentType, "text/plain; charset=UTF-8")
		c.Response().SetBodyString(page.Location + "\n")
		return nil
	}
	c.Set(fiber.HeaderContentType, typeHTML)
	c.Response().SetBodyRaw(page.Body)
	switch {
	case page.Private:
		c.Set(fiber.HeaderCacheControl, "private, no-store")
	case page.Status == fiber.StatusOK:
		x.tag, x.until = reply.Tag(page.Body, calendar.ShownVersion{}), page.Until
	}
	return nil
}

// typeHTML is the media type of pages.
const typeHTML = "text/html; charset=UTF-8"

// formPassword returns the password that the form of a protected event sent. "" means none was sent.
func formPassword(c *fiber.Ctx) (string, error) {
	kind, _, _ := strings.Cut(c.Get(fiber.HeaderContentType), ";")
	body := c.BodyRaw()
	if len(body) > maxForm {
		return "", errLarge
	}
	if len(body) > 0 && !strings.EqualFold(strings.TrimSpace(kind), fiber.MIMEApplicationForm) {
		return "", param.Missing{Names: []string{"password"}}
	}
	var form fasthttp.Args
	form.ParseBytes(body)
	return string(form.Peek("password")), nil
}

// calendarHeaders sets the headers that every calendar page has, including error pages.
func (s *Server) calendarHeaders(c *fiber.Ctx, x *exchange) {
	c.Set(fiber.HeaderContentLanguage, string(x.lang))
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if x.kind != kindPage {
		c.Response().Header.Add(fiber.HeaderVary, fiber.HeaderAccept) // Accept decided that the error is a page
	}
	c.Set(fiber.HeaderContentSecurityPolicy, s.calendarPolicy)
	c.Set(fiber.HeaderReferrerPolicy, "strict-origin-when-cross-origin")
	h := &c.Response().Header
	h.Del(fiber.HeaderAccessControlAllowOrigin)
	h.Del(fiber.HeaderAccessControlExposeHeaders)
	if s.secure {
		c.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
}

// writePageError writes an error as an HTML page. ok is false if the page could not be rendered.
func (s *Server) writePageError(c *fiber.Ctx, x *exchange, status int) (ok bool) {
	if x.longURL && status == http.StatusRequestEntityTooLarge {
		status = http.StatusRequestURITooLong
	}
	body, err := s.API.Pages.Error(status, x.lang, x.now)
	if err != nil {
		s.Log.Error("error page", "id", x.id, "error", err)
		return false
	}
	c.Set(fiber.HeaderContentType, typeHTML)
	c.Set("X-Robots-Tag", "noindex, follow")
	c.Status(status)
	c.Response().SetBodyRaw(body)
	return true
}
