package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/move"
	"github.com/almanac-cal/almanac/internal/store"
)

// shownMissing is the number of missing addresses that a move prints without --verbose.
const shownMissing = 20

// finish requests the addresses in the old site's sitemaps from the moved calendar, and prints the result. Then
// it prints the configurations of proxies. The argument list is the URL of the old site's events list.
func (c moveCmd) finish(ctx context.Context, s streams, list string, cal *importer.Calendar) error {
	home, err := homeOf(list)
	if err != nil {
		return err
	}
	host := &url.URL{Scheme: home.Scheme, Host: home.Host}
	source, err := siteFlags{}.source()
	if err != nil {
		return err
	}
	return c.withStore(ctx, func(st *store.Store) error {
		pages, site, err := source.load(ctx, st.Ent)
		if err != nil {
			return err
		}
		site.BaseURL = host.String()
		srv, err := newInnerServer(ctx, st, site, &pages, handlers.WordPressRoot+"/tribe/events/v1")
		if err != nil {
			return err
		}
		reader := &importer.Reader{Site: site, Rate: c.Rate}
		found, err := move.ReadAddresses(ctx, reader, home.String(), &pages)
		if err != nil {
			return err
		}
		for _, n := range found.Notices {
			fmt.Fprintln(s.Err, "note:", cellText(n))
		}
		ask := func(req *http.Request) (*http.Response, error) { return srv.App().Test(req, -1) }
		checked, err := move.Check(ctx, found.All, host.String(), ask, reader.NewAsk(), false)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "\naddresses of the calendar in the sitemaps of %s: %d of %d\n", home.Redacted(), len(checked), len(found.All))
		most := shownMissing
		if c.Verbose {
			most = 0
		}
		if err := checked.Write(s.Out, most); err != nil {
			return err
		}
		if strings.Trim(home.Path, "/") != "" {
			_, err := fmt.Fprintln(s.Err, "note: the site is not at the root of its host, so there is no configuration of a proxy for it")
			return err
		}
		fmt.Fprintln(s.Out)
		return move.WriteConfigurations(s.Out, move.Proxy{
			BaseURL: host.String(), Site: &pages, Almanac: c.AlmanacAt, WordPress: c.WordPressAt,
			EventIDs: cal.EventIDs(), Addresses: found.All,
		})
	})
}

// homeOf returns a site's home page, as a URL without credentials. The parameter list is the URL of its events
// list.
func homeOf(list string) (*url.URL, error) {
	u, err := url.Parse(list)
	if err != nil {
		return nil, err
	}
	path, _, _ := strings.Cut(u.Path, handlers.WordPressRoot+"/")
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/index.php")
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path + "/"}, nil
}
