package importer

import (
	"html"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

func TestKeepsFlawedEventsOfICal(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{
			"an end that is none",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "DTEND:None") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): DTEND: "None" is no date; left out
			`,
		},
		{
			"an empty end",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "DTEND:") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): DTEND: "" is no date; left out
			`,
		},
		{
			"a duration beside an end that is none",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "DTEND:?", "DURATION:PT1H") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 10:00:00 UTC
			note: event 1 (UID a): DTEND: "?" is no date; left out
			`,
		},
		{
			"an end in an unknown zone",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "DTEND;TZID=Mars:20270708T100000") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 10:00:00 UTC
			note: time zone "Mars" is unknown; its times are taken as those of UTC
			`,
		},
		{
			"a start in an unknown zone",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART;TZID=Mars:20270708T090000") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: time zone "Mars" is unknown; its times are taken as those of UTC
			`,
		},
		{
			"a start in an abbreviated zone",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART;TZID=PST:20270708T090000") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 America/Los_Angeles
			note: time zone "PST" is taken as America/Los_Angeles
			`,
		},
		{
			"a start in a zone with an escape that is none",
			"BEGIN:VCALENDAR\n" + vevent("a", `DTSTART;TZID=Europe\/Warsaw:20270708T090000`) + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 Europe/Warsaw
			`,
		},
		{
			"a start with an hour alone",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T09", "DTEND:20270708T11Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 11:00:00 UTC
			note: events with times of no zone: 1; their times are taken as those of UTC
			`,
		},
		{
			"a start of several dates",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z,20270709T090000Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): DTSTART: more than one date; the first is taken
			`,
		},
		{
			"a start with a time that is none",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART;TZID=Europe/Warsaw:20270708T256000", "DTEND;TZID=Europe/Warsaw:20270709T120000") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 00:00:00 – 2027-07-09 23:59:59 UTC all day
			note: event 1 (UID a): DTSTART: the time of "20270708T256000" cannot be read; the event lasts all day
			`,
		},
		{
			"a start on a day that is none",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270230T100000") + "END:VCALENDAR\n",
			`
			not imported: event 1 (UID a): DTSTART: "20270230T100000" is no date
			`,
		},
		{
			"a state in the spelling of America",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "STATUS:Canceled") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  event status: canceled
			`,
		},
		{
			"an address without its scheme",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "URL:www.example.org") + vevent("b", "DTSTART:20270708T090000Z", "URL:choir.example.org/jazz") +
				vevent("c", "DTSTART:20270708T090000Z", "URL:javascript:www.example.org/") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  website: https://www.example.org
			ical:b | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  website: https://choir.example.org/jazz
			ical:c | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): URL: https:// is added
			note: event 2 (UID b): URL: https:// is added
			note: event 3 (UID c): URL: not an address of the web; left out
			`,
		},
		{
			"a description with unescaped line breaks before words of the format",
			"BEGIN:VCALENDAR\n" + vevent("a", "DESCRIPTION:Doors open.", "Begin: 18:00", "End: late", "DTSTART:20270708T090000Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  description: Doors open.⏎Begin: 18:00⏎End: late
			note: event 1 (UID a): not a property; taken as part of DESCRIPTION
			`,
		},
		{
			"a time that ends with a day",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "DTEND;VALUE=DATE:20270709") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-09 00:00:00 UTC
			`,
		},
		{
			"a time that ends with its own day",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "DTEND;VALUE=DATE:20270708") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): DTEND: end before start; left out
			`,
		},
		{
			"days that end with midnight elsewhere",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART;VALUE=DATE:20270708", "DTEND:20270709T220000Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 00:00:00 – 2027-07-09 23:59:59 UTC all day
			`,
		},
		{
			"days that end with a time",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART;VALUE=DATE:20270708", "DTEND;TZID=Europe/Warsaw:20270709T180000") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 00:00:00 – 2027-07-09 23:59:59 UTC all day
			`,
		},
		{
			"days that end before they begin",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART;VALUE=DATE:20270708", "DTEND;VALUE=DATE:20270707") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 00:00:00 – 2027-07-08 23:59:59 UTC all day
			note: event 1 (UID a): DTEND: end before start; left out
			`,
		},
		{
			"days of a negative duration",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART;VALUE=DATE:20270708", "DURATION:-P1D") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 00:00:00 – 2027-07-08 23:59:59 UTC all day
			note: event 1 (UID a): DURATION: "-P1D" is negative; left out
			`,
		},
		{
			"a malformed duration",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "DURATION:1H") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): DURATION: "1H" is no duration; left out
			`,
		},
		{
			"a leap second",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T235960Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 23:59:59 – 2027-07-08 23:59:59 UTC
			`,
		},
		{
			"the end of a day",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T240000Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-09 00:00:00 – 2027-07-09 00:00:00 UTC
			`,
		},
		{
			"white space",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART: 20270708 T 09 00 00 Z ", "DTEND: 2027 0708T100000z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 10:00:00 UTC
			`,
		},
		{
			"dates of ISO 8601",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:2027-07-08T09:00:00.000+02:00", "DTEND:2027-07-08t10:00z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 07:00:00 – 2027-07-08 10:00:00 UTC
			`,
		},
		{
			"an end on day 32",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "DTEND:20270732T090000Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): DTEND: "20270732T090000Z" is no date; left out
			`,
		},
		{
			"a start on day 32",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270732T090000Z") + "END:VCALENDAR\n",
			`
			not imported: event 1 (UID a): DTSTART: "20270732T090000Z" is no date
			`,
		},
		{
			"dates that are none",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "RDATE:20270709T090000Z,x,20270732T090000Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  rule:
			  also: 2027-07-09 09:00:00
			note: event 1 (UID a): RDATE: "x" is no date; left out
			note: event 1 (UID a): RDATE: "20270732T090000Z" is no date; left out
			`,
		},
		{
			"dates without an occurrence that are none",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:x", "EXDATE:20270709T090000Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  rule: FREQ=DAILY;COUNT=3
			  not: 2027-07-09 09:00:00
			note: event 1 (UID a): EXDATE: "x" is no date; left out
			`,
		},
		{
			"an empty rule and empty dates",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "RDATE:,,", "RRULE:") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			`,
		},
		{
			"periods with ends that are none",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "RDATE;VALUE=PERIOD:20270709T090000Z/-PT1H,20270710T090000Z/x") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  rule:
			  also: 2027-07-09 09:00:00
			  also: 2027-07-10 09:00:00
			note: event 1 (UID a): RDATE: "-PT1H" is no date; its end is left out
			note: event 1 (UID a): RDATE: "x" is no date; its end is left out
			`,
		},
		{
			"no UID",
			"BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\nDTSTART:20270708T090000Z\nSUMMARY:A\nEND:VEVENT\nBEGIN:VEVENT\nUID\nDTSTART:20270708T090000Z\nSUMMARY:A\nEND:VEVENT\n" + "END:VCALENDAR\n",
			`
			ical:without-uid-b08b4d8ef6e654cc06c1eac1a9c4e87d | A | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			ical:without-uid-37475a50dd54b6f8beb015ca63eb791d | A | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1: UID: missing; the event is known by its start and title
			note: event 2: UID: missing; the event is known by its start and title
			`,
		},
		{
			"one UID of several events",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z") + vevent("a", "DTSTART:20270709T090000Z") + "END:VCALENDAR\n",
			`
			ical:a?start=20270709T090000Z | Choir | 2027-07-09 09:00:00 – 2027-07-09 09:00:00 UTC
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 2 (UID a): UID: also that of event 1 (UID a), which has another start; taken as another event
			`,
		},
		{
			"no title but a category",
			"BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000Z\nCATEGORIES:Concert\nEND:VEVENT\n" + "END:VCALENDAR\n",
			`
			ical:a | Concert | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  category: Concert
			note: event 1 (UID a): SUMMARY: missing; the title is "Concert"
			`,
		},
		{
			"no title but a location",
			"BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000Z\nLOCATION:Hall\\, Long Street\nSUMMARY: \nEND:VEVENT\n" + "END:VCALENDAR\n",
			`
			ical:a | Event: Hall | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  venue: Hall / Long Street
			note: event 1 (UID a): SUMMARY: missing; the title is "Event: Hall"
			`,
		},
		{
			"a title of markup alone",
			"BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000Z\nSUMMARY:<p><br></p>\nEND:VEVENT\n" + "END:VCALENDAR\n",
			`
			ical:a | Event | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): SUMMARY: missing; the title is "Event"
			`,
		},
		{
			"properties twice",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:x", "DTSTART:20270708T090000Z", "SUMMARY:Other", "LOCATION:A", "LOCATION:A") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  venue: A /
			note: event 1 (UID a): DTSTART: more than one; the first that can be used is taken
			note: event 1 (UID a): SUMMARY: more than one; the first that can be used is taken
			`,
		},
		{
			"a place, an address and a state that are none",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "LOCATION:Hall", "GEO:north", "URL:example", "STATUS:MAYBE") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  venue: Hall /
			note: event 1 (UID a): STATUS: "MAYBE" is no state of an event; left out
			note: event 1 (UID a): URL: not an address of the web; left out
			note: event 1 (UID a): GEO: not a place on earth; left out
			`,
		},
		{
			"line breaks that are not escaped",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "DESCRIPTION:One", "two three", "Note: four", "https://example.org/x", "GARBAGE", "TRANSP:OPAQUE") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  description: One⏎two three⏎Note: four⏎https://example.org/x⏎GARBAGE
			note: event 1 (UID a): not a property; taken as part of DESCRIPTION
			`,
		},
		{
			"a fold without a space",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:2027", "0708T090000Z") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): not a property; taken as part of DTSTART
			`,
		},
		{
			"NUL characters",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:2027\x000708T090000Z", "DESCRIPTION:a\x00b") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  description: ab
			note: NUL characters are left out: 2
			`,
		},
		{
			"lone carriage returns",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z\rDTEND:20270708T100000Z", "DESCRIPTION:a\rb c") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 10:00:00 UTC
			  description: a⏎b c
			note: event 1 (UID a): not a property; taken as part of DESCRIPTION
			`,
		},
		{
			"no END",
			"BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000Z\nSUMMARY:A\n" + vevent("b", "DTSTART:20270708T090000Z") + "END:VCALENDAR\n",
			`
			ical:a | A | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			ical:b | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): END:VEVENT is missing before it
			`,
		},
		{
			"another END",
			"BEGIN:VCALENDAR\n" + "begin:vevent\nUID:a\nDTSTART:20270708T090000Z\nSUMMARY:A\nEND:VTODO\n" + vevent("b", "DTSTART:20270708T090000Z") + "END:VCALENDAR\n",
			`
			ical:a | A | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			ical:b | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: event 1 (UID a): END:VEVENT is missing before it
			`,
		},
		{
			"indented lines",
			"BEGIN:VCALENDAR\n" + "  BEGIN:VEVENT\n    UID:a\n    DTSTART:20270708T090000Z\n    SUMMARY:A very\n      long\n  END:VEVENT\n" + "END:VCALENDAR\n",
			`
			ical:a | A very long | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			`,
		},
		{
			"no calendar",
			vevent("a", "DTSTART:20270708T090000Z"),
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			`,
		},
		{
			"no calendar and no end",
			strings.TrimSuffix(vevent("a", "DTSTART:20270708T090000Z", "DTEND:202707081"), "\nEND:VEVENT\n"),
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			not imported: end of the file: END:VCALENDAR is missing; what may have come after it stays as it is here
			note: event 1 (UID a): DTEND: the file ends within it; left out
			note: event 1 (UID a): END: the file ends within the event; what it has of it is taken
			`,
		},
		{
			"a reply of a web server before it",
			"HTTP/1.1 200 OK\r\nContent-Type: text/calendar\r\n\r\n\r\nBEGIN:VCALENDAR\r\n" + vevent("a", "DTSTART:20270708T090000Z") + "END:VCALENDAR",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			note: lines that are no properties are left out: 2, the first is line 1
			`,
		},
		{
			"vCalendar 1.0",
			"BEGIN:VCALENDAR\nVERSION:1.0\nTZ:+02\nBEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000\nSUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-2:=B1 =\n=E6\nCATEGORIES:A;B\nRRULE:W1 TH TU #3\nEXDATE:20270713T090000;20270715T090000\nEND:VEVENT\nEND:VCALENDAR\n",
			`
			ical:a | ą ć | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC+2:00
			  category: A
			  category: B
			  rule: FREQ=WEEKLY;COUNT=3;BYDAY=TU,TH
			  not: 2027-07-13 09:00:00
			  not: 2027-07-15 09:00:00
			note: events with times of no zone: 1; their times are taken as those of UTC+2:00
			`,
		},
		{
			"the file ends in the start",
			"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nSUMMARY:A\nDTSTART:20270708T0900",
			`
			not imported: event 1 (UID a): DTSTART: missing
			not imported: end of the file: END:VCALENDAR is missing; what may have come after it stays as it is here
			note: event 1 (UID a): DTSTART: the file ends within it; left out
			`,
		},
		{
			"the file ends in the title",
			"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000Z\nSUMMARY:Conc",
			`
			ical:a | Conc | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			not imported: end of the file: END:VCALENDAR is missing; what may have come after it stays as it is here
			note: event 1 (UID a): END: the file ends within the event; what it has of it is taken
			`,
		},
		{
			"an encoding of Windows",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "LOCATION:Caf\xe9 M\xfcller\x96Haus") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  venue: Café Müller–Haus /
			note: lines that are not UTF-8: 1; they are read as Windows 1252
			`,
		},
		{
			"a character that is cut",
			"BEGIN:VCALENDAR\n" + vevent("a", "DTSTART:20270708T090000Z", "LOCATION:Café M\xc3") + "END:VCALENDAR\n",
			`
			ical:a | Choir | 2027-07-08 09:00:00 – 2027-07-08 09:00:00 UTC
			  venue: Café M� /
			note: lines that are partly UTF-8: 1; some of their characters are replaced
			`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cal, err := decodeICal([]byte(tt.data), testSite())
			if err != nil {
				t.Fatal(err)
			}
			want := strings.TrimSpace(strings.ReplaceAll(tt.want, "\t", ""))
			if diff := gocmp.Diff(want, describeCalendar(cal)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTimesOfUnknownZonesAreChanges checks that an event in an unknown time zone counts as altered, and one in a
// known zone under another name does not.
func TestTimesOfUnknownZonesAreChanges(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]bool{"Mars": true, "PST": false, "Europe/Warsaw": false} {
		start := "DTSTART;TZID=" + zone + ":20270105T100000"
		for _, event := range []string{vevent("a", start), vevent("a", start, "RRULE:FREQ=DAILY;COUNT=2")} {
			if got := readICal(t, event).Events[0].Altered; got != want {
				t.Errorf("%s: altered: %t", event, got)
			}
		}
	}
}

// TestKeepsFlawedRulesOfICal checks that flawed rules keep the parts whose meaning is clear.
func TestKeepsFlawedRulesOfICal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rule, want, notice string }{
		{"FREQ=WEEKLY;COUNT=3;WKST=XX", "FREQ=WEEKLY;COUNT=3", "WKST=XX is left out"},
		{"FREQ=WEEKLY;INTERVAL=2;COUNT=3;WKST=Sunday", "FREQ=WEEKLY;INTERVAL=2;COUNT=3;WKST=SU", ""},
		{"FREQ=WEEKLY;COUNT=3;BYDAY=1TU,-1TH", "FREQ=WEEKLY;COUNT=3;BYDAY=TU,TH", "BYDAY=1TU,-1TH is taken as BYDAY=TU,TH"},
		{"FREQ=DAILY;COUNT=3;BYDAY=2TU", "FREQ=DAILY;COUNT=3;BYDAY=TU", "BYDAY=2TU is taken as BYDAY=TU"},
		{"FREQ=MONTHLY;COUNT=3;BYDAY=1Tue", "FREQ=MONTHLY;COUNT=3;BYDAY=1TU", ""},
		{"FREQ=WEEKLY;COUNT=3;BYDAY=Tuesday,THURS", "FREQ=WEEKLY;COUNT=3;BYDAY=TU,TH", ""},
		{"FREQ=WEEKLY;COUNT=3;BYDAY=TU,,TH,", "FREQ=WEEKLY;COUNT=3;BYDAY=TU,TH", ""},
		{"FREQ=WEEKLY;COUNT=3;BYDAY=TULIP", "", "BYDAY=TULIP is not supported"},
		{"FREQ=WEEKLY;COUNT=3;FOO=1", "FREQ=WEEKLY;COUNT=3", "FOO=1 is left out"},
		{"FREQ=YEARLY;COUNT=3;BYEASTER=1", "", "the part BYEASTER is not supported"},
		{"FREQ=DAILY,COUNT=4", "FREQ=DAILY;COUNT=4", ""},
		{"FREQ=WEEKLY,BYDAY=TU,TH,COUNT=4", "FREQ=WEEKLY;COUNT=4;BYDAY=TU,TH", ""},
		{"freq=daily:count=4", "FREQ=DAILY;COUNT=4", ""},
		{`"FREQ=DAILY;COUNT=4"`, "FREQ=DAILY;COUNT=4", ""},
		{"FREQ=DAILY;COUNT=4;COUNT=5", "FREQ=DAILY;COUNT=4", "COUNT=5 is left out, as COUNT=4 stands before it"},
		{"FREQ=DAILY;COUNT=4;COUNT=4;FREQ=DAILY", "FREQ=DAILY;COUNT=4", ""},
		{"FREQ=DAILY;FREQ=WEEKLY;COUNT=4", "FREQ=DAILY;COUNT=4", "FREQ=WEEKLY is left out, as FREQ=DAILY stands before it"},
		{"FREQ=DAILY;COUNT=4;BYDAY", "FREQ=DAILY;COUNT=4", "BYDAY is left out"},
		{"FREQ=DAILY;UNTIL=;COUNT=4", "FREQ=DAILY;COUNT=4", "UNTIL= is left out"},
		{"FREQ=DAILY;COUNT=4;BYDAY=;BYDAY=TU", "FREQ=DAILY;COUNT=4;BYDAY=TU", "BYDAY= is left out"},
		{"FREQ=DAILY;UNTIL=20270108T12", "FREQ=DAILY;UNTIL=20270108T120000", ""},
		{"FREQ=DAILY;COUNT=-1", "", "COUNT=-1 is not supported"},
	} {
		cal := readICal(t, vevent("a", "DTSTART;TZID=Europe/Warsaw:20270105T100000", "RRULE:"+tt.rule))
		got := ""
		if len(cal.Events) == 1 && cal.Events[0].Series != nil {
			got = cal.Events[0].Series.Schedule.Rule.String()
		}
		if notices := strings.Join(cal.Notices, "\n"); got != tt.want || !strings.Contains(notices, tt.notice) || (notices == "") != (tt.notice == "") {
			t.Errorf("%s: %q, %s; want %q, %s", tt.rule, got, notices, tt.want, tt.notice)
		}
		if altered := tt.notice != ""; cal.Events[0].Altered != altered {
			t.Errorf("%s: altered: %t", tt.rule, !altered)
		}
	}
}

func TestTextsOfICalStayAsWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"List<String>", "x<y and z>w", "<TBD>", "C<T>", "a < b & c", "&lt;b&gt; &amp; &nbsp;", "<b>Concert</b>", "<script>", "1 <3", "Room <A",
		"a --> b <!-- c -->", "&#60;", "\"quoted\" 'text'",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			cal := readICal(t, "BEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000Z\nSUMMARY:"+text+"\nLOCATION:"+text+", Long Street\nCATEGORIES:"+
				text+"\nORGANIZER;CN=\""+strings.ReplaceAll(text, `"`, "^'")+"\":mailto:a@example.org\nDESCRIPTION:"+text+"\nEND:VEVENT\n")
			e := cal.Events[0]
			description := text
			if isHTML(text) {
				description = ""
			}
			got := []string{e.Title, e.Venues[0].Name, e.Venues[0].Address, e.Terms[0].Name, e.Organizers[0].Name}
			if diff := gocmp.Diff([]string{text, text, "Long Street", text, text}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if plain := html.UnescapeString(*e.Description); description != "" && plain != description {
				t.Errorf("description %q", plain)
			}
		})
	}
}

