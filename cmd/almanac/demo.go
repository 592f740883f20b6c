package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
)

// demoCmd serves a fake calendar. Without --db and --keep everything is in a temporary folder that goes when it
// ends.
type demoCmd struct {
	serveFlags
	DB   string `name:"db" placeholder:"URL" xor:"db" help:"Database to fill and keep. Default: a temporary SQLite file."`
	Keep string `type:"path" placeholder:"FILE" xor:"db" help:"Keep the SQLite file, as FILE, and the images in a folder beside it."`
	Seed uint64 `default:"7" help:"The same seed gives the same calendar. Default ${default}."`
	Open bool   `help:"Open the events in the browser."`
}

// Run fills the database, serves it, and prints what to try.
func (c demoCmd) Run(ctx context.Context, s streams) (err error) {
	site, err := c.site()
	if err != nil {
		return err
	}
	switch {
	case c.Keep != "":
		c.DB, c.Media = "sqlite://"+c.Keep, strings.TrimSuffix(c.Keep, filepath.Ext(c.Keep))+"-media"
	case c.DB == "":
		var temp string
		if temp, err = os.MkdirTemp("", "almanac-demo-"); err != nil {
			return err
		}
		defer removeAll(temp, &err)
		c.DB = "sqlite://" + filepath.Join(temp, "almanac.db")
		c.Media = filepath.Join(temp, "media")
	}
	log, flush := c.logging(s)
	defer func() { err = errors.Join(err, flush()) }()
	return orderly(ctx, database{DB: c.DB}.with(ctx, func(st *store.Store) error {
		if err := currentData(ctx, st, site, true); err != nil {
			return err
		}
		id, token, err := demoUser(ctx, st)
		if err != nil {
			return err
		}
		if err := c.fill(ctx, s, st, site, id); err != nil {
			return err
		}
		c.Listen = freeAddress(ctx, c.Listen)
		return c.listen(ctx, s, log, databases{Store: st}, site, func(site calendar.Site) error {
			if err := c.screen(ctx, s, st, site, token); err != nil {
				return err
			}
			if c.Open {
				if err := openBrowser(ctx, site.BaseURL+"/"+handlers.Namespace+"/events"); err != nil {
					fmt.Fprintln(s.Err, "almanac: no browser was opened:", err)
				}
			}
			return nil
		})
	}))
}

// demoLogin is the administrator of a demo.
const demoLogin = "demo"

// demoUser finds or adds the administrator, with a fresh token.
func demoUser(ctx context.Context, st *store.Store) (int64, string, error) {
	user, err := auth.FindUser(ctx, st.Ent, demoLogin)
	if errors.Is(err, auth.ErrNoUser) {
		return addUser(ctx, st, demoLogin, "Demo", calendar.Administrator, "")
	}
	if err != nil {
		return 0, "", err
	}
	secret, _, err := auth.IssueToken(ctx, st.Ent, now(), user.ID, "demo", nil)
	return user.ID, secret, err
}

// demoEvents is how many events a demo has besides those of its series: enough for deep pages, and done in a few seconds.
const demoEvents = 200

// fill writes the calendar of a city. A database that has one already is left as it is; one that was interrupted
// is finished.
func (c demoCmd) fill(ctx context.Context, s streams, st *store.Store, site calendar.Site, authorID int64) (err error) {
	at := now()
	today := site.Zone.Wall(at)
	plan := seed.PlanOf(scenario.Options{
		Scenario: scenario.Scenarios[0], Seed: c.Seed, Events: demoEvents, From: today.AddDate(0, 0, 1-day(today)).StartOfDay(),
		Months: 6, Languages: calendar.Languages, Now: at, Pictures: true,
	}, 1)
	last, ok, err := seed.LastPlan(ctx, st.Ent, plan.Scenario)
	if err != nil || last.Complete {
		return err
	}
	if ok {
		plan = last
	}
	files, err := media.OpenDir(c.Media)
	if err != nil {
		return fmt.Errorf("--media: %w", err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	bar := newProgress(s.Err, "making up events")
	_, err = writePlan(ctx, st, site, plan, seed.Writer{Files: files, AuthorID: authorID, Progress: bar.show})
	bar.end()
	return err
}

// day is the day of the month.
func day(w calendar.Wall) int {
	_, _, d := w.Date()
	return d
}

// openBrowser shows an address in the browser of the desktop.
func openBrowser(ctx context.Context, url string) error {
	var command *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		command = exec.CommandContext(ctx, "open", url)
	case "windows":
		command = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url)
	default:
		command = exec.CommandContext(ctx, "xdg-open", url)
	}
	return command.Start()
}

// freeAddress is the address asked for, or one with a free port on the same host when it is taken: a demo has
// to start.
func freeAddress(ctx context.Context, address string) string {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		err = ln.Close()
	}
	host, _, splitErr := net.SplitHostPort(address)
	if errors.Is(err, syscall.EADDRINUSE) && splitErr == nil {
		return net.JoinHostPort(host, "0")
	}
	return address
}

