package calendar

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mozillazg/go-unidecode"
)

// MaxSlug is the maximum length of a slug outside the trash, in bytes. Slugs are ASCII.
const MaxSlug = 200

// maxSlugText is the number of bytes of a text that become a slug. It is enough for MaxSlug bytes of slug, and
// limits the run time for a long text without letters.
const maxSlugText = 16 << 10

const trashedSuffix = "__trashed"

// Slug returns a text in the form for URLs: lower-case ASCII letters, digits, '_' and single '-' between them
// (contract, section 10.6). It transliterates letters and digits of other scripts, drops apostrophes and
// quotation marks, and replaces every other character with '-'. The result has at most MaxSlug bytes, and is ""
// if nothing is left. The slug of a slug is the same slug.
func Slug(text string) string {
	return KeptSlug(strings.ReplaceAll(text, "%", " "))
}

// KeptSlug returns the slug of a text that may already be a slug, cut to MaxSlug bytes. It keeps percent-encoded
// UTF-8 of characters beyond ASCII, in lower case: %e6%97%a5. WordPress stores slugs of other scripts like that.
func KeptSlug(text string) string { return slugUpTo(readText(text), MaxSlug) }

// EncodedSlug returns the slug of a text, cut to MaxSlug bytes. It percent-encodes characters beyond ASCII, which
// Slug transliterates.
func EncodedSlug(text string) string { return slugUpTo(encodeCharacters(readText(text)), MaxSlug) }

// DecodedSlug returns a slug with its percent-encoded characters decoded, as browsers show it.
func DecodedSlug(slug string) string {
	if !strings.Contains(slug, "%") {
		return slug
	}
	var b strings.Builder
	for i := 0; i < len(slug); {
		if r, size := encodedCharacter(slug[i:]); size > 0 {
			b.WriteRune(r)
			i += size
			continue
		}
		b.WriteByte(slug[i])
		i++
	}
	return b.String()
}

