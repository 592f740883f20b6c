package recur

import "fmt"

// The reasons for which a rule or a schedule is refused.
const (
	BadRule              = "bad-rule"                // data: part, value
	RulePartNotSupported = "rule-part-not-supported" // data: part
	StartNotInRule       = "start-not-in-rule"       // data: next, a wall time in calendar.Layout, or nil
	NoOccurrences        = "no-occurrences"          // data: none
	TooManyOccurrences   = "too-many-occurrences"    // data: maximum
	EndBeforeStart       = "end-before-start"        // data: none
	NotInSchedule        = "not-in-schedule"         // data: dates, each in calendar.Layout, or a day as YYYY-MM-DD
)

// Error is a refusal of a rule or a schedule.
type Error struct {
	Param  string         // the parameter to blame: rrule, exdate or end_date
	Reason string         // one of the reasons above
	Data   map[string]any // never nil
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s %v", e.Param, e.Reason, e.Data) }

// ruleError blames the rule.
func ruleError(reason string, data map[string]any) *Error { return &Error{"rrule", reason, data} }

// badPart blames a part of the rule, with its value as the client wrote it.
func badPart(part, value string) *Error {
	return ruleError(BadRule, map[string]any{"part": part, "value": value})
}
