package series

import (
	"context"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
)

// isProtectedAfter reports whether the occurrence has a password after the write.
func (c *occurrenceChange) isProtectedAfter() bool { return edit.HasPassword(&c.After) }

// findImpacts sets the Impact of each given occurrence, which says whether the public sees its change.
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
	isVenue, err := w.PublicIDs(ctx, w.tx, calendar.Venue, venues)
	if err != nil {
		return err
	}
	isOrganizer, err := w.PublicIDs(ctx, w.tx, calendar.Organizer, organizers)
	if err != nil {
		return err
	}
	ofPublicSeries := edit.IsPublic(w.series.Status, w.series.PublishedAt, w.Now) || edit.IsPublic(w.state.Status, w.state.Published, w.Now)
	for _, r := range rows {
		c := &edit.PublicChange{
			Before: storedState(r.Row), After: r.State, Fields: r.Fields, Protected: edit.HasPassword(r.Row) && r.isProtectedAfter(),
			Languages: r.Languages != r.Row.Languages,
		}
		if edit.SameToPublic(r.Before.VenueIDs(), r.After.VenueIDs(), isVenue) {
			c.Unseen = append(c.Unseen, "venue")
		}
		if edit.SameToPublic(r.Before.OrganizerIDs(), r.After.OrganizerIDs(), isOrganizer) {
			c.Unseen = append(c.Unseen, "organizer")
		}
		own := func(names []string) []string { return calendar.PublicOwnFields(names, c.Protected) }
		if !ofPublicSeries || r.Row.OriginalStart.Equal(r.OriginalStart) && slices.Equal(own(r.Row.OwnFields), own(r.OwnFields)) {
			c.Unseen = append(c.Unseen, "series")
		}
		r.Impact = w.ImpactOf(c)
	}
	return nil
}

// seriesImpact returns the Impact of changes to the series itself, which says whether the public sees them. The
// parameter fields has the names of its changed fields.
func (w *seriesWrite) seriesImpact(ctx context.Context, fields []string) (edit.Impact, error) {
	last, first := &w.phases[len(w.phases)-1].template, &w.storedPhases[len(w.storedPhases)-1].template
	c := &edit.PublicChange{
		Before: edit.PublicationState{Status: w.series.Status, Published: w.series.PublishedAt}, After: w.state, Protected: edit.HasPassword(first) && edit.HasPassword(last),
		Fields: slices.Clone(fields), Languages: w.series.Languages != last.Languages,
	}
	var err error
	c.Unseen, err = w.UnseenLinks(ctx, w.tx, [2][]int64{first.VenueIDs(), first.OrganizerIDs()}, [2][]int64{last.VenueIDs(), last.OrganizerIDs()})
	if err != nil {
		return edit.Impact{}, err
	}
	// Representations show the schedules of all phases, and until when occurrences exist.
	schedules := func(phases []seriesPhase) []seriesPhase {
		out := slices.Clone(phases)
		for i := range out {
			out[i].AllDay = out[i].AllDay && !c.Protected
		}
		return out
	}
	until := func(at *calendar.Wall) calendar.Wall { return edit.ValueOr(calendar.Wall{}, at) }
	if !sameSchedules(schedules(w.storedPhases), schedules(w.phases)) || !until(w.series.GeneratedUntil).Equal(until(w.generatedUntil)) {
		c.Fields = append(c.Fields, "phases")
	}
	return w.ImpactOf(c), nil
}
