package handlers

import (
	"strconv"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/markup"
)

// view turns rows into representations for one request. Its methods are pure: all they need is loaded.
type view struct {
	site   calendar.Site
	words  *locale.Catalogues
	host   string
	now    time.Time
	caller auth.Principal
	lang   calendar.Language
	base   string // base URL with the language segment
	api    string // base + mount
}

func (r *request) view() *view {
	base := r.h.Site.BaseURL + r.root.Segment
	return &view{
		site: r.h.Site, words: r.h.Words, host: r.h.host, now: r.now, caller: r.caller, lang: r.lang,
		base: base, api: base + r.root.Mount,
	}
}

// globalID names a record worldwide.
func (v *view) globalID(id int64) string { return v.host + "?id=" + strconv.FormatInt(id, 10) }

// page is the address of a record's page, or the short one for what has none.
func (v *view) page(kind calendar.Kind, id int64, status calendar.Status, slug string) string {
	if slug != "" && (status == calendar.Publish || status == calendar.Private) {
		return v.base + "/" + string(kind) + "/" + slug + "/"
	}
	return v.base + "/?p=" + strconv.FormatInt(id, 10)
}

// resource is the address of a single resource below the API.
func (v *view) resource(collection string, id int64) string {
	return v.api + "/" + collection + "/" + strconv.FormatInt(id, 10)
}

func (v *view) utc(t time.Time) string { return t.UTC().Format(calendar.Layout) }

func (v *view) local(t time.Time) string { return v.site.Zone.Wall(t).String() }

// author is a user id in digits, "0" for none.
func author(id *int64) string {
	if id == nil {
		return "0"
	}
	return strconv.FormatInt(*id, 10)
}

// texts is what a record says to this request.
type texts struct {
	title       string // name, for all but events
	description string
	excerpt     string
	slug        string
	language    calendar.Language // of the title
}

// resolve picks the texts that the request is served.
func (v *view) resolve(original calendar.Text, others []calendar.Text) texts {
	t := calendar.Served(v.lang, v.site.Language, original, others)
	return texts{title: t.Title, description: t.Description, excerpt: t.Excerpt, slug: t.Slug, language: t.Language}
}

func (v *view) eventTexts(e *ent.Event) texts {
	others := make([]calendar.Text, len(e.Edges.Translations))
	for i, t := range e.Edges.Translations {
		others[i] = calendar.Text{
			Language: t.Language, Title: t.Title, Description: t.Description, Excerpt: t.Excerpt, Slug: t.Slug,
		}
	}
	return v.resolve(calendar.Text{
		Language: e.Language, Title: e.Title, Description: e.Description, Excerpt: e.Excerpt, Slug: e.Slug,
	}, others)
}

func (v *view) venueTexts(e *ent.Venue) texts {
	others := make([]calendar.Text, len(e.Edges.Translations))
	for i, t := range e.Edges.Translations {
		others[i] = calendar.Text{Language: t.Language, Title: t.Name, Description: t.Description, Slug: t.Slug}
	}
	return v.resolve(calendar.Text{
		Language: e.Language, Title: e.Name, Description: e.Description, Slug: e.Slug,
	}, others)
}

func (v *view) organizerTexts(e *ent.Organizer) texts {
	others := make([]calendar.Text, len(e.Edges.Translations))
	for i, t := range e.Edges.Translations {
		others[i] = calendar.Text{Language: t.Language, Title: t.Name, Description: t.Description, Slug: t.Slug}
	}
	return v.resolve(calendar.Text{
		Language: e.Language, Title: e.Name, Description: e.Description, Slug: e.Slug,
	}, others)
}

func (v *view) termTexts(e *ent.Term) texts {
	others := make([]calendar.Text, len(e.Edges.Translations))
	for i, t := range e.Edges.Translations {
		others[i] = calendar.Text{Language: t.Language, Title: t.Name, Description: t.Description, Slug: t.Slug}
	}
	return v.resolve(calendar.Text{
		Language: e.Language, Title: e.Name, Description: e.Description, Slug: e.Slug,
	}, others)
}

// languages lists those a record has text in.
func languages(s calendar.LanguageSet) []string {
	list := s.List()
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = string(l)
	}
	return out
}

// plain is HTML as the text of a json_ld member.
func plain(html string) string { return markup.Plain(html) }

// common is what the representations of venues and organizers share.
type common struct {
	id      int64
	status  calendar.Status
	author  string
	date    [2]string
	changed [2]string
}

func (v *view) common(id int64, authorID *int64, status calendar.Status, published, modified time.Time) common {
	c := common{
		id: id, status: status.At(v.now, published), author: author(authorID),
		date:    [2]string{v.local(published), v.utc(published)},
		changed: [2]string{v.local(modified), v.utc(modified)},
	}
	if c.author == "0" {
		c.author = ""
	}
	return c
}
