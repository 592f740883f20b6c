package fill_test

import (
	"testing"

	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestPlace(t *testing.T) {
	for _, tt := range []struct{ where, want string }{
		{"/data", "sqlite:///data/scale_1k.db"},
		{"mysql://root@127.0.0.1:3306/", "mysql://root@127.0.0.1:3306/scale_1k"},
		{"mysql://root:secret@db/other?tls=true", "mysql://root:secret@db/scale_1k?tls=true"},
	} {
		if got, err := fill.Place(tt.where, "scale_1k"); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.where, got, err, tt.want)
		}
	}
}

func TestAnew(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		holds := func(events int, want bool) {
			t.Helper()
			if got := fill.Holds(t.Context(), url, options(events)); got != want {
				t.Errorf("holds %d events: %v", events, got)
			}
		}
		holds(20, false)
		for _, events := range []int{20, 30} {
			if err := fill.Anew(t.Context(), url, options(events)); err != nil {
				t.Fatal(err)
			}
			holds(events, true)
		}
		holds(20, false)
	})
}
