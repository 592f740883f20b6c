// Package importer copies calendars from other services. A Reader collects the events of a compatible REST API,
// from its address or a saved page, or of an iCalendar file. An Importer stores them with their series, venues,
// organizers, terms and images.
//
// A record is recognised by the global id of its source. So an import can be repeated: it stores what has
// changed at the source since, and creates nothing twice. The source wins: an import overwrites changes that
// users made here. A record in the trash stays there.
//
// A source with several languages is imported once in each. Its records have the same global ids in all of
// them, so the first language becomes the original, and later ones become translations. Fields other than texts
// follow the source in whichever language it is read. An import does not store a text that readers get anyway
// because it is that of the language which replaces a missing one. The order of the languages does not matter
// for the result. But readers of the other languages get texts of the language of the site instead of missing
// ones, so that language is best imported first. Where only the original has a text, readers get that. Two
// posts that a service links as translations of each other have two global ids, and become two records.
package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

const (
	// batchSize is the number of records in a transaction. It is small, so that other writers wait only
	// briefly.
	batchSize = 50
	// maxBroken is the number of successive records with an unexpected error after which the import stops.
	// Invalid records do not count.
	maxBroken = 3
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
	// Protected selects what the import does with an event that is protected by a password at the source:
	// WithPassword or AsDraft. "" means WithPassword.
	Protected Protection
	// NewIDs gives new ids to the records that the import creates. Otherwise they keep those of the source.
	NewIDs bool
	// DryRun only plans: the report then lists what an import would do.
	DryRun bool
	// Pictures downloads the images. Nil means that images stay references to their addresses.
	Pictures *Pictures
	// Progress is called with the number of processed records and the total. Nil disables it.
	Progress func(done, total int)
}

// Run stores a calendar: first terms, images, venues and organizers, then the series and events with links to
// them. A transaction stores batchSize records. If it fails, Run stores them one by one, so that an invalid
// record does not affect others. The error is the reason for an early end. The report covers everything until
// then. If records cannot keep the ids of the source, it is *TakenError and nothing is stored.
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
		series, events, err = r.separate(ctx, all)
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

// Protection selects what the import does with a protected event. The source does not reveal its password.
type Protection string

// Values of Protection.
const (
	WithPassword Protection = "password" // the event gets a random password; users who may edit the event can set another
	AsDraft      Protection = "draft"
)

// importRun is the state of one import.
type importRun struct {
	*Importer
	report *Report
	editor *edit.Editor
	// ids are the ids of stored records by source id. In a dry run, records that it would create have negative
	// ids.
	ids map[string]int64
	// keys are the source ids of all events of the source.
	keys map[string]bool
	// language is the language in which the source was read.
	language calendar.Language

	done, total int
	edited      map[string]int64 // ids of the events here that rows of a table change, by source id
	broken      int              // number of successive records that failed with an unexpected error
}

// sourceRecord is a record of the source of any kind.
type sourceRecord interface {
	source() *Origin
	shown() string // title or name for the report
}

// recordWrite is the planned write for a record of the source.
type recordWrite struct {
	action Action
	id     int64 // id of the stored record; 0 for a new one
	// do writes the record and returns its id. Nil means that there is nothing to write.
	do     func(ctx context.Context, tx *ent.Tx) (int64, error)
	notice string // for the report; "" means none
	// dates are the occurrences of a series that need a separate write. The function do plans them again, and
	// replaces their notice. Nil for other records.
	dates *datesToWrite
	// hidden means that events must not be linked to the record, because it is in the trash or not stored.
	hidden bool
}

// syncRecords imports the records of one kind in batches. Prepare compares a batch with the stored records and
// plans the writes.
func syncRecords[T sourceRecord](
	ctx context.Context, r *importRun, kind calendar.Kind, items []T,
	prepare func(context.Context, *ent.Client, []T) ([]recordWrite, error),
) error {
	size := batchSize
	if kind == calendar.Series {
		size = 1 // a series has up to a thousand events
	}
	for batch := range slices.Chunk(items, size) {
		if err := syncBatch(ctx, r, kind, batch, prepare); err != nil {
			return fmt.Errorf("import of the %s: %w", kind.Plural(), err)
		}
		r.done += len(batch)
		if r.Progress != nil {
			r.Progress(r.done, r.total)
		}
	}
	return nil
}

