package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/locale"
)

// keys returns functions that parse the value of a setting into s. Their keys are those of the settings in site.json
// and in the database.
func (s *Site) keys() map[string]func(json.RawMessage) error {
	return map[string]func(json.RawMessage) error{
		"title":             text(&s.Title, 120),
		"tagline":           text(&s.Tagline, 300),
		"languages":         s.parseLanguages,
		"timezone":          s.parseZone,
		"currency-symbol":   s.parseSymbol,
		"currency-code":     s.parseCode,
		"currency-position": oneOf(&s.Currency.Position, map[string]string{calendar.Prefix: calendar.Prefix, calendar.Postfix: calendar.Postfix}),
		"decimal-mark":      oneOf(&s.Currency.Decimal, map[string]string{".": ".", ",": ","}),
		"accent":            colour(&s.Accent, lightPaper),
		"accent-dark":       colour(&s.AccentDark, darkPaper),
		"default-view":      oneOf(&s.DefaultView, map[string]string{"list": ViewList, "month": ViewMonth}),
		"week-start":        oneOf(&s.WeekStart, map[string]time.Weekday{"monday": time.Monday, "sunday": time.Sunday, "saturday": time.Saturday}),
		"english":           oneOf(&s.English, map[string]locale.EnglishDates{"en": locale.American, "en-GB": locale.British}),
		"clock":             oneOf(&s.Clock, map[string]locale.Clock{"12h": locale.Clock12, "24h": locale.Clock24}),
		"home":              oneOf(&s.Home, map[string]string{"calendar": HomeCalendar, "api": HomeAPI}),
		"per-page":          number(&s.PerPage, 1, 50),
		"indexing":          boolean(&s.Indexing),
		"external-images":   boolean(&s.ExternalImages),
		"embed-origins":     s.parseOrigins,
		"path-aliases":      s.parseAliases,
		"paths":             s.parsePaths,
		"map-link":          s.parseMapLink,
		"footer":            s.parseFooter,
		"pages":             s.Pages.parse,
	}
}

// parseLanguages parses the languages of the site, the main one first.
func (s *Site) parseLanguages(data json.RawMessage) error {
	const want = `a list such as ["pl", "en"], the main language first`
	var out []calendar.Language
	if err := decode(data, &out, want); err != nil {
		return err
	}
	for i, l := range out {
		switch {
		case !l.Known():
			return fmt.Errorf("%q; want en, pl or es", string(l))
		case slices.Contains(out[:i], l):
			return fmt.Errorf("%q: written twice", string(l))
		}
	}
	if len(out) == 0 {
		return fmt.Errorf("%s; want %s", data, want)
	}
	s.Languages = out
	return nil
}

// parseZone parses the time zone of the site.
func (s *Site) parseZone(data json.RawMessage) error {
	const want = `a name such as "Europe/Warsaw", or "UTC+2"`
	var name string
	if err := decode(data, &name, want); err != nil {
		return err
	}
	zone, err := calendar.ParseZone(name)
	if err != nil {
		return fmt.Errorf("%q: %w; want %s", name, err, want)
	}
	s.Zone = zone
	return nil
}

// parseSymbol parses the symbol of the currency. It may be empty.
func (s *Site) parseSymbol(data json.RawMessage) error {
	var symbol string
	if err := decode(data, &symbol, `a text such as "zł"`); err != nil {
		return err
	}
	if symbol != "" {
		if err := checkText(symbol, 16); err != nil {
			return err
		}
	}
	s.Currency.Symbol = symbol
	return nil
}

var codeForm = regexp.MustCompile(`^[A-Z]{3}$`)

// parseCode parses the code of the currency, such as "PLN". It checks only that the code has three capital letters.
func (s *Site) parseCode(data json.RawMessage) error {
	const want = `three capital letters such as "PLN"`
	var code string
	if err := decode(data, &code, want); err != nil {
		return err
	}
	if !codeForm.MatchString(code) {
		return fmt.Errorf("%q; want %s", code, want)
	}
	s.Currency.Code = code
	return nil
}

