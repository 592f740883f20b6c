package series

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/store"
)

// newSeries has the data of a series that a write creates, before it is stored.
type newSeries struct {
	id          int64
	slug        string // slug of the series in the original language
	schedule    recur.Schedule
	occurrences []recur.Occurrence // occurrences to store now; never empty
	until       *calendar.Wall     // nominal start up to which occurrences are stored; nil means that all are stored
}

// firstOccurrence returns the occurrence at the start of the schedule, which must exist. It is the event from which
// the series is created.
func (s *newSeries) firstOccurrence() recur.Occurrence {
	i := slices.IndexFunc(s.occurrences, func(o recur.Occurrence) bool { return o.Nominal.Equal(s.schedule.Start) })
	return s.occurrences[i]
}

// refuseTrashedSeries returns an error if the first occurrence of a new series would be in the trash. The parameter
// trashed reports whether the event is there already. Then the error is *calendar.Error event-is-in-trash. Otherwise
// it is param.Invalid for the sent status.
func refuseTrashedSeries(in *edit.EventInput, trashed bool) error {
	switch {
	case in.Status != nil && *in.Status != calendar.Trash, in.Status == nil && !trashed:
		return nil
	case trashed:
		return edit.InTrash(calendar.Event)
	}
	return badParam("status")
}

// planSeries returns the series that the input would create from an event, or nil if the input does not recur. The
// row is nil for a new event. It returns *recur.Error, or param.Invalid for dates that no event can have. An exdate
// without a recurrence is an error.
func planSeries(e *edit.Editor, row *ent.Event, in *edit.EventInput) (*newSeries, error) {
	if !in.Recurs() {
		if dates := edit.ValueOr(nil, in.ExDate); len(dates) > 0 {
			return nil, notInSchedule(dates...)
		}
		return nil, nil
	}
	made := &newSeries{}
	var err error
	if made.schedule, err = NewSchedule(e.Site, row, in); err != nil {
		return nil, err
	}
	made.until = generatedUntil(made.schedule, e.Now)
	made.occurrences, err = OccurrencesOf(e, made.schedule, row, in)
	return made, err
}

// notInSchedule returns the *recur.Error for exdates that are not starts of the schedule.
func notInSchedule(dates ...recur.Date) error {
	words := make([]string, len(dates))
	for i, d := range dates {
		words[i] = d.String()
	}
	return &recur.Error{Param: "exdate", Reason: recur.NotInSchedule, Data: map[string]any{"dates": words}}
}

// requireSeries returns *calendar.Error rest_unavailable if series are not switched on yet (IsEnabled).
func requireSeries(ctx context.Context, tx *ent.Tx) error {
	enabled, err := IsEnabled(ctx, tx.Client())
	if err == nil && !enabled {
		return &calendar.Error{Code: "rest_unavailable", Key: "series-disabled"}
	}
	return err
}

// slugOf returns the slug that the occurrence o should get, from the slug of the series and the date. If it is
// taken, a number follows. Nil means that the series has no slug.
func (s *newSeries) slugOf(o recur.Occurrence) *string {
	if s.slug == "" {
		return nil
	}
	return new(calendar.OccurrenceSlug(s.slug, o.Nominal))
}

// storeSeriesOf stores a new series whose first occurrence is row, a stored event. The transaction has stored the
// sent fields of row already. The parameter changed has the names of the fields that the write changed. A sent slug
// becomes that of the series.
func storeSeriesOf(
	ctx context.Context, tx *ent.Tx, e *edit.Editor, made *newSeries, row *ent.Event, links edit.EventLinks, changed []string, sent *string,
) error {
	others, err := edit.LoadTexts(ctx, tx, row)
	if err != nil {
		return err
	}
	t := edit.TemplateOf(row, others, links)
	if sent, err = takeTranslatedSlug(ctx, tx, e, made.id, &t, sent); err != nil {
		return err
	}
	if row.OwnFields = removeStateFields(&t, changed); row.OwnFields != nil {
		if err := tx.Event.Update().Where(event.ID(row.ID)).SetOwnFields(row.OwnFields).Exec(ctx); err != nil {
			return fmt.Errorf("own fields of event %d: %w", row.ID, err)
		}
	}
	made.slug = ""
	switch slug := newSlug(made.id, row, row.Language); {
	case edit.ValueOr("", sent) != "":
		made.slug, err = slug.Take(ctx, tx, calendar.KeptSlug(*sent))
	case row.Status.HasSlug() || row.StatusBeforeTrash.HasSlug():
		made.slug, err = slug.Take(ctx, tx, calendar.Slug(row.Title))
	}
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(made.occurrences), func(o recur.Occurrence) bool {
		return o.Nominal.Equal(made.schedule.Start)
	})
	if err := storeSeries(ctx, tx, e, made, row, &t, rest); err != nil {
		return err
	}
	return lockTemplateLinks(ctx, tx, &t)
}

