package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

// zoneWriter writes a time zone as a VTIMEZONE in the style of one program.
type zoneWriter struct {
	program string
	tzid    string // value of TZID
	named   string // parameter TZID
	// write returns the observances, or "" if the program cannot write this zone.
	write func(*time.Location) string
}

// firstYear and lastYear are the years in which zones are compared.
const (
	firstYear = 2015
	lastYear  = 2036
)

// transition is a change of the offset of a zone.
type transition struct {
	at       time.Time
	from, to int // offsets in seconds
}

// transitions returns the changes of a zone's offset in the years that the tests compare.
func transitions(loc *time.Location) (out []transition) {
	at := time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC)
	for {
		_, from := at.In(loc).Zone()
		_, at = at.In(loc).ZoneBounds()
		if at.IsZero() || at.Year() > lastYear {
			return out
		}
		if _, to := at.In(loc).Zone(); to != from {
			out = append(out, transition{at.UTC(), from, to})
		}
	}
}

// local returns the wall time of a transition on the clock before it.
func (c transition) local() time.Time { return c.at.Add(time.Duration(c.from) * time.Second) }

// rule returns the yearly RRULE of a transition, on the same weekday of its month.
func (c transition) rule() string {
	t := c.local()
	nth := (t.Day()-1)/7 + 1
	if t.AddDate(0, 0, 7).Month() != t.Month() {
		nth = -1
	}
	return fmt.Sprintf("BYDAY=%d%s;BYMONTH=%d", nth, strings.ToUpper(t.Weekday().String()[:2]), t.Month())
}

// observanceText returns a STANDARD or DAYLIGHT component that begins with a transition and has the given further
// lines.
func observanceText(c transition, start string, lines ...string) string {
	kind := "STANDARD"
	if c.to > c.from {
		kind = "DAYLIGHT"
	}
	offset := func(seconds int) string { return time.Unix(0, 0).In(time.FixedZone("", seconds)).Format("-0700") }
	return "BEGIN:" + kind + "\nTZOFFSETFROM:" + offset(c.from) + "\nTZOFFSETTO:" + offset(c.to) + "\nDTSTART:" + start + "\n" +
		strings.Join(append(lines, ""), "\n") + "END:" + kind + "\n"
}

// yearlyRules returns a function that writes a zone with one rule for each of its two yearly transitions since 2020.
// The arguments start and rule are DTSTART and RRULE as a program writes them. For a zone without transitions it writes
// one observance.
func yearlyRules(start func(transition) string, rule string) func(*time.Location) string {
	return func(loc *time.Location) string {
		all := transitions(loc)
		if len(all) == 0 {
			_, offset := time.Date(firstYear, 1, 1, 0, 0, 0, 0, loc).Zone()
			c := transition{time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), offset, offset}
			return observanceText(c, start(c))
		}
		rules := make(map[string]transition)
		for _, c := range all {
			rules[fmt.Sprint(c.rule(), c.from, c.to, c.local().Format("15:04"))] = c
		}
		if len(rules) != 2 || len(all) != 2*(lastYear-firstYear+1) {
			return ""
		}
		text := ""
		for _, key := range slices.Sorted(maps.Keys(rules)) {
			text += observanceText(rules[key], start(rules[key]), rule+rules[key].rule())
		}
		return text
	}
}

// writeEras writes one observance with UNTIL for each period in which a zone's transitions follow one rule. Apple
// writes zones so.
func writeEras(loc *time.Location) string {
	all := transitions(loc)
	if len(all) == 0 {
		return yearlyRules(func(transition) string { return "19700101T000000" }, "")(loc)
	}
	text := ""
	byRule := make(map[string][]transition)
	var order []string
	for _, c := range all {
		key := fmt.Sprint(c.rule(), c.from, c.to, c.local().Format("15:04"))
		if list := byRule[key]; len(list) > 0 && list[len(list)-1].local().Year() != c.local().Year()-1 {
			text += eraText(list)
			byRule[key] = nil
		} else if len(list) == 0 {
			order = append(order, key)
		}
		byRule[key] = append(byRule[key], c)
	}
	for _, key := range order {
		text += eraText(byRule[key])
		byRule[key] = nil
	}
	return text
}

