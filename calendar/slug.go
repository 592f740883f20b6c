package calendar

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/mozillazg/go-unidecode"
)

// MaxSlug is the maximum length of a slug outside the trash, in bytes. Slugs are ASCII.
const MaxSlug = 200

// maxSlugText is the number of bytes of a text that Slug reads. It is enough for MaxSlug bytes of slug, and
// limits the run time for a long text without letters.
const maxSlugText = 16 << 10

const trashedSuffix = "__trashed"

// Slug returns a text in the form for URLs: lower-case ASCII letters, digits, '_' and single '-' between them
// (contract, section 10.6). It transliterates letters and digits of other scripts, drops apostrophes and
// quotation marks, and replaces every other character with '-'. The result has at most MaxSlug bytes, and is ""
// if nothing is left. The slug of a slug is the same slug.
func Slug(text string) string { return slugUpTo(text, MaxSlug) }

// SlugKey returns the slug with which to look up a record. It differs from Slug only for the longest slugs in
// the trash, which exceed MaxSlug by their suffix.
func SlugKey(text string) string {
	s := slugUpTo(text, MaxSlug+len(trashedSuffix))
	if len(s) > MaxSlug && !strings.HasSuffix(s, trashedSuffix) {
		return cutSlug(s, MaxSlug)
	}
	return s
}

// EarlierSlugKey returns SlugKey by the former rule, which replaced quotation marks with '-': Queen's Hall was
// queen-s-hall. It returns "" if the result equals SlugKey.
func EarlierSlugKey(text string) string {
	parted := strings.Map(func(r rune) rune {
		if strings.ContainsRune(quotationMarks, r) {
			return ' '
		}
		return r
	}, text)
	if earlier := SlugKey(parted); earlier != SlugKey(text) {
		return earlier
	}
	return ""
}

// Slug returns a slug made of kind and id, such as event-15. It is for a record whose text gives none.
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

func slugUpTo(text string, limit int) string {
	if len(text) > maxSlugText {
		text = text[:maxSlugText]
	}
	var b strings.Builder
	gap := false
	for _, r := range text {
		if b.Len() > limit {
			break
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

// latin returns r in the characters of slugs. If written is "", joins reports whether r connects its neighbours
// to one word, as a combining accent does.
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

func cutSlug(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
	}
	return strings.TrimRight(s, "-")
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
