package calendar

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func sortedZoneNames() []string { return slices.Sorted(maps.Values(zoneNames())) }

func TestParseZone(t *testing.T) {
	tests := []struct {
		name, in, want string
		offset         time.Duration // on 2026-01-15
	}{
		{"name", "Europe/Warsaw", "Europe/Warsaw", time.Hour},
		{"name in lower case", "europe/warsaw", "Europe/Warsaw", time.Hour},
		{"name in upper case", "AMERICA/PORT-AU-PRINCE", "America/Port-au-Prince", -5 * time.Hour},
		{"alias", "us/eastern", "US/Eastern", -5 * time.Hour},
		{"old spelling", "Asia/Calcutta", "Asia/Calcutta", 5*time.Hour + 30*time.Minute},
		{"name with three parts", "america/argentina/buenos_aires", "America/Argentina/Buenos_Aires", -3 * time.Hour},
		{"single word", "poland", "Poland", time.Hour},
		{"name with a sign", "Etc/GMT+5", "Etc/GMT+5", -5 * time.Hour},
		{"gmt", "gmt", "GMT", 0},
		{"utc", "UTC", "UTC", 0},
		{"utc in lower case", "utc", "UTC", 0},
		{"hours", "UTC+2", "UTC+2", 2 * time.Hour},
		{"hours west", "UTC-11", "UTC-11", -11 * time.Hour},
		{"two digits", "UTC+02", "UTC+02", 2 * time.Hour},
		{"zero", "UTC+0", "UTC+0", 0},
		{"offset in lower case", "utc+2", "utc+2", 2 * time.Hour},
		{"half an hour", "UTC+5.5", "UTC+5.5", 5*time.Hour + 30*time.Minute},
		{"half an hour west", "UTC-3.5", "UTC-3.5", -3*time.Hour - 30*time.Minute},
		{"half an hour only", "UTC-0.5", "UTC-0.5", -30 * time.Minute},
		{"minutes", "UTC+5:45", "UTC+5:45", 5*time.Hour + 45*time.Minute},
		{"minutes west", "UTC-09:30", "UTC-09:30", -9*time.Hour - 30*time.Minute},
		{"bare", "+02:00", "+02:00", 2 * time.Hour},
		{"bare west", "-00:30", "-00:30", -30 * time.Minute},
		{"farthest east", "UTC+14", "UTC+14", 14 * time.Hour},
		{"farthest west", "-14:00", "-14:00", -14 * time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			z, err := ParseZone(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if z.String() != test.want {
				t.Errorf("answered as %q, want %q", z, test.want)
			}
			_, offset := time.Date(2026, 1, 15, 12, 0, 0, 0, z.Location()).Zone()
			if got := time.Duration(offset) * time.Second; got != test.offset {
				t.Errorf("offset %v, want %v", got, test.offset)
			}
		})
	}
}

func TestParseZoneRefuses(t *testing.T) {
	for _, s := range []string{
		"", " ", "Nowhere/City", "Europe", "Europe/", "/Europe/Warsaw", "Europe/Warsaw ", " UTC", "Europe\\Warsaw",
		"Local", "local", "localtime", "posixrules", "Factory", "posix/Europe/Warsaw", "right/UTC", "zone.tab",
		"../zoneinfo/UTC", "Europe/../UTC", "/etc/passwd", "CEST", "UTC+", "UTC2", "UTC 2", "UTC+2.", "UTC+2.25",
		"UTC+2.50", "UTC+002", "UTC+15", "UTC+14.5", "UTC+14:01", "UTC-14:30", "UTC+2:5", "UTC+2:60", "UTC+2.5:30",
		"GMT+2", "+2", "+2:00", "+0200", "+02", "+02:60", "+14:30", "-99:00", "02:00", "−02:00", "UTC−2", "+٠٢:٠٠",
		"\u212awajalein", "UTC\x00", "Europe/Warsaw\n", "UTC+2\n", "\xff", strings.Repeat("a", 1<<20),
	} {
		if z, err := ParseZone(s); !errors.Is(err, ErrZone) {
			t.Errorf("ParseZone(%.40q) = %v, %v, want ErrZone", s, z, err)
		}
	}
}

func TestEveryListedZoneLoads(t *testing.T) {
	names := sortedZoneNames()
	if len(names) < 400 || strings.Count(zoneList, "\n") != len(names) {
		t.Errorf("%d names on %d lines", len(names), strings.Count(zoneList, "\n"))
	}
	for _, name := range names {
		z, err := ParseZone(strings.ToUpper(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if z.String() != name {
			t.Errorf("%s is answered as %s", name, z)
		}
	}
}

func FuzzParseZone(f *testing.F) {
	for _, seed := range []string{
		"", "Europe/Warsaw", "us/eastern", "UTC", "UTC+2", "UTC-3.5", "UTC+5:45", "+02:00", "-14:00", "UTC+14.5",
		"Local", "../UTC", "Etc/GMT+5",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		z, err := ParseZone(s)
		if err != nil {
			if !errors.Is(err, ErrZone) || z != (Zone{}) {
				t.Errorf("%v, %v", z, err)
			}
			return
		}
		if !strings.EqualFold(z.String(), s) {
			t.Errorf("%q is answered as %q", s, z)
		}
		again, err := ParseZone(z.String())
		if err != nil || again.String() != z.String() {
			t.Errorf("%q read again: %v, %v", z, again, err)
		}
		at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
		_, offset := at.In(z.Location()).Zone()
		if got := time.Duration(offset) * time.Second; got.Abs() > maxOffset {
			t.Errorf("%q is %v from UTC", z, got)
		}
		if !z.Instant(z.Wall(at)).Equal(at) || z.Abbreviation(at) == "" {
			t.Errorf("%q: %v became %v %q", z, at, z.Instant(z.Wall(at)), z.Abbreviation(at))
		}
	})
}

// FuzzParseWall checks that the text of each parsed wall time parses to the same wall time.
func FuzzParseWall(f *testing.F) {
	for _, seed := range []string{"2026-12-05 18:00:00", "0000-01-01 00:00:00.5", "9999-12-31 23:59:59", "2026-02-30 00:00:00", "2026-12-05 24:00:00", "2026-12-05 18:00:60", "2026-12-05T18:00:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w, err := ParseWall(s)
		if err != nil {
			return
		}
		again, err := ParseWall(w.String())
		if err != nil || !again.Equal(w) || len(w.String()) != len(Layout) {
			t.Errorf("%q is %s, and that is %s (%v)", s, w, again, err)
		}
	})
}
