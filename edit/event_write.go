package edit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/store"
)

// EventWrite is a write of one event, split into steps. The steps are Plan, Permit, CarryOut, then Insert or
// Update, then Link. CreateEvent and UpdateEvent take these steps. Package series takes the same steps for an
// event of a series, and stores the series after CarryOut.
type EventWrite struct {
	// Span has the dates of the event after the write.
	Span calendar.Span

	editor *Editor
	tx     *ent.Tx
	in     *EventInput
	row    *ent.Event   // the event before the write; nil for a new event
	before *record      // the event before the write; for a new event only its kind is set
	owner  *record      // the record whose rights count: the event, or the series in a write of a series
	sent   *recordInput // the sent fields that events share with other records
	early  *param.Fault // fault of the sent dates alone
	late   error        // error that depends on the stored dates

	plan   *plan         // what Plan found
	joins  *seriesMember // the place in a new series; nil means none
	leaves bool          // true if the event leaves its series
	id     int64         // reserved id of a new event; 0 means that the id is drawn

	after     *record         // the event after the write
	action    calendar.Action // action for the change log
	diff      diff
	terms     [2]termIDs         // terms before and after the write
	links     [2]relinkedRecords // venues, then organizers
	unchanged bool               // true if Update had nothing to store
}

// seriesMember is the place of an event in a series.
type seriesMember struct {
	id      int64
	nominal calendar.Wall
}

// relinkedRecords has the ids of the venues or organizers of an event before and after a write. The field sent is
// true if the request sends the list.
type relinkedRecords struct {
	kind          calendar.Kind
	sent          bool
	before, after []int64
}

// NewEvent returns an EventWrite that creates an event. It stores nothing yet.
func (e *Editor) NewEvent(tx *ent.Tx, in *EventInput) *EventWrite {
	none := &record{textOwner: textOwner{kind: calendar.Event}}
	w := &EventWrite{editor: e, tx: tx, in: in, before: none, owner: none, sent: in.record(), diff: diff{isNew: true}}
	w.Span = ChangedSpan(calendar.Span{Zone: e.Site.Zone}, in)
	w.early = CheckSpan(w.Span, in)
	w.id = e.Reserved.BySource[ValueOr("", w.sent.source)]
	return w
}

// ChangeEvent returns an EventWrite that changes the stored event row, which the caller has locked. The error
// means that the stored dates are invalid.
func (e *Editor) ChangeEvent(tx *ent.Tx, row *ent.Event, in *EventInput) (*EventWrite, error) {
	w := &EventWrite{editor: e, tx: tx, in: in, row: row, before: eventRecord(row), sent: in.record()}
	w.owner = w.before
	var err error
	w.Span, w.early, w.late, err = sentSpan(row, in)
	return w, err
}

// ChangeSeries returns an EventWrite for a change of a series, which the caller has locked. The input is compared
// with row, which is an occurrence or represents the series. The caller needs rights on the series s, not on row.
func (e *Editor) ChangeSeries(tx *ent.Tx, s *ent.Series, row *ent.Event, in *EventInput) (*EventWrite, error) {
	w, err := e.ChangeEvent(tx, row, in)
	if err != nil {
		return nil, err
	}
	w.owner = seriesRecord(s)
	return w, nil
}

// seriesRecord returns a record with the columns of a series, without its texts.
func seriesRecord(s *ent.Series) *record {
	return &record{
		textOwner: textOwner{
			kind: calendar.Series, id: s.ID, language: s.Language, languages: s.Languages, trashed: s.Status == calendar.Trash,
		},
		PublicationState: PublicationState{s.Status, s.StatusBeforeTrash, s.PublishedAt, s.Dated},
		author:           s.AuthorID, version: calendar.Version{All: s.Version, Hidden: s.HiddenChanges},
	}
}

// HasValidDates reports whether the sent dates are valid without regard to stored dates.
func (w *EventWrite) HasValidDates() bool { return w.early == nil }

// Prepare calls Plan, Permit and CarryOut.
func (w *EventWrite) Prepare(ctx context.Context, schedule *param.Fault) error {
	if err := w.Plan(ctx, schedule); err != nil {
		return err
	}
	if err := w.Permit(); err != nil {
		return err
	}
	return w.CarryOut(ctx)
}

// Plan looks up all records that the input names. The parameter schedule is an error in the sent rule or dates that
// the caller found. Nil means none. Plan returns param.Invalid with all errors of the input.
func (w *EventWrite) Plan(ctx context.Context, schedule *param.Fault) (err error) {
	w.plan, err = w.editor.planEvent(ctx, w.tx, w.before, w.row, w.sent, w.in, w.early, schedule)
	return err
}

