package handlers

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/param"
)

// costOf returns a parser for the cost of an event: a string, a number, or a list of these. The argument decimal
// is the site's decimal mark.
func costOf(decimal string) func(raw any) (calendar.Cost, *param.Fault) {
	return func(raw any) (calendar.Cost, *param.Fault) {
		items := []any{raw}
		switch v := raw.(type) {
		case nil:
			items = nil
		case []any:
			items = v
		case param.Repeated:
			items = v
		}
		if len(items) > param.MaxItems {
			return calendar.Cost{}, param.TooManyItems()
		}
		var elements []string
		length := 0
		for _, item := range items {
			text, fault := costElement(item, decimal)
			if fault != nil {
				return calendar.Cost{}, fault
			}
			if text != "" {
				elements = append(elements, text)
			}
			if length += utf8.RuneCountInString(text); length > maxText {
				return calendar.Cost{}, param.TooLong("cost", maxText)
			}
		}
		return calendar.ParseCost(elements, decimal), nil
	}
}

// costElement returns one element of a cost as text. The element is a string, a number or null. It formats a
// number with the site's decimal mark, so that ParseCost reads it correctly. Null gives "".
func costElement(item any, decimal string) (string, *param.Fault) {
	switch v := item.(type) {
	case nil:
		return "", nil
	case string:
		text, ok, err := markup.TextLimited(v, maxText)
		if err != nil {
			return "", param.Bad()
		}
		if !ok {
			return "", param.TooLong("cost", maxText)
		}
		return text, nil
	case json.Number:
		n, err := strconv.ParseFloat(string(v), 64)
		if err != nil || n < 0 {
			return "", &param.Fault{Key: "not-a-cost"}
		}
		return strings.Replace(strconv.FormatFloat(n, 'f', -1, 64), ".", decimal, 1), nil
	}
	return "", &param.Fault{Key: "not-a-cost"}
}
