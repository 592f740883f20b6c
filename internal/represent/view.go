// Package represent makes the JSON representations of records from their rows (contract, section 6).
package represent

import (
	"strconv"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/markup"
)

// View turns loaded rows into representations for one request. Its methods ask no database: a Reader has loaded what
// they need.
type View struct {
	Site     calendar.Site
	Words    *locale.Catalogues
	Host     string    // of global ids: the base URL's host and path
	Now      time.Time // UTC, whole seconds
	Caller   auth.Principal
	Language calendar.Language
	Base     string // base URL with the language segment
	API      string // Base and the path of the API
}

// globalID names a record worldwide.
func (v *View) globalID(id int64) string { return v.Host + "?id=" + strconv.FormatInt(id, 10) }

// page is the address of a record's page, or the short one for what has none.
func (v *View) page(kind calendar.Kind, id int64, status calendar.Status, slug string) string {
	if slug != "" && (status == calendar.Publish || status == calendar.Private) {
		return v.Base + "/" + string(kind) + "/" + slug + "/"
	}
	return v.Base + "/?p=" + strconv.FormatInt(id, 10)
}

// Resource returns the address of a single resource below the API.
func (v *View) Resource(collection string, id int64) string {
	return v.API + "/" + collection + "/" + strconv.FormatInt(id, 10)
}

func (v *View) utc(t time.Time) string { return t.UTC().Format(calendar.Layout) }

func (v *View) local(t time.Time) string { return v.Site.Zone.Wall(t).String() }

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
func (v *View) resolve(original calendar.Text, others []calendar.Text) texts {
	t := calendar.Served(v.Language, v.Site.Language, original, others)
	return texts{title: t.Title, description: t.Description, excerpt: t.Excerpt, slug: t.Slug, language: t.Language}
}

func (v *View) eventTexts(e *ent.Event) texts {
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

func (v *View) venueTexts(e *ent.Venue) texts {
	others := make([]calendar.Text, len(e.Edges.Translations))
	for i, t := range e.Edges.Translations {
		others[i] = calendar.Text{Language: t.Language, Title: t.Name, Description: t.Description, Slug: t.Slug}
	}
	return v.resolve(calendar.Text{
		Language: e.Language, Title: e.Name, Description: e.Description, Slug: e.Slug,
	}, others)
}

func (v *View) organizerTexts(e *ent.Organizer) texts {
	others := make([]calendar.Text, len(e.Edges.Translations))
	for i, t := range e.Edges.Translations {
		others[i] = calendar.Text{Language: t.Language, Title: t.Name, Description: t.Description, Slug: t.Slug}
	}
	return v.resolve(calendar.Text{
		Language: e.Language, Title: e.Name, Description: e.Description, Slug: e.Slug,
	}, others)
}

// TermSlug returns the slug of a term in the language that it is served in.
func (v *View) TermSlug(e *ent.Term) string { return v.termTexts(e).slug }

func (v *View) termTexts(e *ent.Term) texts {
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

func (v *View) common(id int64, authorID *int64, status calendar.Status, published, modified time.Time) common {
	c := common{
		id: id, status: status.Shown(v.Now, published), author: author(authorID),
		date:    [2]string{v.local(published), v.utc(published)},
		changed: [2]string{v.local(modified), v.utc(modified)},
	}
	if c.author == "0" {
		c.author = ""
	}
	return c
}
