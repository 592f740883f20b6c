package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/seed"
	"github.com/almanac-cal/almanac/internal/seed/scenario"
	"github.com/almanac-cal/almanac/internal/store"
)

// seedCmds has the commands that fill a database with sample records, and remove them.
type seedCmds struct {
	Fill   seedCmd       `cmd:"" default:"withargs" help:"Fill a database, or write a file with --format."`
	Remove seedRemoveCmd `cmd:"" help:"Remove all sample records, and no others."`
}

type seedCmd struct {
	database `group:"Database:"`
	calendarFlags
	SiteLanguage string `default:"" env:"ALMANAC_LANGUAGE" placeholder:"LANG" enum:",en,pl,es" help:"Language of the site: en, pl or es. Default the originals'. [$$ALMANAC_LANGUAGE]"`
	Media        string `default:"almanac-media" type:"path" placeholder:"DIR" help:"Folder of the images. Default ${default}."`
	Append       bool   `xor:"again" help:"Add another calendar of the same scenario."`
	Reset        bool   `xor:"again" help:"Remove all sample records, then fill."`
	Yes          bool   `short:"y" help:"Do not ask for confirmation."`
	Force        bool   `help:"Also fill a database that has other records."`

	Format  string `default:"" placeholder:"FORMAT" enum:",json,ics,sql" help:"Write a file instead: json, ics, or sql for an empty MySQL database."`
	Out     string `default:"-" type:"path" placeholder:"FILE" help:"File to write with --format. Default standard output."`
	BaseURL string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Public URL of the REST root, for the links in a file. Default ${default}."`
}

// calendarChoice has the flags that seed and demo share.
type calendarChoice struct {
	Scenario string `default:"city" placeholder:"NAME" help:"Kind of calendar: city, venue, festival, university, conference or sport. Default ${default}."`
	City     string `default:"" placeholder:"NAME" help:"City of the events. Any name works. Default one chosen by the seed."`
	Seed     uint64 `default:"7" placeholder:"N" help:"Number that chooses the content. Default ${default}."`
	From     string `default:"" placeholder:"DATE" help:"First day, such as 2026-01-01. Default the first of this month."`
}

// options returns the options of the chosen scenario. Without --from, the calendar begins in the month of at.
// With --from, it does not depend on at.
func (c calendarChoice) options(at time.Time, zone calendar.Zone) (scenario.Options, error) {
	o := scenario.Options{Scenario: c.Scenario, City: c.City, Seed: c.Seed}
	if c.From != "" {
		day, err := time.Parse(time.DateOnly, c.From)
		if err != nil {
			return o, usageError{fmt.Errorf("--from %q: want a date such as 2026-01-31", c.From)}
		}
		o.From = calendar.WallOf(day)
		return o, nil
	}
	today := zone.Wall(at).StartOfDay()
	year, month, _ := today.Date()
	o.From, o.Now = calendar.WallAt(year, month, 1, 0, 0, 0), zone.Instant(today)
	return o, nil
}

// languages returns the languages of the texts: the chosen ones, else all, with that of the city first.
func (c calendarChoice) languages(chosen []string) ([]calendar.Language, error) {
	var all []calendar.Language
	for _, l := range chosen {
		all = append(all, calendar.Language(l))
	}
	if len(all) > 0 {
		return all, nil
	}
	home, err := scenario.HomeOf(c.City, calendar.English)
	if err != nil {
		return nil, err
	}
	return languagesStartingWith(home), nil
}

// languagesStartingWith returns all languages with one of them first.
func languagesStartingWith(first calendar.Language) []calendar.Language {
	all := slices.DeleteFunc(slices.Clone(calendar.Languages), func(l calendar.Language) bool { return l == first })
	return slices.Insert(all, 0, first)
}

// calendarFlags has the flags that describe the sample calendar.
type calendarFlags struct {
	calendarChoice
	Events     int      `default:"200" placeholder:"N" help:"Number of events, without the dates of series. Default ${default}."`
	Venues     int      `default:"0" placeholder:"N" help:"Number of venues. Default as many as suit the events."`
	Organizers int      `default:"0" placeholder:"N" help:"Number of organizers. Default as many as suit the events."`
	Months     int      `default:"24" placeholder:"N" help:"Number of months. Default ${default}."`
	Languages  []string `name:"language" placeholder:"LANG" enum:"en,pl,es" help:"Languages of the texts, the originals' first. A comma list of en, pl and es. Default all, the city's first."`
	Zone       string   `name:"timezone" default:"" placeholder:"ZONE" help:"Time zone of the events. Default the venues'."`
	NoImages   bool     `help:"Make no pictures."`
	Nasty      bool     `help:"Add texts that careless clients show wrongly, such as emoji and right-to-left text."`
}