// parse parses the setting that switches kinds of pages on and off.
func (p *Pages) parse(data json.RawMessage) error {
	return errors.Join(parseObject(data, map[string]func(json.RawMessage) error{
		"list": boolean(&p.List), "month": boolean(&p.Month), "day": boolean(&p.Day), "event": boolean(&p.Event),
		"series": boolean(&p.Series), "venue": boolean(&p.Venue), "organizer": boolean(&p.Organizer),
		"category": boolean(&p.Category), "tag": boolean(&p.Tag), "feeds": boolean(&p.Feeds), "docs": boolean(&p.Docs),
	})...)
}

// parseObject parses a JSON object. For each key it calls the function that keys has for it. It returns the errors of
// all keys, including unknown ones.
func parseObject(data []byte, keys map[string]func(json.RawMessage) error) []error {
	members, err := objectOf(data)
	if err != nil {
		return []error{err}
	}
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(members)) {
		read, known := keys[key]
		if !known {
			faults = append(faults, unknownKey(key, keys))
			continue
		}
		if err := read(members[key]); err != nil {
			faults = append(faults, &KeyError{key, err})
		}
	}
	return faults
}

func unknownKey(key string, keys map[string]func(json.RawMessage) error) error {
	return &KeyError{key, fmt.Errorf("unknown; want %s", strings.Join(slices.Sorted(maps.Keys(keys)), ", "))}
}

// objectOf parses a JSON object and rejects duplicate keys.
func objectOf(data []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	members := map[string]json.RawMessage{}
	fail := func(err error) (map[string]json.RawMessage, error) {
		if err == nil {
			return nil, errors.New("want a JSON object in braces")
		}
		line := 1 + bytes.Count(data[:min(int(d.InputOffset()), len(data))], []byte("\n"))
		return nil, fmt.Errorf("line %d: want a JSON object: %w", line, err)
	}
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return fail(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fail(err)
		}
		name, ok := key.(string)
		if !ok {
			return fail(nil)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fail(err)
		}
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("%q: written twice", name)
		}
		members[name] = value
	}
	if _, err := d.Token(); err != nil {
		return fail(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("want nothing after the closing brace")
	}
	return members, nil
}

// decode parses a JSON value into the variable to, which is a pointer. It returns an error for null or a value of
// another type. The error says that want was expected.
func decode(data json.RawMessage, to any, want string) error {
	if string(data) == "null" || json.Unmarshal(data, to) != nil {
		return fmt.Errorf("%s; want %s", data, want)
	}
	return nil
}

func boolean(to *bool) func(json.RawMessage) error {
	return func(data json.RawMessage) error { return decode(data, to, "true or false") }
}

func number(to *int, least, most int) func(json.RawMessage) error {
	return func(data json.RawMessage) error {
		want := fmt.Sprintf("a number from %d to %d", least, most)
		var n int
		if err := decode(data, &n, want); err != nil {
			return err
		}
		if n < least || n > most {
			return fmt.Errorf("%d; want %s", n, want)
		}
		*to = n
		return nil
	}
}

func oneOf[T any](to *T, values map[string]T) func(json.RawMessage) error {
	return func(data json.RawMessage) error {
		names := slices.Sorted(maps.Keys(values))
		for i, name := range names {
			names[i] = strconv.Quote(name)
		}
		want := strings.Join(names, " or ")
		var word string
		if err := decode(data, &word, want); err != nil {
			return err
		}
		value, known := values[word]
		if !known {
			return fmt.Errorf("%q; want %s", word, want)
		}
		*to = value
		return nil
	}
}

func colour(to *Colour, paper Colour) func(json.RawMessage) error {
	return func(data json.RawMessage) error {
		var c Colour
		if err := decode(data, &c, "a colour such as \"#0b57d0\""); err != nil {
			return err
		}
		c = Colour(strings.ToLower(string(c)))
		if err := c.check(paper); err != nil {
			return err
		}
		*to = c
		return nil
	}
}

