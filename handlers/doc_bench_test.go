package handlers_test

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/apitest"
)

// BenchmarkDocument makes interface descriptions, which a service does once a day for each root and language.
func BenchmarkDocument(b *testing.B) {
	h := offlineAPI(b)
	for _, c := range []struct {
		name string
		lang calendar.Language
	}{{"as written", calendar.English}, {"translated", calendar.Polish}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				body, err := h.Describe(apitest.Now, usualRoot, c.lang).Document()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(body)))
			}
		})
	}
}
