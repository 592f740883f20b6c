package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
)

// demoCmd serves a sample calendar. Without --db and --keep, the database and images are in a temporary folder,
// which is removed at the end.
type demoCmd struct {
	serveFlags `group:"Serving:"`
	DB         string `name:"db" placeholder:"URL" xor:"db" help:"Database to fill and keep. Default: a temporary SQLite file."`
	Keep       string `type:"path" placeholder:"FILE" xor:"db" help:"Keep the SQLite file as FILE, and the images beside it."`
	calendarChoice
	Events int  `default:"300" placeholder:"N" help:"Number of events, without the dates of series. Default ${default}."`
	Open   bool `help:"Open the calendar in the browser."`
}

// calendar returns the sample calendar and its options. Its first language is that of --language, else that of
// the city.
func (c *demoCmd) calendar() (*scenario.Calendar, scenario.Options, error) {
	if c.Events < 1 {
		return nil, scenario.Options{}, usageError{fmt.Errorf("--events %d: want at least 1", c.Events)}
	}
	at := clockNow()
	o, err := c.options(at, calendar.UTC())
	if err != nil {
		return nil, o, err
	}
	home := calendar.Language(c.Language)
	if home == "" {
		if home, err = scenario.HomeOf(c.City, calendar.English); err != nil {
			return nil, o, err
		}
	}
	o.Events, o.Months, o.Languages, o.Pictures = c.Events, demoMonths, languagesStartingWith(home), true
	made, err := scenario.New(o)
	if err != nil {
		return nil, o, usageError{err}
	}
	return made, o, nil
}

// demoMonths is the length of a demo calendar in months.
const demoMonths = 6

// Run fills the database, serves it, and prints examples to try.
func (c demoCmd) Run(ctx context.Context, s streams) (err error) {
	defer func() { err = reportStop(ctx, s, err) }()
	made, o, err := c.calendar()
	if err != nil {
		return err
	}
	source, err := c.source()
	if err != nil {
		return err
	}
	sock, err := c.openSocketsEarly(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sock.close()) }()
	fmt.Fprintf(s.Err, "almanac: preparing a sample calendar; in a few seconds it is at http://%s/\n", c.address(sock))
	c.DB = databaseURL(c.DB)
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
	log := c.logging(s)
	return database{DB: c.DB}.withStore(ctx, func(st *store.Store) error {
		if err := prepareSchema(ctx, st, source, true); err != nil {
			return err
		}
		id, token, err := demoUser(ctx, st)
		if err != nil {
			return err
		}
		if err := c.fill(ctx, s, st, source, o, id); err != nil {
			return err
		}
		if err := c.adopt(ctx, log, st, source); err != nil {
			return err
		}
		return c.listen(ctx, s, log, sock, databases{Store: st}, source, func(ctx context.Context, site calendar.Site) error {
			if err := c.screen(ctx, s, st, site, made, token); err != nil {
				return err
			}
			if !c.Open {
				return nil
			}
			calendarURL := site.BaseURL + "/"
			if !c.Pages {
				calendarURL += handlers.Namespace + "/events"
			}
			if err := openBrowser(ctx, calendarURL); err != nil && ctx.Err() == nil {
				fmt.Fprintf(s.Err, "almanac: no browser was opened (%v): open %s yourself\n", err, calendarURL)
			}
			return nil
		})
	})
}

// demoLogin is the login of the administrator of a demo.
const demoLogin = "demo"

// demoUser finds or adds the administrator of a demo. It returns the user's id and a new token.
func demoUser(ctx context.Context, st *store.Store) (int64, string, error) {
	user, err := auth.FindUser(ctx, st.Ent, demoLogin)
	if errors.Is(err, auth.ErrNoUser) {
		return addUser(ctx, st, demoLogin, "Demo", calendar.Administrator, "")
	}
	if err != nil {
		return 0, "", err
	}
	secret, _, err := auth.IssueToken(ctx, st.Ent, clockNow(), user.ID, "demo", nil)
	return user.ID, secret, err
}

