package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
)

// object reads members of a JSON object from services with loose types: numbers as text, text as numbers, and false,
// null or [] for nothing. It records a fault or a notice for a value that it cannot interpret.
type object struct {
	members map[string]json.RawMessage
	at      string // prefix of names in faults and notices, such as "venue: "
	log     *readLog
}

// readLog collects faults and notices of one record while it is decoded.
type readLog struct {
	faults  []error
	notices []string
	removed markup.Removed // from the descriptions of the present record
}

func newObject(raw json.RawMessage, at string, log *readLog) (object, bool) {
	o := object{at: at, log: log}
	if json.Unmarshal(raw, &o.members) != nil || o.members == nil {
		return o, false
	}
	return o, true
}

// maxTitle, maxText, maxURL and maxSource are the maximum lengths of stored texts, in characters (contract, section 4).
const (
	maxTitle  = 500
	maxText   = 255
	maxURL    = 2048
	maxSource = 300
)

func (o object) fault(name, format string, args ...any) {
	o.log.faults = append(o.log.faults, fmt.Errorf("%s%s: %s", o.at, name, fmt.Sprintf(format, args...)))
}

func (o object) notice(name, text string) { o.log.notices = append(o.log.notices, o.at+name+": "+text) }

// has reports whether the object has the member and the member is not null.
func (o object) has(name string) bool {
	raw, ok := o.members[name]
	return ok && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// isEmpty reports whether a member is missing or is null, false, "", [] or {}.
func (o object) isEmpty(name string) bool {
	switch strings.TrimSpace(string(o.members[name])) {
	case "", "null", "false", "[]", "{}", `""`:
		return true
	}
	raw := o.members[name]
	if raw[0] != '[' && raw[0] != '{' {
		return false
	}
	// The list or object may be empty but contain white space.
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return len(list) == 0
	}
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && len(members) == 0
}

// raw returns a text or number as it was sent. It returns "" if the member is missing or empty. For a value of another
// type it records a fault and returns "".
func (o object) raw(name string) string {
	if o.isEmpty(name) {
		return ""
	}
	raw := o.members[name]
	switch c := raw[0]; {
	case c == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err == nil {
			return s
		}
	case c == '-' || '0' <= c && c <= '9':
		return string(raw)
	}
	o.fault(name, "not a text")
	return ""
}

// text returns the member called name as plain text (markup.Text), cut to limit characters. A limit of 0 means none.
// For an invalid value it records a fault and returns "".
func (o object) text(name string, limit int) string {
	return o.plain(name, o.raw(name), limit)
}

// inert returns the member called name as text without markup, cut to limit characters. A limit of 0 means none. Use it
// for fields that the API sends unescaped. For an invalid value it records a fault and returns "".
func (o object) inert(name string, limit int) string {
	s, err := markup.Text(o.raw(name))
	if err != nil {
		o.fault(name, "%v", err)
		return ""
	}
	return o.cutWithNotice(name, markup.Inert(s), limit)
}

func (o object) plain(name, raw string, limit int) string {
	s, err := markup.Text(raw)
	if err != nil {
		o.fault(name, "%v", err)
		return ""
	}
	return o.cutWithNotice(name, s, limit)
}

// cutWithNotice cuts s to limit characters, and adds a notice if it cut something. A limit of 0 means none.
func (o object) cutWithNotice(name, s string, limit int) string {
	if limit == 0 || utf8.RuneCountInString(s) <= limit {
		return s
	}
	o.notice(name, fmt.Sprintf("cut to %d characters", limit))
	return strings.TrimSpace(string([]rune(s)[:limit]))
}

// html returns the member called name as sanitised HTML. It adds what that removes to the log. For text that cannot be
// sanitised it records a fault and returns "".
func (o object) html(name string) string {
	text, removed := markup.WithFrameLinks(o.raw(name), frameTitles)
	o.log.removed = o.log.removed.Add(removed)
	s, err := markup.HTML(text)
	if err != nil {
		o.fault(name, "%v", err)
		return ""
	}
	return strings.TrimSpace(s)
}

// flag returns the member called name as a boolean, which services also send as 1, "yes" and the like. Nil means null,
// "", missing or invalid. An invalid value is also a fault.
func (o object) flag(name string) *bool {
	raw := o.members[name]
	if len(raw) > 0 && raw[0] == 't' {
		return new(true)
	}
	if strings.TrimSpace(string(raw)) == "false" {
		return new(false)
	}
	switch strings.ToLower(strings.TrimSpace(o.raw(name))) {
	case "1", "true", "yes", "y", "on":
		return new(true)
	case "0", "false", "no", "n", "off":
		return new(false)
	case "":
		return nil
	}
	o.fault(name, "neither true nor false")
	return nil
}

// id returns the member called name as the digits of a positive number. If it is missing, empty, 0 or invalid, it
// returns "". An invalid value is also a fault.
func (o object) id(name string) string {
	s := strings.TrimSuffix(strings.TrimSpace(o.raw(name)), ".0")
	if s == "" || s == "0" {
		return ""
	}
	if _, err := strconv.ParseUint(s, 10, 63); err != nil {
		o.fault(name, "not an id")
		return ""
	}
	return s
}

