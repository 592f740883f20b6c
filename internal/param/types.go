package param

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Var declares a parameter of any type. The published type is typ. The function parse converts the raw value,
// which is a string, json.Number, bool, []any, map[string]any or Repeated. After a call of Null, raw is nil for
// null.
func Var[T any](s *Set, dst *T, name, description, typ string, parse func(raw any) (T, *Fault)) *Param {
	var p *Param
	p = s.add(name, description, typ, func(raw any) *Fault {
		v, fault := parse(raw)
		if fault != nil {
			// Parsers do not know the name of the parameter, so it is added here.
			switch {
			case fault.Reason == ReasonType:
				fault.Args["Param"], fault.Data["param"] = p.Name, p.Name
			case fault.Args != nil && fault.Args["Param"] == "":
				fault.Args["Param"] = p.Name
			}
			return fault
		}
		*dst = v
		p.rawLink = linkText(v)
		return nil
	})
	p.value = func() any { return *dst }
	return p
}

// Opt declares a parameter of any type with the published type typ. Its variable is a pointer, which stays nil
// if the parameter is not sent. The function parse converts the raw value.
func Opt[T any](s *Set, dst **T, name, description, typ string, parse func(raw any) (T, *Fault)) *Param {
	var v T
	p := Var(s, &v, name, description, typ, parse)
	bind := p.bind
	p.bind = func(raw any) *Fault {
		fault := bind(raw)
		if fault == nil {
			*dst = &v
		}
		return fault
	}
	return p
}

// Default publishes a default and assigns it to *dst if the parameter is not sent.
func Default[T any](p *Param, dst *T, v T) *Param {
	p.HasDefault, p.Published = true, v
	p.apply = func() { *dst = v }
	return p
}

// Int declares an integer.
func (s *Set) Int(dst *int64, name, description string) *Param {
	return Var(s, dst, name, description, "integer", Integer)
}

// OptInt declares an integer. The variable stays nil if it is not sent.
func (s *Set) OptInt(dst **int64, name, description string) *Param {
	return Opt(s, dst, name, description, "integer", Integer)
}

// Number declares a number.
func (s *Set) Number(dst *float64, name, description string) *Param {
	p := Var(s, dst, name, description, "number", Number)
	p.Format = "double"
	return p
}

// OptNumber declares a number. The variable stays nil if it is not sent.
func (s *Set) OptNumber(dst **float64, name, description string) *Param {
	p := Opt(s, dst, name, description, "number", Number)
	p.Format = "double"
	return p
}

// Bool declares a boolean.
func (s *Set) Bool(dst *bool, name, description string) *Param {
	return Var(s, dst, name, description, "boolean", Boolean)
}

// OptBool declares a boolean. The variable stays nil if it is not sent.
func (s *Set) OptBool(dst **bool, name, description string) *Param {
	return Opt(s, dst, name, description, "boolean", Boolean)
}

// OptString declares a string. The variable stays nil if it is not sent.
func (s *Set) OptString(dst **string, name, description string) *Param {
	return Opt(s, dst, name, description, "string", String)
}

// IDs declares a list of integers. An empty list is a fault.
func (s *Set) IDs(dst *[]int64, name, description string) *Param {
	return Var(s, dst, name, description, "array", Integers).ListOf("integer")
}

// Words declares a list of strings. It is published as a list of integers, because the original API publishes
// lists of ids or slugs so. An empty list is a fault.
func (s *Set) Words(dst *[]string, name, description string) *Param {
	return Var(s, dst, name, description, "array", Strings).ListOf("integer")
}

// PathID declares an id in the path, in digits. A number beyond int64 gives an id that does not exist.
func (s *Set) PathID(dst *int64, name, description string) *Param {
	p := s.Int(dst, name, description)
	p.In, p.IsRequired = InPath, true
	return p
}

// PathString declares a text in the path.
func (s *Set) PathString(dst *string, name, description string) *Param {
	p := Var(s, dst, name, description, "string", String)
	p.In, p.IsRequired = InPath, true
	return p
}

// Enum declares a string that must be one of words. The variable stays nil if it is not sent.
func (s *Set) Enum(dst **string, name, description string, words ...string) *Param {
	p := s.OptString(dst, name, description)
	p.Enum = words
	return p.Check(func(context.Context) *Fault {
		for _, w := range words {
			if **dst == w {
				return nil
			}
		}
		return NotInEnum(name, words)
	})
}

// NotInEnum returns the fault for a text that is not one of the allowed words.
func NotInEnum(name string, words []string) *Fault {
	return &Fault{
		Reason: "rest_not_in_enum", Key: "not-in-enum",
		Args: map[string]any{"Param": name, "Values": strings.Join(words, ", ")},
		Data: map[string]any{"enum": words},
	}
}

