package importer

import (
	_ "embed"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/almanac-cal/almanac/calendar"
)

// knownZone returns the zone that a TZID means if the file has no VTIMEZONE for it: an IANA name, a Windows name, an
// offset or an abbreviation.
func knownZone(name string) (zone calendar.Zone, err error) {
	for _, find := range []func(string) (calendar.Zone, bool){ianaZone, windowsZone, offsetZone, abbreviatedZone} {
		if zone, ok := find(name); ok {
			return zone, nil
		}
	}
	return calendar.Zone{}, fmt.Errorf("time zone %q is unknown", abbreviate(name))
}

// ianaZone returns the zone with an IANA name, or false for other names. Some programs write paths that end in the
// name, such as /example.org/Tzfile/Europe/Warsaw or tzone://Microsoft/Utc.
func ianaZone(name string) (calendar.Zone, bool) {
	if zone, err := calendar.ParseZone(name); err == nil {
		return zone, !zone.IsOffset()
	}
	parts := strings.Split(name, "/")
	for n := 3; n > 0; n-- {
		if len(parts) > n && (n > 1 || parts[0] == "" || parts[1] == "") {
			zone, err := calendar.ParseZone(strings.Join(parts[len(parts)-n:], "/"))
			if err == nil && !zone.IsOffset() {
				return zone, true
			}
		}
	}
	return calendar.Zone{}, false
}

//go:embed windows_zones.txt
var windowsZoneTable string

//go:embed windows_display_names.txt
var windowsDisplayTable string

// tableLines yields the two columns of each line in an embedded table.
func tableLines(table string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(table) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !yield(name, value) {
				return
			}
		}
	}
}

// windowsZones yields the Windows time zone names with their IANA names, sorted.
func windowsZones() iter.Seq2[string, string] { return tableLines(windowsZoneTable) }

// windowsNames maps names of time zones that Windows programs write to IANA names. The keys have the form of
// foldZoneName.
type windowsNames struct {
	zones   map[string]string // by Windows name or display name
	places  map[string]string // by place in display names
	longest int               // words of the longest name
}

var windowsTable = sync.OnceValue(func() windowsNames {
	t := windowsNames{zones: make(map[string]string), places: make(map[string]string)}
	byName := make(map[string]string)
	add := func(name, iana string) {
		key := foldZoneName(name)
		t.zones[key] = iana
		t.longest = max(t.longest, len(strings.Fields(key)))
	}
	for name, iana := range windowsZones() {
		byName[name] = iana
		if !strings.HasPrefix(name, "UTC") { // UTC-11 and UTC+11 differ in the sign
			add(name, iana)
		}
	}
	for display, name := range tableLines(windowsDisplayTable) {
		add(display, byName[name])
		for _, place := range placesOf(display) {
			if t.places[place] == "" {
				t.places[place] = byName[name]
			}
		}
	}
	return t
})

// placesOf splits a display name, such as "Sarajevo, Skopje, Warsaw, Zagreb", into its places, in the form of
// foldZoneName.
func placesOf(display string) []string {
	places := strings.FieldsFunc(display, func(r rune) bool { return strings.ContainsRune(",;/", r) })
	for i, place := range places {
		places[i] = foldZoneName(place)
	}
	return places
}

// numberAfterWord matches the place in "Standard Time1" where a space lacks.
var numberAfterWord = regexp.MustCompile(`(\pL)([0-9])`)

// foldZoneName returns a zone's name in a form for comparison: its words and numbers in lower case, without
// punctuation.
func foldZoneName(name string) string {
	name = numberAfterWord.ReplaceAllString(strings.ToLower(name), "$1 $2")
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

// zoneEndings are the last words in a Windows zone's name in various languages, except "Standard Time".
var zoneEndings = []string{
	"daylight time", "summer time", "normalzeit", "standardzeit", "sommerzeit", "standaardtijd", "zomertijd", "normaltid",
	"standardtid", "sommartid", "sommertid", "time",
}

// windowsZone returns the zone with a name that Windows programs write. It returns false for other names. It reads:
//
//   - a Windows name ("W. Europe Standard Time"), with any words or numbers after it ("W. Europe Standard Time 1"),
//     and with an ending such as "Daylight Time" or "Normalzeit"
//   - an English display name, with or without its offset ("(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna")
//   - places of display names, if all are of one zone ("Sarajevo/Warsaw/Zagreb")
//   - an IANA name after an offset ("(GMT+01:00) Europe/Paris"), before a number ("Europe/Paris 1"), or with a hyphen
//     ("Europe-Paris")
func windowsZone(name string) (calendar.Zone, bool) {
	if m := regionPattern.FindStringSubmatch(name); m != nil {
		if zone, ok := ianaZone(m[1] + "/" + m[2]); ok {
			return zone, true
		}
	}
	if _, rest, ok := cutOffset(name); ok {
		name = rest
		if zone, ok := ianaZone(name); ok {
			return zone, true
		}
	}
	t := windowsTable()
	iana, ok := t.zoneOfName(strings.Fields(foldZoneName(name)))
	if !ok {
		iana, ok = t.zoneOfPlaces(placesOf(name))
	}
	if !ok {
		return calendar.Zone{}, false
	}
	zone, err := calendar.ParseZone(iana)
	return zone, err == nil
}

// zoneOfName returns the IANA zone whose name the words begin with, or false if there is none. The longest name wins.
// After a display name, only numbers may follow.
func (t windowsNames) zoneOfName(words []string) (iana string, ok bool) {
	for n := min(t.longest, len(words)); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		isDisplay := !strings.Contains(name, " time")
		if isDisplay && slices.ContainsFunc(words[n:], func(s string) bool { return strings.Trim(s, "0123456789") != "" }) {
			continue
		}
		if iana, ok = t.zones[name]; ok {
			return iana, true
		}
		for _, ending := range zoneEndings {
			region, rest, has := strings.Cut(name+" ", " "+ending+" ")
			if iana, ok = t.zones[strings.TrimSpace(region+" standard time "+rest)]; ok && has {
				return iana, true
			}
		}
	}
	return "", false
}

