package scenario

// placeIndex finds venues or organizers of a type, in a city or anywhere. They are indexes into the lists of the
// calendar.
type placeIndex struct {
	all    []int
	byType map[string][]int
	byBoth map[string][][]int
}

func newPlaceIndex(cities int, types []string) placeIndex {
	p := placeIndex{byType: map[string][]int{}, byBoth: map[string][][]int{}}
	for _, t := range types {
		p.byBoth[t] = make([][]int, cities)
	}
	return p
}

func (p *placeIndex) add(i int, typ string, city int) {
	p.all = append(p.all, i)
	p.byType[typ] = append(p.byType[typ], i)
	p.byBoth[typ][city] = append(p.byBoth[typ][city], i)
}

// near returns the indexes of the venues or organizers with a type in a city. If there are none, it returns those
// with the type in all cities, or else all.
func (p *placeIndex) near(typ string, city int) []int {
	if in := p.byBoth[typ][city]; len(in) > 0 {
		return in
	}
	if of := p.byType[typ]; len(of) > 0 {
		return of
	}
	return p.all
}