func eraText(list []transition) string {
	if len(list) == 0 {
		return ""
	}
	const layout = "20060102T150405"
	first, last := list[0], list[len(list)-1]
	if len(list) == 1 {
		return observanceText(first, first.local().Format(layout))
	}
	return observanceText(first, first.local().Format(layout),
		"RRULE:FREQ=YEARLY;UNTIL="+last.at.UTC().Format(layout)+"Z;"+first.rule())
}

// listTransitions writes all transitions of a zone as RDATEs, in one observance for each pair of offsets.
func listTransitions(loc *time.Location) string {
	const layout = "20060102T150405"
	text := ""
	byOffsets := make(map[string][]transition)
	for _, c := range transitions(loc) {
		pair := fmt.Sprint(c.from, c.to)
		byOffsets[pair] = append(byOffsets[pair], c)
	}
	for _, pair := range slices.Sorted(maps.Keys(byOffsets)) {
		list := byOffsets[pair]
		var dates []string
		for _, c := range list {
			dates = append(dates, c.local().Format(layout))
		}
		text += observanceText(list[0], dates[0], "RDATE:"+strings.Join(dates, ","))
	}
	if text == "" {
		return writeEras(loc)
	}
	return text
}

// startOf1970 returns the first onset of a rule in 1970, as Google and Thunderbird write it.
func startOf1970(c transition) string {
	t := c.local()
	first := time.Date(1970, t.Month(), 1, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	for first.Weekday() != t.Weekday() {
		first = first.AddDate(0, 0, 1)
	}
	return first.AddDate(0, 0, 7*((t.Day()-1)/7)).Format("20060102T150405")
}

// startWithClock returns a function that writes DTSTART with the given day and the time of day of a transition.
func startWithClock(day string) func(transition) string {
	return func(c transition) string { return day + c.local().Format("T150405") }
}

var zoneWriters = []zoneWriter{
	{"Outlook", "Office", "Office", yearlyRules(startWithClock("16010101"), "RRULE:FREQ=YEARLY;")},
	{
		"Outlook, a name with signs", `(UTC+99:00) Here\, There\; Elsewhere`, `"(UTC+99:00) Here, There; Elsewhere"`,
		yearlyRules(startWithClock("16010101"), "RRULE:FREQ=YEARLY;"),
	},
	{"Exchange", "Customized Time Zone 1", "customized time  zone 1", yearlyRules(startWithClock("00010101"), "RRULE:FREQ=YEARLY;INTERVAL=1;")},
	{"Google", "Office", "Office", yearlyRules(startOf1970, "RRULE:FREQ=YEARLY;")},
	{"Apple", "Office", "Office", writeEras},
	{"Thunderbird", "/example.org/20260101_1/Office", "/example.org/20260101_1/Office", yearlyRules(startOf1970, "RRULE:FREQ=YEARLY;")},
	{"Nextcloud", "Office", "Office", listTransitions},
}

// distinctZones returns one zone for each different clock that the time zone database has since firstYear.
func distinctZones(t *testing.T) (out []calendar.Zone) {
	seen := make(map[string]bool)
	for _, name := range calendar.ZoneNames() {
		zone, err := calendar.ParseZone(name)
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprint(zone.Wall(time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC)), transitions(zone.Location()))
		if !seen[key] {
			seen[key] = true
			out = append(out, zone)
		}
	}
	return out
}

// sampleInstants returns instants in each season and around each transition of the years that the tests compare. It
// leaves out the second of two hours with the same wall times.
func sampleInstants(zone calendar.Zone) (out []time.Time) {
	var all []time.Time
	for at := time.Date(firstYear+1, 1, 3, 5, 0, 0, 0, time.UTC); at.Year() < lastYear; at = at.Add(61*24*time.Hour + 7*time.Hour) {
		all = append(all, at)
	}
	for _, c := range transitions(zone.Location()) {
		if year := c.at.Year(); year > firstYear && year < lastYear {
			all = append(all, c.at.Add(-3*time.Hour), c.at.Add(-time.Second), c.at, c.at.Add(3*time.Hour))
		}
	}
	for _, at := range all {
		if zone.Instant(zone.Wall(at)).Equal(at) {
			out = append(out, at)
		}
	}
	return out
}

