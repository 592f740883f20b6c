package handlers

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/when"
)

// fields registers the request fields of a write. Creates and updates share most fields. They differ in the
// meaning of null and in defaults.
type fields struct {
	p      *param.Set
	r      *writing
	create bool
	// preview leaves out fields that have no effect, because the request stores nothing.
	preview bool
}

// nullClears allows null as a value on update. On create, null means that the field was not sent.
func (f fields) nullClears(p *param.Param) *param.Param {
	if f.create {
		return p
	}
	return p.Null()
}

// text registers a request field for plain text of at most maximum characters. Replies show it unescaped, so
// markup is removed.
func (f fields) text(dst **string, name, description string, maximum int) *param.Param {
	return f.nullClears(param.Opt(f.p, dst, name, description, "string", textOf(name, maximum, markup.Inert))).Longest(maximum)
}

// plain registers request fields without rules of their own. It registers those with the given names or, without
// names, all that are not registered yet. Null resets a field to the value that a new record has without it.
func (f fields) plain(all []ent.PlainField, names ...string) (declared []*param.Param) {
	for _, field := range all {
		if len(names) > 0 && !slices.Contains(names, field.Name) || f.p.Declares(field.Name) {
			continue
		}
		var p *param.Param
		switch value := field.Value.(type) {
		case **bool:
			p = f.p.OptBool(value, field.Name, field.Doc)
		case **int:
			p = f.number(value, field)
		case **string:
			if field.Address {
				p = f.nullClears(param.Opt(f.p, value, field.Name, field.Doc, "string", webAddress))
			} else {
				p = f.text(value, field.Name, field.Doc, field.Longest)
			}
		case **calendar.EventStatus:
			p = declareWord(f, value, field.Name, field.Doc, calendar.EventStatuses)
		case **calendar.Attendance:
			p = declareWord(f, value, field.Name, field.Doc, calendar.Attendances)
		default:
			panic(fmt.Sprintf("no form for %s, a %T", field.Name, value))
		}
		p.Sample = field.Sample
		declared = append(declared, p)
	}
	return declared
}

// number registers a request field for an integer between two bounds.
func (f fields) number(dst **int, field ent.PlainField) *param.Param {
	p := param.Opt(f.p, dst, field.Name, field.Doc, "integer", func(raw any) (int, *param.Fault) {
		if raw == nil {
			return field.Default, nil
		}
		n, fault := param.Integer(raw)
		if fault == nil && (n < int64(field.Min) || n > int64(field.Max)) {
			return 0, param.OutOfBounds(field.Name, field.Min, field.Max)
		}
		return int(n), fault
	})
	p.Minimum, p.Maximum = field.Min, field.Max // the parser above enforces these limits
	return f.nullClears(p)
}

// title registers the request field for the name of a record. It must not be empty after tags are removed.
func (f fields) title(dst **string, name, description string) *param.Param {
	parse := textOf(name, maxTitle, nil)
	p := param.Opt(f.p, dst, name, description, "string", func(raw any) (string, *param.Fault) {
		text, fault := parse(raw)
		if fault == nil && text == "" {
			return "", &param.Fault{Key: "empty-text"}
		}
		return text, fault
	}).Longest(maxTitle)
	if f.create {
		p.Required()
	}
	return p
}

// textOf returns a parser for a text. It removes tags, decodes entities once and trims. The function clean changes
// the text further. If it is nil, the text stays as it is. Null is parsed as "".
func textOf(name string, maximum int, clean func(string) string) func(raw any) (string, *param.Fault) {
	return func(raw any) (string, *param.Fault) {
		if raw == nil {
			return "", nil
		}
		sent, fault := param.String(raw)
		if fault != nil {
			return "", fault
		}
		text, ok, err := markup.TextLimited(sent, maximum)
		if err != nil {
			return "", param.Bad()
		}
		if !ok {
			return "", param.TooLong(name, maximum)
		}
		if clean != nil {
			text = clean(text)
		}
		return text, nil
	}
}

