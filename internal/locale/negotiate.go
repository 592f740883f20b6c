package locale

import (
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// maxHeader is the longest Accept-Language header that is read, in bytes. Browsers send a few dozen.
const maxHeader = 1024

// fullQuality is the quality 1. Qualities are in thousandths, the smallest step that the header allows.
const fullQuality = 1000

// acceptedLanguage is a language of the service that the header names, and its quality in thousandths.
type acceptedLanguage struct {
	language calendar.Language
	quality  int
}

// Negotiate chooses a language by an Accept-Language header (RFC 9110, section 12.5.4) with the lookup of RFC
// 4647, section 3.4. It tries languages in descending quality; equal qualities keep their order. Each is
// reduced to its first subtag, so "pl-PL" finds Polish. Quality 0 excludes a language ("pl;q=0"), but not by a
// region ("pl-PL;q=0"). "*" counts only if no named language is available. It then means fallback or, if that
// is excluded, the first language that is not.
//
// Unknown languages are skipped. An empty or malformed header, or one longer than 1024 bytes, is ignored. The
// default is fallback. The result does not share memory with the header.
func Negotiate(acceptLanguage string, fallback calendar.Language) calendar.Language {
	if acceptLanguage == "" || len(acceptLanguage) > maxHeader {
		return fallback
	}
	wishes := make([]acceptedLanguage, 0, 8) // on the stack, except for unusual headers
	var excluded []calendar.Language
	var others bool
	for element := range strings.SplitSeq(acceptLanguage, ",") {
		element = trimSpace(element)
		if element == "" {
			continue // lists may have empty elements (RFC 9110, section 5.6.1)
		}
		tag, quality, ok := parseElement(element)
		if !ok {
			return fallback
		}
		if tag == "*" {
			others = others || quality > 0
			continue
		}
		primary, _, regional := strings.Cut(tag, "-")
		lang, ok := findLanguage(primary)
		switch {
		case !ok:
		case quality > 0:
			wishes = append(wishes, acceptedLanguage{lang, quality})
		case !regional:
			excluded = append(excluded, lang)
		}
	}
	return chooseLanguage(wishes, excluded, others, fallback)
}

func chooseLanguage(wishes []acceptedLanguage, excluded []calendar.Language, others bool, fallback calendar.Language) calendar.Language {
	var best acceptedLanguage
	for _, w := range wishes {
		if w.quality > best.quality && !slices.Contains(excluded, w.language) {
			best = w
		}
	}
	if best.quality > 0 {
		return best.language
	}
	if others && slices.Contains(excluded, fallback) {
		for _, lang := range calendar.Languages {
			if !slices.Contains(excluded, lang) {
				return lang
			}
		}
	}
	return fallback
}

// findLanguage returns the language of the service that a primary subtag names, in any letter case. It returns
// false if there is none.
func findLanguage(primary string) (calendar.Language, bool) {
	for _, lang := range calendar.Languages {
		if len(lang) == len(primary) && strings.EqualFold(string(lang), primary) {
			return lang, true
		}
	}
	return "", false
}

// parseElement parses "pl-PL" or "pl-PL;q=0.8". The quality is in thousandths.
func parseElement(element string) (tag string, quality int, ok bool) {
	tag, weight, weighted := strings.Cut(element, ";")
	tag = trimSpace(tag)
	if !isRange(tag) {
		return "", 0, false
	}
	if !weighted {
		return tag, fullQuality, true
	}
	quality, ok = parseWeight(trimSpace(weight))
	return tag, quality, ok
}

// isRange reports whether tag is a basic language range (RFC 4647, section 2.1): "*", or up to eight letters
// followed by subtags of up to eight letters and digits.
func isRange(tag string) bool {
	if tag == "*" {
		return true
	}
	size, primary := 0, true
	for i := range len(tag) {
		c := tag[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		switch {
		case letter, !primary && isDigit(c):
			size++
			if size > 8 {
				return false
			}
		case c == '-' && size > 0:
			size, primary = 0, false
		default:
			return false
		}
	}
	return size > 0
}

// parseWeight parses "q=" and a number from 0 to 1 with at most three decimals. The quality is in thousandths.
func parseWeight(weight string) (quality int, ok bool) {
	if len(weight) < len("q=0") || len(weight) > len("q=0.000") || weight[0]|0x20 != 'q' || weight[1] != '=' {
		return 0, false
	}
	whole, decimals := weight[2], weight[3:]
	if whole != '0' && whole != '1' || decimals != "" && decimals[0] != '.' {
		return 0, false
	}
	quality = int(whole-'0') * fullQuality
	for i, step := 1, fullQuality/10; i < len(decimals); i, step = i+1, step/10 {
		if !isDigit(decimals[i]) {
			return 0, false
		}
		quality += int(decimals[i]-'0') * step
	}
	return quality, quality <= fullQuality
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// trimSpace removes blanks and tabs, which headers allow around list elements.
func trimSpace(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}
