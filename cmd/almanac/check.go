package main

import (
	"context"
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
)

// checkCmd checks the database for inconsistencies.
type checkCmd struct {
	database  `group:"Database:"`
	siteFlags `group:"Site:"`
	Repair    bool `help:"First recompute derived data: event counts, instants, search texts, positions on the map, sort keys."`
	Limit     int  `default:"100" placeholder:"N" help:"Most problems to print. All of them are counted. Default ${default}."`
}

// Run prints at most Limit problems of the database, and returns an error if there is one.
func (c checkCmd) Run(ctx context.Context, s streams) error {
	source, err := c.source()
	if err != nil {
		return err
	}
	with := c.withReadOnly
	if c.Repair {
		with = c.withExisting
	}
	return with(ctx, func(st *store.Store) error {
		if err := migrate.CheckCurrent(ctx, st); err != nil {
			return adviseMigration(err, st)
		}
		_, site, err := source.load(ctx, st.Ent)
		if err != nil {
			return err
		}
		e := &edit.Editor{Site: site, Now: clockNow(), By: auth.System()}
		if c.Repair {
			if err := upkeep.Repair(ctx, st.Ent, e); err != nil {
				return err
			}
		}
		problems, records, kinds := 0, 0, make(map[calendar.Kind]int)
		err = upkeep.Check(ctx, st.Ent, e,
			func(kind calendar.Kind, seen int) { kinds[kind] = seen },
			func(p upkeep.Problem) {
				if problems++; problems <= c.Limit {
					fmt.Fprintln(s.Out, p)
				}
			})
		if err != nil {
			return err
		}
		for _, n := range kinds {
			records += n
		}
		if problems > 0 {
			return fmt.Errorf("%d problems in %d records and terms", problems, records)
		}
		fmt.Fprintf(s.Out, "%d records and terms, no problems\n", records)
		return nil
	})
}