// lockTemplateLinks locks the terms and the image of t, the shared fields of a series, until the transaction ends.
// The caller locks slugs first. If a term or the image was deleted, it returns store.ErrConflict. The retry then
// finds an event without it.
func lockTemplateLinks(ctx context.Context, tx *ent.Tx, t *ent.Event) error {
	terms := slices.Compact(slices.Sorted(slices.Values(edit.LinksOf(t).Terms())))
	for part := range slices.Chunk(terms, edit.BatchSize) {
		there, err := tx.Term.Query().Where(term.IDIn(part...)).Order(term.ByID()).Modify(edit.ForShare).IDs(ctx)
		if err != nil {
			return fmt.Errorf("terms of a series: %w", err)
		}
		if len(there) < len(part) {
			return fmt.Errorf("%w: a term of the series is deleted", store.ErrConflict)
		}
	}
	if t.ImageID == nil {
		return nil
	}
	there, err := tx.Image.Query().Where(image.ID(*t.ImageID)).Modify(edit.ForShare).IDs(ctx)
	if err != nil {
		return fmt.Errorf("image %d: %w", *t.ImageID, err)
	}
	if len(there) == 0 {
		return fmt.Errorf("%w: the image of the series is deleted", store.ErrConflict)
	}
	return nil
}

// removeStateFields removes the event status and its reasons from t, the shared fields of a new series. They concern
// only the first event, unless changed, the fields that the write sent, includes them. It returns the names of the
// removed fields, which become own fields of that event.
func removeStateFields(t *ent.Event, changed []string) (own []string) {
	if t.EventStatus != calendar.Scheduled && !slices.Contains(changed, "event_status") {
		t.EventStatus, own = calendar.Scheduled, append(own, "event_status")
	}
	if t.EventStatusReason != "" && !slices.Contains(changed, "event_status_reason") {
		t.EventStatusReason, own = "", append(own, "event_status_reason")
	}
	for _, o := range t.Translated() {
		name := "event_status_reason:" + string(o.Language)
		if o.EventStatusReason != "" && !slices.Contains(changed, name) {
			own = append(own, name)
			edit.ChangeText(t, o.Language, func(o *ent.EventTranslation) { o.EventStatusReason = "" })
		}
	}
	return own
}

// storeSeries stores a new series, its phase with the shared fields t, and the occurrences in rest. It charges the
// caller's budget. The caller stores first, the first occurrence.
func storeSeries(
	ctx context.Context, tx *ent.Tx, e *edit.Editor, made *newSeries, first *ent.Event, t *ent.Event, rest []recur.Occurrence,
) error {
	size := occurrenceSize(e, t) // t includes the stored links and translations
	if most := mostOccurrences(size); len(rest)+1 > most {
		return edit.InvalidInput(ScheduleFault(tooManyOccurrences(most)))
	}
	if err := e.SpendBudget(ctx, tx, len(rest)+1, size*(len(rest)+1)); err != nil {
		return err
	}
	t.Slug = made.slug
	stored, err := ent.EncodeTemplate(t)
	if err != nil {
		return fmt.Errorf("template of series %d: %w", made.id, err)
	}
	c := tx.Series.Create().SetID(made.id).SetNillableAuthorID(first.AuthorID).
		SetStatus(first.Status).
		SetPublishedAt(first.PublishedAt).SetDated(first.Dated).SetSlug(made.slug).
		SetHideFromListings(t.HideFromListings).SetProtected(edit.HasPassword(t)).
		SetLanguage(first.Language).SetLanguages(t.Languages).
		SetCreatedAt(e.Now).SetModifiedAt(e.Now).SetVersion(1).SetNillableSourceID(first.SourceID).
		SetNillableGeneratedUntil(made.until)
	if made.until != nil {
		c.SetExtendAt(extendAt(made.id, made.schedule.Zone, *made.until))
	}
	setSeriesSortKeys(e, c.Mutation(), t)
	s, err := c.Save(ctx)
	if err != nil {
		return fmt.Errorf("create series: %w", store.AsConflict(err))
	}
	err = tx.SeriesPhase.Create().SetSeriesID(s.ID).SetPosition(0).
		SetStartWall(made.schedule.Start).SetEndWall(made.schedule.End).SetTimezone(made.schedule.Zone.String()).
		SetAllDay(made.schedule.AllDay).SetRrule(made.schedule.Rule.String()).
		SetRdate(made.schedule.RDate).SetExdate(made.schedule.ExDate).SetTemplate(stored).Exec(ctx)
	if err != nil {
		return fmt.Errorf("phase of series %d: %w", s.ID, store.AsConflict(err))
	}
	e.LogChange(calendar.Series, s.ID, calendar.Created, nil, e.ImpactOfCreated(s.Status, s.PublishedAt))
	return storeOccurrences(ctx, tx, e, s, t, rest)
}
