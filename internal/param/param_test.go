package param

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/almanac-cal/almanac/proof/must"
)

// input has one variable of each parameter type for tests to bind.
type input struct {
	ID       int64
	Name     *string
	Count    int64
	Wanted   *int64
	Ratio    float64
	Share    *float64
	Flag     bool
	Choice   *bool
	IDs      []int64
	Words    []string
	Language *string
	Cleared  *string
}

func (in *input) declare(s *Set) {
	s.PathID(&in.ID, "id", "ID")
	s.OptString(&in.Name, "name", "Name").Required()
	Default(s.Int(&in.Count, "count", "Count"), &in.Count, 3).Check(func(context.Context) *Fault {
		if in.Count < 1 {
			return OutOfBounds("count", 1, nil)
		}
		return nil
	})
	s.OptInt(&in.Wanted, "wanted", "Wanted").Required()
	Default(s.Number(&in.Ratio, "ratio", "Ratio"), &in.Ratio, 2.5)
	s.OptNumber(&in.Share, "share", "Share")
	Default(s.Bool(&in.Flag, "flag", "Flag").Untyped(), &in.Flag, true)
	s.OptBool(&in.Choice, "choice", "Choice")
	s.IDs(&in.IDs, "ids", "IDs")
	s.Words(&in.Words, "words", "Words")
	s.Enum(&in.Language, "language", "Language", "en", "pl")
	Opt(s, &in.Cleared, "cleared", "Cleared", "string", func(raw any) (string, *Fault) {
		if raw == nil {
			return "cleared", nil
		}
		return String(raw)
	}).Null().NoLink().Hide()
}

func parse(t *testing.T, values map[string]any) (input, *Set, error) {
	t.Helper()
	var in input
	s := NewSet(time.Time{}, InBody, map[string]string{"id": "15"}, values)
	in.declare(s)
	err := s.Parse(t.Context())
	return in, s, err
}

