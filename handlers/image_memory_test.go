package handlers_test

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestImageThatTakesTooMuchMemoryIsRefused(t *testing.T) {
	t.Parallel()
	st := storetest.Migrated(t, storetest.SQLite(t))
	api := apitest.New(t, st, func(c *handlers.Config) { c.Decoding = media.NewBudget(1 << 20) })
	api.SignIn(t, "author", calendar.Author)
	if r := api.Do(t, upload("author", "small.png", picture(t, 4, 4))); r.Status != 201 {
		t.Errorf("a small picture: %d %s", r.Status, r.Body)
	}
	r := api.Do(t, upload("author", "a.png", picture(t, 2000, 2000)))
	if r.Status != 400 || r.Get(t, "data", "details", "file", "code") != "image-not-usable" {
		t.Errorf("got %d %s", r.Status, r.Body)
	}
	if n := pictureRows(t, api); n != 1 {
		t.Errorf("%d images", n)
	}
}
