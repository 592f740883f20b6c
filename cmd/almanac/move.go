package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/store"
)

type moveCmd struct {
	Site         string `arg:"" name:"site" placeholder:"URL" help:"The URL of the site's home page, or of its events list in the REST API."`
	database     `group:"Database:"`
	SiteLanguage string `default:"" env:"ALMANAC_LANGUAGE" placeholder:"LANG" enum:",en,pl,es" help:"Main language of the site: en, pl or es. Default the calendar's, at first en. [$$ALMANAC_LANGUAGE]"`
	Timezone     string `placeholder:"ZONE" help:"Time zone of the site, an IANA name or UTC+h. Default the calendar's, at first that of most events."`
	moneyFlags   `group:"Site:"`
	Protected    string   `default:"password" placeholder:"HOW" enum:"password,draft" help:"How to import events with an unknown password: password (a random one) or draft. Default ${default}."`
	Author       string   `placeholder:"LOGIN" help:"User who becomes the author of new records. Default none."`
	Rate         float64  `default:"5" placeholder:"N" help:"Requests per second. Default ${default}."`
	NoImages     bool     `help:"Link to the source's images, instead of downloading them."`
	Media        string   `default:"almanac-media" type:"path" placeholder:"DIR" help:"Folder of downloaded images. Default ${default}."`
	FetchAllow   []string `placeholder:"CIDR" help:"Private networks from which images may be downloaded. Repeatable, or a comma list."`
	AlmanacAt    string   `name:"almanac" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address of Almanac in the printed configuration of a proxy. Default ${default}."`
	WordPressAt  string   `name:"wordpress" default:"127.0.0.1:8081" placeholder:"ADDRESS" help:"Address of WordPress in that configuration. Default ${default}."`
	Verbose      bool     `short:"v" help:"List every record that is created, updated or translated, and every missing address."`
	BackedUp     bool     `help:"Confirm that you have a dump of the MySQL database."`
	Yes          bool     `short:"y" help:"Do not ask for confirmation."`
}

// Run moves a site: it prints a preview, asks, backs up the database and imports all events. Then it checks the old
// addresses, and prints configurations of proxies. A repeat leaves fields alone that a user changed here.
func (c moveCmd) Run(ctx context.Context, s streams) error {
	list, err := findEventsList(ctx, c.Site)
	if err != nil {
		return err
	}
	importing := importCmd{
		Source: list, database: c.database, SiteLanguage: c.SiteLanguage, Timezone: c.Timezone, moneyFlags: c.moneyFlags,
		Protected: c.Protected, Author: c.Author, Rate: c.Rate, Images: !c.NoImages, Media: c.Media, FetchAllow: c.FetchAllow,
		KeepEdited: true, Verbose: c.Verbose,
	}
	if !c.Yes {
		preview := importing
		preview.DryRun = true
		preview.after = func(cal *importer.Calendar) error { return printMovePreview(s, cal) }
		if err := preview.Run(ctx, s); err != nil && !errors.Is(err, errIncomplete) {
			return err
		}
		if f, ok := s.In.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
			_, err := fmt.Fprintln(s.Out, "To move the site, add --yes.")
			return err
		}
		if err := askToConfirm(s, "Move now?"); err != nil {
			return errNotMoved
		}
	}
	if err := c.backUp(ctx, s); err != nil {
		return err
	}
	var moved *importer.Calendar
	importing.after = func(cal *importer.Calendar) error {
		moved = cal
		return nil
	}
	err = importing.Run(ctx, s)
	if err != nil && !errors.Is(err, errIncomplete) {
		return err
	}
	return errors.Join(err, c.finish(ctx, s, list, moved))
}

// errNotMoved means that the user has not confirmed the move.
var errNotMoved = errors.New("nothing was moved")

