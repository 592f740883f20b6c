package reply

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/almanac-cal/almanac/calendar"
)

// hashDigits is the length of the hash in an entity tag, in hexadecimal digits.
const hashDigits = 16

// Tag returns the entity tag of a reply body. If the body shows one record, version is the version of that record,
// and the tag is strong. Version 0 means that the body shows no single record, and gives a weak tag. All processes
// compute the same tag. The tag changes with the body, for example by language, _fields or a linked record. Writes
// compare only the version in the tag. A public version has a "p" after its number, such as 4p.
func Tag(body []byte, version calendar.ShownVersion) string {
	var sum [hashDigits / 2]byte
	binary.BigEndian.PutUint64(sum[:], xxhash.Sum64(body))
	tag := make([]byte, 0, len(`W/"9223372036854775807p-"`)+hashDigits)
	if version.Number > 0 {
		tag = append(tag, '"')
		tag = strconv.AppendInt(tag, version.Number, 10)
		if version.Public {
			tag = append(tag, 'p')
		}
		tag = append(tag, '-')
	} else {
		tag = append(tag, `W/"`...)
	}
	tag = hex.AppendEncode(tag, sum[:])
	return string(append(tag, '"'))
}

// AddCoding returns the entity tag of a body that is sent in a content coding. A strong tag gets the coding as a
// suffix. A weak tag stays as it is.
func AddCoding(tag string, in Coding) string {
	if in == Identity || strings.HasPrefix(tag, "W/") {
		return tag
	}
	return strings.TrimSuffix(tag, `"`) + "-" + string(in) + `"`
}

// trimCoding removes the coding that AddCoding added to a tag.
func trimCoding(tag string) string {
	for _, in := range [2]Coding{Gzip, Brotli} {
		if rest, ok := strings.CutSuffix(tag, "-"+string(in)+`"`); ok {
			return rest + `"`
		}
	}
	return tag
}

// parseVersion returns the version in the entity tag of a record. ok is false for any other tag.
func parseVersion(tag string) (version calendar.ShownVersion, ok bool) {
	number, hash, ok := strings.Cut(strings.Trim(strings.TrimPrefix(trimCoding(tag), "W/"), `"`), "-")
	if !ok || len(hash) != hashDigits || strings.Trim(hash, "0123456789abcdef") != "" {
		return version, false
	}
	number, version.Public = strings.CutSuffix(number, "p")
	n, err := strconv.ParseInt(number, 10, 64)
	version.Number = n
	return version, err == nil && n > 0 && strconv.FormatInt(n, 10) == number
}

// maxTags bounds the number of entity tags parsed from a header. Further tags match nothing.
const maxTags = 100

// TagList is the parsed value of If-Match or If-None-Match.
type TagList struct {
	any  bool     // true if the header is *
	tags []string // entity tags as they were sent, such as "3-8f14e45fceea167a" or W/"c9f0f895fb98ab91"
}

// ParseTags parses "*" or a list of entity tags. It returns an empty list for any other text.
func ParseTags(text string) TagList {
	const space = " \t"
	text = strings.Trim(text, space)
	if text == "*" {
		return TagList{any: true}
	}
	var out TagList
	for {
		text = strings.TrimLeft(text, ","+space) // the header may have empty list elements
		if text == "" || len(out.tags) == maxTags {
			return out
		}
		length := tagLength(text)
		if length == 0 {
			return TagList{}
		}
		out.tags = append(out.tags, text[:length])
		text = strings.TrimLeft(text[length:], space)
		if text != "" && text[0] != ',' {
			return TagList{}
		}
	}
}

// tagLength returns the length in bytes of the entity tag at the start of a text, or 0 if there is none.
func tagLength(text string) int {
	start := 0
	if strings.HasPrefix(text, "W/") {
		start = len("W/")
	}
	if start == len(text) || text[start] != '"' {
		return 0
	}
	for i := start + 1; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			return i + 1
		case b <= ' ' || b == 0x7f:
			return 0
		}
	}
	return 0
}

// HasStrong reports whether the list contains a tag, by the strong comparison of RFC 9110. It finds a weak tag only
// in the list *, which has all tags.
func (l TagList) HasStrong(tag string) bool {
	if l.any {
		return true
	}
	for _, one := range l.tags {
		if one == tag && !strings.HasPrefix(one, "W/") {
			return true
		}
	}
	return false
}

// HasWeak reports whether the list contains a tag, by the weak comparison of RFC 9110. It ignores W/ and the
// content coding.
func (l TagList) HasWeak(tag string) bool {
	if l.any {
		return true
	}
	for _, one := range l.tags {
		if strings.TrimPrefix(trimCoding(one), "W/") == strings.TrimPrefix(trimCoding(tag), "W/") {
			return true
		}
	}
	return false
}

// Versions returns the record versions in the tags of the list. It includes weak tags only if weak is true.
func (l TagList) Versions(weak bool) *calendar.Versions {
	out := &calendar.Versions{Any: l.any}
	for _, one := range l.tags {
		if strings.HasPrefix(one, "W/") && !weak {
			continue
		}
		switch version, ok := parseVersion(one); {
		case ok && version.Public:
			out.Public = append(out.Public, version.Number)
		case ok:
			out.List = append(out.List, version.Number)
		}
	}
	return out
}
