package handlers_test

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
)

// addPolishCourse adds the series of the contract's example: a course every second Tuesday. On a fresh example its id is 25,
// and those of its occurrences follow. That of 8 December was moved by a day.
func addPolishCourse(t testing.TB, api *apitest.API) int64 {
	t.Helper()
	nominal := []string{
		"2026-11-24 18:00:00", "2026-12-08 18:00:00", "2027-01-05 18:00:00", "2027-01-19 18:00:00", "2027-02-02 18:00:00",
		"2027-02-16 18:00:00", "2027-03-02 18:00:00",
	}
	template := ent.Event{
		Description: "For adults", ImageID: new(int64(poster)), Cost: calendar.Cost{Prices: []string{"10"}}, ShowMap: true,
	}
	template.SetTranslated([]calendar.Text{{Language: calendar.Polish, Title: "Polski od podstaw", Slug: "polski-od-podstaw"}})
	template.SetTermIDs(calendar.Category, []int64{music, 99})
	template.SetVenueIDs([]int64{grandHall})
	template.SetOrganizerIDs([]int64{bob})
	id := api.AddSeries(t, apitest.SeriesRow{
		Title: "Polish for beginners", Slug: "polish-for-beginners", Author: 1, Zone: "Europe/Warsaw",
		Start: nominal[0], End: "2026-11-24 19:30:00",
		RRule: "FREQ=WEEKLY;INTERVAL=2;UNTIL=20270303;BYDAY=TU", ExDate: []string{"2026-12-22 18:00:00"},
		Template:    template,
		Occurrences: nominal,
	})
	zone, err := calendar.ParseZone("Europe/Warsaw")
	must.Succeed(t, err)
	moved := calendar.Span{Start: calendar.WallAt(2026, 12, 9, 17, 0, 0), End: calendar.WallAt(2026, 12, 9, 18, 30, 0), Zone: zone}
	changeEvent(t, api, id+2, func(u *ent.EventUpdateOne) {
		u.SetStartWall(moved.Start).SetEndWall(moved.End).SetStartsAt(moved.StartsAt()).SetEndsAt(moved.EndsAt()).
			SetOwnFields([]string{"start_date", "end_date"})
	})
	api.Reindex(t)
	return id
}

// changeEvent changes the row of an event directly in the database, without the change log.
func changeEvent(t testing.TB, api *apitest.API, id int64, change func(*ent.EventUpdateOne)) {
	t.Helper()
	u := api.Store.Ent.Event.UpdateOneID(id)
	change(u)
	must.Succeed(t, u.Exec(t.Context()))
}