// backUp copies an SQLite database with records to a file beside it. For MySQL it prints the mysqldump command, and
// returns an error unless BackedUp is set.
func (c moveCmd) backUp(ctx context.Context, s streams) error {
	file, isSQLite := store.SQLiteFile(c.DB)
	if isSQLite {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			return nil
		}
	}
	used := false
	err := c.withCurrent(ctx, func(st *store.Store) (err error) {
		used, err = hasRecords(ctx, st)
		return err
	})
	if err != nil || !used || c.BackedUp && !isSQLite {
		return err
	}
	backup := backupCmd{database: c.database}
	if isSQLite {
		backup.File = strings.TrimSuffix(file, ".db") + "-before-move-" + clockNow().Format("20060102T150405Z") + ".db"
	}
	if err := backup.Run(ctx, s); err != nil || isSQLite {
		return err
	}
	return errors.New("the database has records: run this command, then repeat the move with --backed-up")
}

// printMovePreview prints what a move would read: the site, numbers of events, the time zone, and names in
// paths. It also lists the titles of events with passwords.
func printMovePreview(s streams, cal *importer.Calendar) error {
	if site := cal.Site; site != nil {
		for _, said := range [][2]string{
			{"title", site.Title},
			{"tagline", site.Tagline},
			{"language", string(site.Language)},
			{"currency", strings.TrimSpace(site.CurrencyCode + " " + site.CurrencySymbol)},
		} {
			if said[1] != "" {
				fmt.Fprintf(s.Out, "%s: %s\n", said[0], cellText(said[1]))
			}
		}
	}
	past, protected := 0, []string{}
	for _, e := range cal.Events {
		if e.Span.EndsAt().Before(clockNow()) {
			past++
		}
		if e.Protected {
			protected = append(protected, e.Title)
		}
	}
	fmt.Fprintf(s.Out, "events: %d, %d of them past\n", len(cal.Events), past)
	if zone, ok := cal.CommonZone(); ok {
		fmt.Fprintln(s.Out, "time zone of most events:", zone)
	}
	paths, err := pathsOf(cal)
	if err != nil {
		return err
	}
	if paths != "" {
		fmt.Fprintln(s.Out, "names in paths that stay:", cellText(paths))
	}
	if len(protected) > 0 {
		fmt.Fprintln(s.Out, "passwords do not come:", cellText(strings.Join(protected, "; ")))
	}
	_, err = fmt.Fprintln(s.Out, "drafts and users do not come.")
	return err
}

// wholeList is the query that selects all events of a list, including past ones.
const wholeList = "start_date=1970-01-01&end_date=2100-12-31&per_page=50"

// findEventsList finds a site's list of events in its REST API, and returns the URL that selects all of them. The
// parameter home may be the URL of the list itself.
func findEventsList(ctx context.Context, home string) (string, error) {
	at, err := url.Parse(home)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return "", usageError{fmt.Errorf("%q: want the URL of a site, such as https://calendar.example.org", home)}
	}
	if strings.Contains(home, "tribe/events/v1/events") {
		return withQuery(at, wholeList)
	}
	below := strings.TrimRight(at.Path, "/")
	const route = "/tribe/events/v1/events"
	for _, u := range []url.URL{
		{Path: below + "/wp-json" + route},
		{Path: below + "/", RawQuery: "rest_route=" + route},
	} {
		u.Scheme, u.Host, u.User = at.Scheme, at.Host, at.User
		ok, err := isEventsList(ctx, u.String())
		if err != nil {
			return "", err
		}
		if ok {
			return withQuery(&u, wholeList)
		}
	}
	return "", fmt.Errorf("%s has no REST API of The Events Calendar", at.Redacted())
}

// withQuery adds parameters to a URL. Those of the URL with the same name stay.
func withQuery(u *url.URL, parameters string) (string, error) {
	more, err := url.ParseQuery(parameters)
	if err != nil {
		return "", err
	}
	query := u.Query()
	for name, values := range more {
		if !query.Has(name) {
			query[name] = values
		}
	}
	out := *u
	out.RawQuery = query.Encode()
	return out.String(), nil
}

// isEventsList reports whether a URL replies with a list of events. A reply with another status or content gives
// false.
func isEventsList(ctx context.Context, address string) (found bool, err error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, fmt.Errorf("%s: %w", req.URL.Redacted(), errors.Unwrap(err))
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return false, nil
	}
	var page struct{ Events *[]json.RawMessage }
	decoded := json.NewDecoder(io.LimitReader(resp.Body, 32<<20)).Decode(&page)
	return decoded == nil && page.Events != nil, nil
}
