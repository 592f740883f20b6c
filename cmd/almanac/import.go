package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/settings"
	"github.com/almanac-cal/almanac/internal/store"
)

type importCmd struct {
	Source       string `arg:"" name:"source" placeholder:"FILE|URL" help:"The URL of a compatible REST API's events list or of an iCalendar file; or a file: iCalendar, CSV or JSON."`
	database     `group:"Database:"`
	Language     string `default:"" placeholder:"LANG" enum:",en,pl,es" help:"Language to read the source in: en, pl or es. Default the site's."`
	SiteLanguage string `default:"" env:"ALMANAC_LANGUAGE" placeholder:"LANG" enum:",en,pl,es" help:"Main language of the site: en, pl or es. Default the calendar's, at first en. [$$ALMANAC_LANGUAGE]"`
	Timezone     string `placeholder:"ZONE" help:"Time zone of the site, an IANA name or UTC+h. Default the calendar's, at first UTC."`
	moneyFlags   `group:"Site:"`
	tableFlags   `group:"Tables:"`
	Protected    string   `default:"password" placeholder:"HOW" enum:"password,draft" help:"How to import events with an unknown password: password (a random one) or draft. Default ${default}."`
	NewIDs       bool     `name:"new-ids" help:"Give new records new ids, instead of the source's."`
	KeepEdited   bool     `help:"Leave fields alone that a user changed here."`
	DryRun       bool     `help:"Print what the command would do, and write nothing."`
	Verbose      bool     `short:"v" help:"List every record that is created, updated or translated."`
	Author       string   `placeholder:"LOGIN" help:"User who becomes the author of new records. Default none."`
	Rate         float64  `default:"2" placeholder:"N" help:"Requests per second. Default ${default}."`
	Images       bool     `help:"Download the images, instead of linking to the source's."`
	Media        string   `default:"almanac-media" type:"path" placeholder:"DIR" help:"Folder of downloaded images. Default ${default}."`
	FetchAllow   []string `placeholder:"CIDR" help:"Private networks from which images may be downloaded. Repeatable, or a comma list."`

	after func(*importer.Calendar) error // called with what was read; nil for the command itself
}

// errIncomplete is returned if some records or translations were not imported. They have been printed by then.
var errIncomplete = errors.New("not everything was imported")

// Run imports a calendar. A record that cannot be imported does not stop the others, but the exit status is then
// 1.
func (c importCmd) Run(ctx context.Context, s streams) error {
	source, err := siteFlags{Timezone: c.Timezone, Language: c.SiteLanguage}.source()
	if err != nil {
		return err
	}
	if err := c.add(source.flags.Layer); err != nil {
		return err
	}
	if c.Rate <= 0 || c.Rate > 1000 {
		return usageError{fmt.Errorf("--rate %v: want more than 0 and at most 1000", c.Rate)}
	}
	allow := make([]netip.Prefix, len(c.FetchAllow))
	for i, text := range c.FetchAllow {
		if allow[i], err = netip.ParsePrefix(text); err != nil {
			return usageError{fmt.Errorf("--fetch-allow: %w", err)}
		}
	}
	if file, ok := strings.CutPrefix(c.DB, "sqlite://"); c.DryRun && ok {
		file, _, _ = strings.Cut(file, "?")
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			c.DB = "sqlite://:memory:" // opening the file would create it
		}
	}
	return c.withStore(ctx, func(st *store.Store) error {
		cal, err := c.run(ctx, s, st, source, allow)
		if cal != nil && c.after != nil {
			err = errors.Join(err, c.after(cal))
		}
		return err
	})
}