// zoneOfPlaces returns the IANA zone whose display name has all of the places, or false if there is none.
func (t windowsNames) zoneOfPlaces(places []string) (iana string, ok bool) {
	for i, place := range places {
		if zone := t.places[place]; zone == "" || i > 0 && zone != iana {
			return "", false
		}
		iana = t.places[place]
	}
	return iana, iana != ""
}

// offsetInName matches an offset from UTC at the start of the name of a zone: sign, hours and minutes.
var offsetInName = regexp.MustCompile(
	`^(?i:\((?:UTC|GMT)?\s*(?:([+−–-])\s*([0-9]{1,2})(?:[:.]?([0-5][0-9]))?)?\)|` +
		`(?:UTC|GMT)\s*([+−–-])\s*([0-9]{1,2})(?:[:.]?([0-5][0-9]))?\b|` +
		`([+−–-])([0-9]{2}):?([0-5][0-9])?\b)\s*`)

// cutOffset splits the offset off the start of a zone's name, such as "(UTC+05:30)" or "GMT+0200". It returns
// seconds east of UTC and the rest of the name, or false if there is no offset.
func cutOffset(name string) (offset int, rest string, ok bool) {
	m := offsetInName.FindStringSubmatch(name)
	if m == nil {
		return 0, name, false
	}
	sign, hours, minutes := m[1]+m[4]+m[7], m[2]+m[5]+m[8], m[3]+m[6]+m[9]
	if minutes == "" {
		minutes = "00"
	}
	if sign != "" {
		if sign != "+" {
			sign = "-"
		}
		if offset, ok = parseUTCOffset(sign + hours + ":" + minutes); !ok {
			return 0, name, false
		}
	}
	return offset, name[len(m[0]):], true
}

// offsetZone returns the fixed zone for a name that begins with an offset from UTC. It returns false if another
// offset follows.
func offsetZone(name string) (calendar.Zone, bool) {
	if zone, err := calendar.ParseZone(name); err == nil {
		return zone, true
	}
	if strings.EqualFold(name, "Z") {
		return calendar.UTC(), true
	}
	offset, rest, ok := cutOffset(name)
	if !ok || strings.ContainsAny(rest, "+−") || strings.HasPrefix(rest, ".") || strings.Contains(rest, "GMT") {
		return calendar.Zone{}, false
	}
	return fixedZone(offset)
}

// regionPattern matches an IANA name with the number of a copy, or with a hyphen between region and place.
var regionPattern = regexp.MustCompile(`^([A-Za-z]{2,})[/-]([A-Za-z_/-]+?)(?: \d+)?$`)

// abbreviatedZones has the IANA names of the places whose clock an abbreviation names. Those of North America are in RFC
// 5322, section 4.3; the others are abbreviations of one zone, or of zones with one clock, in the time zone database.
// Abbreviations that are IANA names, such as EST and CET, are not in it, and none with several meanings, such as IST.
var abbreviatedZones = map[string]string{
	"EDT": "America/New_York", "CST": "America/Chicago", "CDT": "America/Chicago", "MDT": "America/Denver",
	"PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "AKST": "America/Anchorage", "AKDT": "America/Anchorage",
	"BST": "Europe/London", "WEST": "WET", "CEST": "CET", "EEST": "EET", "MEZ": "CET", "MESZ": "CET", "MSK": "Europe/Moscow",
	"SAST": "Africa/Johannesburg", "JST": "Asia/Tokyo", "KST": "Asia/Seoul", "AWST": "Australia/Perth",
	"ACDT": "Australia/Adelaide", "AEDT": "Australia/Sydney",
	"NZST": "Pacific/Auckland", "NZDT": "Pacific/Auckland",
}

// abbreviatedZone returns the zone of an abbreviation in abbreviatedZones, such as CEST. It returns false for others.
func abbreviatedZone(name string) (calendar.Zone, bool) {
	zone, err := calendar.ParseZone(abbreviatedZones[strings.ToUpper(name)])
	return zone, err == nil
}
