package series

import (
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// DifferentOwnFields returns those of row.OwnFields, fields written for this occurrence alone, whose values differ
// from the series. A value can be equal, because a client set the same one. An own slug always differs. The caller
// loads the links, terms and translations of the row, and the phases of the series.
func DifferentOwnFields(row *ent.Event, s *ent.Series) ([]string, error) {
	phase := edit.PhaseAt(s.Edges.Phases, *row.OriginalStart)
	schedule, err := edit.ScheduleOf(phase)
	if err != nil {
		return nil, err
	}
	span, err := edit.StoredSpan(row)
	if err != nil {
		return nil, err
	}
	template, err := ent.DecodeTemplate(phase.Template)
	if err != nil {
		return nil, fmt.Errorf("template of series %d: %w", s.ID, err)
	}
	own := edit.TemplateOf(row, row.Translated(), edit.LinksOf(row))
	different := append(edit.DifferentFields(&own, template), "slug")
	at, ok := schedule.Occurrence(*row.OriginalStart)
	for name, same := range map[string]bool{
		"author":     edit.ValueOr(0, row.AuthorID) == edit.ValueOr(0, s.AuthorID),
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
