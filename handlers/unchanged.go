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
	// complete means that the list has all dependencies. Otherwise the reply has no Unchanged.
	complete bool
	on       []query.Dependency
	// find repeats the query of the reply's list at a revision. Nil means that the reply has no list. The
	// function must not reference the request, since it outlives it.
	find  func(ctx context.Context, revision int64, now time.Time) (query.Page, error)
	found query.Page // result of find when the reply was made
	// also has checks of what else the reply shows. Each queries the database and reports whether that is the
	// same. They must not reference the request.
	also []func(ctx context.Context, now time.Time) (bool, error)
}

// maxDependencies is the largest number of records and condition ids that a reply may depend on. They stay in
// memory with the reply.
const maxDependencies = 50

// dependsOn records that the reply depends on records of a kind, including all that they show.
func (r *request) dependsOn(kind calendar.Kind, ids ...int64) {
	for _, id := range ids {
		r.depends.on = append(r.depends.on, query.Dependency{Kind: kind, ID: id})
	}
}

// dependsOnKind records that the reply depends on all records of a kind. Changes of the event counts of terms do
// not count.
func (r *request) dependsOnKind(kind calendar.Kind) { r.dependsOn(kind, 0) }

// dependsOnTerms records that the reply depends on all terms of a taxonomy, including their event counts.
func (r *request) dependsOnTerms(taxonomy calendar.Kind) {
	r.depends.on = append(r.depends.on, query.Dependency{Kind: taxonomy, Counts: true})
}

// unchanged returns the value of Outcome.Unchanged for the reply to the request.
func (r *request) unchanged() Unchanged {
	if r.revision == 0 {
		return nil
	}
	return r.depends.check(r.h.Index)
}

// check returns the function that checks whether the dependencies have changed. It returns nil if that cannot be known.
func (d dependencies) check(x *index.Index) Unchanged {
	if !d.complete || len(d.on) > maxDependencies || x == nil {
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