// html registers a request field for HTML, whose length is limited by that of the body. Parsing keeps the text
// as sent, and writing.change sanitises it. A text with a NUL or invalid UTF-8 is refused.
func (f fields) html(dst **string, name, description string) *param.Param {
	f.r.unclean = append(f.r.unclean, dst)
	return f.nullClears(param.Opt(f.p, dst, name, description, "string", func(raw any) (string, *param.Fault) {
		if raw == nil {
			return "", nil
		}
		return param.String(raw)
	}))
}

func (f fields) slug(dst **string) *param.Param {
	return param.Opt(f.p, dst, "slug", "Slug", "string", func(raw any) (string, *param.Fault) {
		text, fault := param.String(raw)
		if fault == nil && utf8.RuneCountInString(text) > calendar.MaxSlug {
			return "", param.TooLong("slug", calendar.MaxSlug)
		}
		return text, fault
	}).Longest(calendar.MaxSlug)
}

func (f fields) status(dst **calendar.Status) *param.Param {
	return param.Opt(f.p, dst, "status", "Status", "string", func(raw any) (calendar.Status, *param.Fault) {
		word, fault := param.String(raw)
		if fault == nil && !calendar.Status(word).Known() {
			fault = read.UnknownStatus()
		}
		return calendar.Status(word), fault
	})
}

// declareWord registers a request field whose value is one of words. The first is the default, which "" and null
// set.
func declareWord[W ~string](f fields, dst **W, name, description string, words []W) *param.Param {
	p := f.nullClears(param.Opt(f.p, dst, name, description, "string", func(raw any) (W, *param.Fault) {
		if last := param.LastValue(raw); last == nil || last == "" {
			return words[0], nil
		}
		text, fault := param.String(raw)
		if fault == nil && !slices.Contains(words, W(text)) {
			fault = read.WordFault(words)
		}
		return W(text), fault
	}))
	for _, w := range words {
		p.Enum = append(p.Enum, string(w))
	}
	if f.create {
		p.PublishDefault(words[0])
	}
	return p
}

// author registers the request field author, with its check. The function stored reports whether an id is that
// of the stored record's author, with 0 for no author. A nil stored means that there is no stored record.
func (f fields) author(dst **int64, stored func(id int64) (bool, error)) *param.Param {
	return f.p.OptInt(dst, "author", "ID of the author").Check(func(ctx context.Context) *param.Fault {
		if stored != nil {
			if same, err := stored(**dst); same || err != nil {
				return read.ReferenceFault(nil, err)
			}
		}
		return read.ReferenceFault(f.r.Editor().AuthorFault(ctx, f.r.DB, **dst))
	})
}

// published registers the request fields date and date_utc, which set dst. If both are sent, date counts.
func (f fields) published(dst **time.Time) (date, dateUTC *param.Param) {
	var local *when.Date
	site := f.r.Zone()
	read := func(zone calendar.Zone, keep func(when.Date)) func(raw any) (when.Date, *param.Fault) {
		parse := read.ParseDate(f.p.Now, zone)
		return func(raw any) (when.Date, *param.Fault) {
			d, fault := parse(raw)
			if fault == nil {
				keep(d)
			}
			return d, fault
		}
	}
	set := func(d when.Date, zone calendar.Zone) {
		t := d.Instant(zone)
		*dst = &t
	}
	var utc *when.Date
	date = param.Opt(f.p, &local, "date", "Publication date, site time zone", "string",
		read(site, func(d when.Date) { set(d, site) }))
	dateUTC = param.Opt(f.p, &utc, "date_utc", "Publication date, UTC", "string",
		read(calendar.UTC(), func(d when.Date) {
			if local == nil {
				set(d, calendar.UTC())
			}
		}))
	return date, dateUTC
}

// webAddress parses an absolute http or https URL. "" and null mean no URL.
func webAddress(raw any) (string, *param.Fault) {
	if raw == nil {
		return "", nil
	}
	text, fault := param.String(raw)
	if fault != nil || text == "" {
		return "", fault
	}
	if !isWebAddress(text) {
		return "", &param.Fault{Key: "not-an-address"}
	}
	return text, nil
}

// isWebAddress reports whether a text is an absolute http or https URL. It refuses control characters, backticks
// and the delimiters of RFC 3986, appendix C. It allows letters of other scripts.
func isWebAddress(text string) bool {
	if utf8.RuneCountInString(text) > maxURL || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("\"<>`", r) }) {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}
