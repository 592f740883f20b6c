package calendar

import "testing"

func TestExpect(t *testing.T) {
	t.Parallel()
	these, all, none := &Versions{List: []int64{2, 3}}, &Versions{Any: true}, &Versions{}
	for _, c := range []struct {
		name    string
		expect  Precondition
		version int64
		want    bool
	}{
		{"nothing", Precondition{}, 1, true},
		{"one of them", Precondition{Some: these}, 3, true},
		{"another", Precondition{Some: these}, 4, false},
		{"any", Precondition{Some: all}, 4, true},
		{"none there is", Precondition{Some: none}, 1, false},
		{"not one of them", Precondition{None: these}, 4, true},
		{"but it is", Precondition{None: these}, 2, false},
		{"not any", Precondition{None: all}, 1, false},
		{"not none", Precondition{None: none}, 1, true},
		{"one of them, and not any", Precondition{Some: these, None: all}, 2, false},
		{"any, and not one of them", Precondition{Some: all, None: these}, 1, true},
	} {
		if got := c.expect.Met(Version{All: c.version}); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// TestPreconditionOfPublicVersions checks preconditions of readers who do not see hidden changes.
func TestPreconditionOfPublicVersions(t *testing.T) {
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
		expect := Precondition{Some: &Versions{List: []int64{c.all}, Public: []int64{c.public}}}
		if got := expect.Met(c.version); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
