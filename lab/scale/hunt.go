package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/lab/fill"
)

type huntCmd struct {
	places
	Index    bool   `help:"Find what lists show in the index; otherwise the database is asked." default:"true" negatable:""`
	Tries    int    `help:"Combinations to ask." default:"500"`
	Show     int    `help:"Combinations to print." default:"15"`
	Seed     uint64 `help:"Decides which combinations." default:"1"`
	Markdown bool   `help:"Print Markdown."`
}

// slowCombination is a combination and the shortest time it took of three.
type slowCombination struct {
	path string
	took time.Duration
}

func (h huntCmd) Run(ctx context.Context, o output) error {
	engines, err := h.engines()
	if err != nil {
		return err
	}
	for _, e := range engines {
		for _, s := range h.Sizes {
			if err := h.runOne(ctx, o, e, s); err != nil {
				return fmt.Errorf("%s, %s events: %w", e.name, s, err)
			}
		}
	}
	return nil
}

func (h huntCmd) runOne(ctx context.Context, o output, e engine, s size) (err error) {
	st, err := e.open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	sub, err := start(ctx, o.Err, st, h.Index)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sub.close()) }()
	c, chance := sub.client(1), rand.New(rand.NewPCG(h.Seed, uint64(s)))
	var all []slowCombination
	for range h.Tries {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := combination(sub.facts, chance)
		best := time.Duration(0)
		for range 3 {
			began := time.Now()
			if _, err := c.ask(path, false); err != nil {
				return err
			}
			if d := time.Since(began); best == 0 || d < best {
				best = d
			}
		}
		all = append(all, slowCombination{path, best})
	}
	slices.SortFunc(all, func(a, b slowCombination) int { return cmp.Compare(b.took, a.took) })
	t := table{
		title: fmt.Sprintf("%s, %s events: the slowest of %d", e.name, s, h.Tries), head: []string{"Question", "time"},
	}
	for _, f := range all[:min(h.Show, len(all))] {
		t.rows = append(t.rows, []string{f.path, formatDuration(f.took)})
	}
	return t.write(o.Out, h.Markdown)
}

// combination returns a list of events with two to five filters.
func combination(f *facts, chance *rand.Rand) string {
	day := func() string { return f.now.AddDate(0, 0, chance.IntN(700)-60).Format("2006-01-02") }
	latitude, longitude := fill.Centre(chance.IntN(12))
	filters := []string{
		"starts_before=" + day(), "starts_after=" + day(), "ends_before=" + day(), "ends_after=" + day(),
		"categories=" + f.categories.popular, "tags=" + f.tags.popular, "tags=" + f.tags.rare, "venue=" + f.venues.popular,
		"organizer=" + f.organizers.popular, "featured=false", "ticketed=false", "geoloc=true", "per_page=50",
		fmt.Sprintf("geoloc_lat=%g&geoloc_lng=%g&geoloc_radius=%d", latitude, longitude, 1+chance.IntN(500)),
		"search=" + url.QueryEscape(fill.Word(chance.IntN(100))+" "+fill.Word(chance.IntN(100))),
		"search=" + url.QueryEscape("-"+fill.Word(chance.IntN(30_000))),
		"search=" + url.QueryEscape(`"`+fill.Word(chance.IntN(40))+" "+fill.Word(chance.IntN(40))+`"`),
		"search=" + url.QueryEscape(f.fragments[chance.IntN(len(f.fragments))]+` -"`+fill.Word(chance.IntN(20))+" "+
			fill.Word(chance.IntN(20))+`"`),
		"ml_language=pl",
	}
	chance.Shuffle(len(filters), func(i, j int) { filters[i], filters[j] = filters[j], filters[i] })
	var out []string
	taken := map[string]bool{}
	for _, filter := range filters[:2+chance.IntN(4)] {
		if name, _, _ := strings.Cut(filter, "="); !taken[name] {
			taken[name] = true
			out = append(out, filter)
		}
	}
	return "/events?" + strings.Join(out, "&")
}