// TestZonesOfFilesAreTrue checks that wall times in a VTIMEZONE mean the instants that package time computes, for
// each program's style.
func TestZonesOfFilesAreTrue(t *testing.T) {
	t.Parallel()
	zones := distinctZones(t)
	if len(zones) < 80 {
		t.Fatalf("%d zones", len(zones))
	}
	for _, w := range zoneWriters {
		t.Run(w.program, func(t *testing.T) {
			t.Parallel()
			written := 0
			for _, zone := range zones {
				text := w.write(zone.Location())
				if text == "" {
					continue
				}
				written++
				instants := sampleInstants(zone)
				var file strings.Builder
				file.WriteString("BEGIN:VTIMEZONE\nTZID:" + w.tzid + "\n" + text + "END:VTIMEZONE\n")
				for n, at := range instants {
					file.WriteString(vevent(fmt.Sprint(n), "DTSTART;TZID="+w.named+":"+zone.Wall(at).Format("20060102T150405")))
				}
				cal := readICal(t, file.String())
				if len(cal.Events) != len(instants) {
					t.Fatalf("%s: %d events of %d\n%s", zone, len(cal.Events), len(instants), file.String())
				}
				for n, e := range cal.Events {
					if !e.Span.StartsAt().Equal(instants[n]) {
						t.Errorf("%s: %s is %s %s, want %s\n%s", zone, zone.Wall(instants[n]), e.Span.Start, e.Span.Zone,
							instants[n].Format(time.DateTime), text)
						break
					}
				}
			}
			if written == 0 {
				t.Error("no zone")
			}
		})
	}
}

// TestSeriesInZonesOfFilesAreTrue checks that dates of a series in a VTIMEZONE mean the instants that package time
// computes. The series must keep its rule, because an IANA zone has the same clock.
func TestSeriesInZonesOfFilesAreTrue(t *testing.T) {
	t.Parallel()
	for _, w := range zoneWriters {
		t.Run(w.program, func(t *testing.T) {
			t.Parallel()
			for _, zone := range distinctZones(t) {
				text := w.write(zone.Location())
				if text == "" {
					continue
				}
				start := calendar.WallAt(2026, 2, 3, 12, 30, 0)
				cal := readICal(t, "BEGIN:VTIMEZONE\nTZID:"+w.tzid+"\n"+text+"END:VTIMEZONE\n"+
					vevent("a", "DTSTART;TZID="+w.named+":"+start.Format("20060102T150405"), "RRULE:FREQ=WEEKLY;COUNT=90"))
				if len(cal.Events) != 1 || cal.Events[0].Series == nil {
					t.Fatalf("%s: %s", zone, describeCalendar(cal))
				}
				s := cal.Events[0].Series.Schedule
				occurrences, err := s.Expand(calendar.WallAt(2040, 1, 1, 0, 0, 0), 100)
				if err != nil || len(occurrences) != 90 || s.Rule.IsZero() {
					t.Fatalf("%s: %d dates, rule %q, %v", zone, len(occurrences), s.Rule, err)
				}
				for n, o := range occurrences {
					want := time.Date(2026, 2, 3+7*n, 12, 30, 0, 0, zone.Location())
					if !o.StartsAt().Equal(want) {
						t.Errorf("%s as %s: date %d is %s, want %s", zone, s.Zone, n, o.StartsAt(), want)
						break
					}
				}
			}
		})
	}
}

// ownZone returns a VTIMEZONE that alternates between UTC+1 and UTC+2. standard and daylight are parts of its yearly
// rules, such as "BYDAY=-1SU;BYMONTH=10".
func ownZone(tzid string, standard, daylight string) string {
	return "BEGIN:VTIMEZONE\nTZID:" + tzid + "\n" +
		"BEGIN:STANDARD\nDTSTART:16010101T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nRRULE:FREQ=YEARLY;" + standard + "\nEND:STANDARD\n" +
		"BEGIN:DAYLIGHT\nDTSTART:16010101T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:FREQ=YEARLY;" + daylight + "\nEND:DAYLIGHT\n" +
		"END:VTIMEZONE\n"
}

