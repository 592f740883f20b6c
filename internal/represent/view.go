// Package represent makes the JSON representations of records from their rows (contract, section 6).
package represent

import (
	"slices"
	"strconv"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/markup"
)

// View turns loaded rows into representations for one request. Its methods ask no database: the rows come with what they
// are linked to.
type View struct {
	Site     calendar.Site
	Words    *locale.Catalogues
	Host     string    // of global ids: the base URL's host and path
	Now      time.Time // UTC, whole seconds
	Caller   auth.Principal
	Language calendar.Language
	Base     string // base URL with the language segment
	API      string // Base and the path of the API
	// Recurrences are the series of the events to show, by id.
	Recurrences map[int64]*Recurrence
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

// authorID is a user id in digits, "0" for none.
func authorID(id *int64) string {
	if id == nil {
		return "0"
	}
	return strconv.FormatInt(*id, 10)
}

// Text returns what a record says to this request. The language is that of the title.
func (v *View) Text(e ent.Row) calendar.Text {
	return calendar.Served(v.Language, v.Site.Language, e.Text(), e.Translated())
}

// languageCodes lists those a record has text in.
func languageCodes(s calendar.LanguageSet) []string {
	list := s.List()
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = string(l)
	}
	return out
}

// plainText is HTML as the text of a json_ld member.
func plainText(html string) string { return markup.Plain(html) }

// commonFields are the values shared by the representations of venues and organizers.
type commonFields struct {
	status  calendar.Status
	author  string
	date    [2]string
	changed [2]string
}

func (v *View) common(e ent.Core) commonFields {
	c := commonFields{
		status:  e.Status.Shown(v.Now, e.PublishedAt),
		date:    [2]string{v.local(e.PublishedAt), v.utc(e.PublishedAt)},
		changed: [2]string{v.local(e.ModifiedAt), v.utc(e.ModifiedAt)},
	}
	if e.AuthorID != nil {
		c.author = authorID(e.AuthorID)
	}
	return c
}

// Readable reports whether a linked record is shown: it is not in the trash, and the caller may read it.
func (v *View) Readable(kind calendar.Kind, authorID *int64, status calendar.Status, published time.Time) bool {
	status = status.Shown(v.Now, published)
	if status == calendar.Publish {
		return true
	}
	return status != calendar.Trash && auth.May(v.Caller, auth.Read, auth.RecordOf(kind, authorID, status, ""))
}

// readableRows leaves out records that the caller may not read (contract, difference 20).
func readableRows[R ent.Row](v *View, rows []R) []R {
	return slices.DeleteFunc(slices.Clone(rows), func(row R) bool {
		c := row.Core()
		return !v.Readable(c.Kind, c.AuthorID, c.Status, c.PublishedAt)
	})
}
