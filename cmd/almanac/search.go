package main

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
)

type searchCmds struct {
	Rebuild searchRebuildCmd `cmd:"" help:"Recompute search texts, instants, positions on the map and sort keys, after another program changed rows, or the site's language or a time zone's rules changed."`
}

type searchRebuildCmd struct {
	database  `group:"Database:"`
	siteFlags `group:"Site:"`
}

// Run recomputes search texts, instants, positions and sort keys in batches. The service may run meanwhile.
func (c searchRebuildCmd) Run(ctx context.Context, s streams) error {
	source, err := c.source()
	if err != nil {
		return err
	}
	return c.withStore(ctx, func(st *store.Store) error {
		if err := requireCurrent(ctx, st, false); err != nil {
			return err
		}
		_, site, err := source.load(ctx, st.Ent)
		if err != nil {
			return err
		}
		e := &edit.Editor{Site: site, Now: clockNow(), By: auth.System()}
		done := make(map[calendar.Kind]int)
		err = upkeep.Reindex(ctx, st.Ent, e, func(kind calendar.Kind, records int) { done[kind] = records })
		for _, kind := range []calendar.Kind{
			calendar.Event, calendar.Venue, calendar.Organizer, calendar.Category, calendar.Tag,
		} {
			fmt.Fprintf(s.Out, "%-10s %d\n", kind, done[kind])
		}
		return err
	})
}
