package when

import (
	"strings"
	"time"
	"unicode"
)

// normalise converts a text to lower-case ASCII with single spaces between words, which the parsers require. The
// result hasDiacritics is true if a letter lost a diacritic. It reports false for a text that is empty, too long, or has
// a character that no date contains.
func normalise(text string) (s string, hasDiacritics, ok bool) {
	text = withoutZoneName(text)
	if len(text) > maxText {
		return "", false, false
	}
	// Each rune has at least one byte and becomes at most one.
	var buf [maxText]byte
	b := buf[:0]
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if isMark(r) {
			if space || len(b) == 0 || !isLetter(b[len(b)-1]) {
				return "", false, false
			}
			hasDiacritics = true
			continue
		}
		c, wasMarked := foldRune(r)
		if c == 0 {
			return "", false, false
		}
		if space && len(b) > 0 {
			b = append(b, ' ')
		}
		space = false
		hasDiacritics = hasDiacritics || wasMarked
		b = append(b, c)
	}
	return string(b), hasDiacritics, len(b) > 0
}

// withoutZoneName removes the zone name in parentheses at the end of a date that JavaScript wrote, as in "GMT+0100
// (Central European Standard Time)". The name can be in any language.
func withoutZoneName(text string) string {
	name := strings.IndexByte(text, '(')
	if name < 0 || len(text) > 2*maxText || !strings.HasSuffix(text, ")") {
		return text
	}
	date := strings.TrimRight(text[:name], " ")
	const zone = len("GMT+0100")
	if len(date) < zone {
		return text
	}
	offset := date[len(date)-zone:]
	digits := strings.Trim(offset[len("GMT+"):], "0123456789")
	if !strings.EqualFold(offset[:len("GMT")], "GMT") || offset[3] != '+' && offset[3] != '-' || digits != "" {
		return text
	}
	return date
}

// isMark reports whether r is a combining mark of a decomposed Polish or Spanish letter (acute, tilde, dot
// above, diaeresis, ogonek).
func isMark(r rune) bool {
	switch r {
	case 0x0301, 0x0303, 0x0307, 0x0308, 0x0328:
		return true
	}
	return false
}

// foldRune returns r as a lower-case ASCII character, and whether it lost a diacritic. It returns 0 if no date
// contains r. It does not accept letters of other scripts that become ASCII in lower case, such as the Kelvin
// sign.
func foldRune(r rune) (c byte, hasDiacritics bool) {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return byte(r), false //nolint:gosec // ASCII, as the case says
	case 'A' <= r && r <= 'Z':
		return byte(r - 'A' + 'a'), false
	}
	switch r {
	case '+', '-', '/', '.', ',', ':', '@', '_':
		return byte(r), false
	case 'ą', 'Ą', 'á', 'Á':
		return 'a', true
	case 'ć', 'Ć':
		return 'c', true
	case 'ę', 'Ę', 'é', 'É':
		return 'e', true
	case 'í', 'Í':
		return 'i', true
	case 'ł', 'Ł':
		return 'l', true
	case 'ń', 'Ń', 'ñ', 'Ñ':
		return 'n', true
	case 'ó', 'Ó':
		return 'o', true
	case 'ś', 'Ś':
		return 's', true
	case 'ú', 'Ú', 'ü', 'Ü':
		return 'u', true
	case 'ź', 'Ź', 'ż', 'Ż':
		return 'z', true
	}
	return 0, false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

// reader parses a normalised text from a position. A method that reports failure may have advanced the position.
// To try an alternative, copy the reader first.
type reader struct {
	s string
	i int

	anyDay  bool // accepts days that do not exist
	anyZone bool // accepts zones that do not exist
}

func (r *reader) done() bool { return r.i >= len(r.s) }

// peek returns the next character without reading it. It returns 0 at the end.
func (r *reader) peek() byte {
	if r.done() {
		return 0
	}
	return r.s[r.i]
}

func (r *reader) eat(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.i++
	return true
}

// word reads a run of letters. It returns "" if there is none.
func (r *reader) word() string {
	start := r.i
	for isLetter(r.peek()) {
		r.i++
	}
	return r.s[start:r.i]
}

// nextWord reads a space and the word after it. It returns "" if no space or no letter follows.
func (r *reader) nextWord() string {
	if !r.eat(' ') {
		return ""
	}
	return r.word()
}

