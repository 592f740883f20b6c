package scenario

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

func FuzzOptions(f *testing.F) {
	f.Add(uint8(0), uint64(1), uint16(40), uint8(0), uint8(0), uint8(12), uint8(0), int16(0), false)
	f.Add(uint8(5), uint64(7), uint16(1), uint8(1), uint8(1), uint8(1), uint8(5), int16(-400), true)
	f.Add(uint8(2), uint64(9), uint16(60), uint8(3), uint8(30), uint8(2), uint8(1), int16(4000), true)
	f.Add(uint8(3), uint64(0), uint16(45), uint8(2), uint8(2), uint8(0), uint8(2), int16(30), false)
	f.Fuzz(func(t *testing.T, scenario uint8, seed uint64, events uint16, venues, organizers, months, languages uint8,
		now int16, nasty bool,
	) {
		o := Options{
			Scenario: Scenarios[int(scenario)%len(Scenarios)], Seed: seed, Events: int(events % 400), Venues: int(venues),
			Organizers: int(organizers), From: firstDay.AddDate(0, 0, int(seed%400)), Months: int(months) % 49, Nasty: nasty,
			Pictures: true, Now: calendar.UTC().Instant(firstDay.AddDate(0, 0, int(now))),
		}
		for i := range int(languages % 4) {
			o.Languages = append(o.Languages, calendar.Languages[(int(languages)/4+i)%len(calendar.Languages)])
		}
		c := mustNew(t, o)
		for i := range c.Len() {
			checkEvent(t, c, i, c.Event(i))
		}
		for _, s := range c.Series() {
			checkSeries(t, c, s)
		}
	})
}

func BenchmarkEvent(b *testing.B) {
	for _, s := range Scenarios {
		b.Run(s, func(b *testing.B) {
			c := mustNew(b, optionsOf(s, calendar.English, 100_000))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.Event(i % c.Len())
			}
		})
	}
}