// text returns a function that parses a JSON string, or an object with a string for each language, into to. It
// returns an error for an empty text, a line break, or more than longest characters.
func text(to *Text, longest int) func(json.RawMessage) error {
	return func(data json.RawMessage) error {
		var once string
		if json.Unmarshal(data, &once) == nil && string(data) != "null" {
			*to = Text{"": once}
			return checkText(once, longest)
		}
		members, err := objectOf(data)
		if err != nil {
			return fmt.Errorf("%s; want a text, or one for each language: {\"en\": …, \"pl\": …}", data)
		}
		out := Text{}
		for key, value := range members {
			lang := calendar.Language(key)
			if !lang.Known() {
				return fmt.Errorf("%q: want a language, en, pl or es", key)
			}
			var said string
			if err := decode(value, &said, "a text"); err != nil {
				return fmt.Errorf("%q: %w", key, err)
			}
			if err := checkText(said, longest); err != nil {
				return fmt.Errorf("%q: %w", key, err)
			}
			out[lang] = said
		}
		if len(out) == 0 {
			return errors.New("want a text in one language at least")
		}
		*to = out
		return nil
	}
}

func checkText(said string, longest int) error {
	switch {
	case strings.TrimSpace(said) == "":
		return errors.New("want a text that is not empty")
	case utf8.RuneCountInString(said) > longest:
		return fmt.Errorf("%d characters; want at most %d", utf8.RuneCountInString(said), longest)
	case strings.ContainsFunc(said, func(r rune) bool { return r < ' ' }):
		return errors.New("want one line")
	}
	return nil
}

// parseOrigins parses the origins of sites that may embed the pages in a frame.
func (s *Site) parseOrigins(data json.RawMessage) error {
	var origins []string
	const want = `a list of origins such as ["https://example.org"], or ["*"]`
	if err := decode(data, &origins, want); err != nil {
		return err
	}
	for _, o := range origins {
		if o == "*" && len(origins) == 1 {
			continue
		}
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || !originHost.MatchString(u.Host) || u.Scheme+"://"+u.Host != o {
			return fmt.Errorf("%q; want %s", o, want)
		}
	}
	s.EmbedOrigins = origins
	return nil
}

// originHost matches the hosts that a content security policy can contain.
var originHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// parseMapLink parses the address template of a map. The value "none" switches map links off.
func (s *Site) parseMapLink(data json.RawMessage) error {
	const want = `an address with {lat} and {lon}, or {query}, or "none"`
	var link string
	if err := decode(data, &link, want); err != nil {
		return err
	}
	if link == "none" {
		s.MapLink = ""
		return nil
	}
	placed := strings.Contains(link, "{query}") || strings.Contains(link, "{lat}") && strings.Contains(link, "{lon}")
	if err := checkAddress(strings.NewReplacer("{lat}", "1", "{lon}", "1", "{query}", "a").Replace(link)); err != nil || !placed {
		return fmt.Errorf("%q; want %s", link, want)
	}
	s.MapLink = link
	return nil
}

// checkAddress returns an error if the text is not an absolute http or https address.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("%q; want an address such as https://example.org/", address)
	}
	return nil
}

// mostLinks is the largest number of links in the footer.
const mostLinks = 12

// parseFooter parses the links of the footer and appends them to Footer.
func (s *Site) parseFooter(data json.RawMessage) error {
	var items []json.RawMessage
	if err := decode(data, &items, `a list such as [{"text": "Imprint", "url": "https://example.org/imprint"}]`); err != nil {
		return err
	}
	if len(items) > mostLinks {
		return fmt.Errorf("%d links; want at most %d", len(items), mostLinks)
	}
	for i, item := range items {
		var l Link
		faults := parseObject(item, map[string]func(json.RawMessage) error{
			"text": text(&l.Text, 60),
			"url": func(data json.RawMessage) error {
				if err := decode(data, &l.URL, "an address"); err != nil {
					return err
				}
				if strings.HasPrefix(l.URL, "/") && !strings.HasPrefix(l.URL, "//") {
					return nil
				}
				return checkAddress(l.URL)
			},
		})
		if faults == nil && (l.Text == nil || l.URL == "") {
			faults = []error{errors.New(`want "text" and "url"`)}
		}
		if faults != nil {
			return fmt.Errorf("link %d: %w", i+1, errors.Join(faults...))
		}
		s.Footer = append(s.Footer, l)
	}
	return nil
}