func syncBatch[T sourceRecord](
	ctx context.Context, r *importRun, kind calendar.Kind, batch []T,
	prepare func(context.Context, *ent.Client, []T) ([]recordWrite, error),
) error {
	writes, err := tryBatch(ctx, r, kind, batch, prepare)
	if err == nil {
		for i, w := range writes {
			note(r, kind, batch[i], w)
		}
		r.broken = 0
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(batch) > 1 {
		for i := range batch {
			if err := syncBatch(ctx, r, kind, batch[i:i+1], prepare); err != nil {
				return err
			}
		}
		return nil
	}
	reason, refused := refusal(err)
	if refused {
		r.broken = 0
	} else if r.broken++; r.broken >= maxBroken {
		return err
	}
	r.report.fail(kind, batch[0].source(), batch[0].shown(), reason)
	return nil
}

// tryBatch plans a batch and stores it in one transaction. In a dry run it only plans. If an event changes
// between the plan and the write, its version differs, and the transaction is retried.
func tryBatch[T sourceRecord](
	ctx context.Context, r *importRun, kind calendar.Kind, batch []T,
	prepare func(context.Context, *ent.Client, []T) ([]recordWrite, error),
) (writes []recordWrite, err error) {
	if r.DryRun {
		return prepare(ctx, r.DB, batch)
	}
	err = edit.Write(ctx, r.DB, r.editor, func(tx *ent.Tx) error {
		if writes, err = prepare(ctx, tx.Client(), batch); err != nil {
			return err
		}
		if kind == calendar.Event {
			if _, err := edit.LockEvents(ctx, tx, changedIDs(writes)...); err != nil {
				return err
			}
		}
		for i := range writes {
			if writes[i].do == nil {
				continue
			}
			if writes[i].id, err = writes[i].do(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	return writes, err
}

// changedIDs returns the ids of the stored records that the writes change.
func changedIDs(writes []recordWrite) (ids []int64) {
	for _, w := range writes {
		if w.do != nil && w.id != 0 {
			ids = append(ids, w.id)
		}
	}
	return ids
}

// note adds a planned or completed write to the report, and records the id by source id.
func note[T sourceRecord](r *importRun, kind calendar.Kind, item T, w recordWrite) {
	from := item.source()
	if w.id == 0 {
		w.id = -int64(len(r.ids) + 1)
	}
	if !w.hidden {
		r.ids[from.Key] = w.id
	}
	if w.dates != nil {
		w.notice = joinNotices(w.notice, w.dates.notice)
	}
	if w.notice != "" {
		r.report.notice(from, w.notice)
	}
	e, isEvent := any(item).(*Event)
	r.report.add(Item{
		Kind: kind, Action: w.action, Title: item.shown(), Source: from.Key, ID: max(w.id, 0), Altered: isEvent && e.isAltered(),
	})
}

// refusedRecord is the error for a record of the source that cannot be imported. Its text is the reason.
type refusedRecord string

func (r refusedRecord) Error() string { return string(r) }

// refusal returns the reason of an error. Refused reports whether the record itself is invalid.
func refusal(err error) (reason string, refused bool) {
	var record refusedRecord
	if errors.As(err, &record) {
		return string(record), true
	}
	var invalid param.Invalid
	if errors.As(err, &invalid) {
		var all []error
		for _, f := range invalid.Faults {
			why := f.Reason
			if why == "" {
				why = f.Key
			}
			all = append(all, fmt.Errorf("%s: %s", f.Param, why))
		}
		return joinErrors(all), true
	}
	var known *calendar.Error
	if errors.As(err, &known) {
		return known.Code, true
	}
	return err.Error(), false
}

// writeIn runs do with the language in which the editor writes texts.
func (r *importRun) writeIn(language calendar.Language, do func() error) error {
	before := r.editor.Write
	r.editor.Write = language
	defer func() { r.editor.Write = before }()
	return do()
}

// author returns the author of new records. Nil means none.
func (r *importRun) author() *int64 {
	if r.AuthorID == 0 {
		return nil
	}
	return new(r.AuthorID)
}

// linkedRecords are the terms, images, venues and organizers of a calendar, with those in its lists. They have no
// duplicates, and are in the order of first use. Parents come first, and the lists last.
type linkedRecords struct {
	terms      []*Term
	images     []*Image
	venues     []*Venue
	organizers []*Organizer
}

func collectLinked(cal *Calendar) linkedRecords {
	var f linkedRecords
	seen := make(map[string]bool)
	fresh := func(o *Origin) bool {
		was := seen[o.Key]
		seen[o.Key] = true
		return !was && o.Here == 0
	}
	image := func(i *Image) {
		if i != nil && fresh(&i.Origin) {
			f.images = append(f.images, i)
		}
	}
	for _, t := range cal.Parents {
		if fresh(&t.Origin) {
			f.terms = append(f.terms, t)
		}
	}
	events := slices.Clone(cal.Events)
	for _, e := range cal.Events {
		if e.Series != nil {
			events = append(events, e.Series.Changed...)
		}
	}
	terms := func(list []*Term) {
		for _, t := range list {
			if fresh(&t.Origin) {
				f.terms = append(f.terms, t)
			}
		}
	}
	venues := func(list []*Venue) {
		for _, v := range list {
			image(v.Image)
			if fresh(&v.Origin) {
				f.venues = append(f.venues, v)
			}
		}
	}
	organizers := func(list []*Organizer) {
		for _, o := range list {
			image(o.Image)
			if fresh(&o.Origin) {
				f.organizers = append(f.organizers, o)
			}
		}
	}
	for _, e := range events {
		terms(e.Terms)
		image(e.Image)
		venues(e.Venues)
		organizers(e.Organizers)
	}
	terms(cal.Terms)
	venues(cal.Venues)
	organizers(cal.Organizers)
	return f
}
