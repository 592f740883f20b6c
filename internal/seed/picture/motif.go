package picture

import (
	"image"
	"image/color"
	"maps"
	"math"
	"slices"

	"golang.org/x/image/math/fixed"
)

// motif draws one tile of a repeating pattern. If it has several variants, they alternate, or appear at random if
// random is true.
type motif struct {
	variants int
	random   bool
	draw     func(t *tile, variant int)
}

// tile is a square of cell by cell pixels to draw on. Coordinates are pixels from 0 to cell.
type tile struct {
	*image.RGBA
	colours palette
}

// Motifs lists the names of the motifs in alphabetical order.
func Motifs() []string { return slices.Sorted(maps.Keys(motifs)) }

var motifs = map[string]motif{
	// awning: striped roofs of market stalls
	"awning": {2, false, func(t *tile, v int) {
		for i, x := 0, 0; x < cell; i, x = i+1, x+32 {
			c := []color.RGBA{t.colours.first, t.white()}[(i+v)%2]
			t.rect(x, 12, x+32, 68, c)
			t.disc(x+16, 68, 16, c)
		}
		t.rect(0, 6, cell, 14, t.colours.second)
	}},
	// ball: footballs and basketballs
	"ball": {2, false, func(t *tile, v int) {
		c := []color.RGBA{t.colours.first, t.colours.second}[v]
		t.disc(64, 64, 50, c)
		t.ring(8, 64, 54, 48, t.colours.ground)
		t.ring(120, 64, 54, 48, t.colours.ground)
		t.rect(61, 10, 67, 118, t.colours.ground)
		t.ring(64, 64, 70, 50, t.colours.ground)
	}},
	// blocks: building blocks
	"blocks": {4, true, func(t *tile, v int) {
		switch v {
		case 0:
			t.disc(64, 64, 46, t.colours.first)
		case 1:
			t.rect(22, 22, 106, 106, t.colours.second)
			t.disc(64, 64, 24, t.colours.ground)
		case 2:
			t.polygon(t.colours.third, 64, 18, 112, 110, 16, 110)
		case 3:
			t.sector(18, 110, 92, 270, 360, t.colours.first)
			t.sector(18, 110, 46, 270, 360, t.colours.third)
		}
	}},
	// book: open books
	"book": {2, false, func(t *tile, v int) {
		c := []color.RGBA{t.colours.first, t.colours.second}[v]
		t.polygon(c, 10, 34, 64, 46, 64, 106, 10, 94)
		t.polygon(c, 118, 34, 64, 46, 64, 106, 118, 94)
		for y := 50; y <= 80; y += 15 {
			t.polygon(t.colours.ground, 20, y-4, 56, y+4, 56, y+9, 20, y+1)
			t.polygon(t.colours.ground, 108, y-4, 72, y+4, 72, y+9, 108, y+1)
		}
		t.rect(62, 44, 66, 106, t.colours.ground)
	}},
	// bunting: flags of a festival
	"bunting": {2, false, func(t *tile, v int) {
		for i := range 4 {
			c := []color.RGBA{t.colours.first, t.colours.second, t.colours.third, t.white()}[(i+2*v)%4]
			t.polygon(c, i*32+2, 40, i*32+30, 40, i*32+16, 86)
		}
		t.rect(0, 36, cell, 41, t.colours.second)
	}},
	// arch: doors and windows of a city
	"arch": {2, false, func(t *tile, v int) {
		c := []color.RGBA{t.colours.first, t.colours.second, t.colours.third}
		for i, r := range []int{52, 38, 24} {
			t.sector(64, 64, r, 180, 360, c[(i+v)%3])
			t.rect(64-r, 63, 64+r, 116, c[(i+v)%3])
		}
		t.rect(4, 116, 124, 121, t.colours.second)
	}},
	// film: frames of a reel
	"film": {2, false, func(t *tile, v int) {
		t.rect(0, 16, cell, 112, t.colours.second)
		for x := 6; x < cell; x += 32 {
			t.rect(x, 22, x+18, 34, t.colours.ground)
			t.rect(x, 94, x+18, 106, t.colours.ground)
		}
		t.rect(8, 42, 120, 86, []color.RGBA{t.colours.first, t.colours.third}[v])
	}},
	// flask: flasks of a laboratory
	"flask": {2, false, func(t *tile, v int) {
		c := []color.RGBA{t.colours.first, t.colours.second}[v]
		t.rect(50, 14, 78, 24, t.colours.second)
		t.polygon(t.colours.third, 54, 22, 74, 22, 74, 52, 108, 112, 20, 112, 54, 52)
		t.polygon(c, 39, 78, 89, 78, 108, 112, 20, 112)
		t.disc(58, 92, 6, t.colours.paper)
		t.disc(76, 98, 4, t.colours.paper)
		t.disc(66, 62, 5, t.colours.paper)
	}},
	// frame: pictures on a wall
	"frame": {3, true, func(t *tile, v int) {
		t.rect(18, 18, 110, 110, t.colours.second)
		t.rect(28, 28, 100, 100, t.colours.paper)
		switch v {
		case 0:
			t.disc(64, 64, 24, t.colours.first)
		case 1:
			t.rect(36, 36, 92, 66, t.colours.third)
			t.polygon(t.colours.first, 36, 92, 62, 52, 92, 92)
		case 2:
			t.rect(36, 36, 60, 92, t.colours.first)
			t.rect(66, 36, 92, 60, t.colours.third)
		}
	}},
	// house: a neighbourhood
	"house": {3, true, func(t *tile, v int) {
		c := []color.RGBA{t.colours.first, t.colours.second, t.colours.third}
		t.rect(14, 50, 114, 118, c[v])
		t.polygon(c[(v+1)%3], 6, 52, 64, 10, 122, 52)
		for x := 28; x <= 84; x += 28 {
			t.rect(x, 64, x+16, 82, t.colours.paper)
		}
		t.rect(56, 92, 72, 118, t.colours.paper)
	}},
	// keys: keys of a piano
	"keys": {1, false, func(t *tile, _ int) {
		for x := 0; x < cell; x += 32 {
			t.rect(x+1, 8, x+31, 120, t.white())
		}
		for _, x := range []int{20, 52, 116} {
			t.rect(x, 8, x+24, 78, t.black())
		}
		t.rect(0, 8, 12, 78, t.black())
		t.rect(0, 0, cell, 8, t.colours.first)
		t.rect(0, 120, cell, cell, t.colours.first)
	}},
	// lanes: the bend of a running track
	"lanes": {4, true, func(t *tile, v int) {
		x, y := (v%2)*cell, (v/2)*cell
		for i, r := range []int{116, 92, 68, 44, 20} {
			t.disc(x, y, r, []color.RGBA{t.colours.first, t.colours.ground, t.colours.second, t.colours.ground, t.colours.third}[i])
		}
	}},
	// leaf: a park
	"leaf": {4, true, func(t *tile, v int) {
		c := []color.RGBA{t.colours.first, t.colours.second, t.colours.third, t.colours.first}[v]
		t.leaf(v%2 == 0, c)
	}},
	// moon: a night
	"moon": {3, true, func(t *tile, v int) {
		switch v {
		case 0:
			t.disc(64, 64, 42, t.colours.first)
			t.disc(82, 54, 36, t.colours.ground)
		default:
			for i, at := range [][2]int{{32, 36}, {92, 58}, {50, 98}} {
				r := []int{16, 22, 12}[(i+v)%3]
				t.star(at[0], at[1], r, []color.RGBA{t.colours.first, t.colours.second, t.colours.third}[(i+v)%3])
			}
		}
	}},
	// nodes: people who know each other
	"nodes": {2, false, func(t *tile, v int) {
		t.rect(0, 61, cell, 67, t.colours.third)
		t.rect(61, 0, 67, cell, t.colours.third)
		if v == 0 {
			t.disc(64, 64, 34, t.colours.first)
			t.disc(64, 64, 16, t.colours.ground)
			return
		}
		t.disc(64, 64, 22, t.colours.second)
	}},
	// record: long-playing records
	"record": {2, false, func(t *tile, v int) {
		c := []color.RGBA{t.colours.first, t.colours.second}
		t.disc(64, 64, 56, c[v])
		for _, r := range []int{46, 34} {
			t.ring(64, 64, r, r-3, t.colours.ground)
		}
		t.disc(64, 64, 20, t.colours.third)
		t.disc(64, 64, 5, t.colours.ground)
	}},
	// screen: video screens
	"screen": {2, false, func(t *tile, v int) {
		c := []color.RGBA{t.colours.first, t.colours.second}[v]
		t.rect(12, 24, 116, 94, c)
		t.polygon(t.colours.paper, 52, 40, 82, 59, 52, 78)
		t.rect(44, 100, 84, 108, c)
	}},
	// speech: talks and questions
	"speech": {2, false, func(t *tile, v int) {
		c := []color.RGBA{t.colours.first, t.colours.second}[v]
		t.disc(64, 56, 44, c)
		if v == 0 {
			t.polygon(c, 28, 72, 24, 118, 66, 92)
		} else {
			t.polygon(c, 100, 72, 104, 118, 62, 92)
		}
		for _, x := range []int{44, 64, 84} {
			t.disc(x, 56, 6, t.colours.ground)
		}
	}},
	// stage: curtains and a beam of light
	"stage": {2, false, func(t *tile, v int) {
		if v == 0 {
			t.polygon(t.colours.third, 64, 0, 116, cell, 12, cell)
			t.disc(64, 8, 12, t.colours.second)
			return
		}
		for i, x := 0, 0; x < cell; i, x = i+1, x+16 {
			c := []color.RGBA{t.colours.first, t.colours.second}[i%2]
			t.rect(x, 0, x+16, 112, c)
			t.disc(x+8, 112, 8, c)
		}
	}},
	// weave: woven bands, for crafts
	"weave": {2, false, func(t *tile, v int) {
		for i := range 3 {
			at := 8 + i*40
			if v == 0 {
				t.rect(0, at, cell, at+32, t.colours.first)
			} else {
				t.rect(at, 0, at+32, cell, t.colours.second)
			}
		}
	}},
}