func TestParseBindsWhatWasSent(t *testing.T) {
	t.Parallel()
	got, s, err := parse(t, map[string]any{
		"id": "99", "name": "x", "wanted": num("0"), "count": "7", "ratio": "0.5", "share": num("1"), "flag": "off", "choice": "yes",
		"ids": "2,1", "words": []any{"b", num("3")}, "language": "pl", "cleared": nil, "unknown": "y",
	})
	must.Succeed(t, err)
	want := input{
		ID: 15, Name: new("x"), Count: 7, Wanted: new(int64(0)), Ratio: 0.5, Share: new(1.0), Flag: false,
		Choice: new(true), IDs: []int64{2, 1}, Words: []string{"b", "3"}, Language: new("pl"), Cleared: new("cleared"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	links := []Pair{
		{"name", "x"},
		{"count", "7"},
		{"wanted", "0"},
		{"ratio", "0.5"},
		{"share", "1"},
		{"flag", "0"},
		{"choice", "1"},
		{"ids", "2,1"},
		{"words", "b,3"},
		{"language", "pl"},
	}
	if diff := cmp.Diff(links, s.Links()); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if raw, ok := s.Raw("words"); !ok || !cmp.Equal(raw, []any{"b", num("3")}) {
		t.Errorf("raw words: %v", raw)
	}
}

func TestParseLeavesOrDefaultsWhatWasNot(t *testing.T) {
	t.Parallel()
	got, s, err := parse(t, map[string]any{"name": "x", "wanted": "1", "share": nil, "count": nil, "ids": nil})
	must.Succeed(t, err)
	want := input{ID: 15, Name: new("x"), Wanted: new(int64(1)), Count: 3, Ratio: 2.5, Flag: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]bool{"name": true, "share": false, "count": false, "cleared": false, "nothing": false} {
		if got := s.Sent(name); got != want {
			t.Errorf("sent %s: %t", name, got)
		}
	}
	if diff := cmp.Diff([]Pair{{"name", "x"}, {"wanted", "1"}}, s.Links()); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

func TestMissingParametersComeAloneAndInOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		values map[string]any
		want   []string
	}{
		{"nothing sent", nil, []string{"name", "wanted"}},
		{"null is missing", map[string]any{"wanted": nil, "name": "x"}, []string{"wanted"}},
		{"before what is invalid", map[string]any{"name": "x", "count": "y"}, []string{"wanted"}},
		{"empty is not missing", map[string]any{"name": ""}, []string{"wanted"}},
	} {
		_, _, err := parse(t, c.values)
		var missing Missing
		if !errors.As(err, &missing) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, missing.Names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestInvalidParametersComeTogetherAndInOrder(t *testing.T) {
	t.Parallel()
	_, _, err := parse(t, map[string]any{
		"language": "de", "words": []any{}, "ids": "x", "choice": "maybe", "ratio": "x", "count": "0", "name": num("1"), "wanted": "1",
		"share": "0.5",
	})
	var invalid Invalid
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	want := []Fault{
		{Param: "name", Reason: ReasonType, Key: "not-of-type", Args: map[string]any{"Type": "string", "Param": "name"}, Data: map[string]any{"param": "name"}},
		{Param: "count", Reason: "rest_out_of_bounds", Key: "min", Args: map[string]any{"Param": "count", "Minimum": 1}, Data: map[string]any{"minimum": 1}},
		{Param: "ratio", Reason: ReasonType, Key: "not-of-type", Args: map[string]any{"Type": "number", "Param": "ratio"}, Data: map[string]any{"param": "ratio"}},
		{Param: "choice", Reason: ReasonType, Key: "not-of-type", Args: map[string]any{"Type": "boolean", "Param": "choice"}, Data: map[string]any{"param": "choice"}},
		{Param: "ids", Reason: ReasonType, Key: "not-of-type", Args: map[string]any{"Type": "integer", "Param": "ids"}, Data: map[string]any{"param": "ids"}},
		{Param: "words", Key: "empty-list"},
		{Param: "language", Reason: "rest_not_in_enum", Key: "not-in-enum", Args: map[string]any{"Param": "language", "Values": "en, pl"}, Data: map[string]any{"enum": []string{"en", "pl"}}},
	}
	if diff := cmp.Diff(want, invalid.Faults); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := invalid.Names(); !slices.Equal(got, []string{"name", "count", "ratio", "choice", "ids", "words", "language"}) {
		t.Errorf("names: %v", got)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	broken := errors.New("no database")
	for _, c := range []struct {
		name   string
		values map[string]any
		want   []string // checks that ran, in order
		err    error
	}{
		{"of what was sent, then those between", map[string]any{"b": "1", "a": "1"}, []string{"a", "b", "always a"}, nil},
		{"not of what was not sent", map[string]any{"b": "1"}, []string{"b", "always a"}, nil},
		{"not of what has a fault already", map[string]any{"a": "x", "b": "1"}, []string{"b"}, Invalid{}},
		{"not after a failed one", map[string]any{"a": "0", "b": "1"}, []string{"a", "b"}, Invalid{}},
		{"what cannot be checked ends it", map[string]any{"a": "9", "b": "1"}, []string{"a"}, broken},
	} {
		var a, b int64
		var ran []string
		s := NewSet(time.Time{}, InQuery, nil, c.values)
		s.Int(&a, "a", "A").Check(func(context.Context) *Fault {
			ran = append(ran, "a")
			switch a {
			case 0:
				return Bad()
			case 9:
				return &Fault{Err: broken}
			}
			return nil
		}).CheckAlways(func(context.Context) *Fault {
			ran = append(ran, "always a")
			return nil
		})
		s.Int(&b, "b", "B").Check(func(context.Context) *Fault {
			ran = append(ran, "b")
			return nil
		})
		err := s.Parse(t.Context())
		if diff := cmp.Diff(c.want, ran); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		var invalid Invalid
		switch {
		case errors.As(c.err, &invalid):
			if !errors.As(err, &invalid) {
				t.Errorf("%s: %v", c.name, err)
			}
		case !errors.Is(err, c.err):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAParserThatCouldNotRunEndsParse(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var a, b int64
	s := NewSet(time.Time{}, InQuery, nil, map[string]any{"a": "x", "b": "1"})
	s.Int(&a, "a", "A")
	Var(s, &b, "b", "B", "integer", func(any) (int64, *Fault) { return 0, &Fault{Err: broken} })
	if err := s.Parse(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestEachOfSomeWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent  any
		valid bool
	}{
		{"red", true},
		{"blue,red,red", true},
		{[]any{"blue"}, true},
		{"red,green", false},
		{"Red", false},
		{"", false},
		{[]any{}, false},
	} {
		var words []string
		s := NewSet(time.Time{}, InQuery, nil, map[string]any{"colours": c.sent})
		p := Var(s, &words, "colours", "Colours", "array", Strings).ListOf("string").EachOf([]string{"red", "blue"})
		err := s.Parse(t.Context())
		var invalid Invalid
		if errors.As(err, &invalid) == c.valid || !c.valid && invalid.Faults[0].Reason != "" {
			t.Errorf("%v: %v", c.sent, err)
		}
		if diff := cmp.Diff([]string{"red", "blue"}, p.Enum); diff != "" {
			t.Errorf("published (-want +got):\n%s", diff)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	var in input
	got := Describe(time.Time{}, InBody, in.declare)
	want := []*Param{
		{Name: "id", Description: "ID", In: InPath, Type: "integer", IsRequired: true},
		{Name: "name", Description: "Name", In: InBody, Type: "string", IsRequired: true},
		{Name: "count", Description: "Count", In: InBody, Type: "integer", HasDefault: true, Published: int64(3)},
		{Name: "wanted", Description: "Wanted", In: InBody, Type: "integer", IsRequired: true},
		{Name: "ratio", Description: "Ratio", In: InBody, Type: "number", Format: "double", HasDefault: true, Published: 2.5},
		{Name: "share", Description: "Share", In: InBody, Type: "number", Format: "double"},
		{Name: "flag", Description: "Flag", In: InBody, HasDefault: true, Published: true},
		{Name: "choice", Description: "Choice", In: InBody, Type: "boolean"},
		{Name: "ids", Description: "IDs", In: InBody, Type: "array", Items: "integer"},
		{Name: "words", Description: "Words", In: InBody, Type: "array", Items: "integer"},
		{Name: "language", Description: "Language", In: InBody, Type: "string", Enum: []string{"en", "pl"}},
		{Name: "cleared", Description: "Cleared", In: InBody, Type: "string", Hidden: true},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Param{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDeclaringTwiceIsAMistakeOfTheProgram(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var a, b int64
	Describe(time.Time{}, InQuery, func(s *Set) {
		s.Int(&a, "a", "A")
		s.Int(&b, "a", "A again")
	})
}

func TestBoundsNameTheirSentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault     *Fault
		key, data string
	}{
		{OutOfBounds("a", 1, nil), "min", `{"minimum":1}`},
		{OutOfBounds("a", nil, 9), "max", `{"maximum":9}`},
		{OutOfBounds("a", 1, 9), "between", `{"maximum":9,"minimum":1}`},
		{TooLong("a", 255), "too-long", `{"maximum":255}`},
		{TooMany("a", 500), "too-many", `{"maximum":500}`},
	} {
		data, err := json.Marshal(c.fault.Data)
		must.Succeed(t, err)
		if c.fault.Key != c.key || string(data) != c.data || c.fault.Args["Param"] != "a" {
			t.Errorf("got %s, want %s %s", fmt.Sprint(*c.fault), c.key, c.data)
		}
	}
}

func TestPublishedBoundsAreEnforced(t *testing.T) {
	t.Parallel()
	type values = map[string]any
	for _, c := range []struct {
		name string
		sent values
		want []string
	}{
		{"the bounds themselves", values{"from": "1", "degrees": "-90", "radius": "500", "ids": "1,2", "text": "łódź", "words": "a,b,,"}, nil},
		{"below", values{"from": "0", "degrees": "-90.1", "radius": "0", "ids": "3,0"}, []string{"from", "degrees", "radius", "ids"}},
		{"above", values{"degrees": "91", "radius": "500.5", "text": "łódź!", "words": []any{"a", "b", true}}, []string{"degrees", "radius", "text", "words"}},
		{"not sent", values{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var (
				from            int64
				degrees, radius float64
				ids             []int64
				text            *string
				words           *[]string
			)
			s := NewSet(time.Time{}, InQuery, nil, c.sent)
			s.Int(&from, "from", "").Between(1, nil)
			s.Number(&degrees, "degrees", "").Between(-90, 90)
			s.Number(&radius, "radius", "").Above(0, 500)
			s.IDs(&ids, "ids", "").Between(1, nil)
			s.OptString(&text, "text", "").Longest(4)
			Opt(s, &words, "words", "", "array", Strings).ListOf("string").Most(2)
			var invalid Invalid
			if err := s.Parse(t.Context()); err != nil && !errors.As(err, &invalid) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, invalid.Names(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