func TestDescriptionsOfICal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, lines, want string }{
		{"lines and an address", `DESCRIPTION:One\nTwo https://example.org/?a=1&b=2`, "One\nTwo https://example.org/?a=1&amp;b=2"},
		{"angle brackets", "DESCRIPTION:List<String> and <TBD>", "List&lt;String&gt; and &lt;TBD&gt;"},
		{"a tag that is named", "DESCRIPTION:Use <b> for bold", "Use &lt;b&gt; for bold"},
		{"entities", "DESCRIPTION:Fish &amp; chips &lt;b&gt;", "Fish &amp;amp; chips &amp;lt;b&amp;gt;"},
		{"an element", "DESCRIPTION:<b>Bring</b> a pencil", "<b>Bring</b> a pencil"},
		{"line breaks of HTML", "DESCRIPTION:One<br>Two &amp; three", "One<br>Two &amp; three"},
		{"HTML beside text", "DESCRIPTION:Bring\nX-ALT-DESC;FMTTYPE=text/html:<b>Bring</b>", "<b>Bring</b>"},
		{"text that is declared", "DESCRIPTION:a\nX-ALT-DESC;FMTTYPE=text/plain:<b>Bring</b>", "a"},
		{"a styled description", "DESCRIPTION:a\nSTYLED-DESCRIPTION;VALUE=TEXT;FMTTYPE=text/html:<i>Bring</i>", "<i>Bring</i>"},
		{"the address of a styled description", "DESCRIPTION:a\nSTYLED-DESCRIPTION;VALUE=URI;FMTTYPE=text/html:https://example.org/", "a"},
		{"code", "DESCRIPTION:<p>Hello</p><script>alert(1)</script>", "<p>Hello</p>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cal := readICal(t, vevent("a", "DTSTART:20270708T090000Z", tt.lines))
			if got := *cal.Events[0].Description; got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestLocationsThatLookLikeMarkupAreNames checks that a LOCATION with markup becomes the name of a venue. An address
// can have no markup in the API.
func TestLocationsThatLookLikeMarkupAreNames(t *testing.T) {
	t.Parallel()
	cal := readICal(t, vevent("a", "DTSTART:20270708T090000Z", "LOCATION:Hall, <TBD>"))
	if v := cal.Events[0].Venues[0]; v.Name != "Hall, <TBD>" || v.Address != "" {
		t.Errorf("%+v", v)
	}
}

func TestNoticesOfICalNameTheLine(t *testing.T) {
	t.Parallel()
	cal := readICal(t, vevent("a", "DTSTART:20270708T090000Z", "DESCRIPTION:One", " two", "DTEND:None"), vevent("b"))
	got := append([]string{cal.Problems[0].String(), cal.Problems[0].Title}, cal.Notices...)
	want := []string{
		"event 2 (UID b): line 12: DTSTART: missing", "Choir", `event 1 (UID a): line 10: DTEND: "None" is no date; left out`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTitlesThatAreMissingAreInTheLanguageOfTheSite(t *testing.T) {
	t.Parallel()
	for language, want := range map[calendar.Language]string{
		calendar.English: "Event", calendar.Polish: "Wydarzenie", calendar.Spanish: "Evento", "": "Event",
	} {
		site := testSite()
		site.Language = language
		cal, err := decodeICal([]byte("BEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000Z\nEND:VEVENT\n"), site)
		if err != nil || cal.Events[0].Title != want {
			t.Errorf("%s: %v, %v", language, cal, err)
		}
	}
}

func TestTextsInOtherEncodings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		language      calendar.Language
		summary, want string
	}{
		{calendar.English, ":Caf\xe9 \x80", "Café €"},
		{calendar.Polish, ":\xb9\xe6\xea", "ąćę"},
		{calendar.English, ";CHARSET=ISO-8859-2:\xb1\xe6", "ąć"},
		{calendar.English, ";CHARSET=utf-8;ENCODING=quoted-printable:=C4=85", "ą"},
		{calendar.English, ";ENCODING=QUOTED-PRINTABLE:50=25 =", "50% ="},
	} {
		site := testSite()
		site.Language = tt.language
		cal, err := decodeICal([]byte("BEGIN:VEVENT\nUID:a\nDTSTART:20270708T090000Z\nSUMMARY"+tt.summary+"\nEND:VEVENT\n"), site)
		if err != nil || cal.Events[0].Title != tt.want {
			t.Errorf("%q: %v, %v", tt.summary, describeCalendar(cal), err)
		}
	}
}

func TestRulesOfVCalendar(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"D1 #10": "FREQ=DAILY;INTERVAL=1;COUNT=10", "D2 19971224T000000Z": "FREQ=DAILY;INTERVAL=2;UNTIL=19971224T000000Z",
		"W1 #0": "FREQ=WEEKLY;INTERVAL=1", "W2 TU TH 0900": "FREQ=WEEKLY;INTERVAL=2;COUNT=2;BYDAY=TU,TH",
		"MP1 1+ MO 2- FR #3": "FREQ=MONTHLY;INTERVAL=1;COUNT=3;BYDAY=1MO,-2FR", "MD1 2 15 LD #0": "FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=2,15,-1",
		"YM1 6 7 #0": "FREQ=YEARLY;INTERVAL=1;BYMONTH=6,7", "YD1 1 100 #0": "FREQ=YEARLY;INTERVAL=1;BYYEARDAY=1,100",
		"FREQ=DAILY": "", "": "", "M5 #3": "", "YM1 6 MP1 1+ MO": "",
	} {
		if got, ok := version1Rule(rule); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", rule, got, ok)
		}
	}
}
