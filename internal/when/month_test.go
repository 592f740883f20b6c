package when_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

func TestMonthsByName(t *testing.T) {
	t.Parallel()
	names := map[string][12][]string{
		"english": {
			{"January", "Jan"},
			{"February", "Feb"},
			{"March", "Mar"},
			{"April", "Apr"},
			{"May"},
			{"June", "Jun"},
			{"July", "Jul"},
			{"August", "Aug"},
			{"September", "Sep"},
			{"October", "Oct"},
			{"November", "Nov"},
			{"December", "Dec"},
		},
		"polish": {
			{"stycznia", "sty"},
			{"lutego", "lut"},
			{"marca", "mar"},
			{"kwietnia", "kwi"},
			{"maja", "maj"},
			{"czerwca", "cze"},
			{"lipca", "lip"},
			{"sierpnia", "sie"},
			{"września", "wrzesnia", "WRZEŚNIA", "wrz"},
			{"października", "pazdziernika", "paź", "paz"},
			{"listopada", "lis"},
			{"grudnia", "Grudnia", "gru"},
		},
		"spanish": {
			{"enero", "ene"},
			{"febrero", "feb"},
			{"marzo", "mar"},
			{"abril", "abr"},
			{"mayo", "may"},
			{"junio", "jun"},
			{"julio", "jul"},
			{"agosto", "ago"},
			{"septiembre", "setiembre", "sept", "sep"},
			{"octubre", "oct"},
			{"noviembre", "nov"},
			{"diciembre", "DICIEMBRE", "dic"},
		},
	}
	for language, months := range names {
		for i, spellings := range months {
			day := calendar.WallAt(2027, time.Month(i+1), 5, 0, 0, 0)
			for _, month := range spellings {
				rows := []row{
					{"5 " + month + " 2027", day.String()},
					{"05 " + month + " 2027 18:30", day.Add(18*time.Hour + 30*time.Minute).String()},
					{"5  " + month + "  2027 6pm", day.Add(18 * time.Hour).String()},
					{fmt.Sprintf("5 %s 2027 18:00 +02:00", month), day.Add(16*time.Hour).String() + "Z"},
				}
				if language == "spanish" {
					rows = append(rows,
						row{"5 de " + month + " de 2027", day.String()},
						row{"5 de " + month + " 2027", day.String()},
						row{"5 " + month + " de 2027 18:00", day.Add(18 * time.Hour).String()},
					)
				}
				checkDates(t, saturday, calendar.UTC(), rows)
			}
		}
	}
}

func TestDaysThatMonthsByNameDoNotHave(t *testing.T) {
	t.Parallel()
	checkDates(t, saturday, calendar.UTC(), []row{
		{"29 lutego 2028", "2028-02-29 00:00:00"},
		{"29 lutego 2027", ""},
		{"29 de febrero de 2028", "2028-02-29 00:00:00"},
		{"29 de febrero de 2027", ""},
		{"30 września 2027", "2027-09-30 00:00:00"},
		{"31 września 2027", ""},
		{"31 de abril de 2027", ""},
		{"5 wrzes\u0301nia 2027", "2027-09-05 00:00:00"}, // decomposed
		{"1 stycznia 0999", ""},
		{"31 de diciembre de 9999", "9999-12-31 00:00:00"},
	})
}
