// Package fill generates calendars of any size for measurements, the same each time. Frequencies are realistic: a few
// venues, words and tags are in very many events, and most are in few.
//
// It writes most rows through bulk.Loader. So slugs, search texts, counts and the change log are like those of the
// service itself. Package seed writes calendars that are nice to read. These have more tags and many more different
// words, to measure filters and searches.
package fill

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// Options describes a calendar to generate. All fields except Series, Mixed and Progress are required.
type Options struct {
	Events   int
	Series   int           // number of series to which the events belong; 0 means single events
	Mixed    bool          // every third event stays single
	From     calendar.Wall // first day
	Site     calendar.Site
	Progress func(done int) // called after each batch with the number of events; nil for none
}

const (
	months   = 26 // from the first day to the last
	batch    = 500
	authors  = 10
	pictures = 36
	tags     = 400
	marker   = "bench-fill" // setting in the database with the description of its calendar
)

// Default returns the default first day of a calendar: the first of the month two months before now. Most events are
// then in the default window of lists.
func Default(now time.Time) calendar.Wall {
	year, month, _ := now.UTC().Date()
	return calendar.WallAt(year, month-2, 1, 0, 0, 0)
}

// description returns a text that identifies the calendar and is stored in the database. Its version number must be
// increased when the same options give other rows.
func (o Options) description() string {
	text := fmt.Sprintf("4: %d events from %s", o.Events, o.From)
	if o.Series > 0 {
		text += fmt.Sprintf(", of %d series", o.Series)
	}
	if o.Mixed {
		text += ", every third one single"
	}
	return text
}

// Filled reports whether a database contains the calendar that the options describe.
func Filled(ctx context.Context, st *store.Store, o Options) (bool, error) {
	row, err := st.Ent.Setting.Get(ctx, marker)
	if ent.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return string(row.Value) == o.description(), nil
}

// run is the state while a database is filled.
type run struct {
	Options
	st     *store.Store
	loader *bulk.Loader
	now    time.Time // the time of all writes

	authors                                   []int64
	categories, tags, images, venues, holders []int64
	events                                    []int64 // ids so far
}

// Database fills a database whose schema is current and that has no events.
func Database(ctx context.Context, st *store.Store, o Options) error {
	n, err := st.Ent.Event.Query().Count(ctx)
	if err != nil {
		return err
	}
	if n > 0 {
		return fmt.Errorf("%s has %d events already", st, n)
	}
	r := &run{Options: o, st: st, now: o.Site.Zone.Instant(o.From.AddDate(0, 2, 0))}
	if err := r.people(ctx); err != nil {
		return fmt.Errorf("authors: %w", err)
	}
	key, err := edit.PasswordKey(ctx, st.Ent)
	if err != nil {
		return err
	}
	r.loader = bulk.NewLoader(st, &edit.Editor{Site: o.Site, Now: r.now, By: auth.System(), PasswordKey: key})
	for _, step := range []func(context.Context) error{r.terms, r.pictures, r.places, r.organizers, r.all} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := r.series(ctx); err != nil {
		return err
	}
	return st.Ent.Setting.Create().SetID(marker).SetValue([]byte(o.description())).Exec(ctx)
}

func (r *run) people(ctx context.Context) error {
	for i := range authors {
		login := fmt.Sprintf("author-%d", i+1)
		id, err := r.st.Ent.User.Query().Where(user.Login(login)).FirstID(ctx)
		if ent.IsNotFound(err) {
			var u *ent.User
			if u, err = auth.AddUser(ctx, r.st.Ent, r.now, login, "", calendar.Author, ""); err == nil {
				id = u.ID
			}
		}
		if err != nil {
			return err
		}
		r.authors = append(r.authors, id)
	}
	return nil
}

// tree has the number of categories on each level of their tree, from the top.
var tree = []int{6, 18, 16}

func (r *run) terms(ctx context.Context) error {
	var categories []bulk.Term
	above, first := 0, 0 // the level above: how many, from which on
	for _, n := range tree {
		start := len(categories)
		for i := range n {
			t := r.term(calendar.Category, len(categories))
			if parent := first + i%max(above, 1); above > 0 {
				t.Parent = func(ids []int64) int64 { return ids[parent] }
			}
			categories = append(categories, t)
		}
		above, first = n, start
	}
	var err error
	if r.categories, err = r.load(ctx, calendar.Category, categories); err != nil {
		return err
	}
	all := make([]bulk.Term, tags)
	for i := range all {
		all[i] = r.term(calendar.Tag, i)
	}
	r.tags, err = r.load(ctx, calendar.Tag, all)
	return err
}

func (r *run) term(taxonomy calendar.Kind, i int) bulk.Term {
	c := chanceOf(string(taxonomy), i)
	// Names are frequent words, since they would be in life.
	title := capitalize(Word(100 + i))
	if taxonomy == calendar.Tag {
		title = Word(200 + i)
	}
	t := bulk.Term{TermInput: edit.TermInput{Name: &title}}
	if c.percent(30) {
		t.Description = new(sentence(&c, 8))
	}
	if c.percent(33) {
		t.Texts = []calendar.Text{{Language: calendar.Polish, Title: title + "ów"}}
	}
	return t
}

func (r *run) load(ctx context.Context, taxonomy calendar.Kind, terms []bulk.Term) ([]int64, error) {
	loaded, err := r.loader.Terms(ctx, taxonomy, terms)
	ids := make([]int64, len(loaded))
	for i, t := range loaded {
		ids[i] = t.ID
	}
	return ids, err
}

// pictures inserts rows of images. It writes no image files.
func (r *run) pictures(ctx context.Context) (err error) {
	rows := make([]func(*ent.ImageCreate), pictures)
	for i := range rows {
		rows[i] = func(c *ent.ImageCreate) {
			size := func(name string, width, height int) calendar.ImageSize {
				return calendar.ImageSize{
					Path:     fmt.Sprintf("2026/01/picture-%d-%dx%d.jpg", i, width, height),
					MIMEType: "image/jpeg", Width: width, Height: height, Filesize: int64(width * height / 4),
				}
			}
			c.SetPath(fmt.Sprintf("2026/01/picture-%d.jpg", i)).SetExtension("jpg").SetMimeType("image/jpeg").
				SetWidth(1600).SetHeight(900).SetFilesize(360_000).SetSizes(map[string]calendar.ImageSize{
				"thumbnail": size("thumbnail", 150, 150), "medium": size("medium", 300, 169), "large": size("large", 1024, 576),
			})
		}
	}
	r.images, err = r.loader.Images(ctx, rows)
	return err
}

// all writes the events in batches. It generates a batch while it writes the previous one.
func (r *run) all(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	ready := make(chan *bulk.Batch, 1)
	group.Go(func() error {
		defer close(ready)
		for from := 0; from < r.Events; from += batch {
			events := make([]bulk.Event, 0, batch)
			for i := from; i < min(from+batch, r.Events); i++ {
				events = append(events, r.event(i, from))
			}
			p, err := r.loader.Events(events)
			if err != nil {
				return err
			}
			select {
			case ready <- p:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	group.Go(func() error {
		for p := range ready {
			ids, err := r.loader.Write(ctx, p)
			if err != nil {
				return err
			}
			r.events = append(r.events, ids...)
			if r.Progress != nil {
				r.Progress(len(r.events))
			}
		}
		return nil
	})
	return group.Wait()
}
