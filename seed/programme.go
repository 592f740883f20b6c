package seed

import (
	"time"

	"github.com/almanac-cal/almanac/calendar"
)

// act is how one or many events come about.
type act struct {
	text string // the key of its text
	more string // the key of paragraphs that follow
	in   []string
	tags []string
	at   []string // venues
	by   []string

	on          []time.Weekday // none: any
	first, last int            // the days on which it may start, counted from that of From; 0, 0: lastDay
	with        string         // the act it is a part of
	offset      int            // days after the start of that
	changeover  bool           // in the night in which the clocks change, if there is one

	hour, minute int
	lasts        time.Duration
	days         int // all day, so many

	low, high int // pounds; both 0: free, -1: no price
	reduced   bool
	who       who
	roams     bool // does not occupy its venues
	plain     bool // not translated

	status   calendar.Status
	password string
	hide     bool
	sticky   bool
	featured bool
	ticketed bool
}

// who is what {who} stands for.
type who int

const (
	nobody who = iota
	soloist
	band
)

// lastDay is the last day on which an event may start: eight weeks.
const lastDay = 55

const (
	mon = time.Monday
	tue = time.Tuesday
	wed = time.Wednesday
	thu = time.Thursday
	fri = time.Friday
	sat = time.Saturday
	sun = time.Sunday
)

var weekend = []time.Weekday{sat, sun}

// repeating are the acts that can take place as often as there is room for, each time with somebody else.
var repeating = []act{
	jazzCellar, jazzLate, recital, author, walk, songs, maker,
}

var (
	jazzCellar = act{
		text: "jazz-cellar", in: []string{"jazz"}, tags: []string{"live-music"}, at: []string{"club"}, by: []string{"jazz"},
		on: []time.Weekday{thu, fri, sat}, hour: 20, minute: 30, lasts: 150 * time.Minute, low: 8, high: 16, reduced: true,
		who: band,
	}
	jazzLate = act{
		text: "jazz-late", in: []string{"jazz"}, tags: []string{"live-music", "late-night"}, at: []string{"club"},
		by: []string{"jazz"}, on: []time.Weekday{fri, sat}, hour: 23, lasts: 150 * time.Minute, low: 5, high: 9, who: band,
	}
	recital = act{
		text: "recital", in: []string{"classical"}, tags: []string{"live-music", "accessible"}, at: []string{"hall"},
		by: []string{"orchestra"}, on: []time.Weekday{fri, sat, sun}, hour: 17, lasts: time.Hour, low: 12, high: 24,
		reduced: true, who: soloist, ticketed: true,
	}
	author = act{
		text: "author", in: []string{"talks"}, tags: []string{"books", "accessible"}, at: []string{"library"},
		by: []string{"readers"}, on: []time.Weekday{tue, wed, thu}, hour: 19, lasts: 90 * time.Minute, low: 3, high: 6,
		who: soloist,
	}
	walk = act{
		text: "walk", in: []string{"talks"}, tags: []string{"outdoors", "history"}, at: []string{"market"},
		by: []string{"college"}, on: []time.Weekday{sun}, hour: 11, lasts: 2 * time.Hour, who: soloist, roams: true,
	}
	songs = act{
		text: "songs", in: []string{"music"}, tags: []string{"live-music"}, at: []string{"studio"}, by: []string{"lens"},
		on: []time.Weekday{wed, fri}, hour: 20, lasts: 2 * time.Hour, low: 6, high: 12, who: soloist,
	}
	maker = act{
		text: "maker", in: []string{"workshops"}, tags: []string{"crafts", "beginners"}, at: []string{"centre"},
		by: []string{"traders"}, on: weekend, hour: 14, lasts: 3 * time.Hour, low: 15, high: 30, who: soloist,
	}
)

