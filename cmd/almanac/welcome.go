package main

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

// welcome prints the address of the pages. For a calendar without records it also prints what to do next.
func (f serveFlags) welcome(ctx context.Context, s streams, st *store.Store, site calendar.Site) error {
	if f.Pages {
		fmt.Fprintf(s.Err, "almanac: pages for visitors at %s/\n", site.BaseURL)
	}
	used, err := hasRecords(ctx, st)
	if err != nil || used {
		return err
	}
	users, err := auth.ListUsers(ctx, st.Ent)
	if err != nil {
		return err
	}
	db := shellQuote(st.String())
	fmt.Fprintln(s.Err, "almanac: the calendar is empty; next, in another terminal:")
	if len(users) == 0 {
		fmt.Fprintf(s.Err, "almanac:   almanac user add LOGIN --role administrator --db %s   # prints a token to write events with\n", db)
	}
	fmt.Fprintf(s.Err, "almanac:   almanac import FILE-OR-URL --db %s   # copies a calendar\n", db)
	if f.Pages {
		fmt.Fprintf(s.Err, "almanac:   %s/docs   # tries the API in the browser\n", site.BaseURL)
	}
	return nil
}
