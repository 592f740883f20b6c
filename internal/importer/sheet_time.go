package importer

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// readTimes parses the times of a cell: none, one, or a start and an end. If bare is true, "7" alone is an hour;
// otherwise an hour needs minutes or a word such as pm.
func readTimes(text string, bare bool) (times []sheetClock, err error) {
	r := timesReader{rest: strings.TrimSpace(foldDate(text)), bare: bare}
	for r.rest != "" {
		if r.skipSeparator() {
			continue
		}
		if word := firstWord.FindString(r.rest); word != "" {
			err = r.readWord(word)
		} else {
			err = r.readTime()
		}
		if err != nil {
			return nil, err
		}
	}
	if r.spanned && len(r.times) < 2 {
		return nil, errNoTime
	}
	return r.in24Hours(), nil
}

// timesReader parses the times of a cell from left to right.
type timesReader struct {
	rest    string // what is not read yet
	bare    bool   // whether an hour needs neither minutes nor a word
	times   []sheetClock
	halves  []string // of each time: "a" for am, "p" for pm, "" for neither, "24" for a word such as noon
	spanned bool     // whether the word or sign between a start and an end was read
}

// skipSeparator skips a separator between times. It returns false if there is none.
func (r *timesReader) skipSeparator() bool {
	if strings.ContainsRune(" ,;.()/", rune(r.rest[0])) {
		r.rest = r.rest[1:]
		return true
	}
	if len(r.times) == 1 && !r.spanned && timeSpan.MatchString(r.rest) {
		end := timeSpan.ReplaceAllString(r.rest, "")
		if end == "" {
			return false
		}
		r.rest, r.spanned = end, true
		return true
	}
	for _, dash := range []string{"-", "–"} {
		if rest, ok := strings.CutPrefix(r.rest, dash); ok {
			r.rest = rest
			return true
		}
	}
	return false
}

// readWord parses a word: a time such as noon, or a word that is ignored next to a time, such as "at".
func (r *timesReader) readWord(word string) error {
	if c, ok := namedTimes[word]; ok {
		r.times, r.halves = append(r.times, c), append(r.halves, "24")
	} else if !fillerWords[word] {
		return errNoTime
	} else if strings.HasPrefix(word, "g") || word == "at" || word == "las" || word == "la" || word == "o" {
		r.bare = true
	}
	r.rest = r.rest[len(word):]
	return nil
}

// readTime reads a time in digits.
func (r *timesReader) readTime() error {
	s := r.rest
	m := timePattern.FindStringSubmatchIndex(s)
	if m == nil || len(r.times) == 2 || len(r.times) == 1 && !r.spanned {
		return errNoTime
	}
	c := sheetClock{hour: parseNumber(s[m[2]:m[3]])}
	whole, half := s[:m[1]], ""
	if m[4] >= 0 {
		c.minute = parseNumber(s[m[4]:m[5]])
	}
	if m[6] >= 0 {
		c.second = parseNumber(s[m[6]:m[7]])
	}
	if m[8] >= 0 {
		half = s[m[8]:m[9]]
	}
	if m[4] < 0 && half == "" && !r.bare && !strings.Contains(whole, "h") && !r.spanned && !laterMeridiem(s[m[1]:]) {
		return errNoTime
	}
	if c.minute > 59 || c.second > 59 || c.hour > 24 || c.hour == 24 && c.minute > 0 || half != "" && (c.hour == 0 || c.hour > 12) {
		return errNoTime
	}
	r.times, r.halves, r.rest = append(r.times, c), append(r.halves, half), s[m[1]:]
	if r.rest != "" && (r.rest[0] >= '0' && r.rest[0] <= '9' || r.rest[0] == ':') {
		return errNoTime
	}
	return nil
}

// in24Hours returns the times in hours from 0 to 24. If only the end has am or pm, it also applies to the start. In
// "11-2 pm" the start is am, so that it comes before the end.
func (r *timesReader) in24Hours() []sheetClock {
	times, halves := r.times, r.halves
	if len(times) == 2 && halves[0] == "" && halves[1] != "" && times[0].hour <= 12 && times[0].hour > 0 {
		halves[0] = halves[1] // 7-9 pm
		if a, b := times[0].hour%12, times[1].hour%12; halves[1] == "p" && a > b {
			halves[0] = "a" // 11-2 pm
		}
	}
	for i, half := range halves {
		if half == "a" || half == "p" {
			times[i].hour %= 12
			if half == "p" {
				times[i].hour += 12
			}
		}
	}
	return times
}

// laterMeridiem reports whether am or pm follows the end of a range. In "7-9 pm", it is true for the text after 7.
func laterMeridiem(rest string) bool {
	return meridiemEnd.MatchString(rest)
}

var meridiemEnd = regexp.MustCompile(`^ ?(?:[-–—]|to) ?\d{1,2}(?:[:.]\d{2})? ?[ap] ?\.? ?m\b`)

var (
	timePattern = regexp.MustCompile(`^(\d{1,2})(?:(?:[:.h]| h )(\d{2})(?::(\d{2})(?:[.,]\d+)?)?)?h? ?(?:(a|p) ?\.? ?m\b\.?)?`)
	timeSpan    = regexp.MustCompile(`^(?:[-–—]|to\b|do\b|a\b|until\b|till\b|hasta\b|al\b)`)
	firstWord   = regexp.MustCompile(`^[a-z]+`)
	namedTimes  = map[string]sheetClock{
		"noon": {12, 0, 0}, "poludnie": {12, 0, 0}, "mediodia": {12, 0, 0},
		"midnight": {0, 0, 0}, "polnoc": {0, 0, 0}, "medianoche": {0, 0, 0},
	}
)

// sheetClock is a time of day. Hours from 24 on belong to the next day.
type sheetClock struct{ hour, minute, second int }

func (c sheetClock) on(day calendar.Wall) calendar.Wall {
	y, m, d := day.Date()
	return calendar.WallAt(y, m, d, c.hour, c.minute, c.second)
}

var lengthPattern = regexp.MustCompile(
	`^(?:(\d{1,3})(?:[.,](\d+))? ?(?:hours?|hrs?|h|godziny?|godz\.?|horas?))? ?(?:(\d{1,4}) ?(?:minutes|minut[ay]?|minutos?|min\.?|m|'))?$`)

// readDuration parses a duration, such as 90 min, 1.5 h, 2 godz. or 1:30.
func readDuration(text string) (time.Duration, error) {
	s := foldDate(text)
	if hours, minutes, ok := strings.Cut(s, ":"); ok {
		h, m := parseNumber(hours), parseNumber(strings.TrimSuffix(minutes, ":00"))
		if h >= 0 && h < 1000 && m >= 0 && m < 60 && len(minutes) >= 2 {
			return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute, nil
		}
		return 0, errors.New("not a length of time")
	}
	m := lengthPattern.FindStringSubmatch(s)
	if m == nil || s == "" {
		return 0, errors.New("not a length of time")
	}
	var d time.Duration
	if m[1] != "" {
		hours, err := strconv.ParseFloat(m[1]+"."+m[2]+"0", 64)
		if err != nil {
			return 0, err
		}
		d = time.Duration(hours * float64(time.Hour)).Round(time.Minute)
	}
	if m[3] != "" {
		d += time.Duration(parseNumber(m[3])) * time.Minute
	}
	return d, nil
}
