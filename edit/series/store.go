package series

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/seriesphase"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/store"
)

// store writes the planned changes of the series and its occurrences.
func (w *seriesWrite) store(ctx context.Context) error {
	if err := w.storeSeriesSlugs(ctx); err != nil {
		return err
	}
	rows, err := w.compareRows(ctx)
	if err != nil {
		return err
	}
	if err := w.limitStored(ctx, rows); err != nil {
		return err
	}
	if err := w.findImpacts(ctx, rows); err != nil {
		return err
	}
	if err := w.storePublicity(ctx, rows); err != nil {
		return err
	}
	update := w.newUpdate(rows)
	if err := update.StoreFields(ctx); err != nil {
		return fmt.Errorf("occurrences of series %d: %w", w.series.ID, err)
	}
	for _, c := range rows {
		w.LogChange(calendar.Event, c.Row.ID, c.Action, c.Fields, c.Impact)
	}
	if err := w.storeSeriesRow(ctx); err != nil { // storeSeriesRow takes slugs, which come before terms in the order of locks
		return err
	}
	if err := update.StoreLinks(ctx); err != nil {
		return fmt.Errorf("occurrences of series %d: %w", w.series.ID, err)
	}
	return nil
}

// newUpdate returns the bulk writer of the changed occurrences.
func (w *seriesWrite) newUpdate(rows []*occurrenceChange) *bulk.EventUpdate {
	changes := make([]*bulk.EventChange, len(rows))
	for i, c := range rows {
		changes[i] = &c.EventChange
	}
	return bulk.NewEventUpdate(w.Editor, w.tx, changes)
}

// storePublicity records occurrences that the public can no longer see as withdrawn, and removes that record
// from occurrences that are public again.
func (w *seriesWrite) storePublicity(ctx context.Context, rows []*occurrenceChange) error {
	events := make([]*ent.Event, len(rows))
	for i, r := range rows {
		events[i] = r.Row
		r.Sequence = edit.NextSequence(r.Row, w.Now, r.State.Status, r.State.Published, r.Span, r.After.EventStatus, r.protected())
	}
	return w.StorePublicity(ctx, w.tx, events, func(i int) (calendar.Status, time.Time) {
		return rows[i].State.Status, rows[i].State.Published
	})
}

// storeSeriesSlugs moves the slugs of the series to the trash or back. It takes a slug if the new status needs
// one.
func (w *seriesWrite) storeSeriesSlugs(ctx context.Context) error {
	if err := w.dropSlugs(ctx); err != nil {
		return err
	}
	slugs := w.slugs()
	trashed := w.state.Status == calendar.Trash
	changed := false
	if trashed != w.wasTrashed() {
		for i, s := range slugs {
			moved, err := s.Move(ctx, w.tx, trashed)
			if err != nil {
				return err
			}
			slugs[i].Slug, slugs[i].Trashed = moved, trashed
		}
		changed = true
	}
	if slugs[0].Slug == "" && (w.state.Status.HasSlug() || w.state.BeforeTrash.HasSlug()) {
		title := w.phases[len(w.phases)-1].template.Title
		taken, err := slugs[0].Take(ctx, w.tx, calendar.Slug(title))
		if err != nil {
			return err
		}
		slugs[0].Slug, changed = taken, true
	}
	if changed {
		w.setSlugs(slugs)
	}
	return nil
}

// dropSlugs frees the slug of each language in which the series no longer has any text.
func (w *seriesWrite) dropSlugs(ctx context.Context) error {
	was, is := &w.storedPhases[len(w.storedPhases)-1].template, &w.phases[len(w.phases)-1].template
	for _, old := range was.Translated() {
		if old.Slug == "" || is.Languages.Has(old.Language) {
			continue
		}
		slug := old.Slug
		if w.wasTrashed() {
			slug = calendar.TrashedSlug(slug)
		}
		if err := w.slugIn(old.Language, slug, w.wasTrashed()).Drop(ctx, w.tx); err != nil {
			return fmt.Errorf("slug %s: %w", slug, err)
		}
		w.phases = slices.Clone(w.phases)
		for i := range w.phases {
			edit.SetTemplateSlug(&w.phases[i].template, old.Language, "")
		}
	}
	return nil
}

