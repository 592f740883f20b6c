package read

import (
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/represent"
)

// FuzzLinkDate parses a date and formats it for a link, as pages of lists do. The text in the link must be parsed
// as the same instant.
func FuzzLinkDate(f *testing.F) {
	for _, text := range []string{"1792891800", "2026-10-25 02:30", "2026-10-25T02:30+01:00", "2026-10-25 00:30Z", "tomorrow 9am", "9999-12-31", "1000-01-01"} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(1))
	}
	var zones []calendar.Zone
	for _, name := range []string{"Europe/Warsaw", "Australia/Lord_Howe", "UTC-3.5", "America/New_York", "Africa/Monrovia", "Asia/Kathmandu"} {
		zone, err := calendar.ParseZone(name)
		if err != nil {
			f.Fatal(err)
		}
		zones = append(zones, zone)
	}
	now := time.Date(2026, 10, 25, 1, 15, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string, of uint8) {
		zone := zones[int(of)%len(zones)]
		parse := ParseDate(now, zone)
		d, fault := parse(text)
		if fault != nil {
			return
		}
		at := d.Instant(zone)
		if year := zone.Wall(at).String(); len(year) != len(calendar.Layout) || year < "1000" {
			return // beyond what links of pages reach: the zone moves it out of the years there are
		}
		link := represent.DateText(at, zone)
		again, fault := parse(link)
		if fault != nil {
			t.Fatalf("%q is repeated as %q, which is no date", text, link)
		}
		if !again.Instant(zone).Equal(at) {
			t.Errorf("%q is %s, and %q is %s", text, at, link, again.Instant(zone))
		}
	})
}
