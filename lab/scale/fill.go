package main

import (
	"context"
	"fmt"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/lab/local"
)

type fillCmd struct {
	places
	From   string `help:"First day of the calendars; by default that of the month before last." placeholder:"YYYY-MM-DD"`
	Series int    `help:"Make the events occurrences of so many series." placeholder:"N"`
	Again  bool   `help:"Make also those anew that are there."`
}

func (f fillCmd) Run(ctx context.Context, o command.Output) error {
	engines, err := f.engines()
	if err != nil {
		return err
	}
	from := fill.Default(time.Now())
	if f.From != "" {
		if from, err = calendar.ParseWall(f.From + " 00:00:00"); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
	}
	for _, e := range engines {
		for _, s := range f.Sizes {
			if err := f.runOne(ctx, o, e, s, from); err != nil {
				return fmt.Errorf("%s, %s events: %w", e.name, s, err)
			}
		}
	}
	return nil
}

func (f fillCmd) runOne(ctx context.Context, o command.Output, e engine, s size, from calendar.Wall) error {
	at, err := e.database(s)
	if err != nil {
		return err
	}
	options := fill.Options{Events: int(s), Series: f.Series, From: from, Site: local.Site("http://localhost")}
	if !f.Again && fill.Holds(ctx, at, options) {
		fmt.Fprintf(o.Err, "%s, %s events: there already\n", e.name, s)
		return nil
	}
	single := options
	single.Series = 0
	if !f.Again && f.Series > 0 && fill.Holds(ctx, at, single) {
		fmt.Fprintf(o.Err, "%s, %s events: there already, as single events\n", e.name, s)
		return fill.AddSeries(ctx, at, options)
	}
	began := time.Now()
	options.Progress = func(done int) {
		if done%50_000 == 0 {
			fmt.Fprintf(o.Err, "%s, %s events: %d after %s\n", e.name, s, done, time.Since(began).Round(time.Second))
		}
	}
	if err := fill.Anew(ctx, at, options); err != nil {
		return err
	}
	fmt.Fprintf(o.Err, "%s, %s events: %s\n", e.name, s, time.Since(began).Round(100*time.Millisecond))
	return nil
}
