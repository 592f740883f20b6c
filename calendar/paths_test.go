package calendar

import "testing"

func TestPathsOfKinds(t *testing.T) {
	t.Parallel()
	program := Paths{}
	events := Paths{Events: "wydarzenia"}
	all := Paths{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, test := range []struct {
		kind Kind
		want [3]string
	}{
		{Event, [3]string{"/event/", "/event/", "/b/"}},
		{Venue, [3]string{"/venue/", "/venue/", "/c/"}},
		{Organizer, [3]string{"/organizer/", "/organizer/", "/d/"}},
		{Series, [3]string{"/series/", "/series/", "/e/"}},
		{Tag, [3]string{"/tag/", "/tag/", "/f/"}},
		{Category, [3]string{"/events/category/", "/wydarzenia/category/", "/a/g/"}},
		{Image, [3]string{}},
	} {
		if got := [3]string{program.Of(test.kind), events.Of(test.kind), all.Of(test.kind)}; got != test.want {
			t.Errorf("%s: %q, want %q", test.kind, got, test.want)
		}
	}
	if got := [3]string{program.List(), events.List(), all.List()}; got != [3]string{"/events/", "/wydarzenia/", "/a/"} {
		t.Errorf("lists: %q", got)
	}
}
