package recur

import (
	"bufio"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/must"
)

func parse(t testing.TB, text string) Rule {
	t.Helper()
	r, err := Parse(text, calendar.UTC())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

func wall(t testing.TB, text string) calendar.Wall {
	t.Helper()
	w, err := calendar.ParseWall(text)
	must.Succeed(t, err)
	return w
}

func texts(starts iter.Seq[calendar.Wall]) []string {
	var all []string
	for w := range starts {
		all = append(all, w.String())
	}
	return all
}

// firstStarts returns the first n starts as texts. It returns fewer if there are not as many.
func firstStarts(starts iter.Seq[calendar.Wall], n int) []string {
	var all []string
	for w := range starts {
		if len(all) == n {
			break
		}
		all = append(all, w.String())
	}
	return all
}

// TestStartsAreThoseOfDateutil compares starts with those of the Python library dateutil in
// testdata/references.tsv. The README there says how the file is generated.
func TestStartsAreThoseOfDateutil(t *testing.T) {
	t.Parallel()
	const years, most = 12, 40 // as in references.py
	f, err := os.Open("testdata/references.tsv")
	must.Succeed(t, err)
	defer f.Close()
	rules, starts := 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); rules++ {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			t.Fatalf("line %q", lines.Text())
		}
		start := wall(t, fields[0])
		var want []string
		for w, steps := start, strings.Fields(fields[2]); len(steps) > 0; steps = steps[1:] {
			days, err := strconv.Atoi(steps[0])
			must.Succeed(t, err)
			w = w.AddDate(0, 0, days)
			want = append(want, w.String())
		}
		year, month, _ := start.Date()
		hour, minute, _ := start.Clock()
		last := calendar.WallAt(year+years, month, 1, hour, minute, 0)
		got := firstStarts(parse(t, fields[1]).Starts(start, calendar.Wall{}, last), most)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s from %s (-want +got):\n%s", fields[1], start, diff)
		}
		starts += len(want)
	}
	if rules != 2500 {
		t.Errorf("%d rules", rules)
	}
	t.Logf("%d rules, %d starts", rules, starts)
}

// days parses a compact list of days. It reads "1997 Sep 2-4,9" as 1997-09-02, 1997-09-03, 1997-09-04 and
// 1997-09-09. Groups are separated by semicolons, and a group without a year is in the year of the one before.
func days(t testing.TB, text string) []string {
	t.Helper()
	var all []string
	year := ""
	for group := range strings.SplitSeq(text, "; ") {
		words := strings.Fields(group)
		if len(words) == 3 {
			year, words = words[0], words[1:]
		}
		for item := range strings.SplitSeq(words[1], ",") {
			from, to, ranged := strings.Cut(item, "-")
			if !ranged {
				to = from
			}
			first, err := time.Parse("2006 Jan 2", fmt.Sprint(year, " ", words[0], " ", from))
			must.Succeed(t, err)
			end, err := strconv.Atoi(to)
			must.Succeed(t, err)
			for ; first.Day() <= end; first = first.AddDate(0, 0, 1) {
				all = append(all, first.Format(time.DateOnly))
				if first.AddDate(0, 0, 1).Day() == 1 {
					break
				}
			}
		}
	}
	return all
}