// Permit returns an error if the caller may not do this write. For one stored event it also checks the
// precondition of the request. Last, it returns an error about the dates that depends on stored dates. A caller
// without rights must not see that error.
func (w *EventWrite) Permit() error {
	if err := w.editor.permit(w.owner, w.sent); err != nil {
		return err
	}
	if w.row != nil && w.owner == w.before {
		if err := w.editor.CheckPrecondition(w.before.version); err != nil {
			return err
		}
	}
	return w.late
}

// CarryOut creates the new terms, venues and organizers that the request sends with the event. Plan must have run.
func (w *EventWrite) CarryOut(ctx context.Context) error {
	e := w.editor
	author := w.sent.author
	switch {
	case author != nil:
	case w.row == nil:
		author = e.author()
	default:
		author = w.row.AuthorID
	}
	if w.row == nil || w.owner != w.before {
		return e.carryOut(ctx, w.tx, w.plan, w.in, author)
	}
	if err := e.refuseEventLoop(ctx, w.tx, w.row, w.in.ParentID); err != nil {
		return err
	}
	noted := len(e.changes)
	if err := e.carryOut(ctx, w.tx, w.plan, w.in, author); err != nil {
		return err
	}
	for _, c := range e.changes[noted:] {
		if c.kind == calendar.Event && c.id == w.row.ID {
			// The event lost a venue or organizer that the same request moved to the trash.
			w.before.version.All++
		}
	}
	return nil
}

// LockLinks locks the venues and organizers to which a stored event is linked. So none of them moves to the trash
// before the transaction ends. The caller has locked the event.
func (w *EventWrite) LockLinks(ctx context.Context) error {
	for _, kind := range calendar.LinkedKinds {
		ids, err := loadLinks(ctx, w.tx, kind, w.row.ID)
		if err != nil {
			return err
		}
		if _, err := w.editor.LockLinkable(ctx, w.tx, kind, ids); err != nil {
			return err
		}
	}
	return nil
}

// RegisterSeries allocates the id of a new series whose first occurrence is the event. For a new event it also
// takes the slug of the series, if the event would get one. The series of a stored event takes its slug later,
// after Update.
func (w *EventWrite) RegisterSeries(ctx context.Context) (id int64, slug string, err error) {
	if w.row != nil {
		id, err = drawID(ctx, w.tx, calendar.Series)
		return id, "", err
	}
	r := w.editor.newRecord(calendar.Event, w.sent)
	r.kind = calendar.Series
	err = r.register(ctx, w.tx, w.sent.slug, 0)
	return r.id, r.slug, err
}

// JoinSeries makes the event the occurrence o of the series with the given id. Insert and Update store this. The
// slug replaces the sent one; nil means none.
func (w *EventWrite) JoinSeries(id int64, o recur.Occurrence, slug *string) {
	w.joins, w.Span, w.sent.slug = &seriesMember{id, o.Nominal}, o.Span, slug
	if w.row == nil {
		w.id = w.editor.Reserved.ByStart[o.Nominal]
	}
}

// LeaveSeries takes the event out of its series. Update and Link store this.
func (w *EventWrite) LeaveSeries() { w.leaves = true }

// Insert stores a new event, but not its links. It returns the row without loaded edges.
func (w *EventWrite) Insert(ctx context.Context) (*ent.Event, error) {
	e := w.editor
	w.after = e.newRecord(calendar.Event, w.sent)
	if err := w.after.register(ctx, w.tx, w.sent.slug, w.id); err != nil {
		return nil, err
	}
	c := w.tx.Event.Create()
	row := newEvent()
	row.Sequence = e.Reserved.Sequences[w.id]
	if _, err := e.fillEvent(c.Mutation(), w.after, w.before, w.sent, row, w.in, w.Span, &w.diff); err != nil {
		return nil, err
	}
	if w.joins != nil {
		c.SetSeriesID(w.joins.id).SetOriginalStart(w.joins.nominal)
	}
	row, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create event: %w", store.AsConflict(err))
	}
	e.LogChange(calendar.Event, w.after.id, calendar.Created, nil, e.ImpactOfCreated(w.after.Status, w.after.Published))
	if e.created == nil {
		e.created = make(map[int64]*ent.Event)
	}
	e.created[row.ID] = row
	w.terms[1] = w.plan.terms
	w.links = [2]relinkedRecords{
		{kind: calendar.Venue, after: w.plan.venues}, {kind: calendar.Organizer, after: w.plan.organizers},
	}
	return row, nil
}

