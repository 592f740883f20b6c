package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// reservedPaths are the first path segments of the program that cannot be names of pages.
var reservedPaths = []string{
	"assets", "cal", "developers", "docs", "embed", "feed", "healthz", "ical", "media", "oembed", "readyz", "wp-json",
}

// reservedBelow are the path segments below /events/ that cannot be names of pages. Segments in the form of dates are
// also reserved.
var reservedBelow = []string{"day", "featured", "feed", "ical", "list", "map", "month", "page", "photo", "summary", "today", "week"}

// dateForm matches what may be read as the date in the path of a page.
var dateForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$`)

// maxSegment is the maximum length of a name in a path, percent-encoded. WordPress has the same limit.
const maxSegment = 200

// parsePaths parses the names that the site gives to pages in their paths.
func (s *Site) parsePaths(data json.RawMessage) error {
	var out calendar.Paths
	read := map[string]func(json.RawMessage) error{}
	for _, name := range out.Names() {
		read[name.Key] = func(data json.RawMessage) error {
			var text string
			if err := decode(data, &text, `a name such as "wydarzenia"`); err != nil {
				return err
			}
			plain, err := parseSegment(text)
			if err != nil {
				return err
			}
			*name.Site = strings.ToLower(url.PathEscape(plain)) // the letters of plain are in lower case
			return checkName(name, plain)
		}
	}
	if faults := parseObject(data, read); faults != nil {
		return errors.Join(faults...)
	}
	if err := checkBothTags(out); err != nil {
		return err
	}
	taken := map[bool]map[string]string{false: {}, true: {}}
	for _, name := range out.Names() {
		if other := taken[name.Below][*name.Site]; other != "" {
			return fmt.Errorf("%q: %q is the name of %q already", name.Key, *name.Site, other)
		}
		if *name.Site != "" {
			taken[name.Below][*name.Site] = name.Key
		}
	}
	s.Paths = out
	return nil
}

// checkBothTags checks the name of tag pages, which also applies below /events/ if the site sets no other name there.
// It returns an error if the name cannot be used there.
func checkBothTags(p calendar.Paths) error {
	if p.EventsTag != "" || p.Tag == "" {
		return nil
	}
	plain, err := url.PathUnescape(p.Tag)
	if err != nil {
		return err
	}
	name := calendar.PathName{Key: "events-tag", Program: "tag", Site: &p.EventsTag, Below: true}
	err = checkName(name, plain)
	if err == nil && p.Tag == p.Category {
		err = fmt.Errorf("%q is the name of %q already", p.Tag, "category")
	}
	if err != nil {
		return fmt.Errorf(`"tag" is also the name below /events/: %w; want another "events-tag"`, err)
	}
	return nil
}

// checkName returns an error if the program already uses a path with the name that the site wants. plain is the name
// without percent-encoding.
func checkName(name calendar.PathName, plain string) error {
	taken := slices.Contains(reservedPaths, plain) || calendar.Language(plain).Known()
	if name.Below {
		taken = slices.Contains(reservedBelow, plain) || dateForm.MatchString(plain)
	}
	if taken || plain != name.Program && isProgramPath(plain, name.Below) {
		return fmt.Errorf("%q: this is a path of the program already", plain)
	}
	return nil
}

// isProgramPath reports whether plain is the default name of some page in paths. If below is true, only names below
// /events/ count, or else only names of first segments.
func isProgramPath(plain string, below bool) bool {
	return slices.ContainsFunc(new(calendar.Paths).Names(), func(n calendar.PathName) bool {
		return n.Program == plain && n.Below == below
	})
}

// parseSegment returns a path segment without percent-encoding. The text may be percent-encoded or not. It returns an
// error for an empty or too long segment, or a character that is not allowed.
func parseSegment(text string) (string, error) {
	plain, err := url.PathUnescape(text)
	switch {
	case err != nil, plain == "", !utf8.ValidString(plain), strings.ContainsFunc(plain, isUnusual):
		return "", fmt.Errorf("%q: want lower-case letters, digits, - and _", text)
	case len(url.PathEscape(plain)) > maxSegment:
		return "", fmt.Errorf("%d characters, percent-encoded; want at most %d", len(url.PathEscape(plain)), maxSegment)
	}
	return plain, nil
}

// isUnusual reports whether a character is not allowed in the names of paths.
func isUnusual(r rune) bool {
	if r < utf8.RuneSelf {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", r)
	}
	return !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.ToLower(r) != r
}

// parseAliases parses the other names that redirect to the first path segments of pages.
func (s *Site) parseAliases(data json.RawMessage) error {
	var aliases map[string]string
	if err := decode(data, &aliases, `an object such as {"wydarzenia": "events"}`); err != nil {
		return err
	}
	out := map[string]string{}
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		if !isProgramPath(aliases[alias], false) {
			return fmt.Errorf("%q: %q; want one of %s", alias, aliases[alias], strings.Join(aliasedPaths(), ", "))
		}
		plain, err := parseSegment(alias)
		if err != nil {
			return err
		}
		if err := checkName(calendar.PathName{}, plain); err != nil {
			return err
		}
		out[plain] = aliases[alias]
	}
	s.PathAliases = out
	return nil
}

// aliasedPaths returns the first path segments that may have aliases, sorted.
func aliasedPaths() (out []string) {
	for _, n := range new(calendar.Paths).Names() {
		if !n.Below {
			out = append(out, n.Program)
		}
	}
	slices.Sort(out)
	return out
}

// encodePaths replaces the setting of path names in l by the parsed form in s, which is the form to store.
func (s *Site) encodePaths(l Layer) (err error) {
	if l["paths"] != nil {
		l["paths"], err = json.Marshal(s.Paths)
	}
	return err
}
