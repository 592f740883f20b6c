package handlers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
)

// dependencies lists the records that a reply depends on, besides its request, the time and the settings.
type dependencies struct {
	// complete reports whether nothing is missing. Otherwise the reply has no Unchanged.
	complete bool
	on       []query.Dependency
	// find repeats the query of a list at a revision. Nil means that the reply has no list. It does not reference the
	// request.
	find  func(ctx context.Context, revision int64, now time.Time) (query.Page, error)
	found query.Page // what find found for the reply
	// also ask the database again for what else the reply shows, and report whether it is the same. They keep nothing of the
	// request.
	also []func(ctx context.Context, now time.Time) (bool, error)
}

// maxDependencies is how many records, and ids of conditions, a reply may depend on. They stay in memory with the reply.
const maxDependencies = 50

// dependsOn notes records of a kind that the reply depends on, with all that they show.
func (r *request) dependsOn(kind calendar.Kind, ids ...int64) {
	for _, id := range ids {
		r.depends.on = append(r.depends.on, query.Dependency{Kind: kind, ID: id})
	}
}

// dependsOnKind notes that the reply depends on all records of a kind, without the numbers of events of terms.
func (r *request) dependsOnKind(kind calendar.Kind) { r.dependsOn(kind, 0) }

// dependsOnTerms notes that the reply depends on all terms of a taxonomy and on their numbers of events.
func (r *request) dependsOnTerms(taxonomy calendar.Kind) {
	r.depends.on = append(r.depends.on, query.Dependency{Kind: taxonomy, Counts: true})
}

// unchanged returns Outcome.Unchanged for what the request has answered.
func (r *request) unchanged() Unchanged {
	d, x := r.depends, r.h.Index
	if !d.complete || len(d.on) > maxDependencies || x == nil || r.revision == 0 {
		return nil
	}
	return func(ctx context.Context, made, at int64, now time.Time) (bool, error) {
		same, err := d.unchanged(ctx, x, made, at, now)
		if errors.Is(err, index.ErrNotReady) || errors.Is(err, query.ErrUnsupported) {
			return false, nil
		}
		return same, err
	}
}

func (d *dependencies) unchanged(ctx context.Context, x *index.Index, made, at int64, now time.Time) (bool, error) {
	if same, err := x.Unchanged(ctx, made, at, d.on); !same || err != nil {
		return same, err
	}
	if d.find != nil {
		page, err := d.find(ctx, at, now)
		if err != nil {
			return false, err
		}
		changed := slices.ContainsFunc(page.Changed, func(changed int64) bool { return changed > made })
		if changed || page.Total != d.found.Total || !slices.Equal(page.IDs, d.found.IDs) {
			return false, nil
		}
	}
	for _, again := range d.also {
		if same, err := again(ctx, now); !same || err != nil {
			return same, err
		}
	}
	return true, nil
}
