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

// icalKey returns the source id under which an event with a UID is imported.
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

// icalDateKey returns the source id of a changed date whose series is not in the file. series is the source id of the
// series, and date is the RECURRENCE-ID.
func icalDateKey(series, date string) string { return series + "?recurrence=" + date }

// maxICalKey is the maximum length of the source id of an event, in characters. It leaves room for icalDateKey.
const maxICalKey = maxSource - len("?recurrence=20261205T180000Z")

// standInUID makes up a UID for an event that has none. It depends on the start and the title, so the next import gets
// the same UID. The map seen counts the events with each start and title, to keep their UIDs different.
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
