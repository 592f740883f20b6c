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

// Unchanged reports whether a cached reply is still right. The reply was made at the revision madeAt; the question
// is about the later revision and the time now. The time must be before the next scheduled publication. A nil
// Unchanged means that only a new reply is safe.
type Unchanged func(ctx context.Context, madeAt, revision int64, now time.Time) (bool, error)

// Validity states how long a reply stays right: when it expires without a write, and which records it depends on.
// Handlers fill it while they make the reply. The zero value means that the reply is right until any record is
// written.
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

// FewDependencies reports whether n records are few enough for the cache to check them all. A reply with more
// dependencies has no Unchanged.
func FewDependencies(n int) bool { return n <= maxDependencies }

// ExpireBy records that the reply is right only before t.
func (v *Validity) ExpireBy(t time.Time) {
	if v.Until.IsZero() || t.Before(v.Until) {
		v.Until = t
	}
}

// DependsOn records that the reply shows the records of a kind with the given ids. A change of the data that these
// records show ends the reply.
func (v *Validity) DependsOn(kind calendar.Kind, ids ...int64) {
	for _, id := range ids {
		v.records = append(v.records, query.Dependency{Kind: kind, ID: id})
	}
}

// DependsOnKind records that any change of a record of the kind ends the reply. Only the event counts of terms may
// change.
func (v *Validity) DependsOnKind(kind calendar.Kind) { v.DependsOn(kind, 0) }

// DependsOnTerms records that the reply depends on all terms of a taxonomy, including their event counts.
func (v *Validity) DependsOnTerms(taxonomy calendar.Kind) {
	v.records = append(v.records, query.Dependency{Kind: taxonomy, Counts: true})
}

// CheckAgain adds a check for a reply that shows more than records and lists. The function check queries the
// database and reports whether the reply would be the same. It must not reference the request, because it outlives
// it.
func (v *Validity) CheckAgain(check func(ctx context.Context, now time.Time) (same bool, err error)) {
	v.checks = append(v.checks, check)
}

// Unchanged returns the function that the cache calls to check whether the reply is still right. It returns nil if
// that cannot be checked. The function does not reference v.
func (v *Validity) Unchanged(x *index.Index) Unchanged {
	if !v.Complete || !FewDependencies(len(v.records)) || x == nil {
		return nil
	}
	d := *v
	return func(ctx context.Context, madeAt, revision int64, now time.Time) (bool, error) {
		same, err := d.isUnchanged(ctx, x, madeAt, revision, now)
		if errors.Is(err, index.ErrNotReady) || errors.Is(err, query.ErrUnsupported) {
			return false, nil
		}
		return same, err
	}
}

func (v *Validity) isUnchanged(ctx context.Context, x *index.Index, madeAt, revision int64, now time.Time) (bool, error) {
	if same, err := x.Unchanged(ctx, madeAt, revision, v.records); !same || err != nil {
		return same, err
	}
	if v.FindAgain != nil {
		page, err := v.FindAgain(ctx, revision, now)
		if err != nil {
			return false, err
		}
		changed := slices.ContainsFunc(page.Changed, func(changed int64) bool { return changed > madeAt })
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
