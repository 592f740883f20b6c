// Package reply decides whether an earlier reply is still right. It has the reply's validity, its entity tag, the cache
// of finished replies and the cache of encoded records. It knows no route and no web framework.
package reply

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
)

// Unchanged reports whether a reply made at the revision made is still right at the revision at and time now. The
// caller must pass a time before the next scheduled publication. A nil Unchanged means that this is unknown.
type Unchanged func(ctx context.Context, made, at int64, now time.Time) (bool, error)

// Validity states how long a reply is right: until when without a write, and what it depends on besides its request, the
// time and the settings. The zero value is right until the next write of any record.
type Validity struct {
	Until time.Time // when the reply changes without a write; zero means never
	// Complete means that all dependencies are recorded. Otherwise the reply has no Unchanged.
	Complete bool
	// FindAgain repeats the query of the reply's list at a revision. Nil means that the reply has no list. The
	// function must not reference the request, since it outlives it.
	FindAgain func(ctx context.Context, revision int64, now time.Time) (query.Page, error)
	Found     query.Page // result of FindAgain when the reply was made

	records []query.Dependency
	checks  []func(ctx context.Context, now time.Time) (bool, error)
}

// maxDependencies is the largest number of records that a reply may depend on. They stay in memory with the reply.
const maxDependencies = 50

// FewDependencies reports whether a reply may depend on n records or ids and still be checked.
func FewDependencies(n int) bool { return n <= maxDependencies }

// ExpireBy records that the reply is right only before t.
func (v *Validity) ExpireBy(t time.Time) {
	if v.Until.IsZero() || t.Before(v.Until) {
		v.Until = t
	}
}

// DependsOn records that the reply depends on records of a kind, including all that they show.
func (v *Validity) DependsOn(kind calendar.Kind, ids ...int64) {
	for _, id := range ids {
		v.records = append(v.records, query.Dependency{Kind: kind, ID: id})
	}
}

// DependsOnKind records that the reply depends on all records of a kind. Changes of the event counts of terms do
// not count.
func (v *Validity) DependsOnKind(kind calendar.Kind) { v.DependsOn(kind, 0) }

// DependsOnTerms records that the reply depends on all terms of a taxonomy, including their event counts.
func (v *Validity) DependsOnTerms(taxonomy calendar.Kind) {
	v.records = append(v.records, query.Dependency{Kind: taxonomy, Counts: true})
}

// CheckAgain adds a check of what else the reply shows. It queries the database and reports whether that is the same. It
// must not reference the request.
func (v *Validity) CheckAgain(check func(ctx context.Context, now time.Time) (same bool, err error)) {
	v.checks = append(v.checks, check)
}

// Unchanged returns the function that checks whether the dependencies have changed. It returns nil if that cannot be known.
// The function does not reference v.
func (v *Validity) Unchanged(x *index.Index) Unchanged {
	if !v.Complete || !FewDependencies(len(v.records)) || x == nil {
		return nil
	}
	d := *v
	return func(ctx context.Context, made, at int64, now time.Time) (bool, error) {
		same, err := d.isUnchanged(ctx, x, made, at, now)
		if errors.Is(err, index.ErrNotReady) || errors.Is(err, query.ErrUnsupported) {
			return false, nil
		}
		return same, err
	}
}

func (v *Validity) isUnchanged(ctx context.Context, x *index.Index, made, at int64, now time.Time) (bool, error) {
	if same, err := x.Unchanged(ctx, made, at, v.records); !same || err != nil {
		return same, err
	}
	if v.FindAgain != nil {
		page, err := v.FindAgain(ctx, at, now)
		if err != nil {
			return false, err
		}
		changed := slices.ContainsFunc(page.Changed, func(changed int64) bool { return changed > made })
		if changed || page.Total != v.Found.Total || !slices.Equal(page.IDs, v.Found.IDs) {
			return false, nil
		}
	}
	for _, check := range v.checks {
		if same, err := check(ctx, now); !same || err != nil {
			return same, err
		}
	}
	return true, nil
}
