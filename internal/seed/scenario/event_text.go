package scenario

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// eventTexts has the choices for the texts of an event that are the same in all languages.
type eventTexts struct {
	place *eventOutline
	texts []*descriptionTexts // by language
	facts facts
	long  bool // whether the description is a long one
	// empty means no description, and listed a description with a list of remarks.
	empty, listed bool
}

// write sets the title, the excerpt and the description of an event. With several languages, 15 % of the events have
// the first only, and 15 % lack one translation.
func (c *Calendar) write(e *Event, p *eventOutline, source *randomSource) {
	w := eventTexts{place: p, facts: c.factsOf(p)}
	skipped := -1 // index of the language without a translation; -1 means none
	alone := false
	if n := len(c.o.Languages); n > 1 {
		switch draw := source.below(100); {
		case draw < 15:
			alone = true
		case draw < 30:
			skipped = 1 + source.below(n-1)
		}
	}
	w.texts = c.textsOf(p)
	w.long, w.empty, w.listed = p.index%97 == 8, p.index%163 == 6, source.percent(1)
	e.Title, e.Excerpt = Text{}, Text{}
	if !w.empty {
		e.Description = Text{}
	}
	for n := range c.o.Languages {
		if alone && n > 0 || n == skipped {
			continue
		}
		c.writeIn(e, &w, n)
	}
}

// writeIn sets the texts of an event in the language with index n in Options.Languages.
func (c *Calendar) writeIn(e *Event, w *eventTexts, n int) {
	p, d, i, l := w.place, w.place.draft, w.place.index, c.o.Languages[n]
	e.Title[l] = composedTitle(d.text(p.title.in[n], n))
	if c.o.Nasty {
		e.Title[l] += awkwardEnding(i)
	}
	var b strings.Builder
	b.Grow(1024)
	d.paragraph(&b, w.texts[n].leads[c.leads[i*len(c.o.Languages)+n]].template, n)
	e.Excerpt[l] = excerpt(b.String())
	if w.empty {
		return
	}
	if len(e.Venues) == 0 && len(p.needs.at) > 0 { // the texts that follow are about a place
		d.paragraph(&b, c.remarkTexts["place"][n].leads[0].template, n)
		e.Description[l] = b.String()
		return
	}
	f := w.facts.in(l, c.home)
	draw := chanceOf(uint64(d.chance), 6, uint64(i), uint64(n))
	c.writeMore(&b, w, &f, n, &draw)
	c.writeRemarks(&b, w, &f, n, &draw)
	if w.long {
		if d.venue >= 0 {
			b.WriteString("\n" + c.venues[d.venue].Description[l])
		}
		b.WriteString("\n" + c.organizers[d.organizer].Description[l])
	}
	if c.o.Nasty && i%29 == 3 {
		b.WriteString("\n<p>" + calendar.Escape(strings.TrimSpace(awkwardEnding(17*(i/29)))) + "</p>")
	}
	e.Description[l] = b.String()
}

// writeMore appends further paragraphs to a description: first on an activity in the title, then on the kind of
// event. It skips repetitions.
func (c *Calendar) writeMore(b *strings.Builder, w *eventTexts, f *facts, n int, draw *randomSource) {
	d := w.place.draft
	for _, of := range []*descriptionTexts{w.texts[n], w.place.title.descriptions[n]} {
		most := 0
		if w.long {
			most = 2
		} else if draw.percent(c.moreShare[of]) {
			most = 1
		}
		for _, text := range pickLines(f.suitable(of.more), most, draw) {
			if body := d.html(text.template, n); !strings.Contains(b.String(), body) {
				b.WriteString("\n<p>" + body + "</p>")
			}
		}
	}
}

// writeRemarks appends some of the scenario's general remarks to a description, such as on tickets: none, one, or a
// list.
func (c *Calendar) writeRemarks(b *strings.Builder, w *eventTexts, f *facts, n int, draw *randomSource) {
	d, info := w.place.draft, c.remarks(w.place, f, n)
	switch {
	case w.long || w.listed:
		d.items(b, c.remarkTexts["heading"][n].leads[0].template, pickLines(info, 3, draw), n)
	case draw.percent(remarkShare):
		for _, text := range pickLines(info, 1, draw) {
			d.paragraph(b, text.template, n)
		}
	}
}

// remarkShare is the percentage of descriptions that end with one general remark. It does not apply to those with a
// list of remarks.
const remarkShare = 5

// remarks returns the scenario's general remarks that are true of an event, such as on tickets, in one language.
func (c *Calendar) remarks(p *eventOutline, f *facts, language int) []line {
	keys := []string{"any", "long"}
	switch {
	case len(p.needs.at) == 0:
		keys = []string{"online"}
	case p.kind.Outdoors:
		keys = []string{"outdoors"}
	case len(p.needs.starts) > 0 && p.kind.Doors:
		keys = append(keys, "house", "doors")
	}
	if p.kind.Ticketed && len(p.cost.Prices) > 0 && p.cost.Lowest() != "0" {
		keys = append(keys, "ticket")
	}
	var all []line
	for _, key := range keys {
		all = append(all, f.suitable(c.remarkTexts[key][language].leads)...)
	}
	return all
}

// pickLines returns up to most of the lines, chosen at random. It changes the order of lines.
func pickLines(lines []line, most int, source *randomSource) []line {
	for i := range min(most, len(lines)) {
		j := i + source.below(len(lines)-i)
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines[:min(most, len(lines))]
}

// items appends a heading and a list in HTML to b.
func (d *draft) items(b *strings.Builder, heading template, items []line, language int) {
	b.WriteString("\n<h3>")
	b.WriteString(d.html(heading, language))
	b.WriteString("</h3>\n<ul>")
	for _, text := range items {
		b.WriteString("\n<li>")
		b.WriteString(d.html(text.template, language))
		b.WriteString("</li>")
	}
	b.WriteString("\n</ul>")
}

// awkwardEnding returns an ending for the title of every seventeenth event that may reveal faults of clients.
// It returns "" for other events.
func awkwardEnding(i int) string {
	if i%17 != 0 {
		return ""
	}
	ends := [...]string{
		" – “Tom & Jerry’s”", " 🎷🎻", " – ערב פתוח",
		" <3", ` "live" at O'Hara's`, " 👩‍👩‍👧‍👦", " – a & b < c",
		" – cafe\u0301",
		" – مساء الخير", " \\o/ 100%", " – 東京の夜", " {{title}}",
		" – " + strings.Repeat("la ", 60) + "la", " '; --", " &amp; Co.",
	}
	return ends[i/17%len(ends)]
}