// europeanZone returns a VTIMEZONE with the European Union's rules.
func europeanZone(tzid string) string {
	return ownZone(tzid, "BYDAY=-1SU;BYMONTH=10", "BYDAY=-1SU;BYMONTH=3")
}

func strangeZone(tzid string) string {
	return ownZone(tzid, "BYDAY=1TU;BYMONTH=8", "BYDAY=1TU;BYMONTH=5")
}

func fixedClock(tzid, kind, from, to, start string) string {
	return "BEGIN:VTIMEZONE\nTZID:" + tzid + "\nBEGIN:" + kind + "\nDTSTART:" + start + "\nTZOFFSETFROM:" + from +
		"\nTZOFFSETTO:" + to + "\nEND:" + kind + "\nEND:VTIMEZONE\n"
}

func TestReadsZonesOfFiles(t *testing.T) {
	t.Parallel()
	const eras = "BEGIN:VTIMEZONE\nTZID:Office\n" +
		"BEGIN:STANDARD\nDTSTART:16711029T020000\nTZOFFSETFROM:-0400\nTZOFFSETTO:-0500\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\n" +
		"BEGIN:DAYLIGHT\nDTSTART:16710404T020000\nTZOFFSETFROM:-0500\nTZOFFSETTO:-0400\nRRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=4\nEND:DAYLIGHT\n" +
		"BEGIN:STANDARD\nDTSTART:20071104T020000\nTZOFFSETFROM:-0400\nTZOFFSETTO:-0500\nRRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11\nEND:STANDARD\n" +
		"BEGIN:DAYLIGHT\nDTSTART:20070311T020000\nTZOFFSETFROM:-0500\nTZOFFSETTO:-0400\nRRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3\nEND:DAYLIGHT\n" +
		"END:VTIMEZONE\n"
	starts := func(tzid string, walls ...string) (text string) {
		for _, w := range walls {
			text += vevent(w, "DTSTART;TZID="+tzid+":"+w)
		}
		return text
	}
	for _, tt := range []struct {
		name, file string
		want       []string // start in UTC, and zone
		notice     string   // part of the notices; "" means that there are none
	}{
		{"rules before and since 2007", eras + starts("Office", "20060315T140000", "20270610T140000", "20270315T140000", "20271215T140000"), []string{
			"2006-03-15 19:00:00 America/New_York", "2027-06-10 18:00:00 America/New_York",
			"2027-03-15 18:00:00 America/New_York", "2027-12-15 19:00:00 America/New_York",
		}, "its clock is that of America/New_York"},
		{
			"the latest onset counts, even that of an older rule", eras + starts("Office", "20271030T140000", "20271103T140000"),
			[]string{"2027-10-30 18:00:00 America/New_York", "2027-11-03 19:00:00 UTC-5:00"},
			`the clock of time zone "Office" differs from that of America/New_York at some times`,
		},
		{
			"rules of no IANA zone", strangeZone("Office") + starts("Office", "20270503T120000", "20270504T120000", "20270802T120000", "20270803T120000", "20271201T120000"),
			[]string{
				"2027-05-03 11:00:00 UTC+1:00", "2027-05-04 10:00:00 UTC+2:00", "2027-08-02 10:00:00 UTC+2:00",
				"2027-08-03 11:00:00 UTC+1:00", "2027-12-01 11:00:00 UTC+1:00",
			},
			"no IANA zone has the clock",
		},
		{
			"a time that the clock skips, and one that it shows twice", strangeZone("Office") + starts("Office", "20270504T023000", "20270803T023000"),
			[]string{"2027-05-04 01:30:00 ", "2027-08-03 00:30:00 "},
			"Office",
		},
		{
			"a VTIMEZONE after its events", starts("Office", "20270701T120000", "20271201T120000") + europeanZone("Office"),
			[]string{"2027-07-01 10:00:00 Europe/Budapest", "2027-12-01 11:00:00 Europe/Budapest"},
			"Europe/Budapest",
		},
		{
			"escaped and quoted", europeanZone(`A\, B\; "C" \\ D`) + starts(`"a, b; 'C' \\ D"`, "20270701T120000"),
			[]string{"2027-07-01 12:00:00 UTC"},
			"is unknown",
		},
		{
			"escaped in both", europeanZone(`(UTC+09:00) A\, B\; C`) + starts(`"(UTC+09:00) A\, B\; C"`, "20270701T120000"),
			[]string{"2027-07-01 10:00:00 Europe/Budapest"},
			"Europe/Budapest",
		},
		{
			"quoted in VTIMEZONE, with other spaces", europeanZone(`"The  Office "`) + starts("the office", "20270701T120000"),
			[]string{"2027-07-01 10:00:00 Europe/Budapest"},
			"Europe/Budapest",
		},
		{
			"signs without quotes", europeanZone("(UTC+09:00) A\\, B") + starts("(UTC+09:00) A, B", "20270701T120000"),
			[]string{"2027-07-01 10:00:00 Europe/Budapest"},
			"Europe/Budapest",
		},
		{
			"a location", strings.Replace(strangeZone("Office"), "\n", "\nX-LIC-LOCATION:Europe/Rome\n", 1) + starts("Office", "20270401T120000"),
			[]string{"2027-04-01 10:00:00 Europe/Rome"},
			"",
		},
		{
			"an IANA name whose VTIMEZONE disagrees", strangeZone("Europe/Warsaw") + starts("Europe/Warsaw", "20270401T120000"),
			[]string{"2027-04-01 10:00:00 Europe/Warsaw"},
			"",
		},
		{
			"a Windows name whose VTIMEZONE agrees", europeanZone("Romance Standard Time 1") + starts("Romance Standard Time 1", "20270401T120000"),
			[]string{"2027-04-01 10:00:00 Europe/Paris"},
			"",
		},
		{
			"a Windows name whose VTIMEZONE disagrees",
			strangeZone("Romance Standard Time 1") + starts("Romance Standard Time 1", "20270401T120000", "20270601T120000"),
			[]string{"2027-04-01 11:00:00 ", "2027-06-01 10:00:00 "},
			"Romance Standard Time 1",
		},
		{
			"a name with an offset and a VTIMEZONE", europeanZone("UTC+1") + starts("UTC+1", "20270701T120000"),
			[]string{"2027-07-01 10:00:00 Europe/Budapest"},
			"Europe/Budapest",
		},
		{
			"two of the same TZID",
			fixedClock("Office", "STANDARD", "+0100", "+0200", "20250101T000000") + fixedClock("office", "STANDARD", "+0200", "+0530", "20270601T000000") +
				starts("Office", "20270301T120000", "20270701T120000"),
			[]string{"2027-03-01 10:00:00 ", "2027-07-01 06:30:00 "},
			"Office",
		},
		{
			"onsets in another form", fixedClock("Office", "STANDARD", "+0600", "+0530", "2027-06-30T18:00:00") +
				starts("Office", "20270701T120000", "20270630T120000"),
			[]string{"2027-07-01 06:30:00 UTC+5:30", "2027-06-30 06:00:00 UTC+6:00"},
			"differs from that of UTC+5:30",
		},
		{
			"STANDARD alone", fixedClock("Office", "STANDARD", "+0600", "+0530", "00010101T000000") + starts("Office", "20270701T120000"),
			[]string{"2027-07-01 06:30:00 UTC+5:30"},
			"",
		},
		{
			"DAYLIGHT alone", fixedClock("Office", "DAYLIGHT", "+0100", "+0200", "20270328T020000") + starts("Office", "20270701T120000", "20270328T010000"),
			[]string{"2027-07-01 10:00:00 UTC+2:00", "2027-03-28 00:00:00 UTC+1:00"},
			"differs from that of UTC+2:00",
		},
		{
			"an observance without TZOFFSETTO beside another", strings.Replace(fixedClock("Office", "STANDARD", "+0200", "+0300", "20270101T000000"),
				"END:VTIMEZONE", "BEGIN:DAYLIGHT\nDTSTART:20270201T000000\nEND:DAYLIGHT\nEND:VTIMEZONE", 1) + starts("Office", "20270701T120000"),
			[]string{"2027-07-01 09:00:00 UTC+3:00"},
			"",
		},
		{
			"an observance without a start", strings.Replace(fixedClock("Office", "STANDARD", "+0200", "+0300", ""), "DTSTART:\n", "", 1) +
				starts("Office", "20270701T120000"),
			[]string{"2027-07-01 09:00:00 UTC+3:00"},
			"",
		},
		{
			"a VTIMEZONE without observances", "BEGIN:VTIMEZONE\nTZID:Tokyo Standard Time\nEND:VTIMEZONE\n" + starts("Tokyo Standard Time", "20270701T120000"),
			[]string{"2027-07-01 03:00:00 Asia/Tokyo"},
			"",
		},
		{
			"local mean time", fixedClock("Office", "STANDARD", "+012400", "+012400", "16010101T000000") + starts("Office", "20270701T120000"),
			[]string{"2027-07-01 10:36:00 UTC+1:24"},
			"",
		},
		{
			"an offset with seconds", fixedClock("Office", "STANDARD", "+001730", "+001730", "16010101T000000") + starts("Office", "20270701T120000"),
			[]string{"2027-07-01 11:42:30 UTC"},
			"Office",
		},
		{
			"an offset that no zone has", fixedClock("Office", "STANDARD", "+1500", "+1500", "16010101T000000") + starts("Office", "20270701T120000"),
			[]string{"2027-06-30 21:00:00 UTC"},
			"Office",
		},
		{
			"the zone of the calendar is a VTIMEZONE",
			"X-WR-TIMEZONE:Office\n" + strangeZone("Office") + vevent("a", "DTSTART:20270401T120000") + vevent("b", "DTSTART:20270601T120000"),
			[]string{"2027-04-01 11:00:00 ", "2027-06-01 10:00:00 "},
			"Office",
		},
		{
			"the zone of the calendar is that of Windows", "X-WR-TIMEZONE:(UTC+09:00) Osaka\\, Sapporo\\, Tokyo\n" + vevent("a", "DTSTART:20270401T120000"),
			[]string{"2027-04-01 03:00:00 Asia/Tokyo"},
			"taken as those of Asia/Tokyo",
		},
		{
			"the zone of the calendar is unknown", "X-WR-TIMEZONE:Mars\n" + vevent("a", "DTSTART:20270401T120000"),
			[]string{"2027-04-01 12:00:00 UTC"},
			`X-WR-TIMEZONE: time zone "Mars" is unknown; UTC is taken`,
		},
		{
			"an unknown zone is that of the calendar", "X-WR-TIMEZONE:Asia/Tokyo\n" + starts("Mars", "20270401T120000"),
			[]string{"2027-04-01 03:00:00 Asia/Tokyo"},
			`time zone "Mars" is unknown; its times are taken as those of Asia/Tokyo`,
		},
		{
			"an offset in the name", starts(`"(UTC+05:30) Nowhere"`, "20270401T120000") + starts("GMT+0200", "20270401T130000"),
			[]string{"2027-04-01 06:30:00 UTC+5:30", "2027-04-01 11:00:00 UTC+2:00"},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cal := readICal(t, tt.file)
			var got []string
			for _, e := range cal.Events {
				got = append(got, e.Span.StartsAt().Format(calendar.Layout)+" "+e.Span.Zone.String())
			}
			ok := len(got) == len(tt.want) && len(cal.Problems) == 0
			for i := range tt.want {
				ok = ok && strings.HasPrefix(got[i], tt.want[i])
			}
			notices := strings.Join(cal.Notices, "\n")
			if !ok || !strings.Contains(notices, tt.notice) || tt.notice == "" && notices != "" {
				t.Errorf("got %q\nwant %q\n%s", got, tt.want, describeCalendar(cal))
			}
		})
	}
}

