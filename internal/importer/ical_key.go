package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// icalKey returns the source id for an event with the given UID. If the UID is long or has control characters, a
// hash replaces it.
func icalKey(uid string) string {
	if key := icalEvent + uid; utf8.RuneCountInString(key) <= maxICalKey && !strings.ContainsFunc(uid, unicode.IsControl) {
		return key
	}
	return icalEvent + shortHash(uid)
}

// icalEvent and the other constants are prefixes of source ids of records in iCalendar files. Only events have an id
// in the file; for other records, a hash of the name follows the prefix.
const (
	icalEvent     = "ical:"
	icalVenue     = "ical-venue:"
	icalOrganizer = "ical-organizer:"
	icalCategory  = "ical-category:"
)

// icalDateKey returns the source id of a changed date whose series is not in the file. series is the series' source
// id, and date the RECURRENCE-ID.
func icalDateKey(series, date string) string { return series + "?recurrence=" + date }

// maxICalKey is the maximum length of the source id of an event, in characters. It leaves room for icalDateKey.
const maxICalKey = maxSource - len("?recurrence=20261205T180000Z")

// standInUID returns a UID for an event without one. It is made of start and title, so the next import gets the same
// UID. It counts the event in seen, by start and title, and adds a number to repeats.
func (c *icalComponent) standInUID(seen map[string]int) string {
	start := c.value("DTSTART")
	if d, err := c.start(); err == nil {
		start = d.key()
	}
	text := start + "\n" + calendar.FoldName(onOneLine(icalText(c.value("SUMMARY"))))
	seen[text]++
	if n := seen[text]; n > 1 {
		text += fmt.Sprintf("\n%d", n)
	}
	return "without-uid-" + shortHash(text)
}

// shortHash returns a hash of a text in 32 hexadecimal digits.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