// TestStartsOfTheExamplesOfTheRFCs compares starts with the examples of RFC 5545, section 3.8.5.3, and of RFC
// 7529. It leaves out examples that Parse does not support. Endless rules are compared as far as the RFC lists starts.
func TestStartsOfTheExamplesOfTheRFCs(t *testing.T) {
	t.Parallel()
	newYork, err := calendar.ParseZone("America/New_York")
	must.Succeed(t, err)
	everyOtherDay := "1997 Sep 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30; Oct 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30; " +
		"Nov 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29; Dec 1,3"
	january := "1998 Jan 1-31; 1999 Jan 1-31; 2000 Jan 1-31"
	tuesdaysAndThursdays := "1997 Sep 2,4,9,11,16,18,23,25,30; Oct 2"
	tests := []struct{ name, start, rule, want string }{
		{"daily for 10 occurrences", "1997-09-02", "FREQ=DAILY;COUNT=10", "1997 Sep 2-11"},
		{"daily until", "1997-09-02", "FREQ=DAILY;UNTIL=19971224T000000Z", "1997 Sep 2-30; Oct 1-31; Nov 1-30; Dec 1-23"},
		{"every other day", "1997-09-02", "FREQ=DAILY;INTERVAL=2", everyOtherDay},
		{"every 10 days", "1997-09-02", "FREQ=DAILY;INTERVAL=10;COUNT=5", "1997 Sep 2,12,22; Oct 2,12"},
		{"every day in January, yearly", "1998-01-01", "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA", january},
		{"every day in January, daily", "1998-01-01", "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", january},
		{"weekly for 10 occurrences", "1997-09-02", "FREQ=WEEKLY;COUNT=10", "1997 Sep 2,9,16,23,30; Oct 7,14,21,28; Nov 4"},
		{"weekly until", "1997-09-02", "FREQ=WEEKLY;UNTIL=19971224T000000Z", "1997 Sep 2,9,16,23,30; Oct 7,14,21,28; Nov 4,11,18,25; Dec 2,9,16,23"},
		{"every other week", "1997-09-02", "FREQ=WEEKLY;INTERVAL=2;WKST=SU", "1997 Sep 2,16,30; Oct 14,28; Nov 11,25; Dec 9,23; 1998 Jan 6,20; Feb 3,17"},
		{"two days a week, until", "1997-09-02", "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH", tuesdaysAndThursdays},
		{"two days a week, counted", "1997-09-02", "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", tuesdaysAndThursdays},
		{"three days every other week", "1997-09-01", "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR", "1997 Sep 1,3,5,15,17,19,29; Oct 1,3,13,15,17,27,29,31; Nov 10,12,14,24,26,28; Dec 8,10,12,22"},
		{"two days every other week", "1997-09-02", "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH", "1997 Sep 2,4,16,18,30; Oct 2,14,16"},
		{"first Friday, counted", "1997-09-05", "FREQ=MONTHLY;COUNT=10;BYDAY=1FR", "1997 Sep 5; Oct 3; Nov 7; Dec 5; 1998 Jan 2; Feb 6; Mar 6; Apr 3; May 1; Jun 5"},
		{"first Friday, until", "1997-09-05", "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", "1997 Sep 5; Oct 3; Nov 7; Dec 5"},
		{"first and last Sunday every other month", "1997-09-07", "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", "1997 Sep 7,28; Nov 2,30; 1998 Jan 4,25; Mar 1,29; May 3,31"},
		{"last Monday but one", "1997-09-22", "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "1997 Sep 22; Oct 20; Nov 17; Dec 22; 1998 Jan 19; Feb 16"},
		{"last day but two", "1997-09-28", "FREQ=MONTHLY;BYMONTHDAY=-3", "1997 Sep 28; Oct 29; Nov 28; Dec 29; 1998 Jan 29; Feb 26"},
		{"2nd and 15th", "1997-09-02", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15", "1997 Sep 2,15; Oct 2,15; Nov 2,15; Dec 2,15; 1998 Jan 2,15"},
		{"first and last day", "1997-09-30", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1", "1997 Sep 30; Oct 1,31; Nov 1,30; Dec 1,31; 1998 Jan 1,31; Feb 1"},
		{"every 18 months", "1997-09-10", "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", "1997 Sep 10-15; 1999 Mar 10-13"},
		{"Tuesdays every other month", "1997-09-02", "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU", "1997 Sep 2,9,16,23,30; Nov 4,11,18,25; 1998 Jan 6,13,20,27; Mar 3,10,17,24,31"},
		{"June and July", "1997-06-10", "FREQ=YEARLY;COUNT=10;BYMONTH=6,7", "1997 Jun 10; Jul 10; 1998 Jun 10; Jul 10; 1999 Jun 10; Jul 10; 2000 Jun 10; Jul 10; 2001 Jun 10; Jul 10"},
		{"three months every other year", "1997-03-10", "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3", "1997 Mar 10; 1999 Jan 10; Feb 10; Mar 10; 2001 Jan 10; Feb 10; Mar 10; 2003 Jan 10; Feb 10; Mar 10"},
		{"20th Monday of the year", "1997-05-19", "FREQ=YEARLY;BYDAY=20MO", "1997 May 19; 1998 May 18; 1999 May 17"},
		{"1st, 100th and 200th day of every third year", "1997-01-01", "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", "1997 Jan 1; Apr 10; Jul 19; 2000 Jan 1; Apr 9; Jul 18; 2003 Jan 1; Apr 10; Jul 19; 2006 Jan 1"},
		{"Monday of week 20", "1997-05-12", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997 May 12; 1998 May 11; 1999 May 17"},
		{"Thursdays in March", "1997-03-13", "FREQ=YEARLY;BYMONTH=3;BYDAY=TH", "1997 Mar 13,20,27; 1998 Mar 5,12,19,26; 1999 Mar 4,11,18,25"},
		{"Thursdays in summer", "1997-06-05", "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8", "1997 Jun 5,12,19,26; Jul 3,10,17,24,31; Aug 7,14,21,28; 1998 Jun 4,11,18,25; Jul 2,9,16,23,30; Aug 6,13,20,27"},
		{"Friday the 13th", "1997-09-02", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "1998 Feb 13; Mar 13; Nov 13; 1999 Aug 13; 2000 Oct 13"},
		{"first Saturday after the first Sunday", "1997-09-13", "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13", "1997 Sep 13; Oct 11; Nov 8; Dec 13; 1998 Jan 10; Feb 7; Mar 7; Apr 11; May 9; Jun 13"},
		{"election day", "1996-11-05", "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "1996 Nov 5; 2000 Nov 7; 2004 Nov 2"},
		{"third of three weekdays", "1997-09-04", "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997 Sep 4; Oct 7; Nov 6"},
		{"last workday but one", "1997-09-29", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "1997 Sep 29; Oct 30; Nov 27; Dec 30; 1998 Jan 29; Feb 26; Mar 30"},
		{"weeks from Monday", "1997-08-05", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997 Aug 5,10,19,24"},
		{"weeks from Sunday", "1997-08-05", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997 Aug 5,17,19,31"},
		{"30 February", "2007-01-15", "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007 Jan 15,30; Feb 15; Mar 15,30"},
		{"29 February, forward", "2012-02-29", "RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=FORWARD", "2012 Feb 29; 2013 Mar 1; 2014 Mar 1; 2015 Mar 1; 2016 Feb 29"},
		{"the 31st, backward", "2014-01-31", "RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;COUNT=4", "2014 Jan 31; Feb 28; Mar 31; Apr 30"},
		{"the 31st, left out", "2014-01-31", "FREQ=MONTHLY;SKIP=OMIT;COUNT=4", "2014 Jan 31; Mar 31; May 31; Jul 31"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := Parse(test.rule, newYork)
			must.Succeed(t, err)
			want := days(t, test.want)
			most := len(want)
			if r.Ends() {
				most++
			}
			got := firstStarts(r.Starts(wall(t, test.start+" 09:00:00"), calendar.Wall{}, LastStart()), most)
			for i := range got {
				got[i] = strings.TrimSuffix(got[i], " 09:00:00")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.rule, diff)
			}
		})
	}
}

func TestStartsOfShapesThatLibrariesDisagreeOn(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, start, rule, want string }{
		{"weekdays with and without ordinal", "2026-11-01", "FREQ=MONTHLY;BYDAY=SU,3MO;COUNT=7", "2026 Nov 1,8,15,16,22,29; Dec 6"},
		{"the second place of a week that began before the start", "2026-11-25", "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2;COUNT=3", "2026 Nov 25; Dec 2,9"},
		{"the first place of such a week is past", "2026-11-25", "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1,2;COUNT=3", "2026 Nov 25; Nov 30; Dec 2"},
		{"the week begins on Wednesday", "2026-11-25", "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1;WKST=WE;COUNT=3", "2026 Nov 25; Dec 2,9"},
		{"a place in the year that began before the start", "2026-11-25", "FREQ=YEARLY;BYDAY=WE;BYSETPOS=47;COUNT=2", "2026 Nov 25; 2027 Nov 24"},
		{"yearly on each month's 31st", "2026-01-31", "FREQ=YEARLY;BYMONTHDAY=31;COUNT=4", "2026 Jan 31; Mar 31; May 31; Jul 31"},
		{"the fifth Monday", "2026-03-30", "FREQ=MONTHLY;BYDAY=5MO;COUNT=3", "2026 Mar 30; Jun 29; Aug 31"},
		{"the 53rd Friday of a year", "2027-01-01", "FREQ=YEARLY;BYDAY=1FR,53FR;COUNT=4", "2027 Jan 1; Dec 31; 2028 Jan 7; 2029 Jan 5"},
		{"29 February over 2100", "2096-02-29", "FREQ=YEARLY;COUNT=3", "2096 Feb 29; 2104 Feb 29; 2108 Feb 29"},
		{"a day that two months name", "2026-01-31", "FREQ=MONTHLY;BYMONTHDAY=1,31;SKIP=FORWARD;COUNT=6", "2026 Jan 31; Feb 1; Mar 1,31; Apr 1; May 1"},
		{"the month that moved it, not the month that it moves to", "2027-03-01", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;SKIP=FORWARD;COUNT=2", "2027 Mar 1; 2028 Mar 1"},
		{"a start that was moved forward", "2027-03-01", "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=FORWARD;COUNT=4", "2027 Mar 1,31; May 1,31"},
		{"every other month from a start that was moved forward", "2027-03-01", "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=31;SKIP=FORWARD;COUNT=4", "2027 Mar 1; May 1; Jul 1; Aug 31"},
		{"every other month from a start that is its month's own", "2027-03-01", "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=1,31;SKIP=FORWARD;COUNT=4", "2027 Mar 1,31; May 1,31"},
		{"the first day from the end, where there are 30", "2026-01-01", "FREQ=MONTHLY;BYMONTHDAY=-31;SKIP=BACKWARD;COUNT=4", "2026 Jan 1; Feb 28; Mar 1; Apr 30"},
		{"a month given without a day", "2026-01-15", "FREQ=YEARLY;BYMONTH=1,6;COUNT=3", "2026 Jan 15; Jun 15; 2027 Jan 15"},
		{"a place without a day", "2026-01-15", "FREQ=YEARLY;BYMONTH=1,6;BYSETPOS=-1;COUNT=2", "2026 Jun 15; 2027 Jun 15"},
		{"a week without a weekday", "2027-05-19", "FREQ=YEARLY;BYWEEKNO=20;COUNT=3", "2027 May 19; 2028 May 17; 2029 May 16"},
		{"week 1 has days of two years", "2024-12-30", "FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO,WE;COUNT=6", "2024 Dec 30; 2025 Jan 1; Dec 29,31; 2027 Jan 4,6"},
		{"week 53 has days of two years", "2026-12-28", "FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO,FR;COUNT=4", "2026 Dec 28; 2027 Jan 1; 2032 Dec 27,31"},
		{"the last week has days of the next year", "2026-12-28", "FREQ=YEARLY;BYWEEKNO=-1;BYDAY=MO,SU;COUNT=5", "2026 Dec 28; 2027 Jan 3; Dec 27; 2028 Jan 2; Dec 25"},
		{"week 1 by weeks from Sunday", "2026-01-04", "FREQ=YEARLY;BYWEEKNO=1;BYDAY=SU;WKST=SU;COUNT=3", "2026 Jan 4; 2027 Jan 3; 2028 Jan 2"},
		{"weeks of a month", "2027-05-03", "FREQ=YEARLY;BYMONTH=5;BYWEEKNO=18,19;BYDAY=MO;COUNT=4", "2027 May 3,10; 2028 May 1,8"},
		{"days of the month in a week", "2027-05-20", "FREQ=YEARLY;BYWEEKNO=20;BYMONTHDAY=17,20;COUNT=4", "2027 May 20; 2028 May 17,20; 2029 May 17"},
		{"the last place of weeks", "2027-05-18", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO,TU;BYSETPOS=-1;COUNT=2", "2027 May 18; 2028 May 16"},
		{"the last day of leap years alone", "2028-12-31", "FREQ=YEARLY;BYYEARDAY=366;COUNT=2", "2028 Dec 31; 2032 Dec 31"},
		{"the first day from the end of leap years", "2028-01-01", "FREQ=YEARLY;BYYEARDAY=-366;COUNT=2", "2028 Jan 1; 2032 Jan 1"},
		{"a day of the year that is a weekday", "2027-03-01", "FREQ=YEARLY;BYYEARDAY=60;BYDAY=MO;COUNT=2", "2027 Mar 1; 2038 Mar 1"},
		{"a day of the year in a month", "2028-02-29", "FREQ=YEARLY;BYYEARDAY=60;BYMONTH=2;COUNT=2", "2028 Feb 29; 2032 Feb 29"},
		{"the last second", "9999-12-30", "FREQ=DAILY", "9999 Dec 30-31"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := texts(parse(t, test.rule).Starts(wall(t, test.start+" 23:59:59"), calendar.Wall{}, LastStart()))
			for i := range got {
				got[i] = strings.TrimSuffix(got[i], " 23:59:59")
			}
			if diff := cmp.Diff(days(t, test.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.rule, diff)
			}
		})
	}
}

func TestUntilIsInclusive(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		until string
		count int
	}{
		{"20261103", 3},
		{"20261102", 2},
		{"20261103T175959", 2},
		{"20261103T180000", 3},
		{"20261103T180001", 3},
		{"20261031T235959", 0},
		{"20261101", 1},
	} {
		r := parse(t, "FREQ=DAILY;UNTIL="+test.until)
		if got := texts(r.Starts(wall(t, "2026-11-01 18:00:00"), calendar.Wall{}, LastStart())); len(got) != test.count {
			t.Errorf("until %s: %v, want %d", test.until, got, test.count)
		}
	}
}

// TestStartsAfter compares the starts after a date with all starts of the rule, from which earlier ones are
// removed. A rule without COUNT skips earlier periods, which must not change the result.
func TestStartsAfter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=DAILY;INTERVAL=999;BYMONTH=2", "FREQ=DAILY;COUNT=900", "FREQ=DAILY;BYDAY=MO;BYSETPOS=1",
		"FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU", "FREQ=WEEKLY;INTERVAL=7;BYSETPOS=-1;BYDAY=TU,TH",
		"FREQ=MONTHLY", "FREQ=MONTHLY;BYMONTHDAY=31", "RSCALE=GREGORIAN;SKIP=FORWARD;FREQ=MONTHLY;BYMONTHDAY=29,30,31",
		"RSCALE=GREGORIAN;SKIP=BACKWARD;FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=31", "FREQ=MONTHLY;INTERVAL=11;BYDAY=-1FR",
		"FREQ=YEARLY", "FREQ=YEARLY;INTERVAL=3;BYMONTH=2;BYMONTHDAY=29", "FREQ=YEARLY;BYWEEKNO=1,53;BYDAY=MO", "FREQ=YEARLY;INTERVAL=4;BYYEARDAY=366,-366",
		"FREQ=YEARLY;BYDAY=TH;BYSETPOS=-1", "FREQ=DAILY;UNTIL=20300101", "RSCALE=GREGORIAN;SKIP=FORWARD;FREQ=YEARLY;INTERVAL=2;BYMONTH=12;BYMONTHDAY=31",
	} {
		r, err := Parse(text, calendar.UTC())
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, start := range []calendar.Wall{calendar.WallAt(1001, 1, 31, 9, 30, 0), calendar.WallAt(1999, 12, 31, 0, 0, 0), calendar.WallAt(2028, 2, 29, 23, 59, 59)} {
			last := calendar.WallAt(2044, 1, 1, 0, 0, 0)
			all := slices.Collect(r.Starts(start, calendar.Wall{}, last))
			for days := -1; days < 5500; days += 1 + days/3 {
				after := calendar.WallAt(2028, 12, 30, 12, 0, 0).AddDate(0, 0, days)
				want := slices.DeleteFunc(slices.Clone(all), func(w calendar.Wall) bool { return !after.Before(w) })
				if got := slices.Collect(r.Starts(start, after, last)); !slices.Equal(got, want) {
					t.Errorf("%s from %s after %s: %d starts, want %d: %v, want %v", text, start, after, len(got), len(want), got[:min(3, len(got))], want[:min(3, len(want))])
				}
			}
		}
	}
}

func TestStartsAreNotAfterYear9999(t *testing.T) {
	t.Parallel()
	got := texts(parse(t, "FREQ=WEEKLY").Starts(wall(t, "9999-12-20 18:00:00"), calendar.Wall{}, LastStart().AddDate(1, 0, 0)))
	if diff := cmp.Diff([]string{"9999-12-20 18:00:00", "9999-12-27 18:00:00"}, got); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
}

func TestStartsOfARuleWithoutInterval(t *testing.T) {
	t.Parallel()
	got := texts(Rule{Freq: FreqDaily, Count: 2}.Starts(wall(t, "2026-11-24 18:00:00"), calendar.Wall{}, LastStart()))
	if diff := cmp.Diff([]string{"2026-11-24 18:00:00", "2026-11-25 18:00:00"}, got); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
}

// slowRules are rules with few starts or none. A search for the next start goes on until year 9999.
var slowRules = []string{
	"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=1",
	"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;UNTIL=99991231",
	"FREQ=DAILY;BYDAY=MO;BYSETPOS=2",
	"FREQ=DAILY;INTERVAL=7;BYDAY=MO",
	"FREQ=DAILY;INTERVAL=999;BYMONTH=2;BYMONTHDAY=30",
	"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=8",
	"FREQ=WEEKLY;BYMONTH=1,2,3;BYDAY=MO,TU,WE,TH,FR,SA;BYSETPOS=7,8,9,10,11,12,13,14,15,16",
	"FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30,31",
	"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=32,33,34,-32,-33,-34",
	"FREQ=MONTHLY;INTERVAL=12;BYMONTH=1;BYDAY=MO",
	"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1000",
	"FREQ=YEARLY;BYMONTH=2;BYDAY=-5SA,5SA;BYMONTHDAY=28",
	"FREQ=YEARLY;INTERVAL=2;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=366",
	"FREQ=YEARLY;BYWEEKNO=10;BYMONTH=12",
	"FREQ=YEARLY;BYYEARDAY=1,366,-366;BYWEEKNO=30;BYDAY=MO,TU,WE,TH,FR,SA,SU",
	"FREQ=YEARLY;BYDAY=53MO,-53MO;BYMONTHDAY=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28;BYSETPOS=2",
}

func TestSlowRulesHaveNoStart(t *testing.T) {
	t.Parallel()
	for _, text := range slowRules {
		// 2027 begins on a Friday.
		got := firstStarts(parse(t, text).Starts(wall(t, "2027-06-15 18:00:00"), calendar.Wall{}, LastStart()), 1)
		if len(got) > 0 {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// BenchmarkImpossibleRule measures rules that have no start at all and take longest to search, up to 25 months and
// up to year 9999.
func BenchmarkImpossibleRule(b *testing.B) {
	start := calendar.WallAt(2027, 6, 15, 18, 0, 0)
	for _, horizon := range []struct {
		name string
		last calendar.Wall
	}{{"25Months", start.AddDate(0, 25, 0)}, {"Year9999", LastStart()}} {
		b.Run(horizon.name, func(b *testing.B) {
			for _, text := range slowRules {
				r := parse(b, text)
				b.Run(string(r.Freq), func(b *testing.B) {
					for b.Loop() {
						firstStarts(r.Starts(start, calendar.Wall{}, horizon.last), 1)
					}
				})
			}
		})
	}
}
