package pages

import (
	"cmp"
	"errors"
	"html"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/web"
)

// findBySlug returns the id of the record whose slug the path has, or 0 if there is none.
func (r *request) findBySlug(kind calendar.Kind) (int64, error) {
	return r.OwnerBySlug(kind, r.path.Slugs[0])
}

// redirectIfMoved returns a redirect to the canonical path of a record. It returns nil if the path has the
// record's slug in the page's language, or if there is none.
func (r *request) redirectIfMoved(row ent.Row) *Reply {
	to := r.path
	to.Slugs = []string{r.slugIn(row, r.Language)}
	if to.Slugs[0] == "" || to.Slugs[0] == r.path.Slugs[0] {
		return nil
	}
	return r.redirect(http.StatusMovedPermanently, to)
}

// slugIn returns the decoded slug of a record in a language.
func (r *request) slugIn(row ent.Row, l calendar.Language) string {
	return calendar.DecodedSlug(calendar.Served(l, r.Site.Language, row.Text(), row.Translated()).Slug)
}

// recordPaths returns a function that returns the page of a record in a language.
func (r *request) recordPaths(row ent.Row) func(calendar.Language) address.Page {
	return func(l calendar.Language) address.Page {
		p := r.path
		p.Language = r.pages.PathLanguage(l)
		p.Slugs = []string{r.slugIn(row, l)}
		return p
	}
}

// isPublicRecord reports whether anonymous visitors may see a record.
func (r *request) isPublicRecord(row ent.Core) bool {
	return row.Status.Shown(r.Now, row.PublishedAt) == calendar.Publish
}

// prose returns a description as sanitised HTML for a page. It replaces images of other hosts by links or text,
// unless the site allows them.
func (r *request) prose(description string) (template.HTML, error) {
	external := r.PageSettings.ExternalImages
	clean, err := markup.HTMLContext(r.Ctx, description)
	if err != nil && !errors.Is(err, markup.ErrText) {
		return "", err
	}
	return template.HTML(markup.OnPage(clean, func(src string) string { //nolint:gosec // it is sanitised
		if here := r.localAddress(src); external || here != src || strings.HasPrefix(src, "/") && !strings.HasPrefix(src, "//") {
			return here
		}
		return ""
	})), nil
}