// SlugKeys returns the slugs with which to look up a text, the preferred one first. The first is percent-encoded,
// the second transliterated. The third is that of the former rule, which replaced quotation marks with '-': Queen's
// Hall was queen-s-hall. Slugs in the trash may exceed MaxSlug by their suffix. The result has no repeats, and is
// empty for a text without letters and digits.
func SlugKeys(text string) []string {
	text = DecodedSlug(readText(text))
	parted := strings.Map(func(r rune) rune {
		if strings.ContainsRune(quotationMarks, r) {
			return ' '
		}
		return r
	}, text)
	var keys []string
	for _, key := range []string{slugKey(encodeCharacters(text)), slugKey(text), slugKey(parted)} {
		if key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// IsSlugOf reports whether a text that a client sent is another spelling of the given slug, such as its decoded
// form.
func IsSlugOf(slug, text string) bool {
	text = readText(text)
	return slug == slugKey(text) || slug == slugKey(encodeCharacters(text))
}

// slugKey returns the slug by which to look up a text. It is cut to MaxSlug bytes. A slug in the trash may be longer
// by the length of trashedSuffix.
func slugKey(text string) string {
	s := slugUpTo(text, MaxSlug+len(trashedSuffix))
	if len(s) > MaxSlug && !strings.HasSuffix(s, trashedSuffix) {
		return cutSlug(s, MaxSlug)
	}
	return s
}

// Slug returns a slug made of kind and id, such as event-15. It is for a record whose title has no characters for
// a slug.
func (k Kind) Slug(id int64) string { return string(k) + "-" + strconv.FormatInt(id, 10) }

// NumberedSlug returns the nth candidate for the slug base: base, base-2, base-3 and so on. It shortens base if
// the result would exceed MaxSlug. It never shortens the suffix of the trash.
func NumberedSlug(base string, n int) string {
	if n == 1 {
		return base
	}
	stem, trashed := strings.CutSuffix(base, trashedSuffix)
	end := "-" + strconv.Itoa(n)
	if trashed {
		end = trashedSuffix + end
	}
	return cutSlug(stem, MaxSlug-len(end)) + end
}

// maxSeriesSlug is the maximum number of bytes of the slug of a series in the slugs of its occurrences.
const maxSeriesSlug = 180

// OccurrenceSlug returns the preferred slug of an occurrence of a series, for the day of its nominal start w.
func OccurrenceSlug(series string, w Wall) string {
	return cutSlug(UntrashedSlug(series), maxSeriesSlug) + w.Format("-2006-01-02")
}

// TrashedSlug returns the slug of a record in the trash, so that other records can take its old slug. It may
// exceed MaxSlug, so that UntrashedSlug can return the whole old slug. An empty slug stays empty.
func TrashedSlug(s string) string {
	if s == "" {
		return ""
	}
	return s + trashedSuffix
}

// UntrashedSlug returns the slug that a record had before TrashedSlug, even if NumberedSlug was applied after. A
// slug that NumberedSlug shortened stays shortened. UntrashedSlug returns other slugs unchanged.
func UntrashedSlug(s string) string {
	stem, number := s, ""
	if i := strings.LastIndexByte(s, '-'); i > 0 {
		stem, number = s[:i], s[i+1:]
	}
	if own, ok := strings.CutSuffix(stem, trashedSuffix); ok && isDigits(number) {
		return own
	}
	return strings.TrimSuffix(s, trashedSuffix)
}

// quotationMarks are the apostrophes and quotation marks that Slug drops: Queen's Hall becomes queens-hall.
const quotationMarks = "'\"‘’‚‛“”„‟‹›«»ʼ"

// readText returns the start of a text: at most maxSlugText bytes. Slugs ignore the rest, so that long texts cost
// no time.
func readText(text string) string {
	if len(text) > maxSlugText {
		return text[:slugCut(text, maxSlugText)]
	}
	return text
}

func slugUpTo(text string, limit int) string {
	var b strings.Builder
	gap := false
	for i := 0; i < len(text) && b.Len() <= limit; {
		r, size := encodedCharacter(text[i:])
		encoded := size > 0
		if encoded {
			r = unicode.ToLower(r)
		} else {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		if encoded && r > unicode.MaxASCII {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			encodeCharacter(&b, r)
			continue
		}
		written, joins := latin(r)
		for i := range len(written) {
			if written[i] == '-' {
				gap = true
				continue
			}
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteByte(written[i])
		}
		gap = gap || written == "" && !joins
	}
	return cutSlug(b.String(), limit)
}

// encodeCharacters percent-encodes the characters of a text beyond ASCII. Invalid UTF-8 stays unchanged.
func encodeCharacters(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r <= unicode.MaxASCII:
			b.WriteByte(text[i])
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			b.WriteByte(text[i])
		default:
			encodeCharacter(&b, r)
		}
	}
	return b.String()
}

func encodeCharacter(b *strings.Builder, r rune) {
	const digits = "0123456789abcdef"
	for _, c := range utf8.AppendRune(nil, r) {
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
}

// encodedCharacter decodes the percent-encoded character at the start of a text, if it is beyond ASCII. The length
// in bytes of the code is size. It is 0 if the text does not start with such a code.
func encodedCharacter(text string) (r rune, size int) {
	var code [utf8.UTFMax]byte
	n := 0
	for n < len(code) && len(text) >= 3 && text[0] == '%' {
		b, err := hex.DecodeString(text[1:3])
		if err != nil {
			break
		}
		code[n], text = b[0], text[3:]
		n++
	}
	r, width := utf8.DecodeRune(code[:n])
	if width < 2 {
		return 0, 0
	}
	return r, 3 * width
}

// latin transliterates r to the characters that slugs may have. If written is "", r has no equivalent. Then joins
// reports whether r connects its neighbours to one word, as a combining accent does.
func latin(r rune) (written string, joins bool) {
	switch {
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
		return string(r), true
	case r >= 'A' && r <= 'Z':
		return string(r + 'a' - 'A'), true
	case strings.ContainsRune(quotationMarks, r):
		return "", true
	case r < unicode.MaxASCII || !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit):
		return "", false
	}
	ascii := unidecode.Unidecode(string(r))
	if ascii == "" {
		return "", unicode.IsMark(r)
	}
	// A syllable may end with a space ("Bei "), and a soft sign becomes an apostrophe. The space separates
	// words; the apostrophe does not.
	written = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case c == ' ' || c == '-':
			return '-'
		}
		return -1
	}, ascii)
	return written, true
}

// cutSlug cuts a slug to at most limit bytes. It does not leave part of a percent-encoded character at the end.
func cutSlug(s string, limit int) string {
	if len(s) > limit {
		s = s[:slugCut(s, limit)]
	}
	return strings.TrimRight(s, "-")
}

// slugCut returns the last byte offset up to limit at which a slug can be cut. It is never inside a
// percent-encoded character.
func slugCut(s string, limit int) int {
	for back := 1; back < 3*utf8.UTFMax && back <= limit; back++ {
		if _, size := encodedCharacter(s[limit-back:]); size > back {
			return limit - back
		}
	}
	return limit
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
