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

// icalKey returns the source id of an event.
func icalKey(uid string) string {
	if key := icalEvent + uid; utf8.RuneCountInString(key) <= maxICalKey && !strings.ContainsFunc(uid, unicode.IsControl) {
		return key
	}
	return icalEvent + shortHash(uid)
}

// Prefixes of source ids of records in iCalendar files. Records other than events have no id in the file.
const (
	icalEvent     = "ical:"
	icalVenue     = "ical-venue:"
	icalOrganizer = "ical-organizer:"
	icalCategory  = "ical-category:"
)

// icalDateKey returns the source id of a changed date whose series is not in the file.
func icalDateKey(series, date string) string { return series + "?recurrence=" + date }

// maxICalKey is the maximum length of the source id of an event, in characters. It leaves room for icalDateKey.
const maxICalKey = maxSource - len("?recurrence=20261205T180000Z")

// standInUID returns an identity for an event without UID that is the same in the next import: of its start and title. Seen
// counts those of the file, because several events may have the same.
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