// options returns the options of the scenario. at is the current time.
func (f calendarFlags) options(at time.Time) (scenario.Options, error) {
	zone := calendar.UTC()
	if f.Zone != "" {
		var err error
		if zone, err = parseZone(f.Zone); err != nil {
			return scenario.Options{}, err
		}
	}
	o, err := f.calendarChoice.options(at, zone)
	if err != nil {
		return o, err
	}
	if f.Zone != "" {
		o.Zone = zone
	}
	o.Events, o.Venues, o.Organizers, o.Months, o.Nasty, o.Pictures = f.Events, f.Venues, f.Organizers, f.Months, f.Nasty, !f.NoImages
	if o.Languages, err = f.languages(f.Languages); err != nil {
		return o, err
	}
	for _, name := range []struct {
		flag         string
		value, least int
	}{{"events", f.Events, 1}, {"venues", f.Venues, 0}, {"organizers", f.Organizers, 0}, {"months", f.Months, 1}} {
		if name.value < name.least {
			return o, usageError{fmt.Errorf("--%s %d: want at least %d", name.flag, name.value, name.least)}
		}
	}
	if _, err := scenario.New(o); err != nil {
		return o, usageError{err}
	}
	return o, nil
}

// Run fills a database, or writes a file with --format.
func (c seedCmd) Run(ctx context.Context, s streams) error {
	o, err := c.options(clockNow())
	if err != nil {
		return err
	}
	source, err := siteFlags{Language: c.SiteLanguage}.source()
	if err != nil {
		return err
	}
	if c.Format != "" {
		return c.export(ctx, s, source, o)
	}
	return c.withStore(ctx, func(st *store.Store) error {
		if err := prepareSchema(ctx, st, source, false); err != nil {
			return err
		}
		return c.fill(ctx, s, st, source, o)
	})
}

func (c seedCmd) fill(ctx context.Context, s streams, st *store.Store, source siteSource, o scenario.Options) (done error) {
	if !c.Force {
		foreign, err := seed.CountForeign(ctx, st.Ent)
		if err != nil {
			return err
		}
		if n := foreign.Sum(); n > 0 {
			return fmt.Errorf("%s holds %d records that are not samples; --force fills it nevertheless", st, n)
		}
	}
	if c.Reset {
		if err := removeSeeded(ctx, s, st, source, c.Media, c.Yes); err != nil {
			return err
		}
	}
	plan, err := c.plan(ctx, s, st, o)
	if err != nil {
		return err
	}
	began := time.Now()
	bar := newProgress(s.Err, "seeding events")
	w := seed.Writer{Progress: bar.show}
	if !c.NoImages {
		files, err := media.OpenDir(c.Media)
		if err != nil {
			return fmt.Errorf("--media: %w", err)
		}
		defer func() { done = errors.Join(done, files.Close()) }()
		w.Files = files
	}
	summary, err := writePlan(ctx, s, st, source, plan, w)
	bar.end()
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("interrupted after %d new events; run the same command to continue",
				summary.Created[calendar.Event])
		}
		return err
	}
	took := time.Since(began).Seconds()
	n := summary.Created
	_, err = fmt.Fprintf(s.Out, "seeded %s: %d events and %d dates of %d series, %d venues, %d organizers, %d categories, %d tags, "+
		"%d images, %d translations in %.1f s, %.0f events/s\n", plan.Scenario, n[calendar.Event], summary.Occurrences,
		n[calendar.Series], n[calendar.Venue], n[calendar.Organizer], n[calendar.Category], n[calendar.Tag],
		n[calendar.Image], summary.Translations, took, float64(n[calendar.Event]+summary.Occurrences)/max(took, 0.001))
	if err == nil {
		err = printServeHint(s, st, c.Media)
	}
	return err
}

// plan returns the plan of the calendar to write. This is one that was interrupted, the first one of its
// scenario, or another one with --append.
func (c seedCmd) plan(ctx context.Context, s streams, st *store.Store, o scenario.Options) (seed.Plan, error) {
	last, ok, err := seed.LastPlan(ctx, st.Ent, o.Scenario)
	if err != nil {
		return seed.Plan{}, err
	}
	if ok && !last.Complete {
		again := planOf(o, last.Number)
		if c.From == "" {
			again.From = last.From
		}
		if again.Same(last) {
			fmt.Fprintln(s.Err, "almanac: continuing the interrupted calendar")
			return last, nil
		}
		return seed.Plan{}, fmt.Errorf(
			"%s has a calendar of the scenario %s that was interrupted: repeat the command it was begun with, or start anew with --reset",
			st, o.Scenario)
	}
	there, err := seed.CountSeeded(ctx, st.Ent, o.Scenario)
	if err != nil {
		return seed.Plan{}, err
	}
	switch {
	case !ok && there.Sum() == 0:
		return planOf(o, 1), nil
	case !c.Append:
		return seed.Plan{}, fmt.Errorf(
			"%s has a calendar of the scenario %s with %d events already; --append adds another, --reset removes it first",
			st, o.Scenario, there[calendar.Event])
	}
	return planOf(o, max(last.Number, 1)+1), nil
}