// opening is what the calendar begins with: the festival and what a demonstration should not be without.
var opening = []act{
	{
		text: "festival", in: []string{"theatre", "music"}, tags: []string{"live-music", "outdoors"},
		at: []string{"studio", "club"}, by: []string{"company", "jazz"}, on: []time.Weekday{fri}, first: 14, last: 34,
		days: 3, low: 15, high: 22, reduced: true, roams: true, sticky: true, featured: true, ticketed: true,
	},
	{
		text: "festival-opening", with: "festival", hour: 18, lasts: 2 * time.Hour, in: []string{"music"},
		tags: []string{"live-music", "outdoors"}, at: []string{"park"}, by: []string{"company"},
	},
	{
		text: "festival-suitcase", with: "festival", offset: 1, hour: 11, lasts: time.Hour, in: []string{"theatre", "family"},
		at: []string{"studio"}, by: []string{"company"}, low: 4, high: 7,
	},
	{
		text: "festival-midnight", with: "festival", offset: 1, hour: 23, lasts: 3 * time.Hour, in: []string{"jazz"},
		tags: []string{"live-music", "late-night"}, at: []string{"club"}, by: []string{"jazz"}, low: 8, high: 12, who: band,
	},
	{
		text: "festival-picnic", with: "festival", offset: 2, hour: 14, lasts: 3 * time.Hour, in: []string{"music", "family"},
		tags: []string{"outdoors", "local-food"}, at: []string{"park"}, by: []string{"company"},
	},
	{
		text: "exhibition-maps", in: []string{"exhibitions"}, tags: []string{"history", "accessible"}, at: []string{"gallery"},
		by: []string{"lens"}, first: -7, last: -3, days: 21, roams: true,
	},
	past(jazzCellar),
	{
		text: "film-night", changeover: true, on: []time.Weekday{sat}, hour: 21, minute: 30,
		lasts: 9*time.Hour + 30*time.Minute, in: []string{"film"}, tags: []string{"late-night", "accessible"},
		at: []string{"cinema"}, by: []string{"lens"}, low: 14, high: 20, reduced: true, featured: true, ticketed: true,
	},
	{
		text: "farmers-market", on: []time.Weekday{sat}, days: 1, in: []string{"markets"},
		tags: []string{"local-food", "accessible"}, at: []string{"market"}, by: []string{"traders"},
	},
	{
		text: "preview", on: []time.Weekday{tue, wed}, hour: 19, lasts: 150 * time.Minute, in: []string{"theatre"},
		at: []string{"theatre"}, by: []string{"company"}, low: -1, password: "curtain",
	},
	{
		text: "kites", on: []time.Weekday{sat}, hour: 10, lasts: 150 * time.Minute, in: []string{"workshops"},
		tags: []string{"crafts", "outdoors"}, at: []string{"park"}, by: []string{"company"}, low: 3, high: 6,
	},
	{
		text: "launch", on: []time.Weekday{mon, tue}, first: 35, last: lastDay, hour: 18, lasts: 2 * time.Hour,
		in: []string{"theatre", "music"}, at: []string{"theatre"}, by: []string{"company", "orchestra"}, low: -1,
		status: calendar.Draft, plain: true,
	},
	{
		text: "volunteers", on: []time.Weekday{tue}, last: 13, hour: 18, lasts: 90 * time.Minute, at: []string{"centre"},
		by: []string{"company"}, low: -1, hide: true, plain: true,
	},
}

