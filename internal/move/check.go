package move

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/almanac-cal/almanac/internal/importer"
)

// Outcome is the reply to an old address.
type Outcome struct {
	Address
	// Status is the status of the last reply after redirects. 0 means that there was none.
	Status     int
	Redirected bool
	Broken     bool // whether the old site does not have it either
}

// isMissing reports whether the address leads to no page: the last status is not 200.
func (o Outcome) isMissing() bool { return o.Status != http.StatusOK }

// Table has the outcomes of a check, in the order of the addresses.
type Table []Outcome

// Check requests the addresses from the site at base with ask, and follows redirects on that site. Addresses of the
// kind Other are left out, unless whole is true. If before is not nil, Check also requests the missing addresses with
// it, to set Broken. If such a request fails, Broken is false. If another request fails, Check returns the error.
func Check(ctx context.Context, all []Address, base string, ask, before importer.Ask, whole bool) (Table, error) {
	var out Table
	for _, a := range all {
		if a.Kind == Other && !whole {
			continue
		}
		o, err := outcomeOf(ctx, a, base, ask)
		if err != nil {
			return nil, err
		}
		if o.isMissing() && before != nil {
			old, err := outcomeOf(ctx, a, base, before)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			o.Broken = err == nil && old.isMissing()
		}
		out = append(out, o)
	}
	return out, nil
}

// maxRedirects is the maximum number of redirects that a check follows for one address.
const maxRedirects = 5

// outcomeOf requests an address and follows its redirects on the site. It returns an error if a request fails or ctx
// ended.
func outcomeOf(ctx context.Context, a Address, base string, ask importer.Ask) (Outcome, error) {
	out := Outcome{Address: a}
	site, err := url.Parse(base)
	if err != nil {
		return out, err
	}
	at, err := site.Parse(a.Path)
	if err != nil {
		return out, err
	}
	for range maxRedirects + 1 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return out, err
		}
		res, err := ask(req)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			return out, fmt.Errorf("%s: %w", a.Path, err)
		}
		if err := res.Body.Close(); err != nil {
			return out, fmt.Errorf("%s: %w", a.Path, err)
		}
		out.Status = res.StatusCode
		to := res.Header.Get("Location")
		if res.StatusCode < 300 || res.StatusCode >= 400 || to == "" {
			return out, nil
		}
		out.Redirected = true
		if at, err = at.Parse(to); err != nil || !strings.EqualFold(at.Host, site.Host) {
			return out, nil //nolint:nilerr // a redirect that leaves the site is no page of it
		}
	}
	return out, nil
}

// Missing returns the outcomes of addresses that lead to no page, although the old site may have them.
func (t Table) Missing() (out Table) {
	for _, o := range t {
		if o.isMissing() && !o.Broken {
			out = append(out, o)
		}
	}
	return out
}

// Write writes a table with the numbers of addresses by kind and outcome. It then lists the missing addresses, at most
// most of them; 0 means all.
func (t Table) Write(to io.Writer, most int) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kind\taddresses\tsame\tredirected\tmissing\tmissing before")
	for _, kind := range kinds {
		var all, same, redirected, missing, broken int
		for _, o := range t {
			if o.Kind != kind {
				continue
			}
			all++
			switch {
			case o.isMissing() && o.Broken:
				broken++
			case o.isMissing():
				missing++
			case o.Redirected:
				redirected++
			default:
				same++
			}
		}
		if all > 0 {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", kind, all, same, redirected, missing, broken)
		}
	}
	lost := t.Missing()
	for i, o := range lost {
		if most > 0 && i == most {
			fmt.Fprintf(w, "and %d more\n", len(lost)-most)
			break
		}
		fmt.Fprintf(w, "missing (%d): %s\n", o.Status, o.Path)
	}
	return w.Flush()
}
