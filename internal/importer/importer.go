// Package importer copies calendars from other services. A Reader reads events from a compatible REST API
// or its saved pages, an iCalendar file or a table. An Importer stores them with their series, venues,
// organizers, terms and images.
//
// A record is recognised by the global id of its source. So an import can be repeated: it stores what has
// changed at the source since, and creates nothing twice. The source wins: an import overwrites changes that
// users made here, unless Importer.KeepEdited is set. A record in the trash stays there.
//
// A source with several languages is imported once in each. Its records have the same global ids in all of
// them, so the first language becomes the original, and later ones become translations. Fields other than texts
// follow the source in whichever language it is read. An import does not store a text that readers get anyway
// because it is that of the language which replaces a missing one. The order of the languages does not matter
// for the result. But readers of the other languages get texts of the language of the site instead of missing
// ones, so that language is best imported first. Where only the original has a text, readers get that. Two
// posts that a service links as translations of each other have two global ids, and become two records.
//
// The comments use these words. A source id (Origin.Key) identifies a record in every import. A fault is a reason
// to refuse a record, and becomes a Problem of the report. A notice says what was left out or changed. The nominal
// start of a date in a series is the wall time that the schedule gives to it, even if the date was moved. A base is
// the path segment before the slug in a URL of the source.
package importer

import (
	"context"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
)

// Importer stores calendars in a database.
type Importer struct {
	DB   *ent.Client
	Site calendar.Site
	// Language is the language in which the source was read. "" means that of the site. If a stored record has
	// another original language, the texts become a translation.
	Language calendar.Language
	// AuthorID is the user who becomes the author of new records; 0 means none. Authors of the source are not
	// imported.
	AuthorID int64
	// Protected is WithPassword or AsDraft: what the import does with an event that needs a password at the source.
	// "" means WithPassword.
	Protected Protection
	// NewIDs is true if new records get new ids. Otherwise they keep those of the source.
	NewIDs bool
	// KeepEdited is true if fields stay that a person changed here, as the change log says. Otherwise the source wins.
	KeepEdited bool
	// DryRun is true if Run must write nothing. The report then lists what an import would do.
	DryRun bool
	// Pictures downloads the images. Nil means that images stay links to the source.
	Pictures *Pictures
	// Progress is called with the number of processed records and the total. Nil disables it.
	Progress func(done, total int)
}

// Run stores a calendar: first terms, images, venues and organizers, then the series and events with links to them.
// Last, it moves the events in cal.Gone to the trash. A transaction stores up to batchSize records. If it fails, Run
// stores them one by one, so that an invalid record does not affect others. If Run ends early, it returns the reason as
// an error, and the report covers what was done. If records cannot keep the ids of the source, it stores nothing and
// returns *TakenError.
func (im *Importer) Run(ctx context.Context, cal *Calendar) (*Report, error) {
	r := &importRun{
		Importer: im,
		report: &Report{
			DryRun: im.DryRun, Problems: slices.Clone(cal.Problems), Notices: slices.Clone(cal.Notices), unread: cal.Problems,
		},
		editor:   &edit.Editor{Site: im.Site, Now: im.Site.Now(), By: auth.System(), Request: im.Site.Language},
		ids:      make(map[string]int64),
		keys:     make(map[string]bool),
		language: im.Language,
	}
	if r.language == "" {
		r.language = im.Site.Language
	}
	for _, p := range cal.Problems {
		if p.Kind != "" {
			r.report.count(p.Kind, Fail)
		}
	}
	if !im.DryRun && slices.ContainsFunc(cal.Events, func(e *Event) bool { return e.Protected }) {
		key, err := edit.PasswordKey(ctx, im.DB)
		if err != nil {
			return r.report, err
		}
		r.editor.PasswordKey = key
	}
	if err := r.noteForgotten(ctx); err != nil {
		return r.report, err
	}
	edited, err := r.findEdited(ctx, cal.Events)
	all := edited
	if err == nil {
		all, err = r.withoutForeignNames(ctx, edited)
	}
	for _, e := range all {
		r.keys[e.Key] = true
	}
	found := collectLinked(&Calendar{
		Events: all, Parents: cal.Parents, Terms: cal.Terms, Venues: cal.Venues, Organizers: cal.Organizers,
	})
	r.noteRemoved(all, found)
	if err == nil {
		err = r.reserve(ctx, found, all)
	}
	r.total = len(found.terms) + len(found.images) + len(found.venues) + len(found.organizers) + len(all)
	if err == nil {
		err = r.terms(ctx, found.terms)
	}
	if err == nil {
		err = r.images(ctx, found.images)
	}
	if err == nil {
		err = syncRecords(ctx, r, calendar.Venue, found.venues, r.prepareVenues)
	}
	if err == nil {
		err = syncRecords(ctx, r, calendar.Organizer, found.organizers, r.prepareOrganizers)
	}
	var series, events []*Event
	if err == nil {
		series, events, err = r.separateRecurring(ctx, all)
		r.total += len(series) + len(events) - len(all)
	}
	if err == nil {
		err = syncRecords(ctx, r, calendar.Series, series, r.prepareSeries)
	}
	if err == nil {
		err = syncRecords(ctx, r, calendar.Event, events, r.prepareEvents)
	}
	if err == nil && !r.DryRun {
		err = r.trashGone(ctx, cal.Gone)
	}
	return r.report, err
}

// Protection selects how the import hides a protected event. The source does not reveal its password.
type Protection string

// WithPassword and AsDraft are the values of Protection.
const (
	WithPassword Protection = "password" // the event gets a random password; users who may edit the event can set another
	AsDraft      Protection = "draft"
)

// importRun is the state of one import.
type importRun struct {
	*Importer
	report *Report
	editor *edit.Editor
	// ids maps source ids to the ids of stored records. In a dry run, records that would be created have negative
	// ids.
	ids map[string]int64
	// keys has the source ids of all events of the source.
	keys map[string]bool
	// language is the language in which the source was read.
	language calendar.Language

	done, total int
	edited      map[string]int64 // ids of the events here that rows of a table change, by source id
	broken      int              // number of successive records that failed with an unexpected error
}

// writeIn runs do while the editor writes texts in a language, and then resets the editor's language.
func (r *importRun) writeIn(language calendar.Language, do func() error) error {
	before := r.editor.Write
	r.editor.Write = language
	defer func() { r.editor.Write = before }()
	return do()
}

// author returns the id of the user who becomes the author of new records. Nil means none.
func (r *importRun) author() *int64 {
	if r.AuthorID == 0 {
		return nil
	}
	return new(r.AuthorID)
}