// circleEdges is the number of straight lines that approximate a circle.
const circleEdges = 72

// pointOnCircle returns a point on a circle, in units of 1/64 pixel. The angle at is clockwise from the right. Its
// unit is the full circle divided by circleEdges.
func pointOnCircle(x, y, r, at int) fixed.Point26_6 {
	sine, cosine := math.Sincos(2 * math.Pi * float64(at) / circleEdges)
	return fixed.Point26_6{
		X: fixed.Int26_6(x*64 + int(math.Round(cosine*float64(r*64)))),
		Y: fixed.Int26_6(y*64 + int(math.Round(sine*float64(r*64)))),
	}
}

// fill fills the area within closed lines.
func (t *tile) fill(c color.RGBA, lines ...[]fixed.Point26_6) {
	var o outline
	for _, points := range lines {
		for i, p := range points {
			if next := points[(i+1)%len(points)]; next.Y != p.Y {
				o.edges = append(o.edges, edge{p, next})
			}
		}
	}
	o.fill(t.RGBA, c)
}

// white returns the lighter of the two colours paper and ink.
func (t *tile) white() color.RGBA {
	if t.colours.paper.G > t.colours.ink.G {
		return t.colours.paper
	}
	return t.colours.ink
}

func (t *tile) black() color.RGBA {
	if t.colours.paper.G > t.colours.ink.G {
		return t.colours.ink
	}
	return t.colours.paper
}

