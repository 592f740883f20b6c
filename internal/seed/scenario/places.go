package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// city is a city in which events take place.
type city struct {
	name      string   // name in its own language
	in, of    []string // such as "in Kraków" and "of Kraków", by language of the calendar
	names     []string
	adjective []string // adjective of the city: masculine, feminine, neuter, if the language has them
	province  string
	country   *country
	zone      calendar.Zone // time zone of events: Options.Zone or own
	own       calendar.Zone // time zone of the city
	lat, lng  float64
	located   bool                // whether lat and lng are those of the city, not of its country
	dial      string              // pattern of a telephone number; # stands for a random digit
	quarters  []quarter           // districts with their streets, for cities in full
	sights    map[int][]placeName // squares, parks and rivers, by slot
	near      []string            // neighbouring towns
	districts []string
	streets   []street
	closed    []holiday
	changes   []int // numbers of the days in whose night the clocks change
}

// placeName is a name with the form after a preposition: George Square, in George Square.
type placeName struct{ name, at string }

// quarter is a district of a city.
type quarter struct {
	placeName
	code    string // first part of the postcode; "" means unknown
	streets []street
	stop    placeName // stop of the public transport; "" means unknown
}

type country struct {
	code        string // ISO 3166-1 alpha-2
	name, price string
	factor      int // units of the currency for about a pound
	closed      []holiday
	address     string // pattern of addresses with {street} and {number}
	of          city   // place in the country for cities without data
}

// street is a street in the form for addresses and for names: "ul. Szewska", "na Szewskiej".
type street struct{ address, name string }

// in returns the form of a street after a preposition, in the language of its country.
func (s street) in(l calendar.Language) string {
	switch {
	case l == calendar.Polish:
		return s.name
	case l != calendar.Spanish:
		return "on " + s.address
	case strings.HasPrefix(s.name, "del "):
		return "en el " + s.inText(l)
	case strings.HasPrefix(s.name, "de la "):
		return "en la " + s.inText(l)
	}
	return "en " + s.address
}

// inText returns a street as it is written in the middle of a sentence.
func (s street) inText(l calendar.Language) string {
	if l == calendar.Spanish && s.name != "de "+s.address && !strings.HasPrefix(s.address, granVia) {
		return lowerFirst(s.address)
	}
	return s.address
}

func lowerFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}

// HomeOf returns the language whose countries have a city with this name in any language. For an unknown city
// it returns the preferred language.
func HomeOf(name string, preferred calendar.Language) (calendar.Language, error) {
	order := append([]calendar.Language{preferred}, calendar.Languages...)
	for _, l := range order {
		places := sections{}
		if err := places.read("places." + string(l) + ".txt"); err != nil {
			return "", err
		}
		entries, err := places.entries("list cities")
		if err != nil {
			return "", err
		}
		if cityAt(entries, name) >= 0 {
			return l, nil
		}
	}
	return preferred, nil
}

// cityAt returns the index of a city in the list of cities. -1 means that it is not there.
func cityAt(entries [][]string, name string) int {
	slug := calendar.Slug(name)
	return slices.IndexFunc(entries, func(e []string) bool {
		return slices.ContainsFunc(e[:4], func(n string) bool { return calendar.Slug(n) == slug })
	})
}

type team struct{ name string }

// venuePlace is the place of a venue in its city.
type venuePlace struct {
	street   street
	district *quarter // nil means unknown
}

// placeIndex has the indexes of venues or organizers, by type and by city.
type placeIndex struct {
	all    []int
	byType map[string][]int
	byBoth map[string][][]int
}

