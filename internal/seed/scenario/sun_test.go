package scenario

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

// TestSunset compares sunsets with those of printed almanacs, to the minute.
func TestSunset(t *testing.T) {
	tests := []struct {
		place    string
		lat, lng float64
		zone     string
		day      string
		want     string // "": none
	}{
		{"London, summer", 51.5074, -0.1278, "Europe/London", "2026-06-21", "21:21"},
		{"London, winter", 51.5074, -0.1278, "Europe/London", "2026-12-21", "15:53"},
		{"London, spring", 51.5074, -0.1278, "Europe/London", "2026-03-20", "18:14"},
		{"Warsaw, summer", 52.2297, 21.0122, "Europe/Warsaw", "2026-06-21", "21:01"},
		{"Warsaw, winter", 52.2297, 21.0122, "Europe/Warsaw", "2026-12-21", "15:25"},
		{"Madrid, summer", 40.4168, -3.7038, "Europe/Madrid", "2026-06-21", "21:48"},
		{"Madrid, winter", 40.4168, -3.7038, "Europe/Madrid", "2026-12-21", "17:51"},
		{"New York, summer", 40.7128, -74.0060, "America/New_York", "2026-06-21", "20:31"},
		{"New York, winter", 40.7128, -74.0060, "America/New_York", "2026-12-21", "16:32"},
		{"Sydney, summer", -33.8688, 151.2093, "Australia/Sydney", "2026-12-21", "20:05"},
		{"Sydney, winter", -33.8688, 151.2093, "Australia/Sydney", "2026-06-21", "16:54"},
		{"Buenos Aires, summer", -34.6037, -58.3816, "America/Argentina/Buenos_Aires", "2026-12-21", "20:06"},
		{"Quito", -0.1807, -78.4678, "America/Guayaquil", "2026-03-20", "18:25"},
		{"Tromsø, summer", 69.6492, 18.9553, "Europe/Oslo", "2026-06-21", ""},
		{"Tromsø, winter", 69.6492, 18.9553, "Europe/Oslo", "2026-12-21", ""},
	}
	for _, tt := range tests {
		zone, err := calendar.ParseZone(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		day, err := calendar.ParseWall(tt.day + " 00:00:00")
		if err != nil {
			t.Fatal(err)
		}
		got, ok := sunset(tt.lat, tt.lng, zone, day)
		if ok != (tt.want != "") {
			t.Errorf("%s: %d, %t", tt.place, got, ok)
		}
		if tt.want == "" {
			continue
		}
		want, err := parseClocks(tt.want)
		if err != nil {
			t.Fatal(err)
		}
		if d := got - want[0].minute; d < -2 || d > 2 {
			t.Errorf("%s: %d:%02d, want %s", tt.place, got/60, got%60, tt.want)
		}
	}
}