// maxDigits is the length of the longest number with a usable value. It fits into 32 bits.
const maxDigits = 9

// digits reads a run of digits and returns its value and length. For more than maxDigits digits the value is
// meaningless.
func (r *reader) digits() (v, n int) {
	for ; isDigit(r.peek()); r.i++ {
		if n < maxDigits {
			v = 10*v + int(r.peek()-'0')
		}
		n++
	}
	return v, n
}

// number reads a run of digits and returns its value. It returns false unless there are from least to most digits.
// most must not exceed maxDigits.
func (r *reader) number(least, most int) (v int, ok bool) {
	v, n := r.digits()
	return v, least <= n && n <= most
}

// clock is a time of day.
type clock struct{ hour, minute, second int }

// isoClock parses the time of day after the T of an ISO 8601 date: 10, 1030, 103000, 10:30 or 10am.
func (r *reader) isoClock() (clock, bool) {
	try := *r
	v, n := try.digits()
	var c clock
	switch {
	case try.peek() == ':' || try.meridiem() != "":
		return r.clock()
	case n == len("10"):
		c.hour = v
	case n == len("1030"):
		c.hour, c.minute = v/100, v%100
	case n == len("103000"):
		c.hour, c.minute, c.second = v/10000, v/100%100, v%100
	default:
		return clock{}, false
	}
	*r = try
	return c, c.hour <= 23 && c.minute <= 59 && c.second <= 59
}

// clock parses a time of day, such as 18:00, 18:00:00, 6pm, 6:30 pm or noon. A fraction of a second is dropped.
func (r *reader) clock() (c clock, ok bool) {
	if try := *r; english.noon[try.word()] {
		*r = try
		return clock{hour: 12}, true
	}
	if c.hour, ok = r.number(1, 2); !ok {
		return clock{}, false
	}
	digital := r.eat(':')
	if digital {
		if c.minute, ok = r.number(2, 2); !ok {
			return clock{}, false
		}
		if r.eat(':') {
			if c.second, ok = r.number(2, 2); !ok {
				return clock{}, false
			}
			if r.eat('.') {
				if _, n := r.digits(); n == 0 {
					return clock{}, false
				}
			}
		}
	}
	if c.minute > 59 || c.second > 59 {
		return clock{}, false
	}
	switch r.meridiem() {
	case "am":
		ok = 1 <= c.hour && c.hour <= 12
		c.hour %= 12
	case "pm":
		ok = 1 <= c.hour && c.hour <= 12
		c.hour = c.hour%12 + 12
	default:
		ok = digital && c.hour <= 23
	}
	return c, ok
}

// meridiem reads "am" or "pm", after an optional space, and returns it. If neither follows, it returns "" and
// does not advance. It does not take the start of a zone name such as america/new_york.
func (r *reader) meridiem() string {
	try := *r
	try.eat(' ')
	zone := try // excludes zone names such as America/New_York
	if w := try.s[try.i:min(try.i+2, len(try.s))]; (w == "am" || w == "pm") && (zone.word() == w || zone.peek() != '/') {
		r.i = try.i + len(w)
		return w
	}
	return ""
}

// maxOffset is the largest accepted offset of a zone from UTC.
const maxOffset = 14 * time.Hour

// offset parses an offset from UTC: Z, UTC, GMT, +02:00, +0200 or GMT+0200. The result ahead is positive if the clock
// is ahead of UTC. Offsets over maxOffset are rejected.
func (r *reader) offset() (ahead time.Duration, ok bool) {
	sign := time.Duration(1)
	switch r.peek() {
	case '+':
	case '-':
		sign = -1
	default:
		w := r.word()
		if sign := r.peek(); w != "gmt" || sign != '+' && sign != '-' {
			return 0, w == "z" || w == "utc" || w == "gmt"
		}
		return r.offset()
	}
	r.i++
	hhmm := r.s[r.i:]
	switch {
	case len(hhmm) == 5 && hhmm[2] == ':':
		hhmm = hhmm[:2] + hhmm[3:]
	case len(hhmm) != 4:
		return 0, false
	}
	digits := reader{s: hhmm}
	v, ok := digits.number(4, 4)
	if !ok || v%100 > 59 {
		return 0, false
	}
	r.i = len(r.s)
	ahead = time.Duration(v/100)*time.Hour + time.Duration(v%100)*time.Minute
	return sign * ahead, ahead <= maxOffset
}
