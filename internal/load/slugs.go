package load

import (
	"context"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/slug"
)

const slugTable = slug.Table

var slugColumns = []string{
	slug.FieldKind, slug.FieldSlug, slug.FieldOwnerID, slug.FieldLanguage, slug.FieldTrashedID,
}

// slugMemo remembers up to which number slugs are taken, so that a calendar with a thousand lessons of one name
// does not look for the next number a thousand times. The unique index refuses a slug that another writer took.
// Entries that were not needed for long are dropped.
type slugMemo struct{ recent, older map[string]int }

// memoSize bounds each half of a memo.
const memoSize = 1 << 16

func memoKey(kind calendar.Kind, base string) string { return string(kind) + " " + base }

// next returns the first number of a base that may be free, if it is known.
func (m *slugMemo) next(kind calendar.Kind, base string) (int, bool) {
	key := memoKey(kind, base)
	n, ok := m.recent[key]
	if !ok {
		n, ok = m.older[key]
	}
	return n, ok
}

// learn stores the next numbers after a transaction was committed.
func (m *slugMemo) learn(kind calendar.Kind, next map[string]int) {
	if m.recent == nil || len(m.recent) > memoSize {
		m.older, m.recent = m.recent, make(map[string]int)
	}
	for base, n := range next {
		m.recent[memoKey(kind, base)] = n
	}
}

func (m *slugMemo) forget() { *m = slugMemo{} }

// takeSlugs chooses slugs for new owners as creates would choose them one after the other. An owner with the base ""
// gets none. It also returns the next number of each base.
func (l *Loader) takeSlugs(ctx context.Context, tx *ent.Tx, kind calendar.Kind, bases []string) (
	slugs []string, next map[string]int, err error,
) {
	start := make(map[string]int, len(bases)) // where to begin counting
	known := make(map[string]bool)            // bases whose start need not be checked
	for _, b := range bases {
		if _, ok := start[b]; ok || b == "" {
			continue
		}
		if n, ok := l.slugs.next(kind, b); ok {
			start[b], known[b] = n, true
		} else {
			start[b] = 1
		}
	}
	taken, asked := make(map[string]bool), make(map[string]bool)
	slugs = make([]string, len(bases))
	for {
		used := make(map[string]bool, len(bases))
		next = make(map[string]int, len(start))
		for i, b := range bases {
			if b == "" {
				continue
			}
			n := max(start[b], next[b])
			for s := calendar.NumberedSlug(b, n); ; s = calendar.NumberedSlug(b, n) {
				if !used[s] && !taken[s] {
					slugs[i], used[s] = s, true
					break
				}
				n++
			}
			next[b] = n + 1
		}
		var ask []string
		for i, b := range bases {
			if s := slugs[i]; b != "" && !known[b] && !asked[s] {
				ask, asked[s] = append(ask, s), true
			}
		}
		found, err := slugsTaken(ctx, tx, kind, ask)
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			return slugs, next, nil
		}
		for _, s := range found {
			taken[s] = true
		}
		counted := make(map[string]bool)
		for i, b := range bases {
			if !taken[slugs[i]] || counted[b] || start[b] > 1 {
				continue
			}
			counted[b] = true
			n, err := edit.FreeSlugNumber(ctx, tx, kind, b)
			if err != nil {
				return nil, nil, err
			}
			start[b] = n
		}
	}
}

// slugsTaken returns those of the slugs that have an owner.
func slugsTaken(ctx context.Context, tx *ent.Tx, kind calendar.Kind, slugs []string) (taken []string, err error) {
	for part := range slices.Chunk(slugs, 2*maxStatementRows) {
		found, err := tx.Slug.Query().Where(slug.KindEQ(kind), slug.SlugIn(part...), slug.TrashedID(0)).
			Select(slug.FieldSlug).Strings(ctx)
		if err != nil {
			return nil, fmt.Errorf("slugs taken: %w", err)
		}
		taken = append(taken, found...)
	}
	return taken, nil
}
