package when_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/when"
)

// TestEveryAbsoluteFormReadsBack writes random wall times in each absolute form. Parse must return the same wall
// time.
func TestEveryAbsoluteFormReadsBack(t *testing.T) {
	t.Parallel()
	days := []string{
		"2006-01-02", "2006/01/02", "02.01.2006", "02-01-2006", "01/02/2006", "2 January 2006",
		"January 2, 2006",
		"2006-1-2", "2006/1/2", "2.1.2006", "2-1-2006", "1/2/2006", "02 Jan 2006", "Jan 02, 2006",
	}
	clocks := []string{" 15:04:05", " 15:04:05.000", " 3:04:05 pm", " 03:04:05PM"}
	zones := map[string]time.Duration{
		"": 0, "Z": 0, " UTC": 0, "+02:00": 2 * time.Hour, " -0730": -(7*time.Hour + 30*time.Minute),
	}
	rapid.Check(t, func(t *rapid.T) {
		sec := rapid.Int64Range(-30610224000+86400, 253402300799-86400).Draw(t, "seconds")
		w := calendar.WallOf(time.Unix(sec, 0).UTC())
		day := rapid.SampledFrom(days).Draw(t, "day")
		tod := rapid.SampledFrom(clocks).Draw(t, "clock")
		for suffix, ahead := range zones {
			text := w.Format(day+tod) + suffix
			d, err := when.Parse(text, saturday, calendar.UTC())
			if err != nil {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			if got := d.Wall(calendar.UTC()); !got.Equal(w.Add(-ahead)) || d.IsInstant() != (suffix != "") {
				t.Fatalf("Parse(%q) = %s, want %s", text, formatDate(d, calendar.UTC()), w.Add(-ahead))
			}
		}
		d, err := when.Parse(w.Format(day), saturday, calendar.UTC())
		if err != nil || !d.Wall(calendar.UTC()).Equal(w.StartOfDay()) {
			t.Fatalf("Parse(%q) = %s, %v", w.Format(day), formatDate(d, calendar.UTC()), err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"2026-W49-6T18", "2026-335", "Tue Dec 01 2026 10:00:00 GMT+0100 (CET)", "20261205T180000Z", "@5", "this weekend",
		"last day of february", "2 hours ago", "2026-12-05 18:00 Europe/Warsaw",
		"", "0", "-30610224000", "253402300799", "20261205", "2026-12-05", "2026-12-05T18:00:00.123Z",
		"2026/12/05 6:30 pm +0200",
		"05.12.2026 18:00", "05-12-2026-0200", "12/05/2026 UTC", "5 December 2026", "December 5, 2026 6pm",
		"9999-12-31 23:59:59",
		"now", "midnight", "tomorrow 9am", "next wednesday 4pm", "last year", "first monday of next month",
		"last fri of jan 2027 18:00",
		"+5 days 11am", "-999999999 years", "+999999999 seconds", "1 month", "następną środę 18:00",
		"za 3 dni", "za rok", "en 3 días",
		"lunes próximo", "man\u0303ana 18:00", "2026-10-25 02:30", "2026-03-29 02:30:00", "+", "-", "12/",
		"2026-", "\xff", "\u0301",
	} {
		f.Add(text, int64(1795262400), uint8(0))
		f.Add(text, int64(1792891800), uint8(1)) // the doubled hour in Warsaw
	}
	zones := []calendar.Zone{
		calendar.UTC(), zone(f, "Europe/Warsaw"), zone(f, "America/New_York"), zone(f, "Pacific/Kiritimati"),
		zone(f, "America/Santiago"), zone(f, "Australia/Lord_Howe"), zone(f, "Africa/Monrovia"),
	}
	f.Fuzz(func(t *testing.T, text string, sec int64, zoneAt uint8) {
		z := zones[int(zoneAt)%len(zones)]
		now := time.Unix(sec%250e9, 0)
		d, err := when.Parse(text, now, z)
		if err != nil {
			if !errors.Is(err, when.ErrDate) {
				t.Fatalf("Parse(%q): error is not ErrDate: %v", text, err)
			}
			return
		}
		at, wall := d.Instant(z), d.Wall(z)
		year, _, _ := wall.Date()
		if year < 1000 || year > 9999 || at.Year() < 1000 || at.Year() > 9999 {
			t.Fatalf("Parse(%q) = %s, %s: outside of the years of a date", text, wall, at)
		}
		if at.Nanosecond() != 0 || at.Location() != time.UTC {
			t.Fatalf("Parse(%q) = %s: not whole seconds in UTC", text, at)
		}
		if again, err := when.Parse(wall.String(), now, z); err != nil || !again.Wall(z).Equal(wall) {
			t.Fatalf("Parse(%q) shows %s, which reads back as %s, %v", text, wall, again.Wall(z), err)
		}
		if again, err := when.Parse(at.Format(time.RFC3339), now, z); err != nil || !again.Instant(z).Equal(at) {
			t.Fatalf("Parse(%q) is %s, which reads back as %s, %v", text, at, again.Instant(z), err)
		}
		if again, err := when.Parse(" "+strings.ToUpper(text), now, z); len(text) < 100 && (err != nil || again != d) {
			t.Fatalf("Parse(%q) = %s, in upper case %s, %v", text, formatDate(d, z), formatDate(again, z), err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	z := zone(b, "Europe/Warsaw")
	for name, text := range map[string]string{
		"iso":       "2026-12-05 18:00:00",
		"offset":    "2026-12-05T18:00:00+02:00",
		"unix":      "1796428800",
		"english":   "last friday of january 2027 6:30 pm",
		"polish":    "następną środę 18:00",
		"spanish":   "en 3 días 18:00",
		"digits":    strings.Repeat("9", 128),
		"spaces":    strings.Repeat(" ", 127) + "x",
		"separator": strings.Repeat("1-", 64),
		"words":     strings.Repeat("last ", 25),
		"endless":   strings.Repeat("last ", 1<<18),
		"marks":     "a" + strings.Repeat("\u0301", 63),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := when.Parse(text, saturday, z); err != nil && !errors.Is(err, when.ErrDate) {
					b.Fatal(err)
				}
			}
		})
	}
}
