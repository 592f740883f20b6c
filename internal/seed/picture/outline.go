package picture

import (
	"cmp"
	"image"
	"image/color"
	"slices"

	"golang.org/x/image/math/fixed"
)

const (
	// rows is the number of sampled lines per row of pixels. A pixel is 64 units high and wide.
	rows = 8
	step = 64 / rows
)

// outline is a shape to be filled, bounded by closed lines. Its points are in units of 1/64 pixel.
type outline struct{ edges []edge }

type edge struct{ from, to fixed.Point26_6 }

// crossing is a point where an edge crosses a sampled line. turn is +1 for a downward edge and -1 for an upward one.
type crossing struct{ x, turn int }

// fill colours the area within the outline by the non-zero rule, with smooth edges.
func (o *outline) fill(img *image.RGBA, c color.RGBA) {
	lines := make([][]crossing, img.Rect.Dy()*rows)
	for _, e := range o.edges {
		e.cross(lines)
	}
	cover := make([]int, img.Rect.Dx()) // coverage of each pixel of a row, in units of 1/(64*rows)
	for y := range img.Rect.Dy() {
		row := lines[y*rows : (y+1)*rows]
		if !slices.ContainsFunc(row, func(line []crossing) bool { return len(line) > 0 }) {
			continue
		}
		clear(cover)
		for _, line := range row {
			slices.SortFunc(line, func(a, b crossing) int { return cmp.Compare(a.x, b.x) })
			winding := 0
			for i, at := range line {
				if winding != 0 {
					span(cover, line[i-1].x, at.x)
				}
				winding += at.turn
			}
		}
		for x, part := range cover {
			if part > 0 {
				i := img.PixOffset(x, y)
				blend(img.Pix[i:i+3:i+3], c, part*255/(64*rows))
			}
		}
	}
}

// cross adds the points at which an edge crosses the horizontal lines at which an outline is sampled.
func (e edge) cross(lines [][]crossing) {
	turn, from, to := 1, e.from, e.to
	if from.Y > to.Y {
		turn, from, to = -1, to, from
	}
	height := int(to.Y - from.Y)
	// From the first line at or below from to the last one above to, so that an end that two edges share counts
	// once.
	for n := max(0, ceil(int(from.Y)-step/2, step)); n < len(lines); n++ {
		y := n*step + step/2
		if y >= int(to.Y) {
			break
		}
		x := int(from.X) + int(to.X-from.X)*(y-int(from.Y))/height
		lines[n] = append(lines[n], crossing{x, turn})
	}
}

// ceil returns a/b rounded up.
func ceil(a, b int) int {
	if a <= 0 {
		return a / b
	}
	return (a + b - 1) / b
}

// span adds the part of a line between two positions to the coverage of its pixels. Positions and coverage are in
// units of 1/64 pixel.
func span(cover []int, from, to int) {
	from, to = max(from, 0), min(to, len(cover)*64)
	for from < to {
		end := min(to, from&^63+64)
		cover[from>>6] += end - from
		from = end
	}
}
