// Package move owns the addresses of a WordPress site that moves to Almanac.
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

// Kind is a calendar.Kind, or one of the following.
type Kind string

// Kinds that package calendar lacks.
const (
	List  Kind = "list"  // pages that list events
	Other Kind = "other" // posts and pages, which belong to WordPress
)

// kinds are all kinds of addresses, in the order of tables.
var kinds = []Kind{
	Kind(calendar.Event), Kind(calendar.Series), Kind(calendar.Venue), Kind(calendar.Organizer), Kind(calendar.Category),
	Kind(calendar.Tag), List, Other,
}

// Address is an address of the old site.
type Address struct {
	Kind Kind
	Path string // path on the host, percent-encoded, with its query
}

// Addresses are the addresses in the sitemaps of a site.
type Addresses struct {
	All     []Address
	Notices []string // sitemaps that could not be read
}

// ReadAddresses reads the addresses in the sitemaps of the site at home. The names in the paths of site tell their kinds.
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

// kindOf returns the kind of an address. path is below the home page.
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