// compareRows returns the occurrences with changes, and loads the links and translations that the comparison
// needs.
func (w *seriesWrite) compareRows(ctx context.Context) ([]*occurrenceChange, error) {
	var translated, linked []int64
	for _, c := range w.occurrences {
		counts := edit.CountsForTerms(c.Row.Status) != edit.CountsForTerms(c.State.Status)
		for _, name := range c.copied {
			switch name {
			case "categories", "tags", "venue", "organizer":
				counts = true
			}
		}
		if counts {
			linked = append(linked, c.Row.ID)
		}
		if slices.ContainsFunc(c.copied, func(name string) bool { return strings.Contains(name, ":") }) {
			translated = append(translated, c.Row.ID)
		}
	}
	links, err := loadEventLinks(ctx, w.tx, linked)
	if err != nil {
		return nil, err
	}
	others := make(map[int64][]calendar.Text)
	for part := range slices.Chunk(translated, edit.BatchSize) {
		found, err := w.tx.EventTranslation.Query().Where(eventtranslation.EventIDIn(part...)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("translations of occurrences: %w", err)
		}
		for _, t := range found {
			others[t.EventID] = append(others[t.EventID], t.Text())
		}
	}
	return slices.DeleteFunc(slices.Clone(w.occurrences), func(c *occurrenceChange) bool {
		l := links[c.Row.ID]
		if l == nil {
			l = &edit.EventLinks{}
		}
		phase := phaseOf(w.phases, c.OriginalStart)
		template := &w.phases[phase].template
		c.Before = edit.TemplateOf(c.Row, others[c.Row.ID], *l)
		c.After = c.Before
		edit.CopyFields(&c.After, template, c.copied)
		if w.sentTemplate != nil {
			edit.CopyFields(&c.After, w.sentTemplate, c.copiedFromRequest)
		}
		c.Changed = edit.ChangedFields(&c.Before, &c.After, c.copied)
		c.Source = fmt.Sprint(phase, c.copiedFromRequest)
		if c.Row.Slug == "" && c.NeedsSlug() {
			c.WantedSlug = calendar.OccurrenceSlug(template.Slug, c.OriginalStart)
		}
		return !c.compare()
	}), nil
}

// compare finds the changes of an occurrence, and reports whether there are any.
func (c *occurrenceChange) compare() bool {
	add := func(changed bool, name string) {
		if changed && !slices.Contains(c.Fields, name) {
			c.Fields = append(c.Fields, name)
		}
	}
	for _, name := range c.Changed {
		field, l := calendar.CutField(name)
		add(true, field)
		if l != "" {
			c.Languages = c.Languages.Without(l)
			if edit.HasText(edit.TextIn(&c.After, l).Text()) {
				c.Languages = c.Languages.With(l)
			}
		}
	}
	row := c.Row
	add(row.Status != c.State.Status || row.StatusBeforeTrash != c.State.BeforeTrash, "status")
	add(!row.PublishedAt.Equal(c.State.Published) || row.Dated != c.State.Dated, "date")
	add(edit.ValueOr(0, row.AuthorID) != edit.ValueOr(0, c.Author), "author")
	add(row.Timezone != c.Span.Zone.String(), "timezone")
	add(row.AllDay != c.Span.AllDay, "all_day")
	add(!row.StartWall.Equal(c.Span.Start) || !row.StartsAt.Equal(c.Span.StartsAt()), "start_date")
	add(!row.EndWall.Equal(c.Span.End) || !row.EndsAt.Equal(c.Span.EndsAt()), "end_date")
	add(!row.OriginalStart.Equal(c.OriginalStart) || row.OffSchedule != c.OffSchedule || len(row.OwnFields) != len(c.OwnFields), "series")
	c.Action = calendar.Updated
	switch trashed := c.State.Status == calendar.Trash; {
	case trashed && !c.wasTrashed():
		c.Action = calendar.Trashed
	case !trashed && c.wasTrashed():
		c.Action = calendar.Restored
	}
	if c.Action != calendar.Updated && row.Slug != "" || row.Slug == "" && c.NeedsSlug() {
		add(true, "slug")
	}
	return len(c.Fields) > 0
}

