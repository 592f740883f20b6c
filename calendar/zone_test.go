package calendar

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/almanac-cal/almanac/proof/must"
)

// zone returns the zone with a name. It fails the test for an unknown name.
func zone(t testing.TB, name string) Zone {
	t.Helper()
	z, err := ParseZone(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return z
}

func wall(t testing.TB, s string) Wall {
	t.Helper()
	w, err := ParseWall(s)
	must.Succeed(t, err)
	return w
}

func TestZoneInstant(t *testing.T) {
	tests := []struct{ name, zone, wall, utc, shown string }{
		{"winter", "Europe/Warsaw", "2026-01-15 12:00:00", "2026-01-15 11:00:00", "2026-01-15 12:00:00"},
		{"summer", "Europe/Warsaw", "2026-07-15 12:00:00", "2026-07-15 10:00:00", "2026-07-15 12:00:00"},
		{"last second before a gap", "Europe/Warsaw", "2026-03-29 01:59:59", "2026-03-29 00:59:59", "2026-03-29 01:59:59"},
		{"first second of a gap", "Europe/Warsaw", "2026-03-29 02:00:00", "2026-03-29 01:00:00", "2026-03-29 03:00:00"},
		{"gap", "Europe/Warsaw", "2026-03-29 02:30:00", "2026-03-29 01:30:00", "2026-03-29 03:30:00"},
		{"first second after a gap", "Europe/Warsaw", "2026-03-29 03:00:00", "2026-03-29 01:00:00", "2026-03-29 03:00:00"},
		{"before a doubled hour", "Europe/Warsaw", "2026-10-25 01:59:59", "2026-10-24 23:59:59", "2026-10-25 01:59:59"},
		{"doubled hour", "Europe/Warsaw", "2026-10-25 02:30:00", "2026-10-25 00:30:00", "2026-10-25 02:30:00"},
		{"after a doubled hour", "Europe/Warsaw", "2026-10-25 03:00:00", "2026-10-25 02:00:00", "2026-10-25 03:00:00"},
		{"gap west", "America/New_York", "2026-03-08 02:30:00", "2026-03-08 07:30:00", "2026-03-08 03:30:00"},
		{"doubled hour west", "America/New_York", "2026-11-01 01:30:00", "2026-11-01 05:30:00", "2026-11-01 01:30:00"},
		{"gap of half an hour", "Australia/Lord_Howe", "2026-10-04 02:15:00", "2026-10-03 15:45:00", "2026-10-04 02:45:00"},
		{"doubled half hour", "Australia/Lord_Howe", "2026-04-05 01:45:00", "2026-04-04 14:45:00", "2026-04-05 01:45:00"},
		{"gap at midnight", "America/Havana", "2026-03-08 00:00:00", "2026-03-08 05:00:00", "2026-03-08 01:00:00"},
		{"winter time that is the exception", "Europe/Dublin", "2026-10-25 01:30:00", "2026-10-25 00:30:00", "2026-10-25 01:30:00"},
		{"the day before a skipped day", "Pacific/Apia", "2011-12-29 23:59:59", "2011-12-30 09:59:59", "2011-12-29 23:59:59"},
		{"skipped day", "Pacific/Apia", "2011-12-30 12:00:00", "2011-12-30 22:00:00", "2011-12-31 12:00:00"},
		{"the day after a skipped day", "Pacific/Apia", "2011-12-31 00:00:00", "2011-12-30 10:00:00", "2011-12-31 00:00:00"},
		{"doubled day", "Pacific/Kwajalein", "1969-09-30 12:00:00", "1969-09-30 01:00:00", "1969-09-30 12:00:00"},
		{"local mean time", "Europe/Warsaw", "1000-01-01 12:00:00", "1000-01-01 10:36:00", "1000-01-01 12:00:00"},
		{"last year, winter", "Europe/Warsaw", "9999-12-31 23:59:59", "9999-12-31 22:59:59", "9999-12-31 23:59:59"},
		{"last year, summer", "Europe/Warsaw", "9999-07-01 12:00:00", "9999-07-01 10:00:00", "9999-07-01 12:00:00"},
		{"UTC", "UTC", "2026-03-29 02:30:00", "2026-03-29 02:30:00", "2026-03-29 02:30:00"},
		{"offset", "UTC-3.5", "2026-03-29 02:30:00", "2026-03-29 06:00:00", "2026-03-29 02:30:00"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			z := zone(t, test.zone)
			at := z.Instant(wall(t, test.wall))
			if at.Location() != time.UTC {
				t.Errorf("instant in %v", at.Location())
			}
			if got := at.Format(Layout); got != test.utc {
				t.Errorf("UTC %s, want %s", got, test.utc)
			}
			if got := z.Wall(at).String(); got != test.shown {
				t.Errorf("shown as %s, want %s", got, test.shown)
			}
		})
	}
}

