// Package move helps a WordPress site to move to Almanac. It reads the addresses of the old site, checks them on the
// new one, and writes configurations of proxies.
package move

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/importer"
	"github.com/almanac-cal/almanac/internal/settings"
)

// Kind is the kind of page at an address: a calendar.Kind, List or Other.
type Kind string

// List and Other are the kinds that package calendar lacks.
const (
	List  Kind = "list"  // pages that list events
	Other Kind = "other" // posts and pages, which belong to WordPress
)

// kinds are all kinds of addresses, in the order of the rows that Table.Write writes.
var kinds = []Kind{
	Kind(calendar.Event), Kind(calendar.Series), Kind(calendar.Venue), Kind(calendar.Organizer), Kind(calendar.Category),
	Kind(calendar.Tag), List, Other,
}

// Address is an address of a page on the old site.
type Address struct {
	Kind Kind
	Path string // path on the host, percent-encoded, with its query
}

// Addresses are the addresses in the sitemaps of a site.
type Addresses struct {
	All     []Address
	Notices []string // sitemaps that could not be read, and limits that were reached
}

// ReadAddresses reads the addresses in the sitemaps of the site at home. It derives their kinds from the paths and path
// aliases in the settings site. It returns an error if no sitemap can be read.
func ReadAddresses(ctx context.Context, r *importer.Reader, home string, site *settings.Site) (*Addresses, error) {
	found, err := r.ReadSitemaps(ctx, home)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(home)
	if err != nil {
		return nil, err
	}
	names := address.NewNames(site.Paths, site.PathAliases)
	out := &Addresses{Notices: found.Notices}
	for _, page := range found.Pages {
		u, err := url.Parse(page)
		if err != nil {
			return nil, fmt.Errorf("sitemap: %w", err)
		}
		below := strings.TrimPrefix(u.EscapedPath(), strings.TrimRight(base.EscapedPath(), "/"))
		out.All = append(out.All, Address{kindOf(below, u.Query(), names), u.RequestURI()})
	}
	return out, nil
}

// kindOf returns the kind of an address, or Other if it is none of the calendar. The path is that below the home page.
func kindOf(path string, query url.Values, names address.Names) Kind {
	readings := address.Parse(path, query, names)
	if len(readings) == 0 {
		return Other
	}
	switch page := readings[0]; {
	case page.Taxonomy != "":
		return Kind(page.Taxonomy)
	case page.View == address.ViewEvent, page.View == address.ViewSeries, page.View == address.ViewVenue, page.View == address.ViewOrganizer:
		return Kind(page.View)
	case page.View == address.ViewHome, page.View == address.ViewNone, page.View == address.ViewDevelopers, page.View == address.ViewRecord:
		return Other
	}
	return List
}
