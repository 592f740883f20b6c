package scenario

// rooms records the times at which the rooms of each venue are occupied, so that no room has two events at
// once.
type rooms struct {
	// taken has a bit for each quarter of an hour of the day, by room and day.
	taken map[roomDay][2]uint64
}

// dayQuarters is the number of quarters of an hour in a day. Rooms are occupied by the quarter.
const dayQuarters = 24 * 4

type roomDay struct{ venue, room, day int32 }

// roomsOf maps types of venues to their number of rooms. Other types have one room.
var roomsOf = map[string]int{"arena": 3, "gallery": 4, "congress": 8, "seminar": 4}

// take occupies a room in a venue with count rooms. The times from and to are in quarters of an hour since the first
// day of the calendar. It returns false if no room is free.
func (r *rooms) take(venue, count, from, to int) bool {
	from = max(from, 0)
	for room := range count {
		if r.free(venue, room, from, to) {
			r.occupy(venue, room, from, to)
			return true
		}
	}
	return false
}

func (r *rooms) free(venue, room, from, to int) bool {
	for at := from; at < to; at = (at/dayQuarters + 1) * dayQuarters {
		key := roomDay{int32(venue), int32(room), int32(at / dayQuarters)}
		mask, taken := bitsOf(at%dayQuarters, min(dayQuarters, to-at/dayQuarters*dayQuarters)), r.taken[key]
		if taken[0]&mask[0] != 0 || taken[1]&mask[1] != 0 {
			return false
		}
	}
	return true
}

func (r *rooms) occupy(venue, room, from, to int) {
	for at := max(from, 0); at < to; at = (at/dayQuarters + 1) * dayQuarters {
		key := roomDay{int32(venue), int32(room), int32(at / dayQuarters)}
		mask, taken := bitsOf(at%dayQuarters, min(dayQuarters, to-at/dayQuarters*dayQuarters)), r.taken[key]
		r.taken[key] = [2]uint64{taken[0] | mask[0], taken[1] | mask[1]}
	}
}

// bitsOf returns one bit for each quarter of an hour of a day. The bits with index from up to to-1 are set.
func bitsOf(from, to int) [2]uint64 {
	var mask [2]uint64
	for i, low := range [2]int{0, 64} {
		first, last := max(from-low, 0), min(to-low, 64)
		if first < last {
			mask[i] = ^uint64(0) >> (64 - (last - first)) << first
		}
	}
	return mask
}
