package manual

import (
	"fmt"
	"regexp"
	"strings"
)

// ellipsis stands for omitted output. Within a line or a JSON string it replaces a part. Elsewhere in JSON it replaces
// any values. On a line of its own it replaces any number of lines.
const ellipsis = "…"

// Match returns an error if the output got differs from shown, which is how the manual shows it. An ellipsis in shown
// matches any text. If lang is json, white space between values is ignored. Otherwise white space at the ends of
// lines is ignored.
func Match(lang, shown, got string) error {
	want, text := textPattern(shown), trimLines(got)
	if lang == "json" {
		want, text = jsonPattern(compactJSON(shown)), compactJSON(got)
	}
	re, err := regexp.Compile(want)
	if err != nil {
		return fmt.Errorf("shown output: %w", err)
	}
	if !re.MatchString(text) {
		return fmt.Errorf("it printed\n%s\nbut this is shown:\n%s", got, shown)
	}
	return nil
}

// trimLines removes white space at the ends of all lines. The result ends with one line break.
func trimLines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, " \r\n\t"), "\n") {
		b.WriteString(strings.TrimRight(line, " \r\t") + "\n")
	}
	return b.String()
}

// textPattern returns a regular expression for the lines in shown. An ellipsis matches any text. An ellipsis alone on
// its line matches any number of lines.
func textPattern(shown string) string {
	var b strings.Builder
	b.WriteString("^")
	for line := range strings.Lines(trimLines(shown)) {
		if strings.TrimSpace(line) == ellipsis {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(strings.TrimSuffix(line, "\n"), ellipsis)
		for i, p := range parts {
			parts[i] = regexp.QuoteMeta(p)
		}
		b.WriteString(strings.Join(parts, ".*?") + `\n`)
	}
	return b.String() + "$"
}

// compactJSON removes the white space between the values of a JSON text.
func compactJSON(text string) string {
	var b strings.Builder
	walkJSON(text, func(r rune, inString bool) {
		if inString || !strings.ContainsRune(" \t\r\n", r) {
			b.WriteRune(r)
		}
	})
	return b.String()
}

// jsonPattern returns a regular expression for a compact JSON text. An ellipsis in shown matches anything, but inside
// a string only text of that string.
func jsonPattern(shown string) string {
	var b strings.Builder
	b.WriteString("(?s)^")
	walkJSON(shown, func(r rune, inString bool) {
		switch {
		case string(r) != ellipsis:
			b.WriteString(regexp.QuoteMeta(string(r)))
		case inString:
			b.WriteString(`(?:[^"\\]|\\.)*?`)
		default:
			b.WriteString(".*?")
		}
	})
	return b.String() + "$"
}

// walkJSON calls f with each character of a JSON text. inString is true within a string, including its quotes.
func walkJSON(text string, f func(r rune, inString bool)) {
	inString, escaped := false, false
	for _, r := range text {
		switch {
		case !inString:
			inString = r == '"'
			f(r, inString)
			continue
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			inString = false
		}
		f(r, true)
	}
}
