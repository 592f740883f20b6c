package calendar

import (
	"math"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

// earthRadius is the mean radius of the earth, in kilometres.
const earthRadius = 6371.0088

// Cell returns the number of the S2 cell of a position in degrees north and east. The database indexes this number
// to find nearby venues, because near positions mostly have near numbers. The last bit of an S2 cell id is always
// set. Cell drops it, so that the number fits a signed column and keeps its order.
func Cell(latitude, longitude float64) int64 {
	return int64(uint64(s2.CellIDFromLatLng(s2.LatLngFromDegrees(latitude, longitude))) >> 1)
}

// CellRange is a range of cell numbers, both ends included.
type CellRange struct{ First, Last int64 }

// maxRanges is the maximum number of ranges that Cells returns. More ranges would follow the circle more
// closely.
const maxRanges = 12

// Cells returns ranges of cell numbers that cover the circle around a position, also at the poles and at the
// date line. They contain positions outside the circle too, so the caller checks each with Distance.
func Cells(latitude, longitude, kilometres float64) []CellRange {
	// The angle is slightly larger, so that rounding never excludes positions on the circle.
	angle := s1.Angle(kilometres/earthRadius) * (1 + 1e-9)
	circle := s2.CapFromCenterAngle(s2.PointFromLatLng(s2.LatLngFromDegrees(latitude, longitude)), angle)
	coverer := s2.RegionCoverer{MaxLevel: s2.MaxLevel, MaxCells: maxRanges}
	var out []CellRange
	for _, c := range coverer.Covering(circle) {
		first, last := int64(uint64(c.RangeMin())>>1), int64(uint64(c.RangeMax())>>1)
		if n := len(out); n > 0 && out[n-1].Last+1 >= first {
			out[n-1].Last = last
			continue
		}
		out = append(out, CellRange{first, last})
	}
	return out
}

// Distance returns the great-circle distance between two positions in kilometres, by the haversine formula.
func Distance(lat1, lng1, lat2, lng2 float64) float64 {
	rad := func(degrees float64) float64 { return degrees * math.Pi / 180 }
	dLat, dLng := rad(lat2-lat1)/2, rad(lng2-lng1)/2
	h := math.Sin(dLat)*math.Sin(dLat) + math.Cos(rad(lat1))*math.Cos(rad(lat2))*math.Sin(dLng)*math.Sin(dLng)
	return 2 * earthRadius * math.Asin(math.Sqrt(min(1, h)))
}