// run imports a calendar into st, prints the report, and returns what was read.
func (c importCmd) run(
	ctx context.Context, s streams, st *store.Store, source siteSource, allow []netip.Prefix,
) (cal *importer.Calendar, err error) {
	language := calendar.Language(c.Language)
	im := &importer.Importer{
		DB: st.Ent, Language: language, DryRun: c.DryRun, NewIDs: c.NewIDs, KeepEdited: c.KeepEdited,
		Protected: importer.Protection(c.Protected),
	}
	first := false // the calendar has no records yet
	if c.DryRun {
		plan, done, planErr := dryRunTarget(ctx, st)
		if planErr != nil {
			return nil, planErr
		}
		defer func() { err = errors.Join(err, done()) }()
		im.DB = plan.Ent
	} else {
		if err := requireCurrent(ctx, st, false); err != nil {
			return nil, err
		}
		if err := prepareSchema(ctx, st, source, false); err != nil {
			return nil, err
		}
		used, err := hasRecords(ctx, st)
		if err != nil {
			return nil, err
		}
		first = !used
	}
	_, site, err := source.load(ctx, im.DB)
	if err != nil {
		return nil, err
	}
	im.Site = site
	if c.Author != "" {
		user, err := auth.FindUser(ctx, im.DB, c.Author)
		if err != nil {
			return nil, fmt.Errorf("--author: %w", err)
		}
		im.AuthorID = user.ID
	}
	if c.Images {
		files, openErr := media.OpenDir(c.Media)
		if openErr != nil {
			return nil, fmt.Errorf("--media: %w", openErr)
		}
		defer func() { err = errors.Join(err, files.Close()) }()
		im.Pictures = &importer.Pictures{Fetcher: media.NewFetcher(allow...), Files: files, Decoding: media.NewBudget(importDecoding)}
	}

	reading := newProgress(s.Err, "reading events")
	r := &importer.Reader{
		Site: site, Language: language, Rate: c.Rate, Progress: reading.show, Tables: c.tables(s),
		Retry: func(err error, wait time.Duration) {
			reading.line("%v; trying again in %s", err, wait.Round(time.Millisecond))
		},
	}
	cal, err = r.Read(ctx, c.Source)
	if err == nil && first {
		before := r.Site.Zone.String()
		r.Site, err = adoptSource(ctx, s, st, source, cal)
		im.Site = r.Site
		inZone := func(e *importer.Event) bool { return e.Span.Zone.String() == before }
		if err == nil && r.Site.Zone.String() != before && slices.ContainsFunc(cal.Events, inZone) {
			cal, err = r.Read(ctx, c.Source) // some dates may have no zone: they are in that of the site
		}
	}
	reading.end()
	if err != nil {
		return nil, err
	}
	paths, err := pathsOf(cal)
	if err != nil {
		return nil, err
	}
	if paths != "" && !first {
		stored, _, err := source.load(ctx, im.DB)
		if err != nil {
			return nil, err
		}
		if stored.Paths == (calendar.Paths{}) {
			cal.Notices = append(cal.Notices, "the pages of the source have other paths; to keep them: almanac site set paths="+shellQuote(paths))
		}
	}
	writing := newProgress(s.Err, "importing records")
	im.Progress = writing.show
	report, err := im.Run(ctx, cal)
	writing.end()
	if taken, ok := errors.AsType[*importer.TakenError](err); ok {
		return cal, fmt.Errorf("%w\n--new-ids gives new ids to the source's records", taken)
	}
	if printErr := c.print(s, report); printErr != nil {
		return cal, errors.Join(err, printErr)
	}
	if err != nil {
		return nil, err
	}
	if first {
		err = printServeHint(s, st, c.Media)
	}
	if err == nil && !report.Complete() {
		err = errIncomplete
	}
	return cal, err
}

// adoptSource stores settings for a calendar that gets its first records from an import. The settings of the
// process come first, then those of the imported site and the names in its paths. If neither has a time zone,
// that of most events is used. Stored settings stay. The result is the new site.
func adoptSource(
	ctx context.Context, s streams, st *store.Store, source siteSource, cal *importer.Calendar,
) (calendar.Site, error) {
	said, err := source.recordSettings()
	if err != nil {
		return calendar.Site{}, err
	}
	all, _, err := source.load(ctx, st.Ent)
	if err == nil {
		err = said.Set("languages", joinLanguages(all.Languages))
	}
	if err == nil {
		err = adoptIdentity(said, source.flags.Language != "", cal)
	}
	if zone, ok := cal.CommonZone(); ok && said["timezone"] == nil && err == nil {
		err = said.Set("timezone", zone.String())
	}
	if err == nil && said["paths"] == nil {
		err = adoptPaths(said, cal)
	}
	if err == nil {
		err = adoptAndPrint(ctx, s, st, said)
	}
	if err != nil {
		return calendar.Site{}, err
	}
	_, site, err := source.load(ctx, st.Ent)
	return site, err
}

// adoptPaths adds the names in the paths of the source's pages to settings. A name that Almanac does not accept
// becomes a notice in the report.
func adoptPaths(said settings.Layer, cal *importer.Calendar) error {
	kept := &importer.Calendar{Paths: make(map[string]string)}
	for _, name := range slices.Sorted(maps.Keys(cal.Paths)) {
		kept.Paths[name] = cal.Paths[name]
		text, err := pathsOf(kept)
		if err != nil {
			return err
		}
		trial := maps.Clone(said)
		if err := trial.Set("paths", text); err != nil {
			delete(kept.Paths, name)
			cal.Notices = append(cal.Notices, fmt.Sprintf("the path /%s/ of the source is not kept: %v", cal.Paths[name], err))
			continue
		}
		said["paths"] = trial["paths"]
	}
	return nil
}

