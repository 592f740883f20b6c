package scenario

import (
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

var (
	indoorTypes  = []string{"club", "hall", "theatre", "cinema", "room"} // types of venues with a cloakroom and a bar
	outdoorTypes = []string{"park", "stage", "stadium", "market"}        // types of venues without doors that open
)

// write sets the texts of an event.
func (c *Calendar) write(e *Event, p *place, source *randomSource) {
	k, d, i := p.kind, p.draft, p.index
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
	a := p.title.about
	body := []templates{a.leads[p.lead()]}
	if n := len(a.more); n > 0 {
		first := source.below(n)
		for j := range source.below(min(n, 2) + 1) {
			body = append(body, a.more[(first+j)%n])
		}
	}
	draw := func(key string) templates { return c.infos[key][source.below(len(c.infos[key]))] }
	inside, typ := len(k.At) > 0 && !k.Outdoors, ""
	if d.venue >= 0 {
		typ = c.plan.Venues[d.venue%len(c.plan.Venues)]
	}
	anywhere := c.infos["any"]
	if len(k.starts) > 0 && !slices.Contains(outdoorTypes, typ) {
		anywhere = slices.Concat(c.infos["doors"], anywhere)
	}
	var info []templates
	if inside {
		info = append(info, anywhere[source.below(len(anywhere))])
	}
	switch {
	case len(k.At) == 0:
		info = append(info, draw("online"))
	case k.Outdoors:
		info = append(info, draw("outdoors"))
	}
	switch e.Cost.Lowest() {
	case "":
	case "0":
		info = append(info, draw("free"))
	default:
		if k.Ticketed {
			info = append(info, draw("ticket"))
		}
	}
	long, empty, listed := i%97 == 8, i%41 == 6, source.percent(10) && len(info) > 1
	heading := draw("heading")
	if long && inside {
		body = append(body[:1:1], a.more...)
		info = slices.Concat(info[1:], anywhere, c.infos["long"])
		if slices.Contains(indoorTypes, typ) {
			info = append(info, c.infos["house"]...)
		}
	}
	if !listed && !long {
		body = append(body, info[source.below(len(info))])
	}
	e.Title, e.Excerpt = Text{}, Text{}
	if !empty {
		e.Description = Text{}
	}
	for n, l := range c.o.Languages {
		if alone && n > 0 || n == skipped {
			continue
		}
		e.Title[l] = d.text(p.title.in, n)
		if c.o.Nasty {
			e.Title[l] += awkwardEnding(i)
		}
		var b strings.Builder
		b.Grow(1024)
		d.paragraph(&b, body[0], n)
		e.Excerpt[l] = excerpt(b.String())
		if empty {
			continue
		}
		for _, ts := range body[1:] {
			d.paragraph(&b, ts, n)
		}
		if listed || long {
			d.items(&b, heading, info, n)
		}
		if long {
			if d.venue >= 0 {
				b.WriteString("\n" + c.venues[d.venue].Description[l])
			}
			b.WriteString("\n" + c.organizers[d.org].Description[l])
		}
		if c.o.Nasty && i%29 == 3 {
			b.WriteString("\n<p>" + calendar.Escape(strings.TrimSpace(awkwardEnding(17*(i/29)))) + "</p>")
		}
		e.Description[l] = b.String()
	}
}

// lead returns the index of the first paragraph of the description. The events with a title take turns, so that
// all paragraphs are used equally.
func (p *place) lead() int {
	turn := p.rank / len(p.kind.titles)
	if p.draft.number > 0 {
		turn = p.rank*lessons + p.draft.number - 1
	}
	return int(p.title.leads.at(uint64(turn)))
}

// items writes a heading and a list in HTML.
func (d *draft) items(b *strings.Builder, heading templates, items []templates, language int) {
	b.WriteString("\n<h3>")
	d.fill(b, heading[language], language, true)
	b.WriteString("</h3>\n<ul>")
	for _, ts := range items {
		b.WriteString("\n<li>")
		d.fill(b, ts[language], language, true)
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
