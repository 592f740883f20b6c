package scenario

import (
	"testing"
)

func TestRoomsAreTakenOnce(t *testing.T) {
	tests := []struct {
		name     string
		rooms    int
		from, to int
		want     bool
	}{
		{"the first", 1, 40, 48, true},
		{"at the same time", 1, 47, 50, false},
		{"in another room", 2, 47, 50, true},
		{"right after", 1, 48, 60, true},
		{"over midnight", 1, 90, 100, true},
		{"early on the day after", 1, 98, 110, false},
		{"the whole of a day that is taken", 1, 96, 192, false},
		{"three days", 1, 192, 480, true},
		{"in the middle of them", 1, 300, 301, false},
		{"before the calendar", 1, -20, 3, true},
	}
	r := rooms{map[roomDay][2]uint64{}}
	for _, tt := range tests {
		if got := r.take(7, tt.rooms, tt.from, tt.to); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
	if !r.take(8, 1, 0, 480) {
		t.Error("another venue is taken")
	}
}
