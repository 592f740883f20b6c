package calendar

import "testing"

func TestExpect(t *testing.T) {
	t.Parallel()
	these, all, none := &Versions{List: []int64{2, 3}}, &Versions{Any: true}, &Versions{}
	for _, c := range []struct {
		name    string
		expect  Expect
		version int64
		want    bool
	}{
		{"nothing", Expect{}, 1, true},
		{"one of them", Expect{Some: these}, 3, true},
		{"another", Expect{Some: these}, 4, false},
		{"any", Expect{Some: all}, 4, true},
		{"none there is", Expect{Some: none}, 1, false},
		{"not one of them", Expect{None: these}, 4, true},
		{"but it is", Expect{None: these}, 2, false},
		{"not any", Expect{None: all}, 1, false},
		{"not none", Expect{None: none}, 1, true},
		{"one of them, and not any", Expect{Some: these, None: all}, 2, false},
		{"any, and not one of them", Expect{Some: all, None: these}, 1, true},
	} {
		if got := c.expect.Met(Version{All: c.version}); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// TestExpectOfPublicVersions compares versions of readers who do not see hidden changes.
func TestExpectOfPublicVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		version     Version
		all, public int64
		want        bool
	}{
		{"nothing was hidden", Version{All: 4}, 4, 4, true},
		{"a hidden change since, for a reader who saw all", Version{All: 5, Hidden: 1}, 4, 0, false},
		{"a hidden change since, for a reader who could not see it", Version{All: 5, Hidden: 1}, 0, 4, true},
		{"a visible change since", Version{All: 6, Hidden: 1}, 5, 4, false},
	} {
		expect := Expect{Some: &Versions{List: []int64{c.all}, Public: []int64{c.public}}}
		if got := expect.Met(c.version); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
