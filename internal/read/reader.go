// Package read shows a request the records that its caller may see.
package read

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/settings"
)

// Calendar has what all requests of a site share: databases, index, caches and settings. Requests do not change it.
type Calendar struct {
	Primary *ent.Client // database that is written
	// Replica answers anonymous reads, and may lag behind Primary. Nil or Primary means that there is none.
	Replica *ent.Client
	// Index finds events for lists in memory. It follows Replica if there is one, else Primary. Nil means that the
	// database finds them.
	Index *index.Index
	// ServerChanges returns a number that changes when reads switch to another database server. Nil means that
	// there is one server.
	ServerChanges query.ServerChanges
	Site          calendar.Site
	Words         *locale.Catalogues
	RecordCache   *reply.RecordCache // cache of records that lists show; nil means none
	PasswordKey   []byte             // key of the hashes of event passwords, from edit.PasswordKey
	FeedKey       feed.Key           // key of the UIDs in feeds, from edit.FeedKey
	// PageSettings has what the administrators of the site have chosen for its pages and feeds.
	PageSettings *settings.Site
	Host         string // host and path of the base URL, for global ids
}

// Reader finds, loads and represents records for one request. It sees what the caller may see.
type Reader struct {
	*Calendar
	reply.Validity // validity of the reply so far

	Ctx    context.Context
	DB     *ent.Client // database that the request reads
	Now    time.Time   // time of the request, in UTC and whole seconds
	Caller auth.Principal
	Root   Root
	// Language is the language of the reply.
	Language calendar.Language
	// Chosen is the language that the parameter or path chooses, whose texts a write changes. "" means that none was
	// chosen.
	Chosen   calendar.Language
	Revision int64         // newest revision of the calendar when the request began, or a later one; 0 means unknown
	Began    int64         // number of Calendar.ServerChanges when the request began
	Password string        // password sent for events; "" means none
	Judge    PasswordJudge // limits guesses of passwords; nil means no limit

	guessed bool // true after the password was compared, or refused without a comparison
	// opened has the events with which the password was compared, and whether it opens them, by id.
	opened map[int64]bool
	edits  *edit.Editor // result of Editor, created at the first call
	// recurrences has the series of the events that were read, by id.
	recurrences map[int64]*represent.Recurrence
}

// NewReader returns the reader for one request, which arrived at the time now. It reads from db. The root and
// language come from the path of the request. The reader has no password yet.
func (c *Calendar) NewReader(
	ctx context.Context, db *ent.Client, now time.Time, caller auth.Principal, root Root, language calendar.Language,
) *Reader {
	return &Reader{Calendar: c, Ctx: ctx, DB: db, Now: now, Caller: caller, Root: root, Language: language, Began: c.ServerChanges.Number()}
}

// PasswordJudge limits guesses of passwords. It calls compare, which compares a password and reports whether it was
// wrong. If the client has no guesses left, PasswordJudge returns an error with the code rest_too_many_requests
// instead. The id secret identifies the password that is guessed; 0 means that there are several. A nil
// PasswordJudge means no limit.
type PasswordJudge func(secret int64, compare func() (wrong bool)) error

// View returns the settings with which package represent represents records in the reply.
func (r *Reader) View() *represent.View {
	return &represent.View{
		Site: r.Site, Words: r.Words, Host: r.Host, Now: r.Now, Caller: r.Caller, Language: r.Language,
		Base: r.Site.BaseURL + r.SegmentOf(r.Language), Paths: r.PageSettings.Paths, API: r.Site.BaseURL + r.Root.Segment + r.Root.Mount,
		Recurrences: r.recurrences,
	}
}

// Translate loads the texts of records in the languages that the reply may show.
func (r *Reader) Translate(page ent.Page) error {
	languages := []calendar.Language{r.Language}
	if r.Site.Language != r.Language {
		languages = append(languages, r.Site.Language)
	}
	return r.DB.ReadTranslations(r.Ctx, languages, page)
}

// sinceRevision returns the revision up to which the index must have applied changes before it answers. 0 means the
// newest one of its database. The index follows the replica, if there is one, and may lag behind this request.
func (r *Reader) sinceRevision() (int64, error) {
	if r.Replica == nil || r.DB == r.Replica || r.Replica == r.Primary {
		return r.Revision, nil
	}
	return edit.Revision(r.Ctx, r.DB)
}

// Zone returns the time zone of the site.
func (r *Reader) Zone() calendar.Zone { return r.Site.Zone }

// Tomorrow returns the instant when the current day ends in the site's zone.
func (r *Reader) Tomorrow() time.Time {
	return r.Zone().Instant(r.Zone().Wall(r.Now).StartOfDay().AddDate(0, 0, 1))
}

// SiteName returns the title of the site in the language of the request.
func (r *Reader) SiteName() string {
	return cmp.Or(r.PageSettings.Title.In(r.Language, r.Site.Language), r.Site.Name)
}

// PathLanguage returns the language to put into the paths of pages in the language l. It returns "" for the main
// language and for languages that the site does not offer.
func (c *Calendar) PathLanguage(l calendar.Language) calendar.Language {
	if l == c.Site.Language || !c.PageSettings.Offers(l) {
		return ""
	}
	return l
}

// SegmentOf returns the beginning of the paths of pages in a language, such as "/pl". It is "" for the main
// language and for languages that the site does not offer.
func (c *Calendar) SegmentOf(l calendar.Language) string {
	if l = c.PathLanguage(l); l != "" {
		return "/" + string(l)
	}
	return ""
}

// Editor returns the Editor that writes on behalf of the caller.
func (r *Reader) Editor() *edit.Editor {
	if r.edits == nil {
		r.edits = &edit.Editor{
			Site: r.Site, Now: r.Now, By: r.Caller, Write: r.Chosen, Request: r.Language, PasswordKey: r.PasswordKey,
		}
	}
	return r.edits
}

// Root is the part of a request's path before the resource. Links in the reply have the same root.
type Root struct {
	Segment string // language of the path, such as "/pl"; "" means that the path names none
	Mount   string // path of the API, such as "/cal/events/v1"; "" for feeds, which are below the base URL
}

// IsFeed reports whether the root of a matched path is that of feeds. It is also true for the zero Root.
func (r Root) IsFeed() bool { return r.Mount == "" }

// Language returns the language that the path names, or "" if it names none.
func (r Root) Language() calendar.Language {
	return calendar.Language(strings.TrimPrefix(r.Segment, "/"))
}

// EventFile returns the path of the iCalendar file of one event, below the base URL. Its slug is percent-encoded.
func (c *Calendar) EventFile(slug string) string {
	return c.PageSettings.Paths.Of(calendar.Event) + slug + ".ics"
}