// ReasonType is the reason code for a value of the wrong type.
const ReasonType = "rest_invalid_type"

// WrongType returns the fault for a value of the wrong type. typ is the expected type.
func WrongType(typ string) *Fault {
	return &Fault{
		Reason: ReasonType, Key: "not-of-type",
		Args: map[string]any{"Type": typ}, Data: map[string]any{},
	}
}

// OutOfBounds returns the fault for a number outside its bounds. Either bound may be nil.
func OutOfBounds(name string, minimum, maximum any) *Fault {
	f := &Fault{
		Reason: "rest_out_of_bounds", Key: "between",
		Args: map[string]any{"Param": name}, Data: map[string]any{},
	}
	if minimum != nil {
		f.Args["Minimum"], f.Data["minimum"] = minimum, minimum
	} else {
		f.Key = "max"
	}
	if maximum != nil {
		f.Args["Maximum"], f.Data["maximum"] = maximum, maximum
	} else {
		f.Key = "min"
	}
	return f
}

// TooLong returns the fault for a text of more than maximum characters.
func TooLong(name string, maximum int) *Fault {
	return &Fault{
		Reason: "rest_out_of_bounds", Key: "too-long",
		Args: map[string]any{"Param": name, "Maximum": maximum, "Count": maximum},
		Data: map[string]any{"maximum": maximum},
	}
}

// MaxItems is the largest number of items in a list, not counting empty ones. A body has room for hundreds of
// thousands. Each item costs memory, and often a part of a statement, before the caller is authenticated.
const MaxItems = 2000

// MaxBody is the largest size in bytes of a body without files. MaxURL is that of an address with its query.
const (
	MaxBody = 1 << 20
	MaxURL  = 8 << 10
)

// TooManyItems returns the fault for a list of more than MaxItems items.
func TooManyItems() *Fault { return itemsFault("", MaxItems) } // Var adds the name

func itemsFault(name string, maximum int) *Fault {
	return &Fault{
		Reason: "rest_out_of_bounds", Key: "too-many-items",
		Args: map[string]any{"Param": name, "Maximum": maximum},
		Data: map[string]any{"maximum": maximum},
	}
}

// TooMany returns the fault for a list with more than maximum new records.
func TooMany(name string, maximum int) *Fault {
	return &Fault{
		Reason: "rest_out_of_bounds", Key: "too-many",
		Args: map[string]any{"Param": name, "Maximum": maximum},
		Data: map[string]any{"maximum": maximum},
	}
}

// Integer parses an integer: a JSON number without fraction, or decimal digits with an optional minus. Values
// beyond int64 become the nearest bound, which is never a valid id or page.
func Integer(raw any) (int64, *Fault) {
	switch v := LastValue(raw).(type) {
	case json.Number:
		if n, ok := parseIntegral(string(v)); ok {
			return n, nil
		}
	case string:
		if isDigits(strings.TrimPrefix(v, "-")) {
			return parseSaturated(v), nil
		}
	}
	return 0, WrongType("integer")
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// parseSaturated parses decimal digits with an optional minus, which the caller has checked. Values beyond
// int64 become the nearest bound.
func parseSaturated(s string) int64 {
	// ParseInt returns the nearest end of the range together with its error.
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && strings.HasPrefix(s, "-") {
		return math.MinInt64
	}
	if err != nil {
		return math.MaxInt64
	}
	return n
}

// parseIntegral parses a JSON number without fraction: 2, 2.0, 2e3. It returns false for any other number. It
// moves the decimal point in the text, which is exact where a float rounds, and fast even for 1e-999999.
func parseIntegral(s string) (int64, bool) {
	s, negative := strings.CutPrefix(s, "-")
	mantissa, power := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		// If the exponent is too large, Atoi returns the nearest bound of the range and an error.
		exponent, err := strconv.Atoi(s[i+1:])
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, false
		}
		mantissa, power = s[:i], min(max(exponent, -maxPower), maxPower)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if !isDigits(whole + fraction) {
		return 0, false
	}
	all := strings.TrimLeft(whole+fraction, "0")
	point := len(all) - len(fraction) + power
	all = strings.TrimRight(all, "0")
	switch {
	case all == "":
		return 0, true
	case len(all) > point:
		return 0, false
	}
	// Twenty digits already exceed int64.
	all += strings.Repeat("0", max(0, min(point, 20)-len(all)))
	if negative {
		all = "-" + all
	}
	return parseSaturated(all), true
}

// maxPower limits the exponent of a number. It exceeds the number of digits in any body, and sums of two do not
// overflow.
const maxPower = 1 << 40