// single are the acts that take place once.
var single = []act{
	jazzCellar,
	{
		text: "symphony", on: []time.Weekday{sun}, hour: 16, lasts: 2 * time.Hour, in: []string{"classical"},
		tags: []string{"live-music", "accessible"}, at: []string{"hall"}, by: []string{"orchestra", "college"}, low: 18,
		high: 32, reduced: true, featured: true, ticketed: true,
	},
	{
		text: "robots", on: []time.Weekday{sat}, hour: 10, minute: 30, lasts: 2 * time.Hour, in: []string{"workshops"},
		tags: []string{"science", "accessible"}, at: []string{"library"}, by: []string{"readers"}, low: 3, high: 6,
	},
	{
		text: "play-lighthouse", on: []time.Weekday{fri}, hour: 19, lasts: 2 * time.Hour, in: []string{"theatre"},
		tags: []string{"accessible"}, at: []string{"theatre"}, by: []string{"company"}, low: 14, high: 26, reduced: true,
		featured: true, ticketed: true,
	},
	{
		text: "basketball", on: []time.Weekday{sat}, hour: 18, lasts: 2 * time.Hour, in: []string{"sport"},
		tags: []string{"accessible"}, at: []string{"arena"}, by: []string{"sports"}, low: 6, high: 12, reduced: true,
		ticketed: true,
	},
	{
		text: "flea-market", on: []time.Weekday{sun}, days: 1, in: []string{"markets"}, tags: []string{"outdoors", "crafts"},
		at: []string{"market"}, by: []string{"traders"},
	},
	{
		text: "organ", on: []time.Weekday{wed}, hour: 13, lasts: 30 * time.Minute, in: []string{"classical"},
		tags: []string{"live-music", "accessible"}, at: []string{"church"}, by: []string{"orchestra"},
	},
	{
		text: "swing", on: []time.Weekday{sat}, hour: 17, lasts: 3 * time.Hour, in: []string{"jazz"},
		tags: []string{"dance", "outdoors", "beginners"}, at: []string{"park"}, by: []string{"jazz", "sports"},
	},
	{
		text: "book-club", on: []time.Weekday{mon}, hour: 18, minute: 30, lasts: 90 * time.Minute, in: []string{"talks"},
		tags: []string{"books", "beginners"}, at: []string{"library"}, by: []string{"readers"},
	},
	jazzLate,
	{
		text: "storytime", on: []time.Weekday{sun}, hour: 10, minute: 30, lasts: 45 * time.Minute, in: []string{"family"},
		tags: []string{"books", "accessible"}, at: []string{"library"}, by: []string{"readers"},
	},
	{
		text: "run", on: []time.Weekday{sun}, hour: 9, lasts: 3 * time.Hour, in: []string{"sport"},
		tags: []string{"outdoors", "charity"}, at: []string{"park"}, by: []string{"sports"}, low: 8, high: 15, ticketed: true,
	},
	past(walk),
	{
		text: "improv", on: []time.Weekday{wed, thu}, hour: 20, lasts: 90 * time.Minute, in: []string{"theatre"},
		at: []string{"studio"}, by: []string{"company"}, low: 6, high: 11,
	},
	{
		text: "craft-fair", on: []time.Weekday{sat}, days: 2, in: []string{"markets"}, tags: []string{"crafts", "accessible"},
		at: []string{"market"}, by: []string{"traders"},
	},
	{
		text: "yoga", on: []time.Weekday{sun}, hour: 9, minute: 30, lasts: time.Hour, in: []string{"sport"},
		tags: []string{"outdoors", "beginners"}, at: []string{"park"}, by: []string{"sports"},
	},
	{
		text: "play-orchard", on: []time.Weekday{sat}, hour: 19, minute: 30, lasts: 135 * time.Minute,
		in: []string{"theatre"}, tags: []string{"accessible"}, at: []string{"theatre"}, by: []string{"company"}, low: 12,
		high: 22, reduced: true, ticketed: true,
	},
	{
		text: "repair", on: []time.Weekday{sat}, hour: 13, lasts: 4 * time.Hour, in: []string{"workshops"},
		tags: []string{"crafts", "charity"}, at: []string{"centre"}, by: []string{"college"},
	},
	{
		text: "silent-film", on: []time.Weekday{thu, fri}, hour: 20, lasts: 100 * time.Minute, in: []string{"film", "music"},
		tags: []string{"live-music", "history"}, at: []string{"cinema"}, by: []string{"lens", "jazz"}, low: 7, high: 12,
		who: soloist,
	},
	past(author),
	{
		text: "puppets", on: []time.Weekday{sun}, hour: 11, lasts: 40 * time.Minute, in: []string{"theatre", "family"},
		at: []string{"studio"}, by: []string{"company"}, low: 4, high: 8,
	},
	{
		text: "night-market", on: []time.Weekday{fri}, hour: 17, lasts: 6 * time.Hour, in: []string{"markets"},
		tags: []string{"local-food", "live-music"}, at: []string{"market"}, by: []string{"traders"},
	},
	recital,
	{
		text: "printing", on: []time.Weekday{sat}, hour: 10, lasts: 2 * time.Hour, in: []string{"workshops"},
		tags: []string{"crafts"}, at: []string{"gallery"}, by: []string{"lens"}, low: 4, high: 8,
	},
	{
		text: "table-tennis", on: []time.Weekday{tue}, hour: 19, lasts: 3 * time.Hour, in: []string{"sport"},
		tags: []string{"beginners"}, at: []string{"centre"}, by: []string{"sports"},
	},
	{
		text: "exhibition-glass", first: 28, last: 35, days: 24, in: []string{"exhibitions"}, tags: []string{"crafts"},
		at: []string{"gallery"}, by: []string{"lens"}, roams: true,
	},
}

// lectures are given on eight Thursdays in a row, in an order left to chance.
var lectures = []string{
	"talk-bridges", "talk-bees", "talk-clocks", "talk-bread", "talk-stars", "talk-rivers", "talk-memory", "talk-words",
}

// lecture is the one of that week, counted from 0.
func lecture(text string, week int) act {
	a := act{
		text: text, more: "talk-series", on: []time.Weekday{thu}, first: 7 * week, last: 7*week + 6, hour: 18, minute: 30,
		lasts: 90 * time.Minute, in: []string{"talks"}, tags: []string{"accessible"}, at: []string{"school"},
		by: []string{"college"}, who: soloist,
	}
	switch text {
	case "talk-clocks", "talk-rivers", "talk-words":
		a.tags = append(a.tags, "history")
	default:
		a.tags = append(a.tags, "science")
	}
	return a
}

// past is the act on one of the days that are over.
func past(a act) act {
	a.first, a.last = -14, -1
	return a
}
