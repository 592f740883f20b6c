package handlers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// maxDates is the largest number of dates in rdate or exdate.
const maxDates = 366

// sentSchedule is the schedule that the fields of a request describe, with the occurrences found for it.
type sentSchedule struct {
	recur.Schedule
	found []recur.Occurrence
	fault *param.Fault // why the schedule is refused; nil means that it is accepted
}

// recurrence registers the request fields of a schedule, with their checks (contract, section 19.2). The
// argument end is the parameter with the end of the first occurrence.
func (f fields) recurrence(in *eventInput, end *param.Param) {
	rule := f.nullClears(param.Opt(f.p, &in.Rule, "rrule", "Recurrence rule, as RRULE of RFC 5545", "string", f.r.ruleOf(in))).
		Longest(recur.MaxRuleLength)
	f.dates(&in.RDate, in, "rdate", "Starts besides those of the rule")
	except := f.dates(&in.ExDate, in, "exdate", "Starts of the schedule that do not take place")
	for _, one := range []*param.Param{end, rule, except} {
		one.CheckAlways(func(context.Context) *param.Fault {
			if f.hasScheduleFault(in) {
				return nil // the remaining fields are not the schedule that the client meant
			}
			return f.r.scheduleFault(in, one.Name)
		})
	}
	if !f.preview {
		f.r.declareScope(f.p, in)
	}
	if !f.preview && !f.create {
		f.r.declareExceptions(f.p, in)
	}
}

// hasScheduleFault reports whether the request has a schedule field that could not be parsed.
func (f fields) hasScheduleFault(in *eventInput) bool {
	return f.p.Sent("timezone") && in.Zone == nil || f.p.Sent("all_day") && in.AllDay == nil ||
		f.p.Sent("rrule") && in.Rule == nil || f.p.Sent("rdate") && in.RDate == nil || f.p.Sent("exdate") && in.ExDate == nil
}

// ruleOf returns a parser for a recurrence rule. "" and null mean no rule. An UNTIL with Z is an instant, so the
// parser needs the zone of the event.
func (r *writing) ruleOf(in *eventInput) func(raw any) (string, *param.Fault) {
	return func(raw any) (string, *param.Fault) {
		if raw == nil {
			return "", nil
		}
		text, fault := param.String(raw)
		switch {
		case fault != nil || text == "":
			return "", fault
		case utf8.RuneCountInString(text) > recur.MaxRuleLength:
			return "", param.TooLong("rrule", recur.MaxRuleLength)
		}
		zone, err := r.dateZone(in, nil)
		if err != nil {
			return "", &param.Fault{Err: err}
		}
		if _, err := recur.Parse(text, zone); err != nil {
			return "", scheduleError(err)
		}
		return text, nil
	}
}

// scheduleError converts an error about a schedule into a parameter error. Any other error is internal and
// becomes the Err of the result.
func scheduleError(err error) *param.Fault {
	if fault := series.ScheduleFault(err); fault != nil {
		return fault
	}
	return &param.Fault{Err: err}
}

// dates registers a request field with a list of start dates. "" and null mean an empty list.
func (f fields) dates(dst **[]recur.Date, in *eventInput, name, description string) *param.Param {
	return f.nullClears(param.Opt(f.p, dst, name, description, "array", func(raw any) ([]recur.Date, *param.Fault) {
		if raw == nil {
			return []recur.Date{}, nil
		}
		items, fault := param.List(raw)
		if fault != nil {
			return nil, fault
		}
		zone, err := f.r.dateZone(in, nil)
		if err != nil {
			return nil, &param.Fault{Err: err}
		}
		parse := read.ParseDate(f.p.Now, zone)
		dates := make([]recur.Date, len(items))
		for i, item := range items {
			d, fault := parse(item)
			if fault != nil {
				return nil, fault
			}
			dates[i] = recur.Date{Wall: d.Nominal(zone), DayOnly: d.DayOnly()}
		}
		return dates, nil
	}).ListOf("string").Most(maxDates))
}