// Number parses a number: a JSON number or a decimal string.
func Number(raw any) (float64, *Fault) {
	var text string
	switch v := LastValue(raw).(type) {
	case json.Number:
		text = string(v)
	case string:
		whole, fraction, dotted := strings.Cut(strings.TrimPrefix(v, "-"), ".")
		if !isDigits(whole) || (dotted && !isDigits(fraction)) {
			return 0, WrongType("number")
		}
		text = v
	default:
		return 0, WrongType("number")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, WrongType("number")
	}
	return f, nil
}

// booleanWords are the accepted words for a boolean, in any letter case.
var booleanWords = map[string]bool{
	"1": true, "true": true, "yes": true, "y": true, "on": true, "enable": true, "enabled": true,
	"0": false, "false": false, "no": false, "n": false, "off": false, "disable": false, "disabled": false,
}

// Boolean parses a boolean: a JSON boolean, or one of booleanWords as string or number (contract, section 4).
func Boolean(raw any) (bool, *Fault) {
	var word string
	switch v := LastValue(raw).(type) {
	case bool:
		return v, nil
	case json.Number:
		word = string(v)
	case string:
		word = v
	}
	if len(word) <= len("disabled") {
		if b, ok := booleanWords[strings.ToLower(word)]; ok {
			return b, nil
		}
	}
	return false, WrongType("boolean")
}

// String parses a string. Numbers and booleans are the wrong type.
func String(raw any) (string, *Fault) {
	v, ok := LastValue(raw).(string)
	if !ok {
		return "", WrongType("string")
	}
	if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
		return "", Bad()
	}
	return v, nil
}

// List parses a list: a JSON list, comma-separated text, a repeated key, or one scalar. Empty items are
// dropped. Items of a JSON list are not split at commas. More than MaxItems items are a fault.
func List(raw any) ([]any, *Fault) {
	var kept []any
	keep := func(item any) *Fault {
		if text, ok := item.(string); ok {
			if text = strings.TrimSpace(text); text == "" {
				return nil
			}
			item = text
		}
		if item == nil {
			return nil
		}
		if len(kept) == MaxItems {
			return TooManyItems()
		}
		kept = append(kept, item)
		return nil
	}
	split := func(item any) *Fault {
		text, ok := item.(string)
		if !ok {
			return keep(item)
		}
		for part := range strings.SplitSeq(text, ",") {
			if part == "" {
				continue // skipped without allocating an item
			}
			if fault := keep(part); fault != nil {
				return fault
			}
		}
		return nil
	}
	items, each := []any{raw}, split
	switch v := raw.(type) {
	case []any:
		items, each = v, keep
	case Repeated:
		items = v
	case string, json.Number, bool:
	default:
		return nil, WrongType("array")
	}
	for _, item := range items {
		if fault := each(item); fault != nil {
			return nil, fault
		}
	}
	return kept, nil
}

// emptyListFault returns the fault for a list without items. It has no reason.
func emptyListFault() *Fault { return &Fault{Key: "empty-list"} }

// Integers parses a list of integers. An empty list is a fault.
func Integers(raw any) ([]int64, *Fault) {
	items, fault := List(raw)
	if fault != nil {
		return nil, fault
	}
	if len(items) == 0 {
		return nil, emptyListFault()
	}
	out := make([]int64, len(items))
	for i, item := range items {
		if out[i], fault = Integer(item); fault != nil {
			return nil, fault
		}
	}
	return out, nil
}

// Strings parses a list of strings. JSON numbers are accepted as strings. An empty list is a fault.
func Strings(raw any) ([]string, *Fault) {
	items, fault := List(raw)
	if fault != nil {
		return nil, fault
	}
	if len(items) == 0 {
		return nil, emptyListFault()
	}
	out := make([]string, len(items))
	for i, item := range items {
		if n, ok := item.(json.Number); ok {
			item = string(n)
		}
		if out[i], fault = String(item); fault != nil {
			return nil, fault
		}
	}
	return out, nil
}

// LastValue returns the last value of a key that was sent several times, for a scalar parameter. It returns any
// other value unchanged.
func LastValue(raw any) any {
	if r, ok := raw.(Repeated); ok {
		return r[len(r)-1]
	}
	return raw
}

// linkText formats a parsed value for a link: lists are joined by commas, booleans are 1 and 0.
func linkText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		if v {
			return "1"
		}
		return "0"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		return strings.Join(v, ",")
	case []int64:
		words := make([]string, len(v))
		for i, n := range v {
			words[i] = strconv.FormatInt(n, 10)
		}
		return strings.Join(words, ",")
	}
	return ""
}

// SentText returns the text of a parameter as it was sent. Items of a list are joined by commas.
func SentText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case Repeated:
		return SentText([]any(v))
	case []any:
		texts := make([]string, 0, len(v))
		for _, item := range v {
			if text := SentText(item); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, ",")
	}
	return ""
}
