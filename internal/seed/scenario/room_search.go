package scenario

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// eventNeeds are the requirements of an event for its place and time, from which findRoom chooses a room.
type eventNeeds struct {
	kind        *eventKind
	at          []string // types of venues; none means that the event is online
	city        int
	first, last int // first and last day to which the event may be moved
	day         int
	days        int // duration of an all-day event
	minutes     int // duration of an event with a time of day
	starts      []clock
	repeats     int // number of occurrences, for a course; 0 means one
	every       int // days between two occurrences
}

// roomSlot is the venue and start of an event.
type roomSlot struct {
	venue int32 // index of the venue; -1 means none
	day   int32
	start int16 // minutes after midnight; 0 for all-day events
}

// roomPause is the number of free quarters of an hour between two events in a room.
const roomPause = 1

// mostProbes limits the attempts of findRoom for one event. It matters for calendars with more events than rooms.
const mostProbes = 2000

// findRoom chooses a venue, a day and a start for an event, and occupies a room. It tries the wanted day first, and
// near days before others. If the event is online or no room is free, the result has the venue -1.
func (c *Calendar) findRoom(w *eventNeeds, source randomSource) roomSlot {
	k := w.kind
	at, start := source.next(), source.next()
	c.searches++
	probes := 0
	for tries := range 2 * 60 {
		day := w.day + (tries+1)/2*(1-tries%2*2)
		if tries > 0 && (day < w.first || day > w.last || !c.suits(k, day, max(w.days, 1)-1)) {
			continue
		}
		if probes > mostProbes {
			break
		}
		if tries > 0 {
			c.rejected++
		}
		for a := range max(len(w.at), 1) {
			s := roomSlot{venue: -1, day: int32(day)}
			if len(w.starts) > 0 {
				s.start = int16(w.starts[start%uint64(len(w.starts))].at(c, w.city, day))
			}
			if len(w.at) == 0 {
				return s
			}
			typ := w.at[(at+uint64(a))%uint64(len(w.at))]
			venues := c.venueIndex.near(typ, w.city)
			popular := source // equal for all days and types
			pick := popular.lowBiased(len(venues))
			for v := range min(len(venues), 256) {
				s.venue = int32(venues[(pick+v)%len(venues)])
				for n := range max(len(w.starts), 1) {
					if len(w.starts) > 0 {
						s.start = int16(w.starts[(start+uint64(n))%uint64(len(w.starts))].at(c, w.city, day))
					}
					if probes++; c.takeAll(w, s, max(roomsOf[typ], 1)) {
						return s
					}
				}
			}
		}
	}
	c.rejected++
	s := roomSlot{venue: -1, day: int32(w.day)}
	if len(w.starts) > 0 {
		s.start = int16(w.starts[0].at(c, w.city, w.day))
	}
	return s
}

// takeAll occupies a room for all occurrences of an event. The venue has count rooms. It returns false if no room is
// free for all of them.
func (c *Calendar) takeAll(w *eventNeeds, s roomSlot, count int) bool {
	if w.repeats == 0 {
		from, to := w.quarters(s, int(s.day))
		return c.rooms.take(int(s.venue), count, from, to)
	}
	for room := range count {
		free := true
		for n := range w.repeats {
			from, to := w.quarters(s, int(s.day)+n*w.every)
			free = free && c.rooms.free(int(s.venue), room, from, to)
		}
		if !free {
			continue
		}
		for n := range w.repeats {
			from, to := w.quarters(s, int(s.day)+n*w.every)
			c.rooms.occupy(int(s.venue), room, from, to)
		}
		return true
	}
	return false
}

// quarters returns when an event occupies its room on a day, with the pause after it. The unit is a quarter of an
// hour since the first day of the calendar. The end to is not included.
func (w *eventNeeds) quarters(s roomSlot, day int) (from, to int) {
	if len(w.starts) == 0 {
		return day * dayQuarters, (day + max(w.days, 1)) * dayQuarters
	}
	from = day*dayQuarters + int(s.start)/15
	return from, from + (w.minutes+14)/15 + roomPause
}

// spanOf returns the span of an event with the start s, in a zone. Its length is w.minutes, or w.days if w.starts is
// empty.
func (c *Calendar) spanOf(w *eventNeeds, s roomSlot, zone calendar.Zone) calendar.Span {
	span := calendar.Span{Start: c.day(int(s.day)), Zone: zone}
	if len(w.starts) == 0 {
		span.AllDay, span.End = true, span.Start.AddDate(0, 0, max(w.days, 1)-1)
		return span.Rounded()
	}
	span.Start = span.Start.Add(time.Duration(s.start) * time.Minute)
	span.End = span.Start.Add(time.Duration(w.minutes) * time.Minute)
	return span
}
