package ruletext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar/recur"
)

// rule describes a simplified rule in words, without COUNT and UNTIL. It returns false if no wording fits the
// rule.
func (w *writer) rule(r recur.Rule) (phrase, bool) {
	switch {
	case r.Freq == recur.FreqDaily && r.Interval == 1:
		return w.addMonths(phrase{text: w.say("schedule-every-day", nil), ofMonth: true}, r.ByMonth), true
	case r.Freq == recur.FreqDaily:
		return w.addLimits(phrase{text: w.period(r.Freq, r.Interval)}, r), true
	case r.Freq == recur.FreqWeekly && len(r.BySetPos) > 0:
		return phrase{}, false
	case r.Freq == recur.FreqWeekly && r.Interval == 1:
		return w.addMonths(w.everyWeekdays(r.ByDay), r.ByMonth), true
	case r.Freq == recur.FreqWeekly:
		return w.weeks(r), true
	case isDateBlock(r):
		d := dayPhrase{phrase: phrase{closed: true}}
		first, last := strconv.Itoa(r.ByMonthDay[0]), strconv.Itoa(r.ByMonthDay[6])
		d.text = w.weekdays[r.ByDay[0].Day].theOne + " " + w.dateBounds(first, last) + w.dateSeparator + w.months[r.ByMonth[0]-1]
		return w.addPeriod(recur.FreqYearly, r.Interval, d), true
	case r.Freq == recur.FreqMonthly && r.Interval == 1 && len(r.ByMonthDay) > 0 && len(r.ByDay) > 0 &&
		len(r.BySetPos) == 0 && isPlain(r.ByDay):
		return w.weekdaysOnMonthDays(r), true
	}
	days, ok := w.days(r)
	switch {
	case !ok:
		return phrase{}, false
	case r.Freq == recur.FreqMonthly && r.Interval > 1:
		days.text = w.say("schedule-of-month", arguments{"Days": days.text}) + days.fromEnd
		days.phrase = w.addLimits(w.addPeriod(r.Freq, r.Interval, days), recur.Rule{ByMonth: r.ByMonth})
	default:
		days = w.addYear(r, days)
	}
	if days.lack != "" {
		days.limit(days.lack)
	}
	return days.phrase, true
}