// number returns the member called name as a finite number. Nil means missing, empty or invalid. An invalid value is
// also a fault.
func (o object) number(name string) *float64 {
	s := strings.TrimSpace(o.raw(name))
	if s == "" {
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		o.fault(name, "not a number")
		return nil
	}
	return &f
}

// count returns the member called name as a number of pixels, bytes or records. If it is missing, empty or invalid, it
// returns 0. An invalid value is also a fault.
func (o object) count(name string) int64 {
	f := o.number(name)
	if f == nil {
		return 0
	}
	if *f < 0 || *f > math.MaxInt32 {
		o.fault(name, "out of range")
		return 0
	}
	return int64(*f)
}

// wall returns the member called name as a wall time. It returns false if the member is missing or invalid.
func (o object) wall(name string) (calendar.Wall, bool) {
	s := strings.TrimSpace(o.raw(name))
	// Services send these values if there is no date.
	if s == "" || strings.HasPrefix(s, "0000-00-00") {
		return calendar.Wall{}, false
	}
	w, err := calendar.ParseWall(strings.Replace(s, "T", " ", 1))
	if y, _, _ := w.Date(); err != nil || y < 1000 {
		o.fault(name, "%q is not a date of the form %s", s, calendar.Layout)
		return calendar.Wall{}, false
	}
	return w, true
}

// instant returns the instant in the member called utc. Without one, it reads the member called local as a wall time of
// zone. Nil means that neither has a valid time.
func (o object) instant(utc, local string, zone calendar.Zone) *time.Time {
	if w, ok := o.wall(utc); ok {
		return new(calendar.UTC().Instant(w))
	}
	if local == "" {
		return nil
	}
	if w, ok := o.wall(local); ok {
		return new(zone.Instant(w))
	}
	return nil
}

// ampersands replaces the entities of & in addresses. Other entities could be parameters of a query, as in
// ?a=1&copy=2.
var ampersands = strings.NewReplacer("&amp;", "&", "&#038;", "&", "&#38;", "&")

// schemePattern matches the start of a text that browsers interpret as the scheme of a URL.
var schemePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+-]*:`)

// link returns the web URL in the member called name, which may lack "https://". It returns "" for an invalid URL or
// another scheme, because web pages link to the result.
func (o object) link(name string) string {
	s := strings.TrimSpace(ampersands.Replace(o.raw(name)))
	if s == "" {
		return ""
	}
	prefix := strings.ToLower(schemePattern.FindString(s))
	switch {
	case strings.ContainsFunc(s, unicode.IsControl), !utf8.ValidString(s), strings.ContainsAny(s, `<>"`),
		prefix != "" && prefix != "http:" && prefix != "https:":
		o.notice(name, "not an address of the web; left out")
		return ""
	case utf8.RuneCountInString(s) > maxURL:
		o.notice(name, "longer than an address may be; left out")
		return ""
	}
	return s
}

// address returns the member called name if it is an absolute http or https URL, else "".
func (o object) address(name string) string {
	s := o.link(name)
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		o.notice(name, "not an absolute address; left out")
		return ""
	}
	return s
}

// slug returns the member called name as a valid slug (see keptSlug).
func (o object) slug(name string) string { return keptSlug(o.raw(name)) }

// keptSlug returns a valid slug from any text, or "" if it has no usable character. It percent-encodes what the source
// percent-encodes, and slugs in scripts other than Latin, so that the record keeps its URL. It transliterates Latin
// letters.
func keptSlug(raw string) string {
	text := raw
	if s, err := url.PathUnescape(raw); err == nil && utf8.ValidString(s) {
		text = s
	}
	if strings.ContainsFunc(raw, isBeyondASCII) && !strings.ContainsFunc(text, isOtherLetter) {
		if slug := calendar.Slug(text); slug != "" { // an emoji has no letters
			return slug
		}
	}
	return calendar.EncodedSlug(text)
}

// isTransliteration reports whether slug is the source's percent-encoded slug in Latin letters. slug may end in a
// number, which distinguishes records with the same slug.
func isTransliteration(slug, source string) bool {
	latin := calendar.Slug(calendar.DecodedSlug(source))
	if latin == "" || latin == source {
		return false
	}
	end, ok := strings.CutPrefix(slug, latin)
	number, numbered := strings.CutPrefix(end, "-")
	return ok && (end == "" || numbered && strings.Trim(number, "0123456789") == "")
}

func isBeyondASCII(r rune) bool { return r > unicode.MaxASCII }

// isOtherLetter reports whether r is a letter of a script other than Latin.
func isOtherLetter(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Common, unicode.Inherited)
}

var errNotObject = errors.New("not an object")

// objects returns the objects of a member that is a list of objects or a single one. Nil means missing, empty or
// invalid. Anything but an object is a fault.
func (o object) objects(name string) []object {
	if o.isEmpty(name) {
		return nil
	}
	raw := o.members[name]
	var list []json.RawMessage
	switch raw[0] {
	case '[':
		if err := json.Unmarshal(raw, &list); err != nil {
			o.fault(name, "%v", err)
			return nil
		}
	case '{':
		list = []json.RawMessage{raw}
	default:
		o.fault(name, "neither an object nor a list")
		return nil
	}
	out := make([]object, 0, len(list))
	for _, item := range list {
		one, ok := newObject(item, o.at+name+": ", o.log)
		if !ok {
			o.fault(name, "%v", errNotObject)
			continue
		}
		out = append(out, one)
	}
	return out
}