func TestZoneZeroValueIsUTC(t *testing.T) {
	var z Zone
	at := time.Date(2026, 3, 29, 2, 30, 0, 0, time.UTC)
	if z.String() != "UTC" || z.Abbreviation(at) != "UTC" || !z.Instant(WallOf(at)).Equal(at) {
		t.Errorf("zone %q, abbreviation %q, instant %v", z, z.Abbreviation(at), z.Instant(WallOf(at)))
	}
}

func TestZoneAbbreviation(t *testing.T) {
	winter := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	summer := time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		zone           string
		winter, summer string
	}{
		{"Europe/Warsaw", "CET", "CEST"},
		{"America/New_York", "EST", "EDT"},
		{"UTC", "UTC", "UTC"},
		{"Etc/UTC", "UTC", "UTC"},
		{"UTC+2", "UTC+2", "UTC+2"},
		{"UTC-3.5", "UTC-3.5", "UTC-3.5"},
		{"UTC+5:45", "UTC+5:45", "UTC+5:45"},
		{"+02:00", "+02:00", "+02:00"},
		{"-00:30", "-00:30", "-00:30"},
		{"America/Sao_Paulo", "-03", "-03"},
	}
	for _, test := range tests {
		z := zone(t, test.zone)
		if got := z.Abbreviation(winter); got != test.winter {
			t.Errorf("%s in winter: %q, want %q", test.zone, got, test.winter)
		}
		if got := z.Abbreviation(summer); got != test.summer {
			t.Errorf("%s in summer: %q, want %q", test.zone, got, test.summer)
		}
	}
}

func TestParseWallCutsFractions(t *testing.T) {
	if got := wall(t, "2026-03-29 02:30:59.999"); !got.Equal(WallAt(2026, 3, 29, 2, 30, 59)) {
		t.Errorf("got %v", got.t)
	}
}

var anyZone = rapid.Custom(func(t *rapid.T) Zone {
	z, err := ParseZone(rapid.SampledFrom(sortedZoneNames()).Draw(t, "zone"))
	must.Succeed(t, err)
	return z
})

// anySecond prefers the years in which clocks were changed by many rules.
var anySecond = rapid.OneOf(
	rapid.Int64Range(time.Date(1000, 1, 2, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC).Unix()),
	rapid.Int64Range(time.Date(1880, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC).Unix()),
)

func TestZoneRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := anyZone.Draw(t, "z")
		at := time.Unix(anySecond.Draw(t, "at"), 0).UTC()
		shown := z.Wall(at)
		back := z.Instant(shown)
		if !z.Wall(back).Equal(shown) {
			t.Fatalf("%s: %v is shown as %v, which became %v", z, at, shown, z.Wall(back))
		}
		if back.After(at) {
			t.Fatalf("%s: %v is shown as %v, whose first pass cannot be %v", z, at, shown, back)
		}
	})
}

func TestZoneGapsMoveForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := anyZone.Draw(t, "z")
		w := WallOf(time.Unix(anySecond.Draw(t, "wall"), 0).UTC())
		if shown := z.Wall(z.Instant(w)); shown.Before(w) {
			t.Fatalf("%s: %v moved back to %v", z, w, shown)
		}
	})
}
