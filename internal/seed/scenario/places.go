package scenario

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// city is a real city.
type city struct {
	name      string   // as its people call it
	in, of    []string // "in Kraków", "of Kraków" by language of the calendar
	names     []string
	adjective []string // masculine, feminine, neuter where the language of the country has them
	province  string
	country   *country
	zone      calendar.Zone
	lat, lng  float64
	zips      []string
	dial      string // a telephone number; each # is a digit
	changes   []int  // days, counted from the first, in whose night the clocks change
}

type country struct {
	name, price string
	factor      int // how many units of the currency go for about a pound
}

type team struct {
	name string
	city int
}

// placed are the indices of places by type and by city.
type placed struct {
	all    []int
	byType map[string][]int
	byBoth map[string][][]int
}

func newPlaced(cities int, types []string) placed {
	p := placed{byType: map[string][]int{}, byBoth: map[string][][]int{}}
	for _, t := range types {
		p.byBoth[t] = make([][]int, cities)
	}
	return p
}

func (p *placed) add(i int, typ string, city int) {
	p.all = append(p.all, i)
	p.byType[typ] = append(p.byType[typ], i)
	p.byBoth[typ][city] = append(p.byBoth[typ][city], i)
}

// near are those of the type in the city, or else elsewhere, or else of any type.
func (p *placed) near(typ string, city int) []int {
	if in := p.byBoth[typ][city]; len(in) > 0 {
		return in
	}
	if of := p.byType[typ]; len(of) > 0 {
		return of
	}
	return p.all
}

// fillLocal makes the people and bands of the country, in an order in which neighbours have little in common.
func (c *Calendar) fillLocal() error {
	f := c.fake(chanceNames)
	if c.o.Languages[0] == calendar.English {
		// gofakeit knows English names only.
		first, last := distinct(f.FirstName, 72), distinct(f.LastName, 96)
		for _, a := range first {
			for _, b := range last {
				c.people = append(c.people, a+" "+b)
			}
		}
	} else {
		last, err := c.local.entries("list surnames")
		if err != nil {
			return err
		}
		// Surnames that differ have the form of women first.
		for form, key := range []string{"list women", "list men"} {
			first, err := c.local.entries(key)
			if err != nil {
				return err
			}
			for _, a := range first {
				for _, b := range last {
					c.people = append(c.people, a[0]+" "+b[min(form, len(b)-1)])
				}
			}
		}
	}
	bands, err := c.local.entries("list bands")
	if err != nil {
		return err
	}
	of, err := c.local.entries("list bands of")
	if err != nil {
		return err
	}
	for _, a := range bands {
		for _, b := range of {
			c.bands = append(c.bands, a[0]+" "+b[0])
		}
	}
	f.ShuffleStrings(c.people)
	f.ShuffleStrings(c.bands)
	return nil
}

