package importer

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestImagesAreDownloadedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		picture := func(side int) string {
			img := image.NewGray(image.Rect(0, 0, side, side))
			img.Set(1, 1, color.White)
			var b bytes.Buffer
			if err := png.Encode(&b, img); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) string {
			switch r.URL.Path {
			case "/files/books.JPG":
				return picture(200)
			case "/files/other.png":
				return picture(20)
			}
			w.WriteHeader(http.StatusNotFound)
			return ""
		})
		folder := t.TempDir()
		files, err := media.OpenDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := files.Close(); err != nil {
				t.Error(err)
			}
		}()
		local := netip.MustParsePrefix("127.0.0.0/8")
		with := func(im *Importer) { im.Pictures = &Pictures{Fetcher: media.NewFetcher(local), Files: files} }
		there := func() []string {
			names, err := filepath.Glob(filepath.Join(folder, "*", "*", "*"))
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range names {
				names[i] = filepath.Base(n)
			}
			return names
		}
		at := func(name string) *Calendar {
			return calendarOf(t, shapesFile, "https://calendar.example.org/files/books.JPG", s.URL+"/files/"+name)
		}

		// A reference first, then the file, then nothing more.
		importInto(t, st, at("books.JPG"))
		if got := counts(importInto(t, st, at("books.JPG"), with)); !strings.Contains(got, "image update 1") {
			t.Errorf("download: %s", got)
		}
		if got := counts(importInto(t, st, at("books.JPG"), with)); !strings.Contains(got, "image unchanged 1") {
			t.Errorf("again: %s", got)
		}
		if got := counts(importInto(t, st, at("books.JPG"))); !strings.Contains(got, "image unchanged 1") {
			t.Errorf("without: %s", got)
		}
		if len(s.asked) != 1 {
			t.Errorf("asked for %v", s.asked)
		}
		row := findEvent(t, st, "101").Edges.Image
		if row.Path != "2026/11/books.png" || row.Width != 200 || row.Extension != "png" || len(row.Sizes) != 1 {
			t.Errorf("image %v", row)
		}
		if diff := gocmp.Diff([]string{"books-150x150.png", "books.png"}, there()); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}

		// Another picture takes its place; one that cannot be had leaves it.
		before := storetest.ReadRecords(t, st.DB)
		importInto(t, st, at("other.png"), with)
		for _, problem := range storetest.ReadRecords(t, st.DB).Unlogged(t, st.DB, before) {
			t.Error(problem)
		}
		if diff := gocmp.Diff([]string{"other.png"}, there()); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		report := importInto(t, st, at("gone.png"), with)
		last := report.Problems[len(report.Problems)-1]
		if len(report.Problems) != 4 || !strings.Contains(last.Reason, "status 404") {
			t.Errorf("problems %v", report.Problems)
		}
		if diff := gocmp.Diff([]string{"other.png"}, there()); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	})
}
