package scenario

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// draft has the random choices for one event, venue or organizer, from which its texts are written.
type draft struct {
	c         *Calendar
	outline   *eventOutline // the event of which it is; nil for venues and organizers
	chance    randomSource  // source of random choices
	city      int
	venue     int // index of the venue; -1 means none
	organizer int
	day       int
	number    int   // number of the lesson, from 1; 0 for other events
	fest      int   // index of the festival; -1 means none
	title     []int // placeholders in the title
	values    [maxPlaceholders]int32
}

func newDraft(c *Calendar, own randomSource, city int) *draft {
	d := &draft{c: c, chance: own, city: city, venue: -1, organizer: -1, fest: -1}
	for i := range d.values {
		d.values[i] = -1
	}
	return d
}

const maxPlaceholders = 160

// size returns the number of different values for a placeholder. It must stand for a word list, persons, bands or
// matches.
func (c *Calendar) size(placeholder int) int {
	switch placeholder {
	case placeholderWho, placeholderWho2:
		return len(c.people)
	case placeholderBand:
		return len(c.bands)
	case placeholderMatch:
		return c.homeTeams * (len(c.teams) - 1)
	}
	return c.lists[placeholder-placeholderLists].size
}

// value returns the index of the word list entry, person, band or match that fills a placeholder. Unless the title
// chose it, the first call chooses it at random. All languages share it.
func (d *draft) value(placeholder int) int {
	if d.values[placeholder] < 0 {
		source := chanceOf(uint64(d.chance), uint64(placeholder))
		v := source.below(d.c.size(placeholder))
		if placeholder == placeholderWho2 && v == d.value(placeholderWho) {
			v = (v + 1) % d.c.size(placeholder)
		}
		d.values[placeholder] = int32(v)
	}
	return int(d.values[placeholder])
}

// chooseTitle chooses a title of the kind, with values for its placeholders. The parameter rank is the number of the
// kind's earlier events. Events with similar ranks get different titles.
func (d *draft) chooseTitle(k *eventKind, rank int) *title {
	return d.setTitle(&k.titles[rank%len(k.titles)], uint64(rank/len(k.titles)))
}

// setTitle sets the values of the placeholders in the title t, and returns t. The parameter turn is the number of
// earlier events with this title.
func (d *draft) setTitle(t *title, turn uint64) *title {
	at := t.turns.at(turn)
	d.title = t.placeholders
	for _, placeholder := range t.placeholders {
		size := uint64(d.c.size(placeholder))
		d.values[placeholder] = int32(at % size)
		at /= size
	}
	return t
}

// fill appends the text of a template with its placeholders filled in. If html is true, it escapes their values for
// HTML.
func (d *draft) fill(b *strings.Builder, t template, language int, html bool) {
	for _, s := range t {
		b.WriteString(s.text)
		if s.placeholder < 0 {
			continue
		}
		value := ""
		if s.gendered != nil {
			value = s.gendered[d.gender(s.placeholder)]
		} else {
			value = d.placeholder(s, language)
		}
		if html {
			b.WriteString(escape(value))
		} else {
			b.WriteString(value)
		}
	}
}

// placeholder returns the text that fills the placeholder of a segment. language is the index in Options.Languages.
func (d *draft) placeholder(s segment, language int) string {
	c := d.c
	switch s.placeholder {
	case placeholderCity:
		return c.cities[d.city].names[language]
	case placeholderIn:
		return c.cities[d.city].in[language]
	case placeholderOf:
		return c.cities[d.city].of[language]
	case placeholderVenue:
		if d.venue < 0 {
			return c.cities[d.city].names[language]
		}
		return c.venues[d.venue].Name[c.o.Languages[0]]
	case placeholderOrg:
		if d.organizer < 0 {
			return c.cities[d.city].name
		}
		return c.organizers[d.organizer].Name[c.o.Languages[0]]
	case placeholderYear:
		return strconv.Itoa(d.year())
	case placeholderSeason:
		year, month, _ := c.day(d.day).Date()
		if month < time.July {
			year--
		}
		return strconv.Itoa(year) + "/" + strconv.Itoa((year+1)%100 + 100)[1:]
	case placeholderEdition:
		since := cmp.Or(c.plan.Since, 1987)
		for _, placeholder := range d.title {
			// A festival has the same age in all its texts.
			if placeholder >= placeholderLists {
				since += int(d.values[placeholder]) * 7 % (2018 - since)
				break
			}
		}
		return ordinal(c.o.Languages[language], max(1, d.year()-since+1))
	case placeholderNumber:
		return strconv.Itoa(d.number)
	case placeholderNth:
		return c.ordinals[language][max(d.number, 1)-1][s.form]
	case placeholderLesson:
		list := slices.IndexFunc(c.lists, func(l *list) bool { return l.name == "course" })
		return c.lists[list].entries[language][d.value(placeholderLists+list)][max(d.number, 1)]
	case placeholderHead:
		if d.fest < 0 {
			return ""
		}
		return c.layout.fests[d.fest].titles[language]
	case placeholderWeekday, placeholderDate, placeholderMonth, placeholderQuarter, placeholderStart, placeholderEnd, placeholderDoors, placeholderLength, placeholderDays, placeholderAges,
		placeholderPlaces, placeholderPrice, placeholderStreet, placeholderDistrict, placeholderSquare, placeholderPark, placeholderRiver, placeholderStop:
		return d.fact(s, language)
	case placeholderHome, placeholderAway:
		return c.team(d.value(placeholderMatch), s.placeholder == placeholderHome).name
	case placeholderBy:
		return c.people[d.author()].name(c.o.Languages[language], s.form)
	case placeholderWho, placeholderWho2:
		return c.people[d.value(s.placeholder)].name(c.o.Languages[language], s.form)
	case placeholderBand:
		return c.bands[d.value(placeholderBand)]
	}
	l, v := c.lists[s.placeholder-placeholderLists], d.value(s.placeholder)
	if l.nested == nil {
		return l.entries[language][v][s.form]
	}
	var b strings.Builder
	d.fill(&b, l.nested[language][v][s.form], language, false)
	return b.String()
}

// author returns the index of the person who wrote the title's work. A work has the same author in all events. For
// other titles it is the person in the placeholder {who}.
func (d *draft) author() int {
	for _, placeholder := range d.title {
		if placeholder >= placeholderLists && d.c.lists[placeholder-placeholderLists].works {
			source := chanceOf(d.c.o.Seed, chanceAuthors, uint64(placeholder), uint64(d.values[placeholder]))
			return source.below(len(d.c.people))
		}
	}
	return d.value(placeholderWho)
}

func (d *draft) year() int {
	year, _, _ := d.c.day(d.day).Date()
	return year
}

func (d *draft) text(t template, language int) string {
	var b strings.Builder
	d.fill(&b, t, language, false)
	return mendGrammar(b.String(), d.c.o.Languages[language])
}

// html returns the text of a template with its placeholders filled in, as HTML.
func (d *draft) html(t template, language int) string {
	var b strings.Builder
	d.fill(&b, t, language, true)
	return mendGrammar(b.String(), d.c.o.Languages[language])
}

// paragraph appends the text of a template to b, as a paragraph of HTML.
func (d *draft) paragraph(b *strings.Builder, t template, language int) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("<p>")
	b.WriteString(d.html(t, language))
	b.WriteString("</p>")
}

// excerpt returns the first sentence of a description in HTML, as a paragraph of HTML.
func excerpt(description string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(description, "<p>"), "</p>")
	return "<p>" + firstSentence(first) + "</p>"
}
