package series

import (
	"context"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// compareAddressed compares the input with the stored event that the request names. It returns an EventWrite with the
// comparison, the event and its links. For a request to the series, the event has the shared fields of the last
// phase.
func (w *seriesWrite) compareAddressed(ctx context.Context, in *edit.EventInput) (*edit.EventWrite, *ent.Event, edit.EventLinks, error) {
	if w.addressed == nil {
		last := &w.storedPhases[len(w.storedPhases)-1]
		row := EventOf(w.series, last.Schedule, &last.template)
		c, err := w.ChangeSeries(w.tx, w.series, row, in)
		if err != nil {
			return nil, nil, edit.EventLinks{}, err
		}
		c.SetTexts(row.Translated())
		c.Span = edit.NominalSpan(w.addressedPhase().Span, in) // the dates of a series are nominal
		return c, row, edit.LinksOf(row), nil
	}
	row := w.addressed.Row
	c, err := w.ChangeSeries(w.tx, w.series, row, in)
	if err != nil {
		return nil, nil, edit.EventLinks{}, err
	}
	if err := c.LoadTexts(ctx); err != nil {
		return nil, nil, edit.EventLinks{}, err
	}
	loaded, err := loadEventLinks(ctx, w.tx, []int64{row.ID})
	if err != nil {
		return nil, nil, edit.EventLinks{}, err
	}
	return c, row, *loaded[row.ID], nil
}

// sentSeriesFields has the sent fields that change the event of the request. The write copies only these to other
// occurrences.
type sentSeriesFields struct {
	template    ent.Event // template of the addressed event with the sent fields
	fields      []string  // names of sent template fields, with languages
	dates       []string  // sent names of timezone, all_day, start_date, end_date
	stateFields []string  // sent names of author, date, status
	slug        *string
	schedule    scheduleChange
}

// compare returns the sent fields whose values differ from the event in the path. The write c and its links are
// results of compareAddressed.
func (w *seriesWrite) compare(c *edit.EventWrite, links edit.EventLinks, in *edit.EventInput) (*sentSeriesFields, error) {
	found, err := c.Compare(links)
	if err != nil {
		return nil, err
	}
	sent := &sentSeriesFields{template: found.Template, slug: found.Slug}
	for _, name := range found.Changed {
		field, _ := calendar.CutField(name)
		switch {
		case field == "date" && in.Published == nil, field == "slug":
		case field == "status" && in.Status == nil:
		case slices.Contains([]string{"author", "date", "status"}, field):
			sent.stateFields = append(sent.stateFields, name)
		case slices.Contains(dateFields, field):
			sent.dates = append(sent.dates, name)
		default:
			sent.fields = append(sent.fields, name)
		}
	}
	return sent, w.compareSchedule(sent, in)
}

// compareSchedule sets the rule and dates of sent.schedule that the input sends and that differ from the stored
// ones. It compares them with the schedule of the addressedPhase. It always sets span and whole.
func (w *seriesWrite) compareSchedule(sent *sentSeriesFields, in *edit.EventInput) error {
	phase := w.addressedPhase()
	c := &sent.schedule
	c.whole = w.scope == edit.AllOccurrences
	base := phase.Span
	if w.addressed != nil {
		base = w.addressed.Span
	}
	c.span = func(s calendar.Span) calendar.Span { return movedPhase(s, base, in) }
	if in.Rule != nil {
		var rule recur.Rule
		if *in.Rule != "" {
			var err error
			if rule, err = recur.Parse(*in.Rule, edit.ValueOr(phase.Zone, in.Zone)); err != nil {
				return edit.InvalidInput(ScheduleFault(err))
			}
		}
		if rule.String() != phase.Rule.String() {
			c.rule = &rule
		}
	}
	if in.RDate != nil {
		same, err := recur.New(phase.Span, phase.Rule, *in.RDate, nil)
		if err != nil {
			return err
		}
		if !slices.Equal(same.RDate, phase.RDate) {
			c.rdate = in.RDate
		}
	}
	if in.ExDate != nil {
		same, err := phase.Change(phase.Span, nil, nil, in.ExDate)
		if err != nil || !slices.Equal(same.ExDate, phase.ExDate) {
			c.exdate = in.ExDate
		}
	}
	return nil
}

// dateFields are the API names of the fields with the time of an event.
var dateFields = []string{"timezone", "all_day", "start_date", "end_date"}

// addressedPhase returns the stored phase, a part of the series with one schedule, of the occurrence in the path.
// For a request to the series it returns the last phase.
func (w *seriesWrite) addressedPhase() *seriesPhase {
	if w.addressed == nil {
		return &w.storedPhases[len(w.storedPhases)-1]
	}
	return &w.storedPhases[phaseOf(w.storedPhases, w.addressed.OriginalStart)]
}
