package apitest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/param"
)

// describedForm converts a value to the type that the interface description gives it. The service accepts more forms
// than are described (contract, section 4): numbers and booleans as text, comma-separated lists, a single item for a
// list, and empty values for nullable fields. Other values are returned unchanged.
func describedForm(raw any, s *openapi3.Schema) any {
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		if v := describedForm(raw, one.Value); one.Value.VisitJSON(v, openapi3.VisitAsRequest()) == nil {
			return v
		}
	}
	list, isRepeated := raw.(param.Repeated)
	switch {
	case s.Type.Is("array"):
		return understoodList(raw, s)
	case isRepeated:
		return describedForm(list[len(list)-1], s)
	case raw == "" && !s.Type.Is("string"):
		return nil
	case s.Type.Is("integer"), s.Type.Is("number"):
		return understoodNumber(raw, s)
	case s.Type.Is("string"):
		return understoodText(raw, s)
	case s.Type.Is("boolean"):
		return understoodBoolean(raw)
	case s.Type.Is("object"):
		return understoodObject(raw, s)
	}
	return raw
}

// understoodText converts a value to a text. A number (a date in seconds) becomes its digits. A text whose length is
// limited loses its markup. Other values are returned unchanged.
func understoodText(raw any, s *openapi3.Schema) any {
	if number, ok := raw.(json.Number); ok {
		return string(number)
	}
	if text, ok := raw.(string); ok && s.MaxLength != nil {
		if plain, err := markup.Text(text); err == nil {
			return plain
		}
	}
	return raw
}

// understoodNumber converts digits to a number. It limits integers to 62 bits, since the service treats any larger
// one as the largest. Other values are returned unchanged.
func understoodNumber(raw any, s *openapi3.Schema) any {
	text, ok := raw.(string)
	if number, isNumber := raw.(json.Number); isNumber {
		text, ok = string(number), true
	}
	if !ok {
		return raw
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return raw
	}
	if s.Type.Is("integer") {
		return min(max(number, -1<<62), 1<<62)
	}
	return number
}

func understoodBoolean(raw any) any {
	if number, ok := raw.(json.Number); ok {
		raw = string(number)
	}
	if text, ok := raw.(string); ok {
		if value, fault := param.Boolean(text); fault == nil {
			return value
		}
	}
	return raw
}

func understoodList(raw any, s *openapi3.Schema) any {
	var items []any
	switch v := raw.(type) {
	case nil:
		return nil
	case []any:
		items = v
	case param.Repeated:
		items = v
	case string:
		for item := range strings.SplitSeq(v, ",") {
			items = append(items, strings.TrimSpace(item))
		}
	default:
		items = []any{v}
	}
	out := make([]any, 0, len(items))
	for _, item := range items {
		if isEmptyItem(item) {
			continue
		}
		if text, ok := item.(string); ok && isIDs(text) {
			for id := range strings.SplitSeq(text, ",") {
				out = append(out, describedForm(strings.TrimSpace(id), s.Items.Value))
			}
			continue
		}
		out = append(out, describedForm(item, s.Items.Value))
	}
	return out
}

// isEmptyItem reports whether the service drops an item from a list: null, an empty text, or a list or object of such
// items only.
func isEmptyItem(item any) bool {
	switch v := item.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return !slices.ContainsFunc(v, func(inner any) bool { return !isEmptyItem(inner) })
	case map[string]any:
		for _, inner := range v {
			if !isEmptyItem(inner) {
				return false
			}
		}
		return true
	}
	return false
}

// isIDs reports whether an item of a list is itself a text with several ids, such as 12,15.
func isIDs(text string) bool {
	return strings.Contains(text, ",") && strings.Trim(text, "0123456789, ") == ""
}

func understoodObject(raw any, s *openapi3.Schema) any {
	object, ok := raw.(map[string]any)
	if !ok {
		return raw
	}
	out := make(map[string]any, len(object))
	for name, value := range object {
		ref := s.Properties[name]
		if ref == nil {
			out[name] = value
			continue
		}
		if value = describedForm(value, ref.Value); value != nil || ref.Value.PermitsNull() {
			out[name] = value
		}
	}
	return out
}
