package translations

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
)

// Maximum lengths of texts in the API (contract, section 4), in characters. maxHTML is the maximum length of a
// request, in bytes.
const (
	maxTitle = 500
	maxText  = 255
	maxHTML  = 1 << 20
)

var (
	errNothing   = errors.New("nothing is left of it when markup that is not allowed is taken out")
	errSlug      = errors.New("no letters or digits for a slug")
	errSameOwner = errors.New("the slug is another record's")
)

// cleanUnit returns the target of a unit in the form in which the API stores it. It returns an error if the
// text is not allowed.
func cleanUnit(u *Unit) (string, error) {
	text := *u.Target
	switch {
	case u.ID.Field == Slug:
		slug := calendar.KeptSlug(text)
		if slug == "" {
			return "", errSlug
		}
		return slug, checkLength(strings.TrimSpace(text), calendar.MaxSlug)
	case isHTML(u.ID.Kind, u.ID.Field):
		if len(text) > maxHTML {
			return "", fmt.Errorf("longer than %d KiB", maxHTML>>10)
		}
		text, err := markup.HTML(text)
		if err == nil && strings.TrimSpace(text) == "" {
			err = errNothing
		}
		return text, err
	}
	text, err := cleanPlain(text, u.Source)
	if u.ID.Field == Reason {
		text = markup.Inert(text)
	}
	switch {
	case err != nil:
		return "", err
	case text == "":
		return "", errNothing
	case u.ID.Field == Description, u.ID.Field == Reason:
		return text, checkLength(text, maxText)
	}
	return text, checkLength(text, maxTitle)
}

// cleanPlain cleans the translation of a plain text. Files have plain text as it is stored, so "<" and "&" are ordinary
// characters. But if only the translation has tags or entities, a tool added them. Then cleanPlain decodes them as the
// API does.
func cleanPlain(target, source string) (string, error) {
	text, err := markup.Text(calendar.Escape(target))
	if err != nil {
		return "", err
	}
	bare, err := markup.Text(target)
	if err != nil {
		return "", err
	}
	of, err := markup.Text(source)
	if err == nil && bare != text && of == strings.TrimSpace(source) {
		return bare, nil
	}
	return text, nil
}

func checkLength(text string, most int) error {
	if n := utf8.RuneCountInString(text); n > most {
		return fmt.Errorf("%d characters, and %d are allowed", n, most)
	}
	return nil
}

// sameSource reports whether the current original equals the one in the file. If not, the translation may be outdated.
// It ignores white space, which tools rearrange.
func sameSource(now, exported string) bool {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return now == exported || words(now) == words(exported)
}

// sameTarget reports whether the translation in a file equals the stored one. Unlike sameSource it compares white space
// inside the text. Line breaks of all systems are equal.
func sameTarget(now, sent string) bool {
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	return now == sent || strings.TrimSpace(lines.Replace(now)) == strings.TrimSpace(lines.Replace(sent))
}