// scheduleFault returns the error of the named parameter that the schedule fields cause together, or nil. It checks
// them only if start and end are both sent. Expanding a schedule is expensive, so it is done only for callers who may
// write the event (decision 024). Package edit checks the fields together with stored ones.
func (r *writing) scheduleFault(in *eventInput, name string) *param.Fault {
	if in.Start == nil || in.End == nil || !in.Recurs() {
		return nil
	}
	e, err := r.eventOfUpdate(in)
	switch {
	case err != nil:
		return &param.Fault{Err: err}
	case in.target == (target{}) && !auth.May(r.Caller, auth.Create, auth.Record{Kind: calendar.Event}):
		return nil
	case in.target != (target{}) && e == nil:
		return nil
	}
	if inSeries, err := r.inReadableSeries(e); inSeries || err != nil {
		return read.ReferenceFault(nil, err)
	}
	s, err := r.expandSchedule(in)
	if err != nil {
		return &param.Fault{Err: err}
	}
	if s.fault == nil || s.fault.Param != name {
		return nil
	}
	return s.fault
}

// expandSchedule returns the schedule of an input, with the occurrences that a write would create. If the
// schedule is refused, the result has the reason. Further calls return the first result.
func (r *writing) expandSchedule(in *eventInput) (*sentSchedule, error) {
	if in.expanded != nil {
		return in.expanded, nil
	}
	in.expanded = &sentSchedule{}
	if err := r.sanitise(); err != nil { // long texts allow fewer occurrences
		return nil, err
	}
	s, err := series.NewSchedule(r.Site, in.row, &in.EventInput)
	if err == nil {
		in.expanded.Schedule = s
		in.expanded.found, err = series.OccurrencesOf(r.Editor(), s, in.row, &in.EventInput)
	}
	if err != nil {
		var invalid param.Invalid // the faults of the date parameters report this error
		if in.expanded.fault = series.ScheduleFault(err); in.expanded.fault == nil && !errors.As(err, &invalid) {
			return nil, err
		}
	}
	return in.expanded, nil
}

// declareScope registers the parameter scope, with its check. It chooses the occurrences of a series that a
// write changes.
func (r *writing) declareScope(p *param.Set, in *eventInput) {
	scopes := edit.Scopes
	if in.series {
		scopes = []edit.Scope{edit.AllOccurrences}
	}
	one := declareChoice(p, &in.Scope, "scope", "Occurrences of the series that the request changes", scopes)
	one.Check(func(context.Context) *param.Fault {
		if in.Scope == edit.ThisOccurrence || in.series {
			return nil
		}
		e, err := r.eventOfUpdate(in)
		if err != nil {
			return &param.Fault{Err: err}
		}
		inSeries, err := r.inReadableSeries(e)
		switch {
		case err != nil:
			return &param.Fault{Err: err}
		case !inSeries && (e != nil || in.target == (target{})):
			return &param.Fault{Reason: "not-recurring", Key: "not-recurring", Data: map[string]any{}}
		}
		return nil
	})
}

// exceptionsChoice is the value of the parameter exceptions: "keep" or "drop". It decides whether occurrences
// keep the fields that were edited on them alone.
type exceptionsChoice string

// declareExceptions registers the parameter exceptions. It decides whether occurrences keep their own fields
// when a write changes the series.
func (r *writing) declareExceptions(p *param.Set, in *eventInput) {
	declareChoice(p, &in.exceptions, "exceptions", "Whether occurrences keep their own fields", []exceptionsChoice{"keep", "drop"}).
		Check(func(context.Context) *param.Fault {
			in.DropExceptions = in.exceptions == "drop"
			return nil
		})
}

// declareChoice registers a parameter whose value must be one of words. Null is not accepted, since the
// parameter is not a field of a record.
func declareChoice[W ~string](p *param.Set, dst *W, name, description string, words []W) *param.Param {
	one := param.Var(p, dst, name, description, "string", func(raw any) (W, *param.Fault) {
		text, fault := param.String(raw)
		if fault == nil && !slices.Contains(words, W(text)) {
			fault = param.NotInEnum(name, wordsOf(words))
		}
		return W(text), fault
	})
	one.Enum = wordsOf(words)
	return one
}

func wordsOf[W ~string](words []W) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// inReadableSeries reports whether an event belongs to a series that the caller may read. Otherwise the reply
// shows the event as one outside a series. The event may be nil.
func (r *writing) inReadableSeries(e *ent.Event) (bool, error) {
	if e == nil || e.SeriesID == nil {
		return false, nil
	}
	s, err := r.DB.Series.Query().Where(entseries.ID(*e.SeriesID)).
		Select(entseries.FieldAuthorID, entseries.FieldStatus, entseries.FieldPublishedAt).Only(r.Ctx)
	if ent.IsNotFound(err) {
		return false, nil // the series was removed in the meantime
	}
	if err != nil {
		return false, fmt.Errorf("series %d: %w", *e.SeriesID, err)
	}
	return edit.MayReadSeries(r.Caller, s, r.Now), nil
}