// periodMessages are the message keys of periods by frequency: for every one, every second one, and larger
// intervals.
var periodMessages = map[recur.Frequency]struct{ one, second, others string }{
	recur.FreqDaily:   {second: "schedule-second-day", others: "schedule-days"},
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
func (w *writer) addPeriod(freq recur.Frequency, interval int, d dayPhrase) phrase {
	p := phrase{text: w.period(freq, interval)}
	p.closed = d.each || interval > 1 && slices.Contains(w.commaAfter, freq)
	p.add(d.text)
	p.closed, p.several = p.closed || d.closed, d.several
	return p
}

// isDateBlock reports whether a rule has one weekday and seven successive dates of one month, which gives one
// day a year.
func isDateBlock(r recur.Rule) bool {
	yearly := r.Freq == recur.FreqYearly || r.Freq == recur.FreqMonthly && r.Interval == 1
	if !yearly || len(r.ByMonth) != 1 || len(r.ByDay) != 1 || len(r.BySetPos) > 0 || len(r.ByMonthDay) != 7 {
		return false
	}
	inEachYear := len(missingMonthDays(r)) == 0
	return inEachYear && isPlain(r.ByDay) && isLongRun(r.ByMonthDay)
}

// weekdaysOnMonthDays describes a monthly rule with weekdays and days of the month.
func (w *writer) weekdaysOnMonthDays(r recur.Rule) phrase {
	p := w.addMonths(w.everyWeekdays(r.ByDay), r.ByMonth)
	var days string
	switch {
	case len(r.ByDay) == 1 && len(r.ByMonthDay) == 1 && r.ByMonthDay[0] > 0:
		days = w.say("schedule-falls-on", arguments{"Day": w.monthDay(r.ByMonthDay[0])})
	case len(r.ByDay) == 1 && isLongRun(r.ByMonthDay):
		days = w.say("schedule-of-month", arguments{
			"Days": w.monthDayBounds(r.ByMonthDay[0], r.ByMonthDay[len(r.ByMonthDay)-1]),
		})
	default:
		return w.addLimits(p, recur.Rule{ByMonthDay: r.ByMonthDay})
	}
	p.text += " " + w.weekdays[r.ByDay[0].Day].falls + " " + days
	p.several = true
	return p
}

// addYear adds months and years to the days of a yearly rule, or of a monthly rule with interval 1.
func (w *writer) addYear(r recur.Rule, days dayPhrase) dayPhrase {
	yearly := r.Freq == recur.FreqYearly
	first, last, ranged := cyclicRun(r.ByMonth, 12)
	days.several = days.several || len(r.ByMonth) > 1 || yearly && len(r.ByMonth)+len(r.ByDay) == 0
	switch dates, ok := w.yearDays(r, days); {
	case ok:
		days, yearly = dates, !dates.ofLeapYears
	case yearly && len(r.ByMonth) == 0 && len(r.ByDay) > 0:
		if yearly = r.Interval > 1; yearly {
			days.text = w.say("schedule-of-year", arguments{"Days": days.text}) + days.fromEnd
		} else {
			days.text = w.say("schedule-of-every-year", arguments{"Days": days.text}) + days.fromEnd
		}
	case len(r.ByMonth) == 0, len(r.ByMonth) == 12:
		days.text = w.say("schedule-of-every-month", arguments{"Days": days.text}) + days.fromEnd
		days.each = true
	case ranged:
		everyMonth := w.say("schedule-of-every-month", arguments{"Days": days.text}) + days.fromEnd
		args := arguments{"Days": everyMonth, "First": w.months[first-1], "Last": w.months[last-1]}
		days.text = w.say("schedule-of-every-month-between", args)
		days.closed, days.each = true, true
	default:
		key := "schedule-of-months"
		if len(r.ByDay) > 0 && isPlain(r.ByDay) && len(r.BySetPos) == 0 {
			key = "schedule-in-months"
		}
		months := []string{w.months[r.ByMonth[0]-1]}
		for _, m := range r.ByMonth[1:] {
			months = append(months, w.monthArticle+w.months[m-1])
		}
		days.text = w.say(key, arguments{"Days": days.text, "Months": w.join(months)}) + days.fromEnd
		yearly = true
	}
	if yearly {
		days.phrase = w.addPeriod(recur.FreqYearly, r.Interval, days)
	}
	return days
}

// dayPhrase is the text for days of a month or a year.
type dayPhrase struct {
	phrase
	lack        string // clause about months or years that lack a day; "" means none
	fromEnd     string // words that follow the month or the year
	each        bool   // the rule has every day of this kind, or has it in every month
	ofLeapYears bool   // the text names the leap years
}

// days describes the days of a monthly or yearly rule. It returns false if no wording fits the rule.
func (w *writer) days(r recur.Rule) (dayPhrase, bool) {
	weeks, lack := 4, "schedule-if-month-has-day" // every month has 4 whole weeks
	if r.Freq == recur.FreqYearly && len(r.ByMonth) == 0 && len(r.ByDay) > 0 {
		weeks, lack = 52, "schedule-if-year-has-day"
	}
	var d dayPhrase
	switch {
	case len(r.ByDay) > 0 && len(r.ByMonthDay) > 0:
		return d, false
	case len(r.BySetPos) > 0:
		if !isPlain(r.ByDay) || len(r.ByDay) == 0 || len(r.ByDay) == 7 || r.Freq == recur.FreqYearly && len(r.ByMonth) > 1 {
			return d, false
		}
		d.text = w.dayPreposition + w.places(r.BySetPos, r.ByDay)
		d.several = len(r.BySetPos) > 1
		if slices.ContainsFunc(r.BySetPos, func(n int) bool { return max(n, -n) > weeks*len(r.ByDay) }) {
			d.lack = w.say(lack, nil)
		}
	case len(r.ByDay) > 0:
		d.text = w.ordinalWeekdays(r.ByDay)
		d.each = r.ByDay[0].Ordinal == 0
		d.several = len(r.ByDay) > 1 || isPlain(r.ByDay)
		switch {
		case !slices.ContainsFunc(r.ByDay, func(d recur.Weekday) bool { return max(d.Ordinal, -d.Ordinal) > weeks }):
		case weeks == 4 && len(r.ByDay) == 1:
			d.lack = w.say("schedule-if-month-has-five", arguments{"Days": w.weekdays[r.ByDay[0].Day].counted})
		default:
			d.lack = w.say(lack, nil)
		}
	default:
		d.text = w.monthDayList(r.ByMonthDay)
		if isLongRun(r.ByMonthDay) {
			d.text = w.say("schedule-every-day", nil) + " " + d.text
			d.closed, d.each = true, true
		}
		d.several = len(r.ByMonthDay) > 1
		lacking := missingMonthDays(r)
		switch {
		case len(lacking) == 0:
		case r.Skip == recur.SkipOmit:
			d.lack = w.say(lack, nil)
		case len(lacking) > 1 || lacking[0] < 0:
			return d, false
		case r.Skip == recur.SkipBackward:
			d.lack = w.say(amongOthers("schedule-skip-backward", d), arguments{"Day": w.monthDay(lacking[0])})
		default:
			d.lack = w.say(amongOthers("schedule-skip-forward", d), arguments{"Day": w.monthDay(lacking[0])})
		}
	}
	if len(r.BySetPos) == 1 || len(r.BySetPos) == 0 && len(r.ByDay)+len(r.ByMonthDay) == 1 {
		if text, ok := strings.CutSuffix(d.text, w.fromEnd); ok {
			d.text, d.fromEnd = text, w.fromEnd
		}
	}
	return d, true
}

// amongOthers returns the message key for a day that moves if a month lacks it. There is another key if the rule
// has several days.
func amongOthers(key string, d dayPhrase) string {
	if d.several {
		return key + "-among"
	}
	return key
}

// places describes the days that BYSETPOS selects among weekdays, such as "the last day among the Tuesdays and
// Thursdays".
func (w *writer) places(places []int, days []recur.Weekday) string {
	switch numbers := weekdayNumbers(days); {
	case slices.Equal(numbers, []int{1, 2, 3, 4, 5}):
		return w.nth(places, w.working, false)
	case slices.Equal(numbers, []int{6, 7}):
		return w.nth(places, w.weekend, false)
	}
	return w.nth(places, w.dayAmong+w.joinPhrases(w.forms(days, func(d weekday) string { return d.plural })), false)
}

// ordinalWeekdays lists weekdays with and without ordinals: "every Sunday and on the first Monday".
func (w *writer) ordinalWeekdays(days []recur.Weekday) string {
	var items []string
	named := make(map[time.Weekday][]int)
	for _, d := range days {
		named[d.Day] = append(named[d.Day], d.Ordinal)
	}
	preposition, and := w.dayPreposition, w.and
	for _, d := range days {
		form, numbers := w.weekdays[d.Day], named[d.Day]
		switch d.Ordinal {
		case 0:
			items = append(items, form.every)
			preposition = w.dayPreposition
		case numbers[0]:
			items = append(items, preposition+w.nth(numbers, form.noun, form.feminine))
			preposition = ""
			if len(numbers) > 1 {
				and = w.andOrdinals
			}
		}
	}
	return joinList(items, and)
}

// monthDayList lists days of a month. A run of three or more days is written as a range.
func (w *writer) monthDayList(days []int) string {
	if isLongRun(days) {
		return w.monthDayRange(days[0], days[len(days)-1])
	}
	return w.dayPreposition + w.monthDays(days)
}

// yearDays describes the days of a rule as dates: "on 3 May". It returns false without months or days of the
// month, for too many dates, and for three or more consecutive months. It also returns false if days count from
// the end of a month, or if SKIP moves a day that a month never has.
func (w *writer) yearDays(r recur.Rule, d dayPhrase) (dayPhrase, bool) {
	many := len(r.ByMonth) > 1 && len(r.ByMonth)*len(r.ByMonthDay) > listLimit
	_, _, ranged := cyclicRun(r.ByMonth, 12)
	if len(r.ByMonth) == 0 || len(r.ByMonthDay) == 0 || many || ranged || r.ByMonthDay[len(r.ByMonthDay)-1] < 0 {
		return d, false
	}
	var all []date
	for _, month := range r.ByMonth {
		for _, day := range r.ByMonthDay {
			if day <= longestMonth(month) {
				all = append(all, date{month: month, day: day})
			}
		}
	}
	leapDay := slices.Contains(all, date{month: 2, day: 29})
	switch {
	case r.Skip != recur.SkipOmit && len(all) < len(r.ByMonth)*len(r.ByMonthDay):
		return d, false
	case r.Skip == recur.SkipBackward && leapDay:
		d.lack = w.say(amongOthers("schedule-skip-leap-day", d), arguments{"Date": w.dateList([]date{{month: 2, day: 28}})})
	case r.Skip == recur.SkipForward && leapDay:
		d.lack = w.say(amongOthers("schedule-skip-leap-day", d), arguments{"Date": w.dateList([]date{{month: 3, day: 1}})})
	case leapDay && len(all) == 1 && r.Interval == 1:
		return dayPhrase{phrase: phrase{text: w.say("schedule-leap-day", nil), closed: true}, ofLeapYears: true}, true
	case leapDay && len(all) == 1:
		d.lack = w.say("schedule-leap-years", nil)
	case !leapDay:
		d.lack = ""
	}
	d.closed, d.several = true, len(all) > 1
	if d.each = len(r.ByMonth) == 1 && len(all) > 2 && isRun(r.ByMonthDay); d.each {
		first, last := strconv.Itoa(all[0].day), strconv.Itoa(all[len(all)-1].day)
		d.text = w.say("schedule-every-day", nil) + " " + w.dateRange(first, last) + w.dateSeparator + w.months[r.ByMonth[0]-1]
	} else {
		d.text = w.dayPreposition + w.dateList(all)
	}
	return d, true
}

// addLimits appends clauses to p that restrict the days to those of BYDAY, BYMONTHDAY and BYMONTH.
func (w *writer) addLimits(p phrase, r recur.Rule) phrase {
	if len(r.ByDay) > 0 {
		days := w.joinPhrases(w.forms(r.ByDay, func(d weekday) string { return d.only }))
		p.limit(w.say("schedule-only", arguments{"Days": days}))
	}
	if len(r.ByMonthDay) > 0 {
		p.limit(w.say("schedule-only-month-days", arguments{"Days": w.monthDayList(r.ByMonthDay)}))
	}
	if len(r.ByMonth) > 0 {
		months, _ := w.monthList(r.ByMonth)
		p.limit(w.say("schedule-only", arguments{"Days": months}))
	}
	return p
}

// addMonths appends the months of BYMONTH to p. An empty list means every month, and adds nothing.
func (w *writer) addMonths(p phrase, months []int) phrase {
	if len(months) == 0 {
		return p
	}
	text, ranged := w.monthList(months)
	if !ranged && p.ofMonth && w.ofMonth != "" {
		var names []string
		for _, m := range months {
			names = append(names, w.months[m-1])
		}
		text, ranged = w.ofMonth+w.join(names), true
		p.closed = false
	}
	p.closed = p.closed && ranged
	p.add(text)
	p.closed, p.several = ranged, true
	return p
}

// monthList lists months with their preposition, such as "in March and April". The result ranged is true if the
// text is a range and names only the first and last month.
func (w *writer) monthList(months []int) (text string, ranged bool) {
	if first, last, ok := cyclicRun(months, 12); ok {
		return w.say("schedule-between", arguments{"First": w.months[first-1], "Last": w.months[last-1]}), true
	}
	var phrases []string
	for _, m := range months {
		phrases = append(phrases, w.inMonths[m-1])
	}
	return w.joinPhrases(phrases), false
}

// everyWeekdays describes the days of a weekly rule with interval 1.
func (w *writer) everyWeekdays(days []recur.Weekday) phrase {
	p := phrase{several: len(days) > 1}
	numbers := weekdayNumbers(days)
	first, last, ranged := cyclicRun(numbers, 7)
	switch {
	case len(days) == 1:
		p.text, p.ofMonth = w.weekdays[days[0].Day].every, true
	case slices.Equal(numbers, []int{1, 2, 3, 4, 5}):
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
		p.text, p.ofMonth = w.joinPhrases(w.forms(days, func(d weekday) string { return d.several })), true
	}
	return p
}

// weeks describes a weekly rule with an interval above 1.
func (w *writer) weeks(r recur.Rule) phrase {
	p := phrase{several: len(r.ByDay) > 1}
	if r.Interval == 2 && len(r.ByDay) == 1 {
		p.text = w.weekdays[r.ByDay[0].Day].everySecond
	} else {
		days := dayPhrase{phrase: p}
		days.text = w.joinPhrases(w.forms(r.ByDay, func(d weekday) string { return d.on }))
		if numbers := weekdayNumbers(r.ByDay); len(numbers) > 2 && isRun(numbers) {
			first, last := w.weekdays[numbers[0]].bound, w.weekdays[numbers[len(numbers)-1]%7].bound
			days.text = w.say("schedule-between", arguments{"First": first, "Last": last})
			days.closed = true
		}
		p = w.addPeriod(r.Freq, r.Interval, days)
	}
	if r.WeekStart != time.Monday {
		p.addClause(w.say("schedule-weeks-from", arguments{"Day": w.weekdays[r.WeekStart].firstDay}))
	}
	return w.addLimits(p, recur.Rule{ByMonth: r.ByMonth})
}

// weekdayNumbers returns weekdays as numbers, from 1 for Monday to 7 for Sunday.
func weekdayNumbers(days []recur.Weekday) []int {
	var numbers []int
	for _, d := range days {
		numbers = append(numbers, int(d.Day+6)%7+1)
	}
	return numbers
}

// cyclicRun finds a run of at least three consecutive numbers from 1 to size, where 1 follows size: Friday to
// Monday. It returns the first and last. It reports false if the numbers are no such run, or if they are all.
func cyclicRun(numbers []int, size int) (first, last int, ok bool) {
	if len(numbers) < 3 || len(numbers) == size {
		return 0, 0, false
	}
	ends := 0
	for i, n := range numbers {
		next := numbers[(i+1)%len(numbers)]
		if next != n%size+1 {
			first, last = next, n
			ends++
		}
	}
	return first, last, ends == 1
}
