package scenario

import (
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// write gives an event its texts.
func (c *Calendar) write(e *Event, p *place, source *chance) {
	k, d, i := p.kind, p.draft, p.index
	skipped := -1 // the language it is not written in
	alone := false
	if n := len(c.o.Languages); n > 1 {
		switch draw := source.below(100); {
		case draw < 15:
			alone = true
		case draw < 30:
			skipped = 1 + source.below(n-1)
		}
	}
	a := &k.about
	lead := source.below(len(a.leads))
	body := []templates{a.leads[lead]}
	if n := len(a.more); n > 0 {
		first := source.below(n)
		for j := range source.below(min(n, 2) + 1) {
			body = append(body, a.more[(first+j)%n])
		}
	}
	draw := func(key string) templates { return c.infos[key][source.below(len(c.infos[key]))] }
	info := []templates{draw("any")}
	switch {
	case len(k.At) == 0:
		info = append(info, draw("online"))
	case k.Outdoors:
		info = append(info, draw("outdoors"))
	}
	switch {
	case k.Ticketed:
		info = append(info, draw("ticket"))
	case k.Price == [2]int{}:
		info = append(info, draw("free"))
	}
	long, empty, listed := i%97 == 8, i%41 == 6, source.percent(10) && len(info) > 1
	heading := draw("heading")
	if long {
		body = slices.Concat(a.leads, a.more)
		info = slices.Concat(info[1:], c.infos["any"], c.infos["house"])
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
			e.Title[l] += nasty(i)
		}
		var b strings.Builder
		d.paragraph(&b, a.firsts[lead], n)
		e.Excerpt[l] = b.String()
		if empty {
			continue
		}
		b.Reset()
		b.Grow(1024)
		for _, ts := range body {
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
			b.WriteString("\n<p>" + calendar.Escape(strings.TrimSpace(nasty(17*(i/29)))) + "</p>")
		}
		e.Description[l] = b.String()
	}
}

// items adds a list under a heading.
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

// nasty is the end of a title that careless clients stumble over, for one of seventeen events.
func nasty(i int) string {
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