// screen prints what to try, with ids and slugs of this calendar.
func (c demoCmd) screen(ctx context.Context, s streams, st *store.Store, site calendar.Site, token string) error {
	x, err := examplesOf(ctx, st)
	if err != nil {
		return err
	}
	api := site.BaseURL + "/" + handlers.Namespace
	var b strings.Builder
	fmt.Fprintf(&b, "\nAlmanac serves a fake calendar: %d events, %d more of %d series, %d venues, %d organizers, in English, "+
		"Polish and Spanish.\n\n", x.events-x.occurrences, x.occurrences, x.series, x.venues, x.organizers)
	if c.Pages {
		fmt.Fprintf(&b, "  In the browser, the second to try every operation\n    %s/\n    %[1]s/docs\n\n", site.BaseURL)
	}
	try := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "  %s\n    curl '%s%s'\n\n", what, api, fmt.Sprintf(format, args...))
	}
	try("What comes next", "/events")
	if x.next != nil {
		try("One event", "/events/%d", x.next.ID)
		try("The same by its slug, in Polish", "/events/by-slug/%s?ml_language=pl", x.next.Slug)
	}
	if x.word != "" {
		try("Search, in titles and descriptions", "/events?search=%s", url.QueryEscape(x.word))
	}
	if x.category != nil {
		try("The fullest category, its sub-categories included, three on a page", "/events?categories=%s&per_page=3", x.category.Slug)
	}
	if x.tag != nil {
		try("A tag, within dates", "/events?tags=%s&start_date=today&end_date=%s", x.tag.Slug, url.QueryEscape("+3 months"))
	}
	try("Featured ones only", "/events?featured=true")
	if v := x.venue; v != nil {
		try("Near "+v.Name, "/events?geoloc_lat=%.4f&geoloc_lng=%.4f", *v.Latitude, *v.Longitude)
		try("What is on there, and the place itself in Spanish", "/events?venue=%d", v.ID)
		try("", "/venues/by-slug/%s?ml_language=es", v.Slug)
	}
	if x.recurring != nil {
		try("An event that recurs, its rule in Polish words", "/series/by-slug/%s?ml_language=pl&_fields=title,text,rrule,next", x.recurring.Slug)
		try("Its dates", "/events?series=%d", x.recurring.ID)
		try("Of each series the next date only", "/events?series=next")
	}
	if x.pages > 1 {
		try("A deep page", "/events?per_page=5&page=%d", x.pages)
	}
	fmt.Fprintf(&b, "  In Spanish, by path\n    curl '%s/es/%s/categories'\n\n", site.BaseURL, handlers.Namespace)
	try("Titles and dates only", "/events?_fields=events.title,events.start_date,total")
	try("Every route and its parameters; the interface description", "")
	try("", "/doc")
	fmt.Fprintf(&b, "  A new event, as an administrator\n"+
		"    curl -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \\\n"+
		"      -d '{\"title\":\"My first event\",\"start_date\":\"tomorrow 18:00\",\"end_date\":\"tomorrow 20:00\"}' \\\n"+
		"      %s/events\n\n", token, api)
	fmt.Fprintf(&b, "Login %s, token %s\nStop with Ctrl-C.\n", demoLogin, token)
	_, err = fmt.Fprint(s.Out, strings.ReplaceAll(b.String(), "\n\n  \n", "\n"))
	return err
}

// examples are records of a calendar to show; what it does not have is nil or empty.
type examples struct {
	events, venues, organizers int
	series, occurrences        int         // numbers of series, and of their events
	next                       *ent.Event  // that anybody may read
	word                       string      // of its title
	venue                      *ent.Venue  // of an event to come, with a position
	recurring                  *ent.Series // that anybody may read
	category, tag              *ent.Term
	pages                      int // of five events to come each
}

// examplesOf looks for records worth showing.
func examplesOf(ctx context.Context, st *store.Store) (x examples, err error) {
	db := st.Ent
	// first makes nothing of what is not found.
	first := func(err error) error {
		if ent.IsNotFound(err) {
			return nil
		}
		return err
	}
	coming := db.Event.Query().Where(event.StatusEQ(calendar.Publish), event.HideFromListings(false),
		event.PasswordHashIsNil(), event.StartsAtGT(now()))
	steps := []func() error{
		func() (err error) { x.events, err = db.Event.Query().Count(ctx); return err },
		func() (err error) { x.series, err = db.Series.Query().Count(ctx); return err },
		func() (err error) {
			x.occurrences, err = db.Event.Query().Where(event.SeriesIDNotNil()).Count(ctx)
			return err
		},
		func() (err error) {
			x.recurring, err = db.Series.Query().Where(series.StatusEQ(calendar.Publish), series.HideFromListings(false),
				series.Protected(false), series.SlugNEQ("")).Order(series.ByID()).First(ctx)
			return first(err)
		},
		func() (err error) { x.venues, err = db.Venue.Query().Count(ctx); return err },
		func() (err error) { x.organizers, err = db.Organizer.Query().Count(ctx); return err },
		func() (err error) {
			x.next, err = coming.Clone().Order(event.ByStartsAt(), event.ByID()).First(ctx)
			return first(err)
		},
		func() (err error) {
			x.venue, err = coming.Clone().QueryVenues().Where(venue.LatitudeNotNil(), venue.StatusEQ(calendar.Publish)).
				Order(venue.ByID()).First(ctx)
			return first(err)
		},
		func() (err error) {
			x.category, err = db.Term.Query().Where(term.TaxonomyEQ(calendar.Category), term.ParentIDIsNil()).
				Order(ent.Desc(term.FieldEventCount), ent.Asc(term.FieldID)).First(ctx)
			return first(err)
		},
		func() (err error) {
			x.tag, err = db.Term.Query().Where(term.TaxonomyEQ(calendar.Tag)).
				Order(ent.Desc(term.FieldEventCount), ent.Asc(term.FieldID)).First(ctx)
			return first(err)
		},
		func() error {
			n, err := coming.Clone().Count(ctx)
			x.pages = n / 5
			return err
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return x, err
		}
	}
	if x.next != nil {
		for word := range strings.FieldsFuncSeq(x.next.Title, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if utf8.RuneCountInString(word) > utf8.RuneCountInString(x.word) {
				x.word = word
			}
		}
	}
	return x, nil
}