func (t *tile) polygon(c color.RGBA, at ...int) {
	var points []fixed.Point26_6
	for point := range slices.Chunk(at, 2) {
		points = append(points, fixed.P(point[0], point[1]))
	}
	t.fill(c, points)
}

func (t *tile) rect(left, top, right, bottom int, c color.RGBA) {
	t.polygon(c, left, top, right, top, right, bottom, left, bottom)
}

func (t *tile) disc(x, y, r int, c color.RGBA) { t.sector(x, y, r, 0, 360, c) }

// sector draws the part of a disc between two angles. The angles are in degrees, clockwise from the right.
func (t *tile) sector(x, y, r, from, to int, c color.RGBA) {
	var points []fixed.Point26_6
	for at := from * circleEdges / 360; at <= to*circleEdges/360; at++ {
		points = append(points, pointOnCircle(x, y, r, at))
	}
	if to-from < 360 {
		points = append(points, fixed.P(x, y))
	}
	t.fill(c, points)
}

// ring draws a disc with a hole. outer and inner are the radii in pixels.
func (t *tile) ring(x, y, outer, inner int, c color.RGBA) {
	var out, in []fixed.Point26_6
	for at := range circleEdges {
		out, in = append(out, pointOnCircle(x, y, outer, at)), append(in, pointOnCircle(x, y, inner, circleEdges-at))
	}
	t.fill(c, out, in)
}

// star draws a star with four rays.
func (t *tile) star(x, y, r int, c color.RGBA) {
	t.polygon(c, x, y-r, x+r/4, y-r/4, x+r, y, x+r/4, y+r/4, x, y+r, x-r/4, y+r/4, x-r, y, x-r/4, y-r/4)
}

// leaf draws a leaf from one corner to the opposite corner. If rising is true, it runs from the lower left to the
// upper right.
func (t *tile) leaf(rising bool, c color.RGBA) {
	var points []fixed.Point26_6
	const r = 112
	quarter := circleEdges / 4
	for i := range quarter + 1 {
		if rising {
			points = append(points, pointOnCircle(8, 8, r, i)) // from the upper right to the lower left
		} else {
			points = append(points, pointOnCircle(120, 8, r, quarter+i))
		}
	}
	for i := range quarter + 1 {
		if rising {
			points = append(points, pointOnCircle(120, 120, r, 2*quarter+i))
		} else {
			points = append(points, pointOnCircle(8, 120, r, 3*quarter+i))
		}
	}
	t.fill(c, points)
}