// eventPage answers with the page of an event.
func (r *request) eventPage() (*Reply, error) {
	id, err := r.findBySlug(calendar.Event)
	if err != nil {
		return nil, err
	}
	if id == 0 || !r.path.Date.IsZero() {
		return r.occurrencePage()
	}
	rows, err := r.DB.ReadEvents(r.Ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !r.isPublicRecord(rows[0].Core()) {
		return nil, r.withdrawnPage()
	}
	e := rows[0]
	if err := r.translateFully(ent.PageOf(e)); err != nil {
		return nil, err
	}
	if to := r.redirectIfMoved(e); to != nil {
		return to, nil
	}
	texts := e.Edges.Translations
	if err := r.LoadRelated(rows, true); err != nil {
		return nil, err
	}
	e.Edges.Translations = texts
	v := r.View()
	refused := r.TryPassword(e)
	if refused != nil && !isTooMany(refused) {
		return nil, refused
	}
	shown, redacted := r.representEvent(v, e, true)
	if e.Status == calendar.Future && e.PublishedAt.After(r.Now) {
		r.ExpireBy(e.PublishedAt)
	}
	m, f := r.describeEvent(e, &shown, redacted)
	f.paths, f.languages, f.original = r.recordPaths(e), e.Languages.List(), e.Language
	r.apiRoot = "/events/" + strconv.FormatInt(e.ID, 10)
	status := http.StatusOK
	private := r.Password != ""
	if redacted {
		m.Password, status = r.passwordForm(refused)
		private = true
	} else if err := r.completeEvent(m, f, e, &shown); err != nil {
		return nil, err
	}
	f.hideProtected(edit.HasPassword(e))
	m.Frame = r.frame(*f)
	reply, err := r.reply(status, "event", &m.Frame, m)
	if err != nil {
		return nil, err
	}
	reply.Private, reply.Refused = private, refused
	return reply, nil
}

// passwordForm returns the password form of a protected record, and the HTTP status of its page. The argument
// refused is the error of TryPassword.
func (r *request) passwordForm(refused error) (*web.Password, int) {
	form := &web.Password{Action: r.pages.pathOf(r.path)}
	switch {
	case refused != nil:
		form.Fault = r.words.PasswordMany
		return form, http.StatusTooManyRequests
	case r.Password != "":
		form.Fault = r.words.PasswordWrong
		return form, http.StatusForbidden
	}
	return form, http.StatusOK
}

// isTooMany reports whether an error of TryPassword means that the visitor has no guess left.
func isTooMany(err error) bool {
	var refusal *calendar.Error
	return errors.As(err, &refusal) && refusal.Code == "rest_too_many_requests"
}

// errPageGone is the error for the page of an event that was recently withdrawn.
var errPageGone = &calendar.Error{Code: "event-is-in-trash", Key: "event-is-in-trash"}

// withdrawnPage returns the error for the page of an event that no visitor may see. It is errPageGone if the
// event was recently public under the slug of the path, else address.ErrNoPage.
func (r *request) withdrawnPage() error {
	if !r.path.Date.IsZero() {
		return address.ErrNoPage
	}
	w, err := r.WithdrawnBySlug(r.path.Slugs[0])
	switch {
	case err != nil:
		return err
	case w == nil:
		return address.ErrNoPage
	}
	return errPageGone
}

// describeEvent returns the parts of an event's page that visitors see even without its password, such as title
// and dates. If redacted is true, the visitor may not see protected fields.
func (r *request) describeEvent(e *ent.Event, shown *represent.Event, redacted bool) (*web.EventPage, *frameInput) {
	when := r.eventTimeOf(e, redacted)
	title := html.UnescapeString(shown.Title)
	m := &web.EventPage{
		Heading: title, Lang: r.foreignLanguage(shown.Language), Marks: r.eventMarks(shown, redacted), When: when.text,
		Start: when.start, End: when.end, AllDay: e.AllDay && !redacted, Clock12: r.dates.Clock() == locale.Clock12,
		Zone: when.zone, DayNumber: strconv.Itoa(dayNumber(when.first)),
		MonthShort: r.dates.monthShort(when.first), WeekdayShort: r.dates.ShortWeekdayName(when.first.Weekday()),
		Colour: colourOf(shown.Categories),
	}
	if e.EndsAt.Before(r.Now) {
		m.Past = true
		if shown.EventStatus != calendar.Canceled && shown.EventStatus != calendar.Postponed {
			m.Marks = append(m.Marks, web.Mark{Kind: "ended", Text: r.words.Ended})
		}
	} else {
		r.ExpireBy(e.EndsAt.Add(time.Second))
	}
	if reason := html.UnescapeString(shown.EventStatusReason); reason != "" && !redacted {
		m.Notice, m.NoticeLang = reason, m.Lang
	}
	m.Crumbs = []web.Link{{Text: r.words.Events, Href: r.href(r.newPagePath(address.ViewDefault), nil)}}
	return m, &frameInput{
		kind: "event-page", title: title, description: title + " – " + when.text, ogType: "article",
		index: !e.HideFromListings && !redacted,
	}
}

// completeEvent adds the parts of an event's page that only visitors who may read the event see.
func (r *request) completeEvent(m *web.EventPage, f *frameInput, e *ent.Event, shown *represent.Event) (err error) {
	if m.Prose, err = r.prose(shown.Description); err != nil {
		return err
	}
	m.ProseLang = m.Lang
	if text := summary(cmp.Or(shown.Excerpt, shown.Description), 160); text != "" {
		f.description = text
	}
	m.Picture = r.largePicture(shown.Image)
	if m.Picture != nil {
		m.Picture.Alt = ""
	}
	f.image = r.sharedPicture(m.Picture)
	v := r.View()
	moved, err := r.rescheduledAt(v, []*ent.Event{e})
	if err != nil {
		return err
	}
	movedAt := moved[e.ID]
	if !movedAt.IsZero() {
		r.ExpireBy(movedAt.Add(represent.RescheduledFor))
	}
	f.linked = v.EventPageLD(e, movedAt)
	f.api = "/events/" + strconv.FormatInt(e.ID, 10)
	for _, venue := range venueList(shown.Venue) {
		m.Venues = append(m.Venues, r.placeOf(&venue))
	}
	for _, o := range shown.Organizer {
		m.Organizers = append(m.Organizers, r.organizerOf(&o))
	}
	if err := r.linkTerms(m, e); err != nil {
		return err
	}
	m.Price = r.cost(e, shown.Cost)
	// A canceled event sells no tickets, cannot be joined, and is not added to calendars: they would show it as planned.
	canceled := e.EventStatus == calendar.Canceled
	if shown.Website != "" && shown.Website != shown.URL && (!canceled || !e.Ticketed) {
		m.Website, m.WebsiteText = shown.Website, hostOf(shown.Website)
	}
	m.Ticketed = e.Ticketed
	switch shown.Attendance {
	case calendar.Online:
		m.Online = r.words.OnlineEvent
	case calendar.Mixed:
		m.Online = r.words.MixedEvent
	}
	if m.Online != "" && !canceled {
		m.Join = shown.VirtualURL
	}
	if !m.Past && !canceled && r.PageSettings.Pages.Feeds {
		r.addToCalendar(m, e, shown)
	}
	if err := r.addSeries(m, e, shown); err != nil {
		return err
	}
	return r.addNear(m, e)
}

func (r *request) organizerOf(o *represent.Organizer) web.Place {
	out := web.Place{
		Name: html.UnescapeString(o.Organizer), Lang: r.foreignLanguage(o.Language), Phone: o.Phone, Call: callNumber(o.Phone),
		Website: o.Website, Host: hostOf(o.Website),
	}
	if strings.Contains(o.Email, "@") {
		out.Email = emailLink(o.Email)
	}
	if o.Slug != "" && o.Status == calendar.Publish && r.pages.servesView(address.ViewOrganizer) {
		out.Href = r.localAddress(o.URL)
	}
	return out
}

// linkTerms adds links to those categories and tags of an event whose pages the site serves.
func (r *request) linkTerms(m *web.EventPage, e *ent.Event) error {
	shown, err := r.RepresentTerms(e.Edges.Terms)
	if err != nil {
		return err
	}
	for i, t := range shown {
		link := web.Link{
			Text: html.UnescapeString(t.Name), Href: r.localAddress(t.URL), Lang: r.foreignLanguage(t.Language), Colour: termColour(t.ID),
		}
		switch taxonomy := e.Edges.Terms[i].Taxonomy; {
		case !r.pages.servesTerms(taxonomy):
		case taxonomy == calendar.Category:
			m.Categories = append(m.Categories, link)
		default:
			m.Tags = append(m.Tags, link)
		}
	}
	if len(m.Categories) > 0 {
		m.Crumbs = append(m.Crumbs, m.Categories[0])
	}
	return nil
}

// calendarTime is the time layout in the URLs of Google Calendar.
const calendarTime = "20060102T150405Z"

// addToCalendar adds the links with which a visitor can add the event to a calendar, such as Google Calendar.
func (r *request) addToCalendar(m *web.EventPage, e *ent.Event, shown *represent.Event) {
	m.File = r.pages.prefix + r.Root.Segment + r.pages.EventFile(shown.Slug)
	location := ""
	if len(m.Venues) > 0 {
		location = strings.Join(append([]string{m.Venues[0].Name}, m.Venues[0].Lines...), ", ")
	}
	details := summary(cmp.Or(shown.Excerpt, shown.Description), 300)
	if details != "" {
		details += "\n\n"
	}
	details += shown.URL
	from, to := e.StartsAt.UTC().Format(calendarTime), e.EndsAt.UTC().Format(calendarTime)
	begin, end := e.StartsAt.UTC().Format(time.RFC3339), e.EndsAt.UTC().Format(time.RFC3339)
	day := "false"
	if e.AllDay {
		after := e.EndWall.AddDate(0, 0, 1)
		from, to = e.StartWall.Format("20060102"), after.Format("20060102")
		begin, end = e.StartWall.Format(time.DateOnly), after.Format(time.DateOnly)
		day = "true"
	}
	m.Google = "https://calendar.google.com/calendar/render" + encode([]web.Field{
		{Name: "action", Value: "TEMPLATE"},
		{Name: "text", Value: m.Heading},
		{Name: "dates", Value: from + "/" + to},
		{Name: "ctz", Value: e.Timezone},
		{Name: "location", Value: location},
		{Name: "details", Value: details},
	})
	m.Outlook = "https://outlook.live.com/calendar/0/deeplink/compose" + encode([]web.Field{
		{Name: "path", Value: "/calendar/action/compose"},
		{Name: "rru", Value: "addevent"},
		{Name: "subject", Value: m.Heading},
		{Name: "startdt", Value: begin},
		{Name: "enddt", Value: end},
		{Name: "allday", Value: day},
		{Name: "location", Value: location},
		{Name: "body", Value: details},
	})
}

// addSeries adds the series that the event belongs to, and the date of its next occurrence. It adds nothing if
// the series is protected.
func (r *request) addSeries(m *web.EventPage, e *ent.Event, shown *represent.Event) error {
	if shown.Series == nil {
		return nil
	}
	rows, err := r.SeriesRows([]int64{shown.Series.ID})
	if err != nil || len(rows) == 0 {
		return err
	}
	row, err := read.SeriesEvent(rows[0])
	if err != nil {
		return err
	}
	if err := r.TryPassword(row); err != nil {
		return err
	}
	slug := r.slugIn(row, r.Language)
	if slug == "" || r.IsProtected(row) {
		return nil
	}
	m.Series = &web.SeriesNote{Text: shown.Series.Text}
	if r.pages.servesView(address.ViewSeries) {
		p := r.newPagePath(address.ViewSeries)
		p.Slugs = []string{slug}
		m.Series.Href = r.href(p, nil)
	}
	after := max(e.StartsAt.Unix(), r.Now.Unix()) + 1
	from := time.Unix(after, 0).UTC()
	one := r.anonymousEvents()
	one.Series.IDs, one.Window = []int64{shown.Series.ID}, query.Window{StartMin: &from}
	page, err := r.FindEvents(one, 0, 1)
	if err != nil || len(page.IDs) == 0 {
		return err
	}
	next, err := r.Events(page.IDs)
	if err != nil || len(next) == 0 {
		return err
	}
	if err := r.TryPassword(next...); err != nil {
		return err
	}
	r.ExpireBy(next[0].StartsAt)
	nextShown, redacted := r.representEvent(r.View(), next[0], false)
	m.Series.Next = &web.Link{Text: r.eventTimeOf(next[0], redacted).text, Href: r.localAddress(nextShown.URL)}
	return nil
}
