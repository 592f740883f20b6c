package series

import (
	"errors"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
)

// ScheduleFault converts a *recur.Error to the parameter error of the response. It returns nil for any other error.
// The arguments of the message are the data of the error, with names in upper camel case. Lists of dates are joined.
// A rule without any start has the message no-start-in-rule.
func ScheduleFault(err error) *param.Fault {
	var refused *recur.Error
	if !errors.As(err, &refused) {
		return nil
	}
	key := refused.Reason
	args := make(map[string]any, len(refused.Data))
	for name, value := range refused.Data {
		switch v := value.(type) {
		case nil: // the rule has no next start
			key = "no-start-in-rule"
			continue
		case []string:
			value = strings.Join(v, ", ")
		}
		args[strings.ToUpper(name[:1])+name[1:]] = value
	}
	return &param.Fault{Param: refused.Param, Reason: refused.Reason, Key: key, Args: args, Data: refused.Data}
}

// NewSchedule returns the schedule that an event gets by a write of the input. The row is the stored event, or nil
// for a new one. A new event is in the zone of the site unless the input has a zone. The error is a *recur.Error, or
// param.Invalid for impossible dates.
func NewSchedule(site calendar.Site, row *ent.Event, in *edit.EventInput) (recur.Schedule, error) {
	span := calendar.Span{Zone: site.Zone}
	if row != nil {
		var err error
		if span, err = edit.StoredSpan(row); err != nil {
			return recur.Schedule{}, err
		}
	}
	span = edit.NominalSpan(span, in)
	if err := edit.InvalidInput(edit.CheckSpan(span, in)); err != nil {
		return recur.Schedule{}, err
	}
	var rule recur.Rule
	if text := edit.ValueOr("", in.Rule); text != "" {
		var err error
		if rule, err = recur.Parse(text, span.Zone); err != nil {
			return recur.Schedule{}, err
		}
	}
	return recur.New(span, rule, edit.ValueOr(nil, in.RDate), edit.ValueOr(nil, in.ExDate))
}

// ruleFault returns the parameter error of an invalid recurrence rule in the input. It returns nil if the rule is
// valid or absent. The zone is that of the event.
func ruleFault(zone calendar.Zone, in *edit.EventInput) *param.Fault {
	if text := edit.ValueOr("", in.Rule); text != "" {
		if _, err := recur.Parse(text, zone); err != nil {
			return ScheduleFault(err)
		}
	}
	return nil
}

// horizonMonths is the number of months after a write for which occurrences of a long schedule are stored.
const horizonMonths = 25

// horizon returns the nominal start up to which a write at now stores occurrences of a long schedule.
func horizon(zone calendar.Zone, now time.Time) calendar.Wall {
	return zone.Wall(now).AddDate(0, horizonMonths, 0)
}

// generatedUntil returns the nominal start up to which a write at now stores occurrences of a schedule. It is
// the horizon, or the start of the schedule if that is later. Nil means that all occurrences are stored.
func generatedUntil(s recur.Schedule, now time.Time) *calendar.Wall {
	until := horizon(s.Zone, now)
	if until.Before(s.Start) {
		until = s.Start
	}
	if !s.IsLong() || s.Ends() && !s.HasAfter(until) {
		return nil
	}
	return &until
}

// extendAt returns the time at which a long series gets its next occurrences, if they are stored up to until. Until
// then at least 24 months stay stored, which the default list of events shows. Series with different ids are spread
// over a week.
func extendAt(id int64, zone calendar.Zone, until calendar.Wall) time.Time {
	return zone.Instant(until.AddDate(0, -24, -15-int(id%7)))
}
