package ruletext

import (
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar/recur"
)

// rule describes a simplified rule in words, without COUNT and UNTIL. It returns false unless the rule is an everyday
// one. Such rules have days, weekdays, days of a month, or one weekday of a month. If yearly, they have one date, or
// one weekday of one month.
func (w *writer) rule(r recur.Rule) (phrase, bool) {
	if len(r.ByWeekNo)+len(r.ByYearDay)+len(r.BySetPos) > 0 || r.Skip != recur.SkipOmit || r.WeekStart != time.Monday {
		return phrase{}, false
	}
	switch months := len(r.ByMonth); {
	case r.Freq == recur.FreqDaily && months+len(r.ByDay)+len(r.ByMonthDay) == 0:
		return phrase{text: w.period(r.Freq, r.Interval)}, true
	case r.Freq == recur.FreqWeekly && months == 0:
		return w.weeks(r), true
	case r.Freq == recur.FreqMonthly && months == 0:
		return w.daysOfMonths(r)
	case r.Freq == recur.FreqYearly && months == 1:
		return w.daysOfYears(r)
	}
	return phrase{}, false
}

// periodMessages are the message keys of periods by frequency: for every one, every second one, and larger
// intervals.
var periodMessages = map[recur.Frequency]struct{ one, second, others string }{
	recur.FreqDaily:   {"schedule-every-day", "schedule-second-day", "schedule-days"},
	recur.FreqWeekly:  {second: "schedule-second-week", others: "schedule-weeks"},
	recur.FreqMonthly: {second: "schedule-second-month", others: "schedule-months"},
	recur.FreqYearly:  {"schedule-year", "schedule-second-year", "schedule-years"},
}

// period returns the words for an interval, such as "every 3 weeks".
func (w *writer) period(freq recur.Frequency, interval int) string {
	messages := periodMessages[freq]
	switch interval {
	case 1:
		return w.say(messages.one, nil)
	case 2:
		return w.say(messages.second, nil)
	}
	return w.say(messages.others, arguments{"Count": interval})
}

// addPeriod joins the words for an interval with the words for the days in it: "every 2 months on the 1st".
func (w *writer) addPeriod(freq recur.Frequency, interval int, days phrase) phrase {
	p := phrase{text: w.period(freq, interval), several: days.several}
	p.closed = interval > 1 && slices.Contains(w.commaAfter, freq)
	p.add(days.text)
	p.closed = p.closed || days.closed
	return p
}

// weeks describes a weekly rule with any interval, such as "every second Tuesday".
func (w *writer) weeks(r recur.Rule) phrase {
	switch {
	case r.Interval == 1:
		return w.everyWeekdays(r.ByDay)
	case r.Interval == 2 && len(r.ByDay) == 1:
		return phrase{text: w.weekdays[r.ByDay[0].Day].everySecond}
	}
	days := phrase{text: w.joinPhrases(w.forms(r.ByDay, func(d weekday) string { return d.on })), several: len(r.ByDay) > 1}
	if first, last, ranged := weekdayRange(r.ByDay); ranged && first < last {
		days.text = w.say("schedule-between", arguments{"First": w.weekdays[first].bound, "Last": w.weekdays[last%7].bound})
		days.closed = true
	}
	return w.addPeriod(r.Freq, r.Interval, days)
}

// everyWeekdays describes the days of a rule for every week, such as "every Monday and Friday".
func (w *writer) everyWeekdays(days []recur.Weekday) phrase {
	p := phrase{several: len(days) > 1}
	first, last, ranged := weekdayRange(days)
	switch {
	case len(days) == 7:
		return phrase{text: w.period(recur.FreqDaily, 1)}
	case len(days) == 1:
		p.text = w.weekdays[days[0].Day].every
	case len(days) == 5 && ranged && first == 1:
		p.text, p.closed = w.everyWeekday.text, w.everyWeekday.closed
	case len(days) == 6:
		p.text = w.say("schedule-days-except", arguments{"Days": w.weekdays[(last+1)%7].plural})
		p.closed = true
	case ranged:
		p.text = w.say("schedule-weekdays-between", arguments{
			"First": w.weekdays[first%7].bound, "Last": w.weekdays[last%7].bound,
		})
		p.closed = true
	default:
		p.text = w.joinPhrases(w.forms(days, func(d weekday) string { return d.several }))
	}
	return p
}

