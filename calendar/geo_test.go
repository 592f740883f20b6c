package calendar

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                   string
		lat1, lng1, lat2, lng2 float64
		want                   float64 // km
	}{
		{"nowhere to go", 52.23, 21.01, 52.23, 21.01, 0},
		{"a degree of latitude", 0, 0, 1, 0, 111.195},
		{"Warsaw to Kraków", 52.2297, 21.0122, 50.0647, 19.9450, 252.0},
		{"across the date line", 10, 179.5, 10, -179.5, 109.506},
		{"over the pole", 89.5, 0, 89.5, 180, 111.195},
		{"to the antipode", 0, 0, 0, 180, math.Pi * earthRadius},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := Distance(test.lat1, test.lng1, test.lat2, test.lng2); math.Abs(got-test.want) > 0.5 {
				t.Errorf("got %.3f km, want %.3f", got, test.want)
			}
		})
	}
}

// TestCellsCoverTheCircle checks that each position within a radius is in one of the ranges of Cells, anywhere on
// the globe.
func TestCellsCoverTheCircle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lat := rapid.Float64Range(-90, 90).Draw(t, "latitude")
		lng := rapid.Float64Range(-180, 180).Draw(t, "longitude")
		radius := rapid.Float64Range(0.001, 500).Draw(t, "radius")
		ranges := Cells(lat, lng, radius)
		if len(ranges) == 0 || len(ranges) > maxRanges {
			t.Fatalf("%d ranges", len(ranges))
		}
		// Points around the centre, some of which fall outside.
		for range 20 {
			scale := radius / 111.0 * 1.2
			pLat := math.Max(-90, math.Min(90, lat+rapid.Float64Range(-1, 1).Draw(t, "north")*scale))
			wide := scale / math.Max(0.01, math.Cos(pLat*math.Pi/180))
			pLng := math.Mod(lng+rapid.Float64Range(-1, 1).Draw(t, "east")*wide+540, 360) - 180
			if Distance(lat, lng, pLat, pLng) > radius {
				continue
			}
			cell, found := Cell(pLat, pLng), false
			for _, r := range ranges {
				found = found || (r.First <= cell && cell <= r.Last)
			}
			if !found {
				t.Fatalf("%f,%f is within %f km of %f,%f and in no cell", pLat, pLng, radius, lat, lng)
			}
		}
	})
}
