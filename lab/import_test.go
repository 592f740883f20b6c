package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// importBytes is the size of the imported files, which is that of the largest file that an address may have.
const importBytes = 32 << 20

// importFiles are kinds of iCalendar files, by the lines of an event. %d is its number.
var importFiles = []struct{ name, event string }{
	// Each event has about 2 kB, like those of programs.
	{"events", "BEGIN:VEVENT\r\nUID:%[1]d@example.org\r\nDTSTAMP:20261101T100000Z\r\nSUMMARY:Concert number %[1]d\r\n" +
		"DTSTART;TZID=Europe/Warsaw:20270708T180000\r\nDTEND;TZID=Europe/Warsaw:20270708T200000\r\nLOCATION:Hall\\, Long Street 5\r\n" +
		"CATEGORIES:Music\r\nDESCRIPTION:" + strings.Repeat("An evening of music\\, with friends.\r\n  ", 40) + "\r\nEND:VEVENT\r\n"},
	{"flaws", "BEGIN:VEVENT\r\nDTSTART:20270708T1800%[1]d\r\nDTSTART:2027-07-08 18:00\r\nDTEND:None\r\nDURATION:-P1D\r\nDURATION\r\nSUMMARY:\r\n" +
		"GEO:x\r\nURL:x\r\nSTATUS:%[1]d\r\nEXDATE:x,y,z\r\nRDATE:\r\nDESCRIPTION:a\r\n" + strings.Repeat("An evening of music\r\n", 70) + "END:VTODO\r\n"},
	{"folds", "BEGIN:VEVENT\r\nUID:%d\r\nSUMMARY:Concert\r\nDTSTART:20270708T180000Z\r\nX-LONG:" + strings.Repeat("a\r\n ", 1<<19) + "\r\nEND:VEVENT\r\n"},
}

// BenchmarkImport measures time and memory of reading an iCalendar file of 32 MB, and of a dry run, which reads it and compares it
// with an empty calendar:
//
//	go -C lab test -run '^$' -bench Import -benchtime 1x .
func BenchmarkImport(b *testing.B) {
	for _, f := range importFiles {
		name := filepath.Join(b.TempDir(), f.name+".ics")
		events := writeImport(b, name, f.event)
		site := calendar.Site{
			Zone: calendar.UTC(), Language: calendar.English, Now: func() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) },
		}
		b.Run(f.name+"/read", func(b *testing.B) {
			measureImport(b, events, func() error {
				_, err := (&importer.Reader{Site: site}).Read(b.Context(), name)
				return err
			})
		})
		b.Run(f.name+"/dry-run", func(b *testing.B) {
			st := storetest.Migrated(b, storetest.SQLite(b))
			measureImport(b, events, func() error {
				cal, err := (&importer.Reader{Site: site}).Read(b.Context(), name)
				if err != nil {
					return err
				}
				_, err = (&importer.Importer{DB: st.Ent, Site: site, DryRun: true}).Run(b.Context(), cal)
				return err
			})
		})
	}
}

// writeImport writes a file of importBytes. It returns the number of its events.
func writeImport(b *testing.B, name, event string) (events int) {
	b.Helper()
	var text strings.Builder
	text.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")
	for text.Len() < importBytes-len(event) {
		events++
		fmt.Fprintf(&text, event, events)
	}
	text.WriteString("END:VCALENDAR\r\n")
	must.Succeed(b, os.WriteFile(name, []byte(text.String()), 0o600))
	return events
}

// measureImport runs an import and reports events per second and the largest heap in MB.
func measureImport(b *testing.B, events int, run func() error) {
	b.Helper()
	var peak uint64
	for range b.N {
		runtime.GC()
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		err := run()
		close(stop)
		<-done
		must.Succeed(b, err)
	}
	b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(peak>>20), "peak-MB")
}