func TestReadsSeriesInZonesOfFiles(t *testing.T) {
	t.Parallel()
	const clock = `the clock of time zone "Office"`
	for _, tt := range []struct{ name, file, want string }{
		{
			"at dates where an IANA zone agrees",
			strangeZone("Office") + vevent("a", "DTSTART;TZID=Office:20270504T100000", "DTEND;TZID=Office:20270504T110000",
				"RRULE:FREQ=WEEKLY;UNTIL=20270727T080000Z", "EXDATE;TZID=Office:20270511T100000"),
			`
			ical:a | Choir | 2027-05-04 10:00:00 – 2027-05-04 11:00:00 Europe/Budapest
			  rule: FREQ=WEEKLY;UNTIL=20270727T100000
			  not: 2027-05-11 10:00:00
			note: time zone "Office" is unknown; its clock is that of Europe/Budapest, which is taken`,
		},
		{
			"with one offset",
			strangeZone("Office") + vevent("a", "DTSTART;TZID=Office:20270803T100000", "RRULE:FREQ=DAILY;UNTIL=20280501T090000Z") +
				vevent("b", "DTSTART;TZID=Office:20270504T100000"),
			`
			ical:a | Choir | 2027-08-03 10:00:00 – 2027-08-03 10:00:00 UTC+1:00
			  rule: FREQ=DAILY;UNTIL=20280501T100000
			ical:b | Choir | 2027-05-04 10:00:00 – 2027-05-04 10:00:00 UTC+2:00
			note: no IANA zone has ` + clock + `; its times are taken with their offset from UTC`,
		},
		{
			"across a change of offset",
			strangeZone("Office") + vevent("a", "DTSTART;TZID=Office:20270426T100000", "DTEND;TZID=Office:20270426T110000",
				"RRULE:FREQ=WEEKLY;UNTIL=20270510T080000Z", "EXDATE;TZID=Office:20270503T100000"),
			`
			ical:a | Choir | 2027-04-26 10:00:00 – 2027-04-26 11:00:00 UTC+1:00
			  rule:
			  also: 2027-04-26 10:00:00
			  also: 2027-05-03 10:00:00
			  also: 2027-05-10 09:00:00
			  not: 2027-05-03 10:00:00
			note: event 1 (UID a): RRULE: no IANA zone has ` + clock + ` at its dates; taken as 3 listed dates
			note: no IANA zone has ` + clock + `; its times are taken with their offset from UTC`,
		},
		{
			"with a start of no rule, a further date and a changed one",
			strangeZone("Office") + vevent("a", "DTSTART;TZID=Office:20270425T100000", "RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=4",
				"RDATE;TZID=Office:20270601T120000") +
				vevent("a", "RECURRENCE-ID;TZID=Office:20270510T100000", "DTSTART;TZID=Office:20270511T100000"),
			`
			ical:a | Choir | 2027-04-25 10:00:00 – 2027-04-25 10:00:00 UTC+1:00
			  rule:
			  also: 2027-04-25 10:00:00
			  also: 2027-04-26 10:00:00
			  also: 2027-05-03 10:00:00
			  also: 2027-05-10 09:00:00
			  also: 2027-06-01 11:00:00
			  on 2027-05-10 09:00:00:  | Choir | 2027-05-11 10:00:00 – 2027-05-11 10:00:00 UTC+2:00
			note: event 1 (UID a): RRULE: no IANA zone has ` + clock + ` at its dates; taken as 4 listed dates
			note: no IANA zone has ` + clock + `; its times are taken with their offset from UTC`,
		},
		{
			"without an end",
			strangeZone("Office") + vevent("a", "DTSTART;TZID=Office:20200426T100000", "RRULE:FREQ=DAILY"),
			`
			ical:a | Choir | 2026-11-22 10:00:00 – 2026-11-22 10:00:00 UTC+1:00
			  rule:
			  dates: 1000
			note: event 1 (UID a): RRULE: no IANA zone has ` + clock + ` at its dates; taken as 1000 listed dates; ` +
				`those before 2026-11-22 10:00:00 are left out; those after 2029-08-17 10:00:00 are left out
			note: no IANA zone has ` + clock + `; its times are taken with their offset from UTC`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := describeCalendar(readICal(t, tt.file))
			if lines := strings.Split(got, "\n"); len(lines) > 100 {
				isDate := func(line string) bool { return strings.HasPrefix(line, "  also: ") }
				short := slices.DeleteFunc(slices.Clone(lines), isDate)
				got = strings.Join(slices.Insert(short, 2, fmt.Sprintf("  dates: %d", len(lines)-len(short))), "\n")
			}
			want := strings.TrimSpace(strings.ReplaceAll(tt.want, "\n\t\t\t", "\n"))
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
