package importer

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/when"
)

// DateOrder is the order of day and month in dates such as 05/06/2026. "" means unknown.
type DateOrder string

// DayFirst and MonthFirst are the known values of DateOrder.
const (
	DayFirst   DateOrder = "dmy"
	MonthFirst DateOrder = "mdy"
)

// sheetDate is a parsed date of a cell, with the times of day that the cell has too.
type sheetDate struct {
	day   calendar.Wall
	times []sheetClock // none, a start, or a start and an end
	last  *sheetDate   // end of a span of dates; nil if the cell has one date
	at    *time.Time   // instant, if the cell names an offset
}

// errAmbiguous and the other errors are the reasons why a cell has no usable date or time.
var (
	errAmbiguous  = errors.New("day and month may be either way round")
	errNoDate     = errors.New("not a date")
	errNoYear     = errors.New("a date without a year")
	errNoSuchDay  = errors.New("there is no such day")
	errWrongOrder = errors.New("no date in the order of --dates or of its column")
	errNoTime     = errors.New("not a time of day")
)

// maxDateText is the maximum length of a date, in bytes.
const maxDateText = 128

var (
	isoDay     = regexp.MustCompile(`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[t ]|$|\D)`)
	compactDay = regexp.MustCompile(`^(\d{4})(\d{2})(\d{2})(?:[t ]|$)`)
	numericDay = regexp.MustCompile(`(?:^|[^\d:./-])(\d{1,2}) ?([./-]) ?(\d{1,2}) ?([./-]) ?(\d{4}|\d{2})(?:[^\d:]|$)`)
	dayMonth   = regexp.MustCompile(`(?:^|[^\d:.])(\d{1,2})(?:st|nd|rd|th|\.|º|o)?(?: ?[-–] ?(\d{1,2})\.?)?[ -]+(?:de |of )?([a-z]+)\.?,?[ -]+(?:de |del )?(\d{4})(?:\D|$)`)
	monthDay   = regexp.MustCompile(`(?:^|[^a-z])([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?(?: ?[-–] ?(\d{1,2}))?,? (\d{4})(?:\D|$)`)
	noYear     = regexp.MustCompile(`^\D*\d{1,2}[./-]\d{1,2}\D*$|^\D*\d{1,2}\.? (?:de )?[a-z]{3,}\D*$`)
	hasOffset  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)? ?(?:z|utc|gmt|[+-]\d{2}:?\d{2})$`)
	dateSpan   = regexp.MustCompile(` (?:-|–|—|to|do|a|al|hasta|until) |[–—]`)
)

// monthWords maps month names to numbers: English, Polish and Spanish, with abbreviations and inflected forms, and
// Roman numerals. The keys have no accents.
var monthWords = func() map[string]int {
	words := map[string]int{}
	for n, list := range []string{
		"january jan styczen stycznia styczniu sty enero ene i",
		"february feb luty lutego lutym lut febrero ii",
		"march mar marzec marca marcu marzo iii",
		"april apr kwiecien kwietnia kwietniu kwi abril abr iv",
		"may maj maja maju mayo v",
		"june jun czerwiec czerwca czerwcu cze junio vi",
		"july jul lipiec lipca lipcu lip julio vii",
		"august aug sierpien sierpnia sierpniu sie agosto ago viii",
		"september sep sept wrzesien wrzesnia wrzesniu wrz septiembre setiembre set ix",
		"october oct pazdziernik pazdziernika pazdzierniku paz octubre x",
		"november nov listopad listopada listopadzie lis noviembre xi",
		"december dec grudzien grudnia grudniu gru diciembre dic xii",
	} {
		for word := range strings.FieldsSeq(list) {
			words[word] = n + 1
		}
	}
	return words
}()

// fillerWords are words next to a date or time that are ignored: weekdays and words such as "at".
var fillerWords = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`
		monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
		poniedzialek wtorek sroda czwartek piatek sobota niedziela poniedzialku wtorku srode czwartku sobote niedziele
		pon pn wt sr czw cz pt sob sb nd ndz niedz w we
		lunes martes miercoles jueves viernes sabado domingo lun mie jue vie sab dom
		at from od o godz godzina godzinie g r roku rok the on el la las a h hs hrs hours hora horas desde de von`) {
		words[word] = true
	}
	return words
}()

// orderEvidence returns the order of day and month that a date proves, as 25/06/2026 does; "" means none. ambiguous
// is true if the date has two possible meanings.
func orderEvidence(text string) (order DateOrder, ambiguous bool) {
	s := foldDate(text)
	if isoDay.MatchString(s) {
		return "", false
	}
	for _, m := range numericDay.FindAllStringSubmatch(s, -1) {
		a, b := parseNumber(m[1]), parseNumber(m[3])
		switch {
		case m[2] == "." || a == b:
		case a > 12 && b <= 12:
			return DayFirst, false
		case b > 12 && a <= 12:
			return MonthFirst, false
		default:
			ambiguous = true
		}
	}
	return "", ambiguous
}

func foldDate(text string) string {
	s := strings.Join(strings.Fields(foldLetters(strings.ReplaceAll(text, "º", ""))), " ")
	return strings.Trim(s, " ,;")
}

func parseNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// readDate parses a cell with a date or a span of dates, and optional times of day. If order is "", it returns
// errAmbiguous for dates such as 05/06/2026.
func readDate(text string, order DateOrder) (sheetDate, error) {
	if len(text) > maxDateText {
		return sheetDate{}, errNoDate
	}
	s := foldDate(text)
	if hasOffset.MatchString(s) {
		d, err := when.Parse(s, time.Time{}, calendar.UTC())
		if err != nil || !d.IsInstant() {
			return sheetDate{}, errNoDate
		}
		return sheetDate{at: new(d.Instant(calendar.UTC()))}, nil
	}
	for _, cut := range dateSpan.FindAllStringIndex(s, -1) {
		first, errFirst := readOneDate(s[:cut[0]], order)
		last, errLast := readOneDate(s[cut[1]:], order)
		switch {
		case errFirst == nil && errLast == nil:
			first.last = &last
			return first, nil
		case errors.Is(errFirst, errAmbiguous) && (errLast == nil || errors.Is(errLast, errAmbiguous)):
			return sheetDate{}, errAmbiguous
		}
	}
	return readOneDate(s, order)
}

// readOneDate parses a text with one date, which foldDate has folded.
func readOneDate(s string, order DateOrder) (d sheetDate, err error) {
	s = strings.TrimSpace(s)
	rest, lastDay := "", 0
	var year, month, day int
	switch {
	case isoDay.MatchString(s):
		m := isoDay.FindStringSubmatchIndex(s)
		year, month, day = parseNumber(s[m[2]:m[3]]), parseNumber(s[m[4]:m[5]]), parseNumber(s[m[6]:m[7]])
		rest = strings.TrimPrefix(s[m[7]:], "t")
	case compactDay.MatchString(s):
		year, month, day = parseNumber(s[:4]), parseNumber(s[4:6]), parseNumber(s[6:8])
		rest = strings.TrimPrefix(s[8:], "t")
	case numericDay.MatchString(s):
		m := numericDay.FindStringSubmatchIndex(s)
		a, b := parseNumber(s[m[2]:m[3]]), parseNumber(s[m[6]:m[7]])
		year = parseNumber(s[m[10]:m[11]])
		if m[11]-m[10] == 2 {
			year += 2000
		}
		mark := s[m[4]:m[5]]
		if mark != s[m[8]:m[9]] {
			return d, errNoDate
		}
		switch {
		case mark == ".":
			day, month = a, b
		case a > 12 && b > 12:
			return d, errNoSuchDay
		case order == MonthFirst:
			if month, day = a, b; a > 12 {
				return d, errWrongOrder
			}
		case order == DayFirst:
			if day, month = a, b; b > 12 {
				return d, errWrongOrder
			}
		case a == b, a > 12:
			day, month = a, b
		case b > 12:
			month, day = a, b
		default:
			return d, errAmbiguous
		}
		rest = s[:m[2]] + " " + s[m[11]:]
	default:
		if year, month, day, lastDay, rest, err = readNamedDate(s); err != nil {
			return d, err
		}
	}
	if d.day, err = dayOf(year, month, day); err != nil {
		return d, err
	}
	if d.times, err = readTimes(rest, false); err != nil {
		return d, fmt.Errorf("%w in the rest of it, %q", errNoTime, strings.TrimSpace(rest))
	}
	if lastDay > 0 {
		last, err := dayOf(year, month, lastDay)
		if err != nil {
			return d, err
		}
		d.last = &sheetDate{day: last}
	}
	return d, nil
}

// readNamedDate parses a date whose month is a word. last is the last day of a range such as "5-7 June", or 0. rest
// is the text around the date.
func readNamedDate(s string) (year, month, day, last int, rest string, err error) {
	for _, m := range dayMonth.FindAllStringSubmatchIndex(s, -1) {
		if month = monthWords[s[m[6]:m[7]]]; month > 0 {
			if m[4] >= 0 {
				last = parseNumber(s[m[4]:m[5]])
			}
			return parseNumber(s[m[8]:m[9]]), month, parseNumber(s[m[2]:m[3]]), last, s[:m[2]] + " " + s[m[9]:], nil
		}
	}
	for _, m := range monthDay.FindAllStringSubmatchIndex(s, -1) {
		if month = monthWords[s[m[2]:m[3]]]; month > 0 {
			if m[6] >= 0 {
				last = parseNumber(s[m[6]:m[7]])
			}
			return parseNumber(s[m[8]:m[9]]), month, parseNumber(s[m[4]:m[5]]), last, s[:m[2]] + " " + s[m[9]:], nil
		}
	}
	if noYear.MatchString(s) {
		return 0, 0, 0, 0, "", errNoYear
	}
	return 0, 0, 0, 0, "", errNoDate
}

func dayOf(year, month, day int) (calendar.Wall, error) {
	w := calendar.WallAt(year, time.Month(month), day, 0, 0, 0)
	if y, m, d := w.Date(); year < 1000 || y != year || int(m) != month || d != day {
		return calendar.Wall{}, errNoSuchDay
	}
	return w, nil
}