// Update stores the changed fields of a stored event, but not its links. It does not check rights. It returns the
// stored row without loaded edges. If nothing changes in an occurrence, it stores nothing.
func (w *EventWrite) Update(ctx context.Context) (*ent.Event, error) {
	e, row := w.editor, w.row
	if err := w.storePublicity(ctx); err != nil {
		return nil, err
	}
	var err error
	if w.after, w.action, err = e.revise(ctx, w.tx, w.before, w.sent, &w.diff); err != nil {
		return nil, err
	}
	if err := w.loadTerms(ctx); err != nil {
		return nil, err
	}
	u := w.tx.Event.Update().Where(event.ID(row.ID), event.Version(w.before.version.All))
	if _, err := e.fillEvent(u.Mutation(), w.after, w.before, w.sent, row, w.in, w.Span, &w.diff); err != nil {
		return nil, err
	}
	w.compareTerms()
	if err := w.compareLinks(ctx); err != nil {
		return nil, err
	}
	w.setMembership(u)
	if w.unchanged, err = w.isUnchanged(ctx, u.Mutation()); err != nil || w.unchanged {
		return row, err
	}
	i, err := w.findImpact(ctx)
	if err != nil {
		return nil, err
	}
	e.stamp(u.Mutation(), w.after.version.All, w.in.ModifiedAt, i)
	if err := expectOneRow(u.Save(ctx)); err != nil {
		return nil, fmt.Errorf("event %d: %w", row.ID, err)
	}
	changed, err := w.tx.Event.Get(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	e.LogChange(calendar.Event, row.ID, w.action, FieldsInLanguages(w.diff.fields, w.diff.namesInLanguages), i)
	return changed, nil
}

// storePublicity stores a withdrawal, the last public state for feeds, if the write hides the event from the public.
// It deletes the withdrawal if the write makes the event public again.
func (w *EventWrite) storePublicity(ctx context.Context) error {
	e := w.editor
	next := NextPublicationState(
		w.before.PublicationState, w.sent.status, w.sent.published, e.Now, e.isAllowed(auth.Publish, w.before))
	return e.StorePublicity(ctx, w.tx, []*ent.Event{w.row}, func(int) (calendar.Status, time.Time) { return next.Status, next.Published })
}

// loadTerms loads the terms of the event if the write needs them.
func (w *EventWrite) loadTerms(ctx context.Context) (err error) {
	if w.in.Categories != nil || w.in.Tags != nil || w.joins != nil ||
		CountsForTerms(w.before.Status) != CountsForTerms(w.after.Status) {
		w.terms[0], err = termsOf(ctx, w.tx, w.row.ID)
	}
	return err
}

// compareTerms sets the ids of the terms that the event has after the write, and notes changes in w.diff.
func (w *EventWrite) compareTerms() {
	was := w.terms[0]
	is := was
	if w.in.Categories != nil {
		is.categories = w.plan.terms.categories
		w.diff.noteIDs("categories", was.categories, is.categories)
	}
	if w.in.Tags != nil {
		is.tags = w.plan.terms.tags
		w.diff.noteIDs("tags", was.tags, is.tags)
	}
	w.terms[1] = is
}

// compareLinks loads the venues and organizers of the event before the write, sets those after it, and notes
// changes in w.diff.
func (w *EventWrite) compareLinks(ctx context.Context) (err error) {
	w.links = [2]relinkedRecords{
		{kind: calendar.Venue, sent: w.in.Venues != nil, after: w.plan.venues},
		{kind: calendar.Organizer, sent: w.in.Organizers != nil, after: w.plan.organizers},
	}
	for i := range w.links {
		l := &w.links[i]
		if !l.sent && w.joins == nil {
			continue
		}
		if l.before, err = loadLinks(ctx, w.tx, l.kind, w.row.ID); err != nil {
			return err
		}
		switch {
		case !l.sent:
			l.after = l.before
		case !slices.Equal(l.before, l.after):
			w.diff.note(string(l.kind))
		}
	}
	return nil
}

// setMembership sets the columns in u that tie the event to a series or make it a single event. For an occurrence it
// also sets the names of fields that the write changes in it alone.
func (w *EventWrite) setMembership(u *ent.EventUpdate) {
	switch {
	case w.joins != nil:
		u.SetSeriesID(w.joins.id).SetOriginalStart(w.joins.nominal)
		w.diff.note("series")
	case w.leaves:
		u.ClearSeriesID().ClearOriginalStart().ClearOwnFields().SetOffSchedule(false)
		w.diff.note("series")
	case w.row.SeriesID != nil:
		old, r := w.before, w.after
		statusSent := w.sent.status != nil && !r.trashed && r.Status != old.Status && r.Status != old.BeforeTrash
		if own := ownFields(w.row, w.in, &w.diff, statusSent); len(own) > len(w.row.OwnFields) {
			u.SetOwnFields(own)
		}
		if w.action == calendar.Restored {
			u.SetOffSchedule(false)
		}
	}
}

// isUnchanged reports whether Update has nothing to store for an occurrence. It is always false for a caller who
// may not read the series. Such a caller sees a single event, whose version must change with each write.
func (w *EventWrite) isUnchanged(ctx context.Context, m *ent.EventMutation) (bool, error) {
	if w.row.SeriesID == nil || w.joins != nil || w.leaves || w.in.ModifiedAt != nil ||
		len(w.diff.fields)+len(m.Fields())+len(m.ClearedFields()) > 0 {
		return false, nil
	}
	s, err := w.tx.Series.Get(ctx, *w.row.SeriesID)
	if err != nil {
		return false, fmt.Errorf("series %d: %w", *w.row.SeriesID, err)
	}
	return MayReadSeries(w.editor.By, s, w.editor.Now), nil
}

// isProtectedAfter reports whether an event has a password after a write with the input in.
func isProtectedAfter(row *ent.Event, in *EventInput) bool {
	return in.Password == nil && HasPassword(row) || ValueOr("", in.Password) != ""
}

// findImpact returns the Impact of the write, which says whether the public sees its changes. It is called when
// w.diff has all changed fields.
func (w *EventWrite) findImpact(ctx context.Context) (Impact, error) {
	e, row := w.editor, w.row
	c := &PublicChange{
		Before: PublicationState{Status: row.Status, Published: row.PublishedAt}, After: w.after.PublicationState,
		Fields: w.diff.fields, Protected: HasPassword(row) && isProtectedAfter(row, w.in),
		Languages: row.Languages != w.after.languages, Dated: w.in.ModifiedAt != nil,
	}
	var err error
	c.Unseen, err = e.UnseenLinks(ctx, w.tx,
		[2][]int64{w.links[0].before, w.links[1].before}, [2][]int64{w.plan.venues, w.plan.organizers})
	if err != nil {
		return Impact{}, err
	}
	if row.SeriesID != nil && slices.Contains(c.Fields, "series") {
		public, err := e.PublicIDs(ctx, w.tx, calendar.Series, []int64{*row.SeriesID})
		if err != nil {
			return Impact{}, err
		}
		if !public[*row.SeriesID] {
			c.Unseen = append(c.Unseen, "series")
		}
	}
	return e.ImpactOf(c), nil
}

// Changed returns the names of the fields that Update changed. A field of a translation has its language, as in
// title:pl.
func (w *EventWrite) Changed() []string { return w.diff.namesInLanguages }

// Links returns the ids of the records that the event is linked to after Insert or Update. After Update they are
// only complete if the event joins a series.
func (w *EventWrite) Links() EventLinks {
	return EventLinks{
		Categories: w.terms[1].categories, Tags: w.terms[1].tags, Venues: w.links[0].after, Organizers: w.links[1].after,
	}
}

// Link stores the links of the event after Insert or Update, and updates the event counts of its terms.
func (w *EventWrite) Link(ctx context.Context) error {
	if w.unchanged {
		return nil
	}
	id := w.after.id
	counted := w.row != nil && CountsForTerms(w.before.Status)
	err := linkTerms(ctx, w.tx, id, w.terms[0], w.terms[1], counted, CountsForTerms(w.after.Status))
	if err != nil {
		return err
	}
	for _, l := range w.links {
		switch {
		case w.row == nil:
			err = link(ctx, w.tx, l.kind, id, l.after)
		case l.sent:
			err = replaceLinks(ctx, w.tx, l.kind, id, l.before, l.after)
		}
		if err != nil {
			return err
		}
	}
	if w.leaves || w.row != nil && w.row.SeriesID != nil && w.action != calendar.Updated {
		return w.editor.excludeOccurrence(ctx, w.tx, w.row, w.leaves || w.after.trashed)
	}
	return nil
}

// finish calls Update and Link, and returns the row that Update stored.
func (w *EventWrite) finish(ctx context.Context) (*ent.Event, error) {
	changed, err := w.Update(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.Link(ctx); err != nil {
		return nil, err
	}
	return changed, nil
}