func newPlaced(cities int, types []string) placeIndex {
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

// near returns the places of the type in the city. If there are none, it returns those elsewhere, then those of
// any type.
func (p *placeIndex) near(typ string, city int) []int {
	if in := p.byBoth[typ][city]; len(in) > 0 {
		return in
	}
	if of := p.byType[typ]; len(of) > 0 {
		return of
	}
	return p.all
}

// fillCities reads the cities and chooses those of the calendar.
func (c *Calendar) fillCities() error {
	countries, err := c.readCountries()
	if err != nil {
		return err
	}
	entries, err := c.local.entries("list cities")
	if err != nil {
		return err
	}
	source := chanceOf(c.o.Seed, chanceCities)
	cities := make([]city, len(entries))
	for i, e := range entries {
		if cities[i], err = c.readCity(e, countries); err != nil {
			return fmt.Errorf("city %q: %w", e[0], err)
		}
	}
	if c.o.City != "" {
		first := cityAt(entries, c.o.City)
		if first < 0 {
			first = len(cities)
			cities = append(cities, c.unknownCity(countries[c.local["list countries"].Entries[0][0]]))
		}
		cities[0], cities[first] = cities[first], cities[0]
	}
	for i := len(cities) - 1; i > 0; i-- {
		j := source.below(i + 1)
		if c.o.City != "" {
			j = 1 + source.below(i)
		}
		cities[i], cities[j] = cities[j], cities[i]
	}
	if c.plan.Country {
		cities = citiesByCountry(cities)
	}
	n := 1
	if c.plan.Cities && c.o.City == "" {
		n = max(1, min(len(cities), c.o.Venues/len(c.plan.Venues), maxCities))
	}
	c.cities = cities[:n]
	c.written = c.o.Now
	if c.o.Now.IsZero() {
		c.o.Now = c.cities[0].zone.Instant(c.o.From)
		c.written = longAgo
		if c.o.Now.Before(longAgo) {
			c.written = c.o.Now
		}
	}
	teams, err := c.local.entries("list teams")
	if err != nil {
		return err
	}
	// The home team is from a district of the city, its opponents also from neighbouring towns. A city without
	// districts has several teams.
	home := &c.cities[0]
	places := slices.Clone(home.districts)
	if len(home.quarters) > 0 {
		places = nil
		for _, q := range home.quarters {
			if !slices.Contains(centres, q.name) {
				places = append(places, q.name)
			}
		}
	}
	places = append(places, home.name)
	if len(places) == 1 {
		places = slices.Repeat(places, len(teams))
	}
	c.hosts = len(places)
	for t, place := range slices.Concat(places, home.near) {
		c.teams = append(c.teams, team{strings.ReplaceAll(teams[t%len(teams)][0], "{city}", place)})
	}
	return nil
}

// centres are the names of districts that no team has.
var centres = []string{"City Centre", "Centro", "Śródmieście", "Stare Miasto", "Old City", "Old Town"}

// longAgo is a date in the past for every user of the program.
var longAgo = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// maxCities is the maximum number of cities of a calendar.
const maxCities = 14

// readCountries reads the countries. The columns are code, name, price, units of the currency for a pound,
// public holidays and address. Zone, latitude and longitude of the largest city follow. The last is an invalid
// telephone number.
func (c *Calendar) readCountries() (map[string]*country, error) {
	entries, err := c.local.entries("list countries")
	if err != nil {
		return nil, err
	}
	countries := map[string]*country{}
	for _, e := range entries {
		to := &country{code: e[0], name: e[1], price: e[2], address: e[5]}
		if to.factor, err = strconv.Atoi(e[3]); err != nil {
			return nil, fmt.Errorf("country %q: %w", e[0], err)
		}
		if to.closed, err = parseHolidays(e[4]); err != nil {
			return nil, fmt.Errorf("country %q: %w", e[0], err)
		}
		to.of = city{country: to, dial: e[9], closed: to.closed}
		if err := c.locate(&to.of, e[6], e[7], e[8]); err != nil {
			return nil, fmt.Errorf("country %q: %w", e[0], err)
		}
		countries[e[0]] = to
	}
	return countries, nil
}

// locate sets the zone and the position of a city.
func (c *Calendar) locate(in *city, zone, lat, lng string) (err error) {
	if in.own, err = calendar.ParseZone(zone); err != nil {
		return err
	}
	in.zone = in.own
	if c.o.Zone != (calendar.Zone{}) {
		in.zone = c.o.Zone
	}
	if in.lat, err = strconv.ParseFloat(lat, 64); err != nil {
		return err
	}
	in.lng, err = strconv.ParseFloat(lng, 64)
	return err
}

// unknownCity makes a city with the name c.o.City in a country. The caller has found that name in no list. The
// city has the position, zone and telephone numbers that the country has for such cities. Its name
// is not declined.
func (c *Calendar) unknownCity(in *country) city {
	to := in.of
	to.name = c.o.City
	for _, l := range c.o.Languages {
		to.names = append(to.names, to.name)
		switch l {
		case calendar.Polish:
			to.of, to.in = append(to.of, "miasta "+to.name), append(to.in, "w mieście "+to.name)
		case calendar.Spanish:
			to.of, to.in = append(to.of, "de "+to.name), append(to.in, "en "+to.name)
		default:
			to.of, to.in = append(to.of, "of "+to.name), append(to.in, "in "+to.name)
		}
	}
	return to
}

// citiesByCountry returns up to eight cities of one country: that of the first city with at least two others.
func citiesByCountry(cities []city) []city {
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

// readCity reads a line of the list. The columns are native name, English, Polish and Spanish name, genitive
// and locative in Polish, province, country, zone, latitude, longitude, telephone number, adjective, districts and
// streets.
func (c *Calendar) readCity(e []string, countries map[string]*country) (city, error) {
	if len(e) != 15 {
		return city{}, fmt.Errorf("%d columns instead of 15", len(e))
	}
	to := city{
		name: e[0], province: strings.Trim(e[6], "-"), country: countries[e[7]], dial: e[11],
		adjective: strings.Fields(strings.Trim(e[12], "-")), districts: strings.Split(e[13], ", "), located: true,
	}
	if to.country == nil {
		return to, fmt.Errorf("no country %q", e[7])
	}
	for name := range strings.SplitSeq(e[14], ", ") {
		to.streets = append(to.streets, c.streetOf(name))
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
	if err := c.readDetails(&to); err != nil {
		return to, err
	}
	err := c.locate(&to, e[8], e[9], e[10])
	return to, err
}

// sightSlots are the slots of the sights of a city, by their names in the list of sights.
var sightSlots = map[string]int{"square": slotSquare, "park": slotPark, "river": slotRiver}

// readDetails reads the districts, sights, neighbouring towns and regional holidays of a city.
func (c *Calendar) readDetails(to *city) error {
	for _, e := range c.local["list quarters"].Entries {
		if e[0] != to.name {
			continue
		}
		q := quarter{placeName: placeName{e[1], e[2]}, code: strings.Trim(e[3], "-"), stop: placeName{strings.Trim(e[5], "-"), strings.Trim(e[6], "-")}}
		for name := range strings.SplitSeq(e[4], ", ") {
			q.streets = append(q.streets, c.streetOf(name))
		}
		to.quarters = append(to.quarters, q)
	}
	to.sights = map[int][]placeName{}
	for _, e := range c.local["list sights"].Entries {
		if e[0] != to.name {
			continue
		}
		slot, ok := sightSlots[e[1]]
		if !ok {
			return fmt.Errorf("no kind of sights %q", e[1])
		}
		to.sights[slot] = append(to.sights[slot], placeName{e[2], e[3]})
	}
	for _, e := range c.local["list neighbours"].Entries {
		if e[0] == to.name {
			to.near = strings.Split(e[1], ", ")
		}
	}
	to.closed = to.country.closed
	for _, e := range c.local["list holidays"].Entries {
		if e[0] == to.country.code && e[1] == to.province {
			more, err := parseHolidays(e[2])
			if err != nil {
				return err
			}
			to.closed = slices.Concat(to.closed, more)
		}
	}
	return nil
}

// streetOf parses a street such as "Szewska" or "Foksal=na Foksal". The part after = is the form for names.
func (c *Calendar) streetOf(text string) street {
	name, in, told := strings.Cut(text, "=")
	s := street{name, in}
	switch c.home {
	case calendar.Polish:
		s.address = "ul. " + name
		if !told {
			s.name = "na " + locative(name)
		}
	case calendar.Spanish:
		if !told {
			s.name = ofStreet(name)
		}
	default:
		s.name = name
	}
	return s
}

// locative returns the Polish locative of a street whose name is an adjective. It returns other names
// unchanged.
func locative(name string) string {
	for _, end := range []string{"ska", "cka", "dzka", "ga"} {
		if stem, ok := strings.CutSuffix(name, end); ok {
			return stem + end[:len(end)-1] + "iej"
		}
	}
	for _, end := range []string{"na", "nia", "nicza", "wa", "ła", "ta", "ża"} {
		if stem, ok := strings.CutSuffix(name, end); ok {
			return stem + end[:len(end)-1] + "ej"
		}
	}
	return name
}

// granVia is the name of a street that is capitalised everywhere.
const granVia = "Gran Vía"

// ofStreet returns the Spanish form of a street for names: "de la Calle Feria", "del Jirón Ica", "de
// Corrientes".
func ofStreet(name string) string {
	if strings.HasPrefix(name, granVia) {
		return "de la " + name
	}
	first, _, _ := strings.Cut(name, " ")
	switch first {
	case "Calle", "Avenida", "Carrera", "Cuesta", "Rambla", "Rúa", "Alameda":
		return "de la " + name
	case "Jirón", "Paseo", "Bulevar":
		return "del " + name
	}
	return "de " + name
}

// changes returns the numbers of the days in whose night the clocks of the zone change.
func (c *Calendar) changes(zone calendar.Zone) []int {
	var days []int
	offset := func(day int) int {
		_, seconds := zone.Instant(c.day(day).Add(12 * time.Hour)).In(zone.Location()).Zone()
		return seconds
	}
	before := offset(0)
	for day := range len(c.closed) - 1 {
		after := offset(day + 1)
		if after != before {
			days = append(days, day)
		}
		before = after
	}
	return days
}

// phone returns a telephone number with random digits for the # of the pattern.
func phone(pattern string, source *randomSource) string {
	b := []byte(pattern)
	for i, ch := range b {
		if ch == '#' {
			b[i] = byte('0' + source.below(10))
		}
	}
	return string(b)
}

func site(name string) string { return "https://" + calendar.Slug(name) + ".example/" }

// namer generates unique proper names of venues and organizers.
type namer struct {
	c       *Calendar
	streets []street // common street names, for cities whose streets are unknown
	used    map[string]bool
}

func (c *Calendar) newNamer() (n namer, err error) {
	n = namer{c: c, used: map[string]bool{}}
	streets, err := c.local.entries("list streets")
	if err != nil {
		return n, err
	}
	for _, s := range streets {
		n.streets = append(n.streets, street{s[0], s[1]})
	}
	return n, nil
}

// names returns the names for a type of venue or organizer. A section such as "list name sports arena" replaces those of
// "list name" for its types.
func (n namer) names(key string) ([][]string, error) {
	_, typ, _ := strings.Cut(strings.TrimPrefix(key, "list "), " ")
	for section, s := range n.c.local {
		if types, ok := strings.CutPrefix(section, "list name "); ok && slices.Contains(strings.Fields(types), typ) {
			return s.Entries, nil
		}
	}
	return n.c.local.entries("list name")
}

// name returns a new name from a pattern of the list key, for a place in a city and a street. If the names
// tried are taken, the address makes the name unique.
func (n namer) name(key string, in *city, at street, within *quarter, address string, source *randomSource) (string, error) {
	patterns, err := n.c.local.entries(key)
	if err != nil {
		return "", err
	}
	district := ""
	switch {
	case within != nil:
		district = within.name
	case len(in.districts) > 0 && !strings.HasPrefix(key, "list venue "): // the street may be in another district
		district = in.districts[source.below(len(in.districts))]
	}
	patterns = slices.DeleteFunc(slices.Clone(patterns), func(e []string) bool {
		return n.c.plan.House && (strings.Contains(e[0], "{street}") || strings.Contains(e[0], "{district}")) ||
			district == "" && strings.Contains(e[0], "{district}") ||
			len(in.adjective) == 0 && strings.Contains(e[0], "{adj")
	})
	if len(patterns) == 0 {
		return "", fmt.Errorf("%s: no pattern for %s", key, in.name)
	}
	names, err := n.names(key)
	if err != nil {
		return "", err
	}
	name := ""
	for range 60 {
		what := names[source.below(len(names))]
		fill := []string{"{city}", in.name, "{street}", at.name, "{district}", district}
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

// street returns a random street of the city, and its district if the city is in full. A city without streets of its
// own has common street names.
func (n namer) street(in *city, source *randomSource) (street, *quarter) {
	switch {
	case len(in.quarters) > 0:
		q := &in.quarters[source.below(len(in.quarters))]
		return q.streets[source.below(len(q.streets))], q
	case len(in.streets) > 0:
		return in.streets[source.below(len(in.streets))], nil
	}
	return n.streets[source.below(len(n.streets))], nil
}

func (n namer) address(in *city, at street, source *randomSource) string {
	number := strconv.Itoa(1 + source.head(140))
	return strings.NewReplacer("{street}", at.address, "{number}", number).Replace(in.country.address)
}

// same returns a text that is equal in all languages, for proper names.
func (c *Calendar) same(name string) Text {
	t := Text{}
	for _, l := range c.o.Languages {
		t[l] = name
	}
	return t
}

// described returns the description of a venue or organizer. Key is the section with its texts, in the index of
// the city.
func (c *Calendar) described(key string, in int, source randomSource) (Text, error) {
	a, err := c.about(key)
	if err != nil {
		return nil, err
	}
	d := newDraft(c, source, in)
	lead := source.below(len(a[0].leads))
	t := Text{}
	more := source.below(2*len(a[0].more) + 1)
	for i, l := range c.o.Languages {
		var b strings.Builder
		d.paragraph(&b, a[i].leads[lead%len(a[i].leads)].template, i)
		if more < len(a[i].more) {
			d.paragraph(&b, a[i].more[more].template, i)
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
	var first *Venue
	for i := range c.o.Venues {
		source := chanceOf(c.o.Seed, chanceVenues, uint64(i))
		typ := c.plan.Venues[i%len(c.plan.Venues)]
		at := i / len(c.plan.Venues) % len(c.cities)
		in := &c.cities[at]
		street, district := n.street(in, &source)
		address := n.address(in, street, &source)
		name, err := n.name("list venue "+typ, in, street, district, address, &source)
		if err != nil {
			return err
		}
		c.venueAt = append(c.venueAt, venuePlace{street, district})
		about, err := c.described("venue "+typ, at, source)
		if err != nil {
			return err
		}
		v := Venue{
			SourceID: c.sourceID("venue", i), Name: c.same(name), Description: about, Address: address, City: in.name,
			Province: in.province, Country: in.country.name,
			Phone: phone(in.dial, &source), Website: site(name), Picture: -1,
		}
		if v.Located = in.located && i%37 != 29; v.Located {
			v.Latitude = roundDegrees(in.lat + float64(source.between(-900, 900))/1e5)
			v.Longitude = roundDegrees(in.lng + float64(source.between(-1200, 1200))/1e5)
		}
		if district != nil {
			v.Zip = district.code
		}
		if c.plan.House && first != nil {
			c.venueAt[i] = c.venueAt[0]
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

// roundDegrees rounds to about a metre.
func roundDegrees(degrees float64) float64 { return math.Round(degrees*1e5) / 1e5 }

func (c *Calendar) fillOrganizers() error {
	if c.o.Organizers == 0 {
		c.o.Organizers = 5 + int(math.Sqrt(float64(c.o.Events))/2)
		c.o.Organizers = max(c.o.Organizers, len(c.cities)*len(c.plan.Organizers))
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
		street, district := n.street(in, &source)
		name, err := n.name("list organizer "+typ, in, street, district, n.address(in, street, &source), &source)
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
			Picture: -1,
		})
		c.organizing.add(i, typ, at)
	}
	return nil
}

// fillPrices creates the costs for all prices of all countries, because parsing them for each event would be
// slow.
func (c *Calendar) fillPrices() error {
	highest := 0
	for _, k := range c.plan.Kinds {
		highest = max(highest, k.Price[1])
	}
	for _, k := range c.plan.Series {
		highest = max(highest, k.Price[1])
	}
	for _, r := range c.rules {
		if r.price != nil {
			highest = max(highest, r.price[1])
		}
	}
	c.prices = map[*country][][2]calendar.Cost{}
	for _, in := range c.cities {
		if c.prices[in.country] != nil {
			continue
		}
		for price := range max(highest, 3) + 1 {
			whole := fmt.Sprintf(in.country.price, price*in.country.factor)
			less := fmt.Sprintf(in.country.price, max(price*2/3, 2)*in.country.factor)
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