// weekdayRange finds a run of three to six consecutive weekdays, such as Friday to Monday. It returns the first and
// last, from 1 for Monday to 7 for Sunday. It reports false if the weekdays are no such run.
func weekdayRange(days []recur.Weekday) (first, last int, ok bool) {
	ends := 0
	for i, d := range days {
		if next := days[(i+1)%len(days)].Day; next != (d.Day+1)%7 {
			first, last = int(next+6)%7+1, int(d.Day+6)%7+1
			ends++
		}
	}
	return first, last, len(days) > 2 && ends == 1
}

// daysOfMonths describes a monthly rule. It returns false if daysOfMonth has no words for the days.
func (w *writer) daysOfMonths(r recur.Rule) (phrase, bool) {
	days, ok := w.daysOfMonth(r)
	if !ok {
		return phrase{}, false
	}
	if r.Interval == 1 {
		days.text = w.say("schedule-of-every-month", arguments{"Days": days.text})
	} else {
		days.text = w.say("schedule-of-month", arguments{"Days": days.text})
		days = w.addPeriod(r.Freq, r.Interval, days)
	}
	w.addLack(&days, r)
	return days, true
}

// daysOfYears describes a yearly rule for one month. It returns false unless the rule has one date, or days that
// daysOfMonth describes.
func (w *writer) daysOfYears(r recur.Rule) (phrase, bool) {
	month := r.ByMonth[0]
	if len(r.ByDay) == 0 {
		n := r.ByMonthDay[0]
		if len(r.ByMonthDay) > 1 || n < 1 || mayLack(r, n) {
			return phrase{}, false
		}
		days := phrase{text: w.datePreposition + w.dateList([]date{{month: month, day: n}}), closed: true}
		return w.addPeriod(r.Freq, r.Interval, days), true
	}
	days, ok := w.daysOfMonth(r)
	if !ok {
		return phrase{}, false
	}
	days.text = w.say("schedule-of-named-month", arguments{"Days": days.text, "Month": w.months[month-1]})
	days = w.addPeriod(r.Freq, r.Interval, days)
	w.addLack(&days, r)
	return days, true
}

// daysOfMonth describes up to listLimit days of a month, or one weekday with ordinals. Only the last day or weekday
// counts from the end. It returns false for other days.
func (w *writer) daysOfMonth(r recur.Rule) (phrase, bool) {
	several := len(r.ByDay)+len(r.ByMonthDay) > 1
	if len(r.ByDay) == 0 {
		if len(r.ByMonthDay) > listLimit || slices.ContainsFunc(r.ByMonthDay, func(n int) bool { return n < -1 }) {
			return phrase{}, false
		}
		return phrase{text: w.dayPreposition + w.monthDays(r.ByMonthDay), several: several}, true
	}
	weekday := r.ByDay[0].Day
	var ordinals []string
	for _, d := range r.ByDay {
		form, ok := w.ordinals[d.Ordinal]
		if !ok || d.Day != weekday || len(r.ByMonthDay) > 0 {
			return phrase{}, false
		}
		ordinals = append(ordinals, form.of(w.weekdays[weekday].feminine))
	}
	return phrase{text: w.dayPreposition + w.nth(ordinals, w.weekdays[weekday].noun), several: several}, true
}

// addLack appends a clause if a month of the rule may lack a day, such as the 31st.
func (w *writer) addLack(p *phrase, r recur.Rule) {
	if slices.ContainsFunc(r.ByDay, func(d recur.Weekday) bool { return d.Ordinal == 5 }) ||
		slices.ContainsFunc(r.ByMonthDay, func(n int) bool { return mayLack(r, n) }) {
		p.addClause(w.say("schedule-if-month-has-day", nil))
		p.several = true
	}
}
