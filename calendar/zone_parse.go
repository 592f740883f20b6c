package calendar

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a server without a zone database answers the same
)

//go:generate go run ./internal/zonelist -o zones.txt

// zoneList has the names of the IANA time zones, one a line. Package time loads a zone by its exact name, and
// on some file systems in any case. So names are first looked up here.
//
//go:embed zones.txt
var zoneList string

var zoneNames = sync.OnceValue(func() map[string]string {
	names := make(map[string]string)
	for name := range strings.Lines(zoneList) {
		name = strings.TrimSpace(name)
		names[strings.ToLower(name)] = name
	}
	return names
})

// ZoneNames returns the names of the IANA time zones, sorted.
func ZoneNames() []string { return strings.Fields(zoneList) }

// locations caches loaded zones by name, because loading one reads and parses a file. It has at most as many
// entries as zoneList has lines.
var locations sync.Map // string -> *time.Location

const (
	maxZone   = 64 // bytes; the longest IANA name has 32
	maxOffset = 14 * time.Hour
)

// offsetPattern captures the sign, the hours, and the half or the minutes of UTC±h, UTC±h.5 and UTC±h:mm, then
// the same parts of ±hh:mm.
var offsetPattern = regexp.MustCompile(
	`^(?:(?i:UTC)([+-])([0-9]{1,2})(?:(\.5)|:([0-5][0-9]))?|([+-])([0-9]{2}):([0-5][0-9]))$`)

// ParseZone parses the time zone of an event (contract, section 5). It accepts an IANA name in any case and
// corrects the case; an alias stays an alias. It accepts UTC, UTC±h, UTC±h.5, UTC±h:mm and ±hh:mm within 14
// hours of UTC, and keeps their form. For anything else, also for "", it returns ErrZone.
func ParseZone(s string) (Zone, error) {
	if len(s) > maxZone {
		return Zone{}, ErrZone
	}
	if offset, ok := parseOffset(s); ok {
		if offset.Abs() > maxOffset {
			return Zone{}, ErrZone
		}
		return Zone{s, time.FixedZone(s, int(offset/time.Second))}, nil
	}
	name, ok := zoneNames()[asciiLower(s)]
	if !ok {
		return Zone{}, ErrZone
	}
	loc, err := loadLocation(name)
	if err != nil {
		return Zone{}, fmt.Errorf("%w: %w", ErrZone, err)
	}
	return Zone{name, loc}, nil
}

func loadLocation(name string) (*time.Location, error) {
	if loc, ok := locations.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	locations.Store(name, loc)
	return loc, nil
}

// parseOffset parses a zone such as UTC+2 or +02:00. It reports false for other forms. The caller checks the limit
// of 14 hours.
func parseOffset(s string) (offset time.Duration, ok bool) {
	m := offsetPattern.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	sign, hours, half, minutes := m[1]+m[5], m[2]+m[6], m[3], m[4]+m[7]
	if half != "" {
		minutes = "30"
	}
	if minutes == "" {
		minutes = "0"
	}
	h, err := strconv.Atoi(hours)
	if err != nil {
		return 0, false
	}
	mi, err := strconv.Atoi(minutes)
	if err != nil {
		return 0, false
	}
	offset = time.Duration(h)*time.Hour + time.Duration(mi)*time.Minute
	if sign == "-" {
		offset = -offset
	}
	return offset, true
}

// asciiLower converts ASCII letters to lower case. It does not change other letters, because the lower case of
// the Kelvin sign is k.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
