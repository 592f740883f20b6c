package series

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventterm"
	"github.com/almanac-cal/almanac/ent/eventtranslation"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/term"
)

// compareRows sets the changes of all occurrences of the series, and returns those occurrences that change. It loads
// the links and translations that it compares.
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

// compare sets the names of the fields that the write changes in an occurrence, its languages, and the logged
// action. It reports whether any field changes.
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
