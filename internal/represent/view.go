// Package represent builds the JSON representations of records from database rows (contract, section 6).
package represent

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/markup"
)

// View turns loaded rows into JSON representations for one request. It does not query the database: the caller
// loads linked records with each row.
type View struct {
	Site     calendar.Site
	Words    *locale.Catalogues
	Host     string    // host and path of the base URL, the start of global ids
	Now      time.Time // UTC, in whole seconds
	Caller   auth.Principal
	Language calendar.Language
	Base     string // base URL of pages in the language
	Paths    calendar.Paths
	API      string // base URL of the API
	// Recurrences are the series of the events to show, by series id.
	Recurrences map[int64]*Recurrence
}

// globalID returns the worldwide identifier of a record, such as example.org?id=7. source is its identifier at the
// site from which it was imported, or nil. A record imported from a site that had this service's host keeps that
// identifier.
func (v *View) globalID(id int64, source *string) string {
	if source != nil && strings.HasPrefix(*source, v.Host+"?id=") {
		return *source
	}
	return v.Host + "?id=" + strconv.FormatInt(id, 10)
}

// page returns the address of a record's page. Records that are not public have the short address /?p=ID, and kinds without
// pages their address in the API.
func (v *View) page(kind calendar.Kind, id int64, status calendar.Status, slug string) string {
	pages := v.Paths.Of(kind)
	switch {
	case pages == "":
		return v.Resource(kind.Plural(), id)
	case slug != "" && (status == calendar.Publish || status == calendar.Private):
		return v.Base + pages + slug + "/"
	}
	return v.Base + "/?p=" + strconv.FormatInt(id, 10)
}

// Resource returns the API address of one record.
func (v *View) Resource(collection string, id int64) string {
	return v.API + "/" + collection + "/" + strconv.FormatInt(id, 10)
}

func (v *View) utc(t time.Time) string { return t.UTC().Format(calendar.Layout) }

func (v *View) local(t time.Time) string { return v.Site.Zone.Wall(t).String() }

// DateText formats an instant for links and tables as wall time in the zone. When clocks go back, an hour occurs
// twice. For an instant in the second of these hours, the text includes the UTC offset.
func DateText(t time.Time, zone calendar.Zone) string {
	w := zone.Wall(t)
	if zone.Instant(w).Equal(t) {
		return w.String()
	}
	return t.In(zone.Location()).Format(calendar.Layout + "-07:00")
}

// authorID returns a user id in digits. Nil gives "0".
func authorID(id *int64) string {
	if id == nil {
		return "0"
	}
	return strconv.FormatInt(*id, 10)
}

// Text returns the text of a record in the language of the request. A field that is empty there is in the
// language of the site, or else in the original one. The result names the language of the title.
func (v *View) Text(e ent.Row) calendar.Text {
	return calendar.Served(v.Language, v.Site.Language, e.Text(), e.Translated())
}

// languageCodes returns the codes of a set of languages.
func languageCodes(s calendar.LanguageSet) []string {
	list := s.List()
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = string(l)
	}
	return out
}

// plainText converts HTML to plain text for a member of json_ld.
func plainText(html string) string { return markup.Plain(html) }

// LastWrite returns the time of the last change of a record, and its version, for validators of replies. Callers
// who may edit the record or gave its password get those of the last write. Other callers get those of the last
// change that the public could see (contract, section 18).
func (v *View) LastWrite(e ent.Core, gavePassword bool) (time.Time, calendar.ShownVersion) {
	if !gavePassword && !v.mayEdit(e) {
		return e.ModifiedAt, calendar.ShownVersion{Number: e.Writes().Public(), Public: true}
	}
	return e.LastWrite(), calendar.ShownVersion{Number: e.Version}
}

// mayEdit reports whether the caller may edit a record, or manage terms if the record is a term.
func (v *View) mayEdit(e ent.Core) bool {
	record := auth.RecordOf(e.Kind, e.AuthorID, e.Status.Shown(v.Now, e.PublishedAt), e.StatusBeforeTrash)
	operation := auth.Edit
	if e.Kind.IsTerm() {
		operation = auth.ManageTerms
	}
	return auth.May(v.Caller, operation, record)
}

// Readable reports whether a linked record may be shown. It must not be in the trash, and the caller must be
// allowed to read it.
func (v *View) Readable(kind calendar.Kind, authorID *int64, status calendar.Status, published time.Time) bool {
	status = status.Shown(v.Now, published)
	if status == calendar.Publish {
		return true
	}
	return status != calendar.Trash && auth.May(v.Caller, auth.Read, auth.RecordOf(kind, authorID, status, ""))
}

// readableRows returns the records that the caller may read (contract, difference 20).
func readableRows[R ent.Row](v *View, rows []R) []R {
	return slices.DeleteFunc(slices.Clone(rows), func(row R) bool {
		c := row.Core()
		return !v.Readable(c.Kind, c.AuthorID, c.Status, c.PublishedAt)
	})
}