// loadEventLinks returns the links of the events with the ids, by event id.
func loadEventLinks(ctx context.Context, tx *ent.Tx, ids []int64) (map[int64]*edit.EventLinks, error) {
	links := make(map[int64]*edit.EventLinks, len(ids))
	for _, id := range ids {
		links[id] = &edit.EventLinks{}
	}
	taxonomies := make(map[int64]calendar.Kind)
	for part := range slices.Chunk(ids, edit.BatchSize) {
		venues, err := tx.EventVenue.Query().Where(eventvenue.EventIDIn(part...)).Order(eventvenue.ByPosition()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("venues of occurrences: %w", err)
		}
		for _, v := range venues {
			links[v.EventID].Venues = append(links[v.EventID].Venues, v.VenueID)
		}
		organizers, err := tx.EventOrganizer.Query().Where(eventorganizer.EventIDIn(part...)).
			Order(eventorganizer.ByPosition()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("organizers of occurrences: %w", err)
		}
		for _, o := range organizers {
			links[o.EventID].Organizers = append(links[o.EventID].Organizers, o.OrganizerID)
		}
		terms, err := tx.EventTerm.Query().Where(eventterm.EventIDIn(part...)).Order(eventterm.ByTermID()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("terms of occurrences: %w", err)
		}
		var unknown []int64
		for _, t := range terms {
			if _, ok := taxonomies[t.TermID]; !ok {
				unknown, taxonomies[t.TermID] = append(unknown, t.TermID), ""
			}
		}
		for some := range slices.Chunk(unknown, edit.BatchSize) {
			found, err := tx.Term.Query().Where(term.IDIn(some...)).Select(term.FieldID, term.FieldTaxonomy).All(ctx)
			if err != nil {
				return nil, fmt.Errorf("terms of occurrences: %w", err)
			}
			for _, t := range found {
				taxonomies[t.ID] = t.Taxonomy
			}
		}
		for _, t := range terms {
			l := links[t.EventID]
			if taxonomies[t.TermID] == calendar.Category {
				l.Categories = append(l.Categories, t.TermID)
			} else {
				l.Tags = append(l.Tags, t.TermID)
			}
		}
	}
	return links, nil
}

// storeSeriesRow stores changed phases, a new version of the series if it has changed, and its new occurrences.
func (w *seriesWrite) storeSeriesRow(ctx context.Context) error {
	changed, err := w.storePhases(ctx)
	if err != nil {
		return err
	}
	s := *w.series
	s.AuthorID, s.Status, s.StatusBeforeTrash = w.author, w.state.Status, w.state.BeforeTrash
	s.PublishedAt, s.Dated, s.Slug = w.state.Published, w.state.Dated, edit.ValueOr(w.series.Slug, w.slug)
	last := &w.phases[len(w.phases)-1]
	s.Languages = last.template.Languages
	fields := w.changedSeriesFields(&s)
	if !changed && len(fields) == 0 {
		return nil
	}
	i, err := w.seriesImpact(ctx, fields)
	if err != nil {
		return err
	}
	u := w.tx.Series.Update().Where(series.ID(s.ID)).AddVersion(1).
		Modify(func(b *sql.UpdateBuilder) { w.StampRows(b, i) }).
		SetStatus(s.Status).SetStatusBeforeTrash(s.StatusBeforeTrash).SetPublishedAt(s.PublishedAt).SetDated(s.Dated).
		SetSlug(s.Slug).SetLanguages(s.Languages).
		SetHideFromListings(last.template.HideFromListings).SetProtected(edit.HasPassword(&last.template))
	if s.AuthorID == nil {
		u.ClearAuthorID()
	} else {
		u.SetAuthorID(*s.AuthorID)
	}
	if w.generatedUntil == nil {
		u.ClearGeneratedUntil().ClearExtendAt()
	} else {
		u.SetGeneratedUntil(*w.generatedUntil).SetExtendAt(extendAt(s.ID, last.Zone, *w.generatedUntil))
	}
	setSeriesSortKeys(w.Editor, u.Mutation(), &last.template)
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("series %d: %w", s.ID, store.AsConflict(err))
	}
	action := calendar.Updated
	switch {
	case s.Status == calendar.Trash && !w.wasTrashed():
		action = calendar.Trashed
	case s.Status != calendar.Trash && w.wasTrashed():
		action = calendar.Restored
	}
	w.LogChange(calendar.Series, s.ID, action, fields, i)
	for i := range w.phases {
		var list []recur.Occurrence
		for _, n := range w.newStarts {
			if n.phase == i {
				list = append(list, n.Occurrence)
			}
		}
		if len(list) == 0 {
			continue
		}
		t, err := withoutGone(ctx, w.tx, w.Editor, &w.phases[i].template)
		if err != nil {
			return err
		}
		if err := storeOccurrences(ctx, w.tx, w.Editor, &s, t, list); err != nil {
			return err
		}
	}
	return nil
}

