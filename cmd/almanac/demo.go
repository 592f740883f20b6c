package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/almanac-cal/almanac/auth"
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/seed"
	"github.com/almanac-cal/almanac/store"
)

// demoCmd serves a fake calendar. Without --db everything is in a temporary folder that goes when it ends.
type demoCmd struct {
	serveFlags
	DB   string `name:"db" placeholder:"URL" help:"Database to fill and keep. Default: a temporary SQLite file."`
	Seed uint64 `default:"7" help:"The same seed gives the same calendar. Default ${default}."`
}

// Run fills the database, serves it, and prints what to try.
func (c demoCmd) Run(ctx context.Context, s streams) (err error) {
	site, err := c.site()
	if err != nil {
		return err
	}
	temp := ""
	if c.DB == "" {
		if temp, err = os.MkdirTemp("", "almanac-demo-"); err != nil {
			return err
		}
		defer removeAll(temp, &err)
		c.DB = "sqlite://" + filepath.Join(temp, "almanac.db")
		c.Media = filepath.Join(temp, "media")
	}
	return database{DB: c.DB}.with(ctx, func(st *store.Store) error {
		if err := current(ctx, st, true); err != nil {
			return err
		}
		id, token, err := demoUser(ctx, st)
		if err != nil {
			return err
		}
		if err := c.fill(ctx, st, site, id); err != nil {
			return err
		}
		c.Listen = freeAddress(ctx, c.Listen)
		return c.listen(ctx, s, st, site, func(site calendar.Site) error {
			return c.screen(ctx, s, st, site, token)
		})
	})
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

// fill writes the fake calendar. A database that has it already is left as it is.
func (c demoCmd) fill(ctx context.Context, st *store.Store, site calendar.Site, authorID int64) error {
	key, err := edit.PasswordKey(ctx, st.Ent)
	if err != nil {
		return err
	}
	at := now()
	city := seed.City(seed.Options{
		Seed: c.Seed, From: at, Zone: site.Zone, Languages: calendar.Languages, AuthorID: authorID,
	})
	_, err = seed.Write(ctx, st.Ent, &edit.Editor{
		Site: site, Now: at, By: auth.System(), PasswordKey: key,
	}, city)
	return err
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
	next, err := st.Ent.Event.Query().
		Where(event.StatusEQ(calendar.Publish), event.HideFromListings(false), event.PasswordHashIsNil(),
			event.StartsAtGT(now())).
		Order(event.ByStartsAt(), event.ByID()).First(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return err
	}
	events, err := st.Ent.Event.Query().Count(ctx)
	if err != nil {
		return err
	}
	api := site.BaseURL + "/" + handlers.Namespace
	var b strings.Builder
	fmt.Fprintf(&b, "\nAlmanac serves a fake calendar of %d events.\n\n", events)
	try := func(what, line string) { fmt.Fprintf(&b, "  %s\n    %s\n\n", what, line) }
	try("What comes next", "curl "+api+"/events")
	if next != nil {
		try("One event", fmt.Sprintf("curl %s/events/%d", api, next.ID))
		try("The same by its slug, in Polish", fmt.Sprintf("curl '%s/events/by-slug/%s?ml_language=pl'", api, next.Slug))
	}
	music, err := categorySlug(ctx, st)
	if err != nil {
		return err
	}
	if music != "" {
		try("The fullest category, its sub-categories included", fmt.Sprintf("curl '%s/events?categories=%s&per_page=3'", api, music))
	}
	try("In Spanish, by path", "curl "+site.BaseURL+"/es/"+handlers.Namespace+"/categories")
	try("Titles and dates only", fmt.Sprintf("curl '%s/events?_fields=events.title,events.start_date,total'", api))
	try("Every route and its parameters", "curl "+api)
	try("The interface description", "curl "+api+"/doc")
	try("A new event, as an administrator", fmt.Sprintf(
		"curl -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \\\n"+
			"      -d '{\"title\":\"My first event\",\"start_date\":\"tomorrow 18:00\",\"end_date\":\"tomorrow 20:00\"}' \\\n"+
			"      %s/events", token, api))
	fmt.Fprintf(&b, "Login %s, token %s\nStop with Ctrl-C.\n", demoLogin, token)
	_, err = fmt.Fprint(s.Out, b.String())
	return err
}

// categorySlug is the slug of the top category with most events, "" when there is none.
func categorySlug(ctx context.Context, st *store.Store) (string, error) {
	t, err := st.Ent.Term.Query().Where(term.TaxonomyEQ(calendar.Category), term.ParentIDIsNil()).
		Order(ent.Desc(term.FieldEventCount), ent.Asc(term.FieldID)).First(ctx)
	if ent.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return t.Slug, nil
}
