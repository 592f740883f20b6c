package feed

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
)

// excerptText is the number of characters of an excerpt in a summary.
const excerptText = 300

// newestFirst returns the entries sorted by last change, latest first, for Atom, RSS and JSON Feed.
func newestFirst(entries []Entry) []*Entry {
	sorted := make([]*Entry, len(entries))
	for i := range entries {
		sorted[i] = &entries[i]
	}
	slices.SortStableFunc(sorted, func(a, b *Entry) int {
		return cmp.Or(b.Stamp.Compare(a.Stamp), cmp.Compare(b.ID, a.ID))
	})
	return sorted
}

// summary describes an entry in one line: state, date, time and zone, place, and excerpt.
func (f *Feed) summary(e *Entry) string {
	parts := []string{f.state(e), e.when()}
	if !e.Protected {
		excerpt := markup.Lines(e.Excerpt, excerptText)
		parts = append(parts, e.location(), strings.Join(strings.Fields(excerpt), " "))
	}
	return joinNonEmpty(" · ", parts...)
}

func (f *Feed) state(e *Entry) string {
	switch e.Status {
	case calendar.Canceled:
		return f.Words.Message(f.Language, "feed-canceled", nil)
	case calendar.Postponed:
		return f.Words.Message(f.Language, "feed-postponed", nil)
	}
	return ""
}

// when returns the time of an entry, such as "2026-12-05 18:00 – 20:00 Europe/Warsaw".
func (e *Entry) when() string {
	const dash = " – "
	if e.days() {
		first, last := e.StartWall.Format(time.DateOnly), e.EndWall.Format(time.DateOnly)
		if first == last {
			return first
		}
		return first + dash + last
	}
	const layout = "2006-01-02 15:04"
	start, end := e.Start.In(e.Zone.Location()), e.End.In(e.Zone.Location())
	text := start.Format(layout)
	if day := start.Format(time.DateOnly); end.Format(time.DateOnly) == day {
		if clock := end.Format("15:04"); !end.Equal(start) {
			text += dash + clock
		}
	} else {
		text += dash + end.Format(layout)
	}
	return text + " " + e.Zone.String()
}
