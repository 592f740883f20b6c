package recur

import "fmt"

// The reasons for which a rule or a schedule is refused. The comments name the members of Error.Data.
const (
	BadRule              = "bad-rule"                // data: part, value
	RulePartNotSupported = "rule-part-not-supported" // data: part
	StartNotInRule       = "start-not-in-rule"       // data: next, a wall time in calendar.Layout, or nil
	NoOccurrences        = "no-occurrences"          // data: none
	TooManyOccurrences   = "too-many-occurrences"    // data: maximum
	EndBeforeStart       = "end-before-start"        // data: none
	NotInSchedule        = "not-in-schedule"         // data: dates, each in calendar.Layout, or a day as YYYY-MM-DD
)

// Error is the reason why New, Parse or another function refused a rule or a schedule.
type Error struct {
	Param  string         // parameter that causes the error: rrule, exdate or end_date
	Reason string         // one of the constants above
	Data   map[string]any // details for the reason; never nil
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s %v", e.Param, e.Reason, e.Data) }

// ruleError returns an Error about the parameter rrule, with a reason and the data for its message.
func ruleError(reason string, data map[string]any) *Error { return &Error{"rrule", reason, data} }

// badPart returns the Error for an invalid part of the rule, such as INTERVAL. value is the one that the client
// sent.
func badPart(part, value string) *Error {
	return ruleError(BadRule, map[string]any{"part": part, "value": value})
}
