package edit

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
)

// DifferentOwnFields returns the own fields of an occurrence whose values differ from those of its series. The
// slug is always different. The caller loads the links, terms and translations of the row, and the phases of
// the series.
func DifferentOwnFields(row *ent.Event, s *ent.Series) ([]string, error) {
	phase := phaseAt(s.Edges.Phases, *row.OriginalStart)
	schedule, err := ScheduleOf(phase)
	if err != nil {
		return nil, err
	}
	span, err := storedSpan(row)
	if err != nil {
		return nil, err
	}
	template, err := ent.DecodeTemplate(phase.Template)
	if err != nil {
		return nil, fmt.Errorf("template of series %d: %w", s.ID, err)
	}
	own := templateOf(row, row.Translated(), linksOf(row))
	different := append(differentFields(&own, template), "slug")
	at, ok := schedule.Occurrence(*row.OriginalStart)
	for name, same := range map[string]bool{
		"author":     valueOr(0, row.AuthorID) == valueOr(0, s.AuthorID),
		"date":       row.PublishedAt.Equal(s.PublishedAt),
		"status":     row.Status == s.Status,
		"timezone":   ok && span.Zone.String() == at.Zone.String(),
		"all_day":    ok && span.AllDay == at.AllDay,
		"start_date": ok && span.Start.Equal(at.Start),
		"end_date":   ok && span.End.Equal(at.End),
	} {
		if !same {
			different = append(different, name)
		}
	}
	return slices.DeleteFunc(slices.Clone(row.OwnFields), func(name string) bool {
		return !slices.Contains(different, name)
	}), nil
}

// SetOwnFields replaces the names of the own fields of an occurrence. That is not a change of the occurrence itself, so
// its date stays.
func (e *Editor) SetOwnFields(ctx context.Context, tx *ent.Tx, id int64, own []string) error {
	row, err := tx.Event.Get(ctx, id)
	if err != nil {
		return fmt.Errorf("event %d: %w", id, err)
	}
	standing := publicationState{status: row.Status, published: row.PublishedAt}
	c := &publicChange{before: standing, after: standing, fields: []string{"series"}}
	if same, err := e.sameSeriesMember(ctx, tx, row, own, HasPassword(row)); err != nil {
		return err
	} else if same {
		c.unseen = c.fields
	}
	i := e.impactOf(c)
	u := tx.Event.Update().Where(event.ID(id)).AddVersion(1)
	if i.hidden {
		u.AddHiddenChanges(1)
	}
	if len(own) > 0 {
		u.SetOwnFields(own)
	} else {
		u.ClearOwnFields()
	}
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("own fields of event %d: %w", id, err)
	}
	e.log(calendar.Event, id, calendar.Updated, c.fields, i)
	return nil
}

// sameSeriesMember reports whether the public sees no difference between the own fields of an occurrence and own.
func (e *Editor) sameSeriesMember(ctx context.Context, tx *ent.Tx, row *ent.Event, own []string, protected bool) (bool, error) {
	if row.SeriesID == nil ||
		slices.Equal(calendar.PublicOwnFields(row.OwnFields, protected), calendar.PublicOwnFields(own, protected)) {
		return true, nil
	}
	public, err := e.publicIDs(ctx, tx, calendar.Series, []int64{*row.SeriesID})
	return !public[*row.SeriesID], err
}