// fill writes the sample calendar to the database. It leaves a complete calendar unchanged, and completes one
// that was interrupted.
func (c demoCmd) fill(
	ctx context.Context, s streams, st *store.Store, source siteSource, o scenario.Options, authorID int64,
) (err error) {
	plan := seed.PlanOf(o, 1)
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
	_, err = writePlan(ctx, s, st, source, plan, seed.Writer{Files: files, AuthorID: authorID, Progress: bar.show})
	bar.end()
	return err
}

// openBrowser opens a URL in the desktop's browser. It waits for the command that opens it.
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
	return command.Run()
}

// screen prints what the user of a demo sees: the address of the calendar, and commands to try with its ids and
// slugs.
func (c demoCmd) screen(
	ctx context.Context, s streams, st *store.Store, site calendar.Site, made *scenario.Calendar, token string,
) error {
	x, err := examplesOf(ctx, st)
	if err != nil {
		return err
	}
	api := site.BaseURL + "/" + handlers.Namespace
	var b strings.Builder
	fmt.Fprintf(&b, "\nAlmanac serves a sample calendar of %s: %d events and %d dates of %d series, %d venues, %d organizers, in English, "+
		"Polish and Spanish.\n\n", made.City(calendar.English), x.events-x.occurrences, x.occurrences, x.series, x.venues, x.organizers)
	if c.Pages {
		fmt.Fprintf(&b, "  Calendar    %s/\n  Reference   %[1]s/docs\n", site.BaseURL)
	}
	fmt.Fprintf(&b, "  API         %s\n\n", api)
	try := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "  %-22s  curl '%s%s'\n", what, api, fmt.Sprintf(format, args...))
	}
	try("Next events", "/events")
	if x.next != nil {
		try("One event, in Polish", "/events/by-slug/%s?ml_language=pl", x.next.Slug)
	}
	if x.word != "" {
		try("Search", "/events?search=%s", url.QueryEscape(x.word))
	}
	if v := x.venue; v != nil {
		try("Near a venue", "/events?geoloc_lat=%.4f&geoloc_lng=%.4f", *v.Latitude, *v.Longitude)
	}
	if x.recurring != nil {
		try("A rule in Polish words", "/series/by-slug/%s?ml_language=pl&_fields=title,text,rrule,next", x.recurring.Slug)
	}
	try("Titles and dates only", "/events?_fields=events.title,events.start_date,total")
	fmt.Fprintf(&b, "  %-22s  curl -H 'Authorization: Bearer %s' -d title='My first event' \\\n"+
		"    -d start_date='tomorrow 18:00' -d end_date='tomorrow 20:00' '%s/events'\n\n", "A new event", token, api)
	fmt.Fprintf(&b, "Login %s, token %s\nStop with Ctrl-C.\n", demoLogin, token)
	_, err = fmt.Fprint(s.Out, b.String())
	return err
}

// examples has what the demo prints about its calendar: numbers of records, and records for sample commands. A field is
// nil or "" if the calendar has no such record.
type examples struct {
	events, venues, organizers int
	series, occurrences        int         // numbers of series, and of events in series
	next                       *ent.Event  // next public event
	word                       string      // word of the title of next
	venue                      *ent.Venue  // venue of a coming event, with coordinates
	recurring                  *ent.Series // public series
}

// examplesOf reads records of the calendar for the printed examples.
func examplesOf(ctx context.Context, st *store.Store) (x examples, err error) {
	db := st.Ent
	// first ignores the error that a record was not found.
	first := func(err error) error {
		if ent.IsNotFound(err) {
			return nil
		}
		return err
	}
	coming := db.Event.Query().Where(event.StatusEQ(calendar.Publish), event.HideFromListings(false),
		event.PasswordHashIsNil(), event.StartsAtGT(clockNow()))
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

// removeAll removes a temporary folder and adds any error to *err. It is for defer statements.
func removeAll(dir string, err *error) { *err = errors.Join(*err, os.RemoveAll(dir)) }
