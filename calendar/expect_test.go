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
		if got := c.expect.Met(c.version); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
