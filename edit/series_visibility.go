package edit

import (
	"context"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// protected reports whether the occurrence has a password after the write.
func (r *occurrenceChange) protected() bool { return HasPassword(&r.After) }

// findImpacts decides for each changed occurrence whether the public sees the change.
func (w *seriesWrite) findImpacts(ctx context.Context, rows []*occurrenceChange) error {
	var venues, organizers []int64
	for _, r := range rows {
		if slices.Contains(r.Changed, "venue") {
			venues = append(append(venues, r.Before.VenueIDs()...), r.After.VenueIDs()...)
		}
		if slices.Contains(r.Changed, "organizer") {
			organizers = append(append(organizers, r.Before.OrganizerIDs()...), r.After.OrganizerIDs()...)
		}
	}
	isVenue, err := w.publicIDs(ctx, w.tx, calendar.Venue, venues)
	if err != nil {
		return err
	}
	isOrganizer, err := w.publicIDs(ctx, w.tx, calendar.Organizer, organizers)
	if err != nil {
		return err
	}
	ofPublicSeries := isPublic(w.series.Status, w.series.PublishedAt, w.Now) || isPublic(w.state.status, w.state.published, w.Now)
	for _, r := range rows {
		c := &publicChange{
			before: storedState(r.Row), after: r.State, fields: r.Fields, protected: HasPassword(r.Row) && r.protected(),
			languages: r.Languages != r.Row.Languages,
		}
		if sameShown(r.Before.VenueIDs(), r.After.VenueIDs(), isVenue) {
			c.unseen = append(c.unseen, "venue")
		}
		if sameShown(r.Before.OrganizerIDs(), r.After.OrganizerIDs(), isOrganizer) {
			c.unseen = append(c.unseen, "organizer")
		}
		own := func(names []string) []string { return calendar.PublicOwnFields(names, c.protected) }
		if !ofPublicSeries || r.Row.OriginalStart.Equal(r.OriginalStart) && slices.Equal(own(r.Row.OwnFields), own(r.OwnFields)) {
			c.unseen = append(c.unseen, "series")
		}
		r.Impact = w.impactOf(c)
	}
	return nil
}

// seriesImpact returns the impact of the write on the series itself. fields are the names of its changed fields.
func (w *seriesWrite) seriesImpact(ctx context.Context, fields []string) (impact, error) {
	last, first := &w.phases[len(w.phases)-1].template, &w.storedPhases[len(w.storedPhases)-1].template
	c := &publicChange{
		before: publicationState{status: w.series.Status, published: w.series.PublishedAt}, after: w.state, protected: HasPassword(first) && HasPassword(last),
		fields: slices.Clone(fields), languages: w.series.Languages != last.Languages,
	}
	var err error
	c.unseen, err = w.unseenLinks(ctx, w.tx, [2][]int64{first.VenueIDs(), first.OrganizerIDs()}, [2][]int64{last.VenueIDs(), last.OrganizerIDs()})
	if err != nil {
		return impact{}, err
	}
	// Representations show the schedules of all phases, and until when occurrences exist.
	schedules := func(phases []seriesPhase) []seriesPhase {
		out := slices.Clone(phases)
		for i := range out {
			out[i].AllDay = out[i].AllDay && !c.protected
		}
		return out
	}
	until := func(at *calendar.Wall) calendar.Wall { return valueOr(calendar.Wall{}, at) }
	if !sameSchedules(schedules(w.storedPhases), schedules(w.phases)) || !until(w.series.GeneratedUntil).Equal(until(w.generatedUntil)) {
		c.fields = append(c.fields, "phases")
	}
	return w.impactOf(c), nil
}
