package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// Layer has the settings of one source, such as a file, the database or flags. They are valid JSON values by their
// keys in site.json. Resolve combines layers.
type Layer map[string]json.RawMessage

// ParseLayer parses a JSON object of settings. The error lists all invalid or unknown settings.
func ParseLayer(data []byte) (Layer, error) {
	out, faults := parseLayer(data)
	return out, errors.Join(faults...)
}

func parseLayer(data []byte) (Layer, []error) {
	members, err := objectOf(data)
	if err != nil {
		return nil, []error{err}
	}
	var s Site
	if faults := parseObject(data, s.keys()); faults != nil {
		return members, faults
	}
	if err := s.encodePaths(members); err != nil {
		return nil, []error{err}
	}
	return members, nil
}

// Keys returns the keys of all settings, sorted.
func Keys() []string { return slices.Sorted(maps.Keys(new(Site).keys())) }

// Format returns the layer as a JSON object, sorted by key.
func (l Layer) Format() ([]byte, error) {
	if l == nil {
		l = Layer{}
	}
	return json.Marshal(l)
}

// Text returns the value of a setting as people write it, in the form that Set accepts. It returns "" if the layer
// does not have the setting.
func (l Layer) Text(key string) string {
	value := l[key]
	var once string
	if json.Unmarshal(value, &once) == nil {
		return once
	}
	var list []string
	if json.Unmarshal(value, &list) == nil {
		return strings.Join(list, ",")
	}
	return string(value)
}

// KeyError is the error for a setting with an unknown key or an invalid value.
type KeyError struct {
	Key string
	Err error
}

func (e *KeyError) Error() string { return fmt.Sprintf("%q: %v", e.Key, e.Err) }

func (e *KeyError) Unwrap() error { return e.Err }

// Set changes a setting to a value as people write it: text without quotes, a list with commas, or JSON. If the key
// or the value is invalid, it returns a *KeyError that says what is expected.
func (l Layer) Set(key, value string) error {
	var s Site
	parse, known := s.keys()[key]
	if !known {
		return unknownKey(key, s.keys())
	}
	form := json.RawMessage(value)
	switch is := forms[key]; {
	case is == literal && !json.Valid(form), is != literal && (!json.Valid(form) || !strings.ContainsAny(value[:1], `{["`)):
		form = quoteText(value)
		if is == list {
			var items []json.RawMessage
			for item := range strings.SplitSeq(value, ",") {
				items = append(items, quoteText(strings.TrimSpace(item)))
			}
			var err error
			if form, err = json.Marshal(items); err != nil {
				return &KeyError{key, err}
			}
		}
	}
	if err := parse(form); err != nil {
		return &KeyError{key, err}
	}
	l[key] = form
	if key == "paths" {
		return s.encodePaths(l)
	}
	return nil
}

// form is the notation in which people write a setting's value. Only some values are JSON.
type form int

const (
	_       form = iota // a text
	list                // words with commas between them
	literal             // as in JSON
)

// forms has the notations of the settings that are not written as plain texts.
var forms = map[string]form{
	"languages": list, "embed-origins": list, "per-page": literal, "indexing": literal, "external-images": literal,
	"pages": literal, "path-aliases": literal, "paths": literal, "footer": literal,
}

func quoteText(text string) json.RawMessage {
	out, err := json.Marshal(text)
	if err != nil { // no text fails
		return nil
	}
	return out
}

// RecordKeys are the keys of the settings that determine how commands write and read records. The other settings are
// about pages and replies.
var RecordKeys = []string{"languages", "timezone", "currency-symbol", "currency-code", "currency-position", "decimal-mark"}

// DefaultText returns the default of a setting, in the notation that Layer.Set accepts. It returns "" if the default
// is empty or described elsewhere.
func DefaultText(key string) string { return defaultTexts[key] }

// defaultTexts has the non-empty defaults of settings by key, as people write them. They match Default.
var defaultTexts = map[string]string{
	"title": programName, "languages": "en,pl,es", "english": "en", "timezone": "UTC", "currency-symbol": "$", "currency-code": "USD",
	"currency-position": calendar.Prefix, "decimal-mark": ".", "per-page": "10", "week-start": "monday", "default-view": ViewList, "home": HomeCalendar,
}

// Flags has the settings from the command line of a process. They take precedence over all others.
type Flags struct {
	Layer
	// Language becomes the first of Site.Languages. "" does not change their order.
	Language calendar.Language
}

// Resolve returns the settings of a site. The value of a setting is from the first source with the setting: flags,
// folder, stored, default.
func Resolve(flags Flags, folder Folder, stored Layer) (Site, error) {
	s := Default()
	merged := maps.Clone(stored)
	if merged == nil {
		merged = Layer{}
	}
	maps.Copy(merged, folder.Said)
	maps.Copy(merged, flags.Layer)
	data, err := merged.Format()
	if err != nil {
		return s, err
	}
	if faults := parseObject(data, s.keys()); faults != nil {
		return s, errors.Join(faults...)
	}
	if flags.Language != "" {
		s.Lead(flags.Language)
	}
	f := folder.files
	s.Logo, s.Icon, s.Card, s.CSS, s.About = f.Logo, f.Icon, f.Card, f.CSS, f.About
	return s, nil
}

// Difference is a setting whose value in this process (Here) differs from that in the database (Stored).
type Difference struct{ Key, Here, Stored string }

// Differences returns the settings in flags and folder whose values differ from the stored ones, sorted by key. For
// RecordKeys that are not stored, it compares with the defaults. Last comes "language" if flags.Language is not the
// stored main language.
func Differences(flags Flags, folder Folder, stored Layer) (out []Difference) {
	here := maps.Clone(folder.Said)
	if here == nil {
		here = Layer{}
	}
	maps.Copy(here, flags.Layer)
	for _, key := range slices.Sorted(maps.Keys(here)) {
		there, ok := stored[key]
		switch {
		case ok && !sameValue(here[key], there):
			out = append(out, Difference{key, here.Text(key), stored.Text(key)})
		case !ok && slices.Contains(RecordKeys, key) && here.Text(key) != DefaultText(key):
			out = append(out, Difference{key, here.Text(key), DefaultText(key)})
		}
	}
	languages := DefaultText("languages")
	if stored["languages"] != nil {
		languages = stored.Text("languages")
	}
	if main, _, _ := strings.Cut(languages, ","); flags.Language != "" && main != string(flags.Language) {
		out = append(out, Difference{"language", string(flags.Language), main})
	}
	return out
}

// Without returns the settings of l, except for those that have the same value in other.
func (l Layer) Without(other Layer) Layer {
	out := Layer{}
	for key, value := range l {
		if there, ok := other[key]; !ok || !sameValue(value, there) {
			out[key] = value
		}
	}
	return out
}

// sameValue reports whether two JSON values are equal. White space and the order of object members do not count.
func sameValue(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// Lead makes l the main language of the site by moving it to the start of Languages.
func (s *Site) Lead(l calendar.Language) {
	others := slices.DeleteFunc(slices.Clone(s.Languages), func(other calendar.Language) bool { return other == l })
	s.Languages = slices.Insert(others, 0, l)
}

// Language returns the main language.
func (s *Site) Language() calendar.Language { return s.Languages[0] }

// Offers reports whether the pages and feeds are served in a language.
func (s *Site) Offers(l calendar.Language) bool { return slices.Contains(s.Languages, l) }
