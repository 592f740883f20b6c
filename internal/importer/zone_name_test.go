package importer

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

func TestKnowsNamesOfZones(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, want string }{
		{"Europe/Warsaw", "Europe/Warsaw"},
		{"europe/warsaw", "Europe/Warsaw"},
		{"/mozilla.org/20070129_1/Europe/Berlin", "Europe/Berlin"},
		{"/citadel.org/20250101_1/America/Argentina/Salta", "America/Argentina/Salta"},
		{"tzone://Microsoft/Utc", "UTC"},
		{"/example.org/Tzfile/UTC", "UTC"},
		{"tzone://Microsoft/Custom", ""},
		{"EST5EDT", "EST5EDT"},
		{"CET", "CET"},
		{"Etc/GMT-1", "Etc/GMT-1"},

		{"central european standard time", "Europe/Warsaw"},
		{"Central European Standard  Time", "Europe/Warsaw"},
		{"W. Europe Standard Time 1", "Europe/Berlin"},
		{"W. Europe Standard Time 12", "Europe/Berlin"},
		{"W. Europe Standard Time_2", "Europe/Berlin"},
		{"W. Europe Standard Time1", "Europe/Berlin"},
		{"W. Europe Standard Time (2)", "Europe/Berlin"},
		{"W. Europe Standard Time-3", "Europe/Berlin"},
		{"W. Europe Standard Time custom", "Europe/Berlin"},
		{"W. Europe Daylight Time", "Europe/Berlin"},
		{"W. Europe Normalzeit", "Europe/Berlin"},
		{"GMT Summer Time 1", "Europe/London"},
		{"Pacific Time", "America/Los_Angeles"},
		{"Central Standard Time (Mexico)", "America/Mexico_City"},
		{"Central Standard Time (Mexico) 1", "America/Mexico_City"},
		{"Central Daylight Time (Mexico)", "America/Mexico_City"},
		{"US Eastern Standard Time", "America/Indianapolis"},
		{"Russia Time Zone 3", "Europe/Samara"},
		{"Russia Time Zone 10", "Asia/Srednekolymsk"},
		{"Russia Time Zone 10 2", "Asia/Srednekolymsk"},
		{"Kamchatka Standard Time", "Asia/Kamchatka"},
		{"Customized Time Zone", ""},
		{"Customized Time Zone 1", ""},

		{"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna", "Europe/Berlin"},
		{"Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna", "Europe/Berlin"},
		{"(GMT+01.00) Sarajevo/Warsaw/Zagreb", "Europe/Warsaw"},
		{"(GMT+01:00) Sarajevo, Skopje, Sofija, Vilnius, Warsaw, Zagreb", "Europe/Warsaw"},
		{"(UTC) Dublin, Edinburgh, Lisbon, London", "Europe/London"},
		{"(UTC+00:00) Dublin, Edinburgh, Lisbon, London 1", "Europe/London"},
		{"(GMT) Greenwich Mean Time : Dublin, Edinburgh, Lisbon, London", "Europe/London"},
		{"(GMT-05:00) Eastern Time (US & Canada)", "America/New_York"},
		{"(GMT-08:00) Pacific Time (US & Canada); Tijuana", "America/Los_Angeles"},
		{"(UTC-07:00) Chihuahua, La Paz, Mazatlan", "America/Mazatlan"},
		{"(UTC-04:00) Georgetown, La Paz, Manaus, San Juan", "America/La_Paz"},
		{"(UTC+05:30) Chennai, Kolkata, Mumbai, New Delhi", "Asia/Calcutta"},
		{"(UTC) Coordinated Universal Time", "Etc/UTC"},
		{"(UTC-11:00) Coordinated Universal Time-11", "Etc/GMT+11"},
		{"(UTC+01:00) Europe/Paris", "Europe/Paris"},

		{"(UTC+05:30) Somewhere", "UTC+5:30"},
		{"(UTC) Somewhere", "UTC"},
		{"(GMT+1) Somewhere", "UTC+1:00"},
		{"(UTC−03:00) Somewhere", "UTC-3:00"},
		{"GMT+0200", "UTC+2:00"},
		{"GMT +02:00", "UTC+2:00"},
		{"GMT-0330 (Nowhere Summer Time)", "UTC-3:30"},
		{"GMT-0330 (Newfoundland Daylight Time)", "America/St_Johns"},
		{"UTC+1", "UTC+1"},
		{"utc-9.5", "utc-9.5"},
		{"utc-9.5 x", ""},
		{"+01:00", "+01:00"},
		{"-0500", "UTC-5:00"},
		{"+0545", "UTC+5:45"},
		{"UTC+15", ""},
		{"GMT -0500 (Standard) / GMT -0400 (Daylight)", ""},
		{"Europe/Warsaw 1", "Europe/Warsaw"},
		{"America/Argentina/Salta 12", "America/Argentina/Salta"},
		{"US-Pacific", "US/Pacific"},
		{"Europe-Warsaw", "Europe/Warsaw"},
		{"PST", "America/Los_Angeles"},
		{"cest", "CET"},
		{"BST", "Europe/London"},
		{"IST", ""},
		{"Moon-Base", ""},
		{"", ""},
		{"Nowhere", ""},
		{"Berlin, Tokyo", ""},
		{"12", ""},
		{strings.Repeat("Berlin,", 10_000), "Europe/Berlin"},
	} {
		zone, err := knownZone(tt.name)
		if (err != nil) != (tt.want == "") || err == nil && zone.String() != tt.want {
			t.Errorf("%.80q: %s, %v; want %q", tt.name, zone, err, tt.want)
		}
	}
}

func TestAbbreviatedZonesAreThoseOfTheirPlaces(t *testing.T) {
	t.Parallel()
	for name, place := range abbreviatedZones {
		if zone, err := time.LoadLocation(place); err != nil {
			t.Error(err)
		} else if german := map[string]string{"MEZ": "CET", "MESZ": "CEST"}; !usesAbbreviation(zone, cmp.Or(german[name], name)) {
			t.Errorf("%s has no %s in 2026", place, name)
		}
	}
}

// usesAbbreviation reports whether a location's zone has the abbreviation name in the middle of some month of 2026.
func usesAbbreviation(place *time.Location, name string) bool {
	for month := time.January; month <= time.December; month++ {
		if is, _ := time.Date(2026, month, 15, 12, 0, 0, 0, place).Zone(); is == name {
			return true
		}
	}
	return false
}

// CLDR and the time zone database know every name in the tables of zones.
func TestTablesOfZonesAreWhole(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	for windows, iana := range windowsZones() {
		names[windows] = true
		if _, err := calendar.ParseZone(iana); err != nil {
			t.Errorf("%s: %s: %v", windows, iana, err)
		}
	}
	displayed := make(map[string]bool)
	for display, windows := range tableLines(windowsDisplayTable) {
		displayed[windows] = true
		if !names[windows] {
			t.Errorf("%s: CLDR has no %q", display, windows)
		}
	}
	for name := range names {
		if !displayed[name] {
			t.Errorf("%s has no display name", name)
		}
	}
}