// pathsOf returns the names in the paths of the source's pages, as a value of the setting paths. "" means that the
// names are Almanac's defaults, or unknown.
func pathsOf(cal *importer.Calendar) (string, error) {
	if len(cal.Paths) == 0 {
		return "", nil
	}
	text, err := json.Marshal(cal.Paths)
	return string(text), err
}

// importDecoding bounds the memory for decoding one picture, in bytes.
const importDecoding = 512 << 20

// dryRunTarget returns the database with which a dry run compares the import. If no migration has run on st, this is
// an empty database in memory, because a dry run must not migrate st. The caller calls done at the end.
func dryRunTarget(ctx context.Context, st *store.Store) (plan *store.Store, done func() error, err error) {
	nothing := func() error { return nil }
	err = migrate.CheckCurrent(ctx, st)
	if err == nil {
		return st, nothing, nil
	}
	if !errors.Is(err, migrate.ErrBehind) {
		return nil, nil, err
	}
	revs, statusErr := migrate.Status(ctx, st)
	if statusErr != nil {
		return nil, nil, statusErr
	}
	for _, r := range revs {
		if !r.ExecutedAt.IsZero() {
			return nil, nil, adviseMigration(err, st)
		}
	}
	if plan, err = store.Open(ctx, "sqlite://:memory:"); err != nil {
		return nil, nil, err
	}
	if _, err := migrate.Apply(ctx, plan, migrate.ApplyOptions{Operator: version()}); err != nil {
		return nil, nil, errors.Join(err, plan.Close())
	}
	return plan, plan.Close, nil
}

// print writes the report. Numbers, with --verbose the records, and the summary go to s.Out. Problems go to s.Err.
func (c importCmd) print(s streams, report *importer.Report) error {
	if c.Verbose {
		t := newTable(s.Out, "ACTION", "KIND", "SOURCE", "TITLE")
		for _, i := range report.Items {
			switch i.Action {
			case importer.Create, importer.Update, importer.Translate:
				t.row(i.Action, i.Kind, i.Source, i.Title)
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(s.Out)
	}
	heads := []string{"KIND", "CREATED", "UPDATED", "TRANSLATED", "UNCHANGED", "FAILED"}
	if report.DryRun {
		heads = []string{"KIND", "CREATE", "UPDATE", "TRANSLATE", "UNCHANGED", "FAIL"}
	}
	t := newTable(s.Out, heads...)
	empty := true
	for _, kind := range importer.Kinds {
		values, records := []any{kind}, 0
		for _, a := range importer.Actions {
			n := report.Count(kind, a)
			values, records = append(values, n), records+n
		}
		if records > 0 {
			empty = false
			t.row(values...)
		}
	}
	if !empty {
		if err := t.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(s.Out)
	}
	if report.DryRun {
		fmt.Fprintln(s.Out, "This was a dry run: nothing was written.")
	}
	// Notices quote texts of the source, so control characters are replaced.
	for _, n := range report.Notices {
		fmt.Fprintln(s.Err, "note:", cellText(n))
	}
	for _, p := range report.Problems {
		fmt.Fprintln(s.Err, "not imported:", cellText(p))
	}
	if kept := report.KeptFields(); kept != "" {
		fmt.Fprintln(s.Out, cellText(kept))
	}
	fmt.Fprintln(s.Out, cellText(report.Summary()))
	return nil
}

// progress shows the progress of a command. On a terminal it draws a bar; elsewhere it prints a line every five
// seconds.
type progress struct {
	out   io.Writer
	title string
	bar   *progressbar.ProgressBar // nil if the output is not a terminal
	said  time.Time
}

func newProgress(out io.Writer, title string) *progress {
	p := &progress{out: out, title: title, said: time.Now()}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(title),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish(),
			progressbar.OptionFullWidth(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true))
	}
	return p
}

// show draws the progress: done of total records. A total of 0 means that it is unknown.
func (p *progress) show(done, total int) {
	if p.bar == nil {
		if now := time.Now(); now.Sub(p.said) >= 5*time.Second {
			p.said = now
			p.line("%s: %d of %d", p.title, done, max(done, total))
		}
		return
	}
	if total > 0 && p.bar.GetMax() != total {
		p.bar.ChangeMax(max(done, total))
	}
	p.drawn(p.bar.Set(done))
}

// drawn disables the bar if err, the result of drawing it, is not nil.
func (p *progress) drawn(err error) {
	if err != nil {
		p.bar = nil
	}
}

// line prints a line without breaking the bar.
func (p *progress) line(format string, args ...any) {
	if p.bar != nil {
		p.drawn(p.bar.Clear())
	}
	fmt.Fprintln(p.out, "almanac:", cellText(fmt.Sprintf(format, args...)))
}

func (p *progress) end() {
	if p.bar != nil {
		p.drawn(p.bar.Finish())
	}
}