// planOf returns the plan of the n-th sample calendar of a scenario in a database. The random seed depends on n,
// so that the calendars differ.
func planOf(o scenario.Options, n seed.Number) seed.Plan {
	o.Seed += uint64(n-1) * 0x9e3779b97f4a7c15 //nolint:gosec // n is 1 or more
	return seed.PlanOf(o, n)
}

// writePlan writes a sample calendar through w. It stores the plan before, and marks it as complete after. The
// site of an empty database gets the settings of the calendar's city.
func writePlan(
	ctx context.Context, s streams, st *store.Store, source siteSource, plan seed.Plan, w seed.Writer,
) (seed.Summary, error) {
	fail := func(err error) (seed.Summary, error) { return seed.Summary{}, err }
	o, err := plan.Options()
	if err != nil {
		return fail(err)
	}
	made, err := scenario.New(o)
	if err != nil {
		return fail(err)
	}
	used, err := hasRecords(ctx, st)
	if err != nil {
		return fail(err)
	}
	if !used {
		said, err := sampleSettings(made, source.flags)
		if err != nil {
			return fail(err)
		}
		if err := adoptAndPrint(ctx, s, st, said); err != nil {
			return fail(err)
		}
	}
	_, site, err := source.load(ctx, st.Ent)
	if err != nil {
		return fail(err)
	}
	if err := plan.Save(ctx, st.Ent); err != nil {
		return fail(err)
	}
	// If the calendar was interrupted, its records keep the time at which it was begun.
	w.Store, w.Number = st, plan.Number
	w.Editor = &edit.Editor{Site: site, Now: made.Written(), By: auth.System()}
	summary, err := w.Write(ctx, made)
	if err != nil {
		return summary, err
	}
	plan.Complete = true
	return summary, plan.Save(ctx, st.Ent)
}

type seedRemoveCmd struct {
	database `group:"Database:"`
	Media    string `default:"almanac-media" type:"path" placeholder:"DIR" help:"Folder of the images. Default ${default}."`
	Yes      bool   `short:"y" help:"Do not ask for confirmation."`
}

// Run removes all sample records.
func (c seedRemoveCmd) Run(ctx context.Context, s streams) error {
	return c.withExisting(ctx, func(st *store.Store) error {
		if err := requireCurrent(ctx, st, false); err != nil {
			return err
		}
		return removeSeeded(ctx, s, st, siteSource{}, c.Media, c.Yes)
	})
}

// removeSeeded removes all sample records. It asks the user first, unless yes is true. It does not create a missing
// folder of images.
func removeSeeded(
	ctx context.Context, s streams, st *store.Store, source siteSource, folder string, yes bool,
) (err error) {
	_, site, err := source.load(ctx, st.Ent)
	if err != nil {
		return err
	}
	there, err := seed.CountSeeded(ctx, st.Ent, "")
	if err != nil {
		return err
	}
	plans, err := seed.Plans(ctx, st.Ent, "")
	if err != nil {
		return err
	}
	if there.Sum() > 0 && !yes {
		if err := askToConfirm(s, fmt.Sprintf("Remove %d sample records, %d of them events, from %s?",
			there.Sum(), there[calendar.Event], st)); err != nil {
			return err
		}
	}
	bar := newProgress(s.Err, "removing records")
	r := seed.Remover{
		Store: st, Editor: &edit.Editor{Site: site, Now: clockNow(), By: auth.System()}, Progress: bar.show,
	}
	if _, statErr := os.Stat(folder); statErr == nil {
		files, openErr := media.OpenDir(folder)
		if openErr != nil {
			return fmt.Errorf("--media: %w", openErr)
		}
		defer func() { err = errors.Join(err, files.Close()) }()
		r.Files = files
	}
	gone, err := r.Remove(ctx)
	bar.end()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted after %d of %d records; run the same command to continue", gone.Sum(), there.Sum())
	}
	if err != nil {
		return err
	}
	if err := forgetSites(ctx, st, plans); err != nil {
		return err
	}
	var parts []string
	for _, kind := range seed.Kinds {
		plural := map[calendar.Kind]string{calendar.Category: "categories", calendar.Series: "series"}[kind]
		if plural == "" {
			plural = string(kind) + "s"
		}
		parts = append(parts, fmt.Sprintf("%d %s", gone[kind], plural))
	}
	_, err = fmt.Fprintln(s.Out, "removed", strings.Join(parts, ", "))
	return err
}

// errUnasked means that the user has not confirmed a removal.
var errUnasked = errors.New("nothing was removed; --yes removes without asking")

// askToConfirm asks a question on the terminal. Without a terminal, or for any answer except y or yes, it returns
// errUnasked.
func askToConfirm(s streams, question string) error {
	f, ok := s.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return errUnasked
	}
	fmt.Fprint(s.Err, question+" [y/N] ")
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		return errors.Join(errUnasked, err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errUnasked
}