// changedSeriesFields returns the names in the API of the series fields that change.
func (w *seriesWrite) changedSeriesFields(s *ent.Series) []string {
	fields := []string{}
	add := func(changed bool, name string) {
		if changed && !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	old := w.series
	add(edit.ValueOr(0, old.AuthorID) != edit.ValueOr(0, s.AuthorID), "author")
	add(!old.PublishedAt.Equal(s.PublishedAt) || old.Dated != s.Dated, "date")
	add(old.Status != s.Status || old.StatusBeforeTrash != s.StatusBeforeTrash, "status")
	add(old.Slug != s.Slug, "slug")
	was, is := &w.storedPhases[len(w.storedPhases)-1], &w.phases[len(w.phases)-1]
	for _, name := range edit.DifferentFields(&was.template, &is.template) {
		field, _ := calendar.CutField(name)
		add(true, field)
	}
	add(was.Zone.String() != is.Zone.String(), "timezone")
	add(was.AllDay != is.AllDay, "all_day")
	add(!was.Start.Equal(is.Start), "start_date")
	add(!was.End.Equal(is.End), "end_date")
	add(was.Rule.String() != is.Rule.String(), "rrule")
	add(!slices.Equal(was.RDate, is.RDate), "rdate")
	add(!slices.Equal(was.ExDate, is.ExDate), "exdate")
	return fields
}

// storePhases replaces the first changed phase and those after it. It reports whether any phase changes.
func (w *seriesWrite) storePhases(ctx context.Context) (bool, error) {
	rows := make([]*ent.SeriesPhaseCreate, len(w.phases))
	same := len(w.storedPhases)
	for i := range w.phases {
		p := &w.phases[i]
		template, err := ent.EncodeTemplate(&p.template)
		if err != nil {
			return false, fmt.Errorf("template of series %d: %w", w.series.ID, err)
		}
		rows[i] = w.tx.SeriesPhase.Create().SetSeriesID(w.series.ID).SetPosition(i).
			SetStartWall(p.Start).SetEndWall(p.End).SetTimezone(p.Zone.String()).SetAllDay(p.AllDay).
			SetRrule(p.Rule.String()).SetRdate(p.RDate).SetExdate(p.ExDate).SetTemplate(template)
	}
	for i := range min(len(w.storedPhases), len(w.phases)) {
		was, err := w.storedPhases[i].fingerprint()
		if err != nil {
			return false, err
		}
		is, err := w.phases[i].fingerprint()
		if err != nil {
			return false, err
		}
		if was != is {
			same = i
			break
		}
	}
	same = min(same, len(w.phases))
	if same == len(w.storedPhases) && same == len(w.phases) {
		return false, nil
	}
	_, err := w.tx.SeriesPhase.Delete().
		Where(seriesphase.SeriesID(w.series.ID), seriesphase.PositionGTE(same)).Exec(ctx)
	if err == nil && same < len(rows) {
		err = w.tx.SeriesPhase.CreateBulk(rows[same:]...).Exec(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("phases of series %d: %w", w.series.ID, store.AsConflict(err))
	}
	return true, nil
}

// fingerprint returns a text for comparison: equal phases have the same text.
func (p *seriesPhase) fingerprint() (string, error) {
	template, err := ent.EncodeTemplate(&p.template)
	if err != nil {
		return "", fmt.Errorf("template of a phase: %w", err)
	}
	return p.scheduleText() + string(template), nil
}