// distinct draws n texts of which no two are the same.
func distinct(draw func() string, n int) []string {
	var all []string
	for tries := 0; len(all) < n && tries < 100*n; tries++ {
		if s := draw(); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// fillCities reads the cities and chooses those that the calendar is about.
func (c *Calendar) fillCities() error {
	countries := map[string]*country{}
	entries, err := c.local.entries("list countries")
	if err != nil {
		return err
	}
	for _, e := range entries {
		factor, err := strconv.Atoi(e[3])
		if err != nil {
			return fmt.Errorf("country %q: %w", e[0], err)
		}
		countries[e[0]] = &country{name: e[1], price: e[2], factor: factor}
	}
	if entries, err = c.local.entries("list cities"); err != nil {
		return err
	}
	source := chanceOf(c.o.Seed, chanceCities)
	cities := make([]city, len(entries))
	for i, e := range entries {
		if cities[i], err = c.readCity(e, countries); err != nil {
			return fmt.Errorf("city %q: %w", e[0], err)
		}
	}
	for i := len(cities) - 1; i > 0; i-- {
		j := source.below(i + 1)
		cities[i], cities[j] = cities[j], cities[i]
	}
	if c.plan.Country {
		cities = compatriots(cities)
	}
	n := 1
	if c.plan.Cities {
		n = max(1, min(len(cities), c.o.Venues/len(c.plan.Venues)))
	}
	c.cities = cities[:n]
	if c.o.Now.IsZero() {
		c.o.Now = c.cities[0].zone.Instant(c.o.From)
	}
	teams, err := c.local.entries("list teams")
	if err != nil {
		return err
	}
	// The first cities have more clubs than the last ones.
	for at := range c.cities {
		for t := range max(len(teams)/(at/2+1), 1) {
			pattern := teams[(t+at*3)%len(teams)][0]
			c.teams = append(c.teams, team{strings.ReplaceAll(pattern, "{city}", c.cities[at].name), at})
		}
	}
	return nil
}

// compatriots are up to eight cities in the country of the first that has company.
func compatriots(cities []city) []city {
	for _, first := range cities {
		var in []city
		for _, other := range cities {
			if other.country == first.country {
				in = append(in, other)
			}
		}
		if len(in) > 2 {
			return in[:min(len(in), 8)]
		}
	}
	return cities
}

// readCity reads a line of the list: native name; English, Polish and Spanish name; of and in Polish; province;
// country; zone; latitude; longitude; postcodes; telephone number; adjective.
func (c *Calendar) readCity(e []string, countries map[string]*country) (city, error) {
	if len(e) != 14 {
		return city{}, fmt.Errorf("%d columns instead of 14", len(e))
	}
	to := city{
		name: e[0], province: strings.Trim(e[6], "-"), country: countries[e[7]], zips: strings.Split(e[11], ", "),
		dial: e[12], adjective: strings.Fields(e[13]),
	}
	if to.country == nil {
		return to, fmt.Errorf("no country %q", e[7])
	}
	for _, l := range c.o.Languages {
		switch l {
		case calendar.Polish:
			to.names, to.of, to.in = append(to.names, e[2]), append(to.of, e[4]), append(to.in, e[5])
		case calendar.Spanish:
			to.names, to.of, to.in = append(to.names, e[3]), append(to.of, "de "+e[3]), append(to.in, "en "+e[3])
		default:
			to.names, to.of, to.in = append(to.names, e[1]), append(to.of, "of "+e[1]), append(to.in, "in "+e[1])
		}
	}
	var err error
	if to.zone, err = calendar.ParseZone(e[8]); err != nil {
		return to, err
	}
	if c.o.Zone != (calendar.Zone{}) {
		to.zone = c.o.Zone
	}
	if to.lat, err = strconv.ParseFloat(e[9], 64); err != nil {
		return to, err
	}
	if to.lng, err = strconv.ParseFloat(e[10], 64); err != nil {
		return to, err
	}
	return to, nil
}

// changes are the days in whose night the clocks of the zone change.
func (c *Calendar) changes(zone calendar.Zone) []int {
	var days []int
	offset := func(day int) int {
		_, seconds := zone.Instant(c.day(day).Add(12 * time.Hour)).In(zone.Location()).Zone()
		return seconds
	}
	before := offset(0)
	for day := range len(c.days) - 1 {
		after := offset(day + 1)
		if after != before {
			days = append(days, day)
		}
		before = after
	}
	return days
}

// phone makes up a number.
func phone(pattern string, source *chance) string {
	b := []byte(pattern)
	for i, ch := range b {
		if ch == '#' {
			b[i] = byte('0' + source.below(10))
		}
	}
	return string(b)
}

func site(name string) string { return "https://" + calendar.Slug(name) + ".example/" }

// namer makes up proper names of places and organizers; no two are the same.
type namer struct {
	c       *Calendar
	streets [][]string // as in an address, and as in a name
	names   [][]string
	used    map[string]bool
}

func (c *Calendar) newNamer() (n namer, err error) {
	n = namer{c: c, used: map[string]bool{}}
	if n.streets, err = c.local.entries("list streets"); err != nil {
		return n, err
	}
	n.names, err = c.local.entries("list name")
	return n, err
}

// name makes up a name of a pattern of the list for something in the city and in the street. Where all are
// taken, the address keeps them apart.
func (n namer) name(key string, in *city, street []string, address string, source *chance) (string, error) {
	patterns, err := n.c.local.entries(key)
	if err != nil {
		return "", err
	}
	if n.c.plan.House {
		patterns = slices.DeleteFunc(slices.Clone(patterns), func(e []string) bool {
			return strings.Contains(e[0], "{street}")
		})
	}
	if len(patterns) == 0 {
		return "", fmt.Errorf("%s: no pattern without a street", key)
	}
	name := ""
	for range 60 {
		what := n.names[source.below(len(n.names))]
		fill := []string{"{city}", in.name, "{street}", street[1]}
		for i, form := range what {
			fill = append(fill, fmt.Sprintf("{name:%d}", i+1), form)
		}
		for i, form := range in.adjective {
			fill = append(fill, fmt.Sprintf("{adj:%d}", i+1), form)
		}
		name = strings.NewReplacer(fill...).Replace(patterns[source.below(len(patterns))][0])
		if strings.ContainsAny(name, "{}") {
			return "", fmt.Errorf("%s: %q has an unknown slot", key, name)
		}
		if !n.used[name] {
			break
		}
	}
	if n.used[name] {
		name += ", " + address
	}
	n.used[name] = true
	return name, nil
}

func (n namer) address(street []string, source *chance) string {
	pattern := n.c.local["list address"].Entries[0][0]
	number := strconv.Itoa(1 + source.head(140))
	return strings.NewReplacer("{street}", street[0], "{number}", number).Replace(pattern)
}

// same is a proper name in all languages.
func (c *Calendar) same(name string) Text {
	t := Text{}
	for _, l := range c.o.Languages {
		t[l] = name
	}
	return t
}

// described writes the description of a venue or organizer.
func (c *Calendar) described(key string, in int, source chance) (Text, error) {
	a, err := c.about(key)
	if err != nil {
		return nil, err
	}
	d := newDraft(c, source, in)
	lead := a.leads[source.below(len(a.leads))]
	t := Text{}
	more := source.below(2*len(a.more) + 1)
	for i, l := range c.o.Languages {
		var b strings.Builder
		d.paragraph(&b, lead, i)
		if more < len(a.more) {
			d.paragraph(&b, a.more[more], i)
		}
		t[l] = b.String()
	}
	return t, nil
}

func (c *Calendar) fillVenues() error {
	types := slices.Compact(slices.Sorted(slices.Values(c.plan.Venues)))
	c.venuesAt = newPlaced(len(c.cities), types)
	n, err := c.newNamer()
	if err != nil {
		return err
	}
	if _, err := c.local.entries("list address"); err != nil {
		return err
	}
	var first *Venue
	for i := range c.o.Venues {
		source := chanceOf(c.o.Seed, chanceVenues, uint64(i))
		typ := c.plan.Venues[i%len(c.plan.Venues)]
		at := i / len(c.plan.Venues) % len(c.cities)
		in := &c.cities[at]
		street := n.streets[source.below(len(n.streets))]
		address := n.address(street, &source)
		name, err := n.name("list venue "+typ, in, street, address, &source)
		if err != nil {
			return err
		}
		about, err := c.described("venue "+typ, at, source)
		if err != nil {
			return err
		}
		v := Venue{
			SourceID: c.sourceID("venue", i), Name: c.same(name), Description: about, Address: address, City: in.name,
			Zip: in.zips[source.below(len(in.zips))], Province: in.province, Country: in.country.name,
			Phone: phone(in.dial, &source), Website: site(name), Picture: c.picture(&source, 50),
		}
		if v.Located = i%37 != 29; v.Located {
			v.Latitude = round(in.lat + float64(source.between(-900, 900))/1e5)
			v.Longitude = round(in.lng + float64(source.between(-1200, 1200))/1e5)
		}
		if c.plan.House && first != nil {
			v.Address, v.Zip, v.Phone, v.Website = first.Address, first.Zip, first.Phone, first.Website
			v.Latitude, v.Longitude, v.Located = first.Latitude, first.Longitude, first.Located
		}
		if first == nil {
			first = &v
		}
		c.venues = append(c.venues, v)
		c.venuesAt.add(i, typ, at)
	}
	return nil
}

// round is to about a metre.
func round(degrees float64) float64 { return math.Round(degrees*1e5) / 1e5 }

func (c *Calendar) fillOrganizers() error {
	if c.o.Organizers == 0 {
		c.o.Organizers = 5 + int(math.Sqrt(float64(c.o.Events))/2)
		if c.plan.Cities {
			c.o.Organizers = max(c.o.Organizers, len(c.cities)*len(c.plan.Organizers))
		}
	}
	c.organizing = newPlaced(len(c.cities), c.plan.Organizers)
	n, err := c.newNamer()
	if err != nil {
		return err
	}
	for i := range c.o.Organizers {
		source := chanceOf(c.o.Seed, chanceOrganizers, uint64(i))
		typ := c.plan.Organizers[i%len(c.plan.Organizers)]
		at := i / len(c.plan.Organizers) % len(c.cities)
		in := &c.cities[at]
		street := n.streets[source.below(len(n.streets))]
		name, err := n.name("list organizer "+typ, in, street, n.address(street, &source), &source)
		if err != nil {
			return err
		}
		about, err := c.described("organizer "+typ, at, source)
		if err != nil {
			return err
		}
		c.organizers = append(c.organizers, Organizer{
			SourceID: c.sourceID("organizer", i), Name: c.same(name), Description: about,
			Phone: phone(in.dial, &source), Email: "info@" + calendar.Slug(name) + ".example", Website: site(name),
			Picture: c.picture(&source, 40),
		})
		c.organizing.add(i, typ, at)
	}
	return nil
}

// fillPrices writes the prices of all countries, which is much slower than looking them up.
func (c *Calendar) fillPrices() error {
	highest := 0
	for _, k := range c.plan.Kinds {
		highest = max(highest, k.Price[1])
	}
	for _, k := range c.plan.Series {
		highest = max(highest, k.Price[1])
	}
	c.prices = map[*country][][2]calendar.Cost{}
	for _, in := range c.cities {
		if c.prices[in.country] != nil {
			continue
		}
		for price := range highest + 1 {
			whole := fmt.Sprintf(in.country.price, price*in.country.factor)
			less := fmt.Sprintf(in.country.price, cmp.Or(price*2/3, 1)*in.country.factor)
			pair := [2]calendar.Cost{calendar.ParseCost([]string{whole}, "."), calendar.ParseCost([]string{whole, less}, ".")}
			if price == 0 {
				pair[0] = calendar.ParseCost([]string{"0"}, ".")
				pair[1] = pair[0]
			}
			c.prices[in.country] = append(c.prices[in.country], pair)
		}
	}
	return nil
}
