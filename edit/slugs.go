package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/internal/store"
)

// OwnedSlug is the slug of a record or term in one language. Its methods take, change and delete the stored
// slug. The field Slug is "" if the owner has none yet.
type OwnedSlug struct {
	Kind     calendar.Kind
	Owner    int64
	Language calendar.Language
	Slug     string
	Trashed  bool
}

// SlugScope returns the value of the column that limits where a slug must be unique. If trashed is false, it is
// 0. Otherwise it is the id of the owner, so that the slug blocks no other record.
func SlugScope(owner int64, trashed bool) int64 {
	if trashed {
		return owner
	}
	return 0
}

func (s OwnedSlug) scope() int64 { return SlugScope(s.Owner, s.Trashed) }

// slugTries is the maximum number of tries to take a slug while other transactions take slugs too. On MySQL a
// refused insert waits until the other transaction commits, so each try sees one more taken slug.
const slugTries = 30

// Take takes a slug for the owner, stores it and returns it. The slug is base, or base-2, base-3 and so on if base
// is taken. An empty base means a slug made of kind and id. The base must not have the suffix of the trash. A
// unique index decides between transactions that take the same slug.
func (s OwnedSlug) Take(ctx context.Context, tx *ent.Tx, base string) (string, error) {
	if base == "" {
		base = s.Kind.Slug(s.Owner)
	}
	if s.Trashed {
		base = calendar.TrashedSlug(base)
	}
	for range slugTries {
		free, err := freeSlug(ctx, tx, s, base)
		if err != nil {
			return "", err
		}
		if free == s.Slug {
			return free, nil
		}
		if err = s.store(ctx, tx, free); err == nil {
			return free, nil
		}
		if !store.IsDuplicate(err) {
			return "", fmt.Errorf("slug %s of %s %d: %w", free, s.Kind, s.Owner, err)
		}
	}
	return "", fmt.Errorf("%w: slug %s of %s", store.ErrConflict, base, s.Kind)
}

// TakeSent takes a slug that a client sent and returns it. The parameter slugs has the owner's slugs in all
// languages. If sent is one of them, TakeSent returns the old slug and stores nothing, because clients often
// send representations back.
func (s OwnedSlug) TakeSent(ctx context.Context, tx *ent.Tx, sent string, slugs []string) (string, error) {
	base := calendar.KeptSlug(sent)
	if base == "" {
		base = s.Kind.Slug(s.Owner)
	}
	for _, own := range slugs {
		if own != "" && (own == base || calendar.IsSlugOf(own, sent)) {
			return s.Slug, nil
		}
	}
	if s.Kind.IsTerm() {
		return s.takeExactly(ctx, tx, base)
	}
	return s.Take(ctx, tx, base)
}

// takeExactly takes the slug base for a term that is updated. If another term has this slug, it returns
// *calendar.Error duplicate_term_slug.
func (s OwnedSlug) takeExactly(ctx context.Context, tx *ent.Tx, base string) (string, error) {
	holder, err := tx.Slug.Query().Where(slug.KindEQ(s.Kind), slug.Slug(base), slug.TrashedID(0)).First(ctx)
	switch {
	case err == nil && holder.OwnerID == s.Owner:
		return s.Slug, nil
	case err == nil:
		return "", &calendar.Error{
			Code: "duplicate_term_slug", Key: "duplicate_term_slug", Data: map[string]any{"term_id": holder.OwnerID},
		}
	case ent.IsNotFound(err):
		err = store.AsConflict(s.store(ctx, tx, base))
	}
	if err != nil {
		return "", fmt.Errorf("slug %s of %s %d: %w", base, s.Kind, s.Owner, err)
	}
	return base, nil
}

// store inserts the slug, or replaces the stored one.
func (s OwnedSlug) store(ctx context.Context, tx *ent.Tx, text string) error {
	if s.Slug == "" {
		return tx.Slug.Create().SetKind(s.Kind).SetSlug(text).SetOwnerID(s.Owner).
			SetLanguage(s.Language).SetTrashedID(s.scope()).Exec(ctx)
	}
	return expectOneRow(tx.Slug.Update().
		Where(slug.OwnerID(s.Owner), slug.KindEQ(s.Kind), slug.Slug(s.Slug)).
		SetSlug(text).SetTrashedID(s.scope()).Save(ctx))
}

// Drop deletes the stored slug, if there is one.
func (s OwnedSlug) Drop(ctx context.Context, tx *ent.Tx) error {
	if s.Slug == "" {
		return nil
	}
	_, err := tx.Slug.Delete().
		Where(slug.OwnerID(s.Owner), slug.KindEQ(s.Kind), slug.Slug(s.Slug)).Exec(ctx)
	return err
}

// Move adds the suffix of the trash to the slug if toTrash is true, and otherwise removes it. It returns the
// new slug. If another record has taken it meanwhile, the restored slug gets a number.
func (s OwnedSlug) Move(ctx context.Context, tx *ent.Tx, toTrash bool) (string, error) {
	if s.Slug == "" {
		return "", nil
	}
	s.Trashed = toTrash
	if !toTrash {
		return s.Take(ctx, tx, calendar.UntrashedSlug(s.Slug))
	}
	trashed := calendar.TrashedSlug(s.Slug)
	if err := s.store(ctx, tx, trashed); err != nil {
		return "", fmt.Errorf("slug %s of %s %d: %w", trashed, s.Kind, s.Owner, err)
	}
	return trashed, nil
}

// countedRounds is the number of rounds after which ChooseSlugs searches for each base on its own. Before that,
// one query per round reads the next slugs of all bases. The occurrences of two series with the same long slug
// collide for every base.
const countedRounds = 3

// slugProbes is the number of slugs that one query of freeNumber checks.
const slugProbes = 16

var errSlugs = errors.New("no number is left for the slug")

// freeSlug returns base if it is free, and otherwise a free slug such as base-2 or base-3. It tries the first
// slugProbes numbers in order. If all are taken, it does not read thousands of slugs. It doubles the number until
// one is free, and then searches by bisection for a free number after a taken one.
func freeSlug(ctx context.Context, tx *ent.Tx, s OwnedSlug, base string) (string, error) {
	n, err := freeNumber(ctx, tx, s, base)
	if err != nil {
		return "", err
	}
	return calendar.NumberedSlug(base, n), nil
}

// freeNumber returns a number with which a slug is free, such as 2 for base-2. It returns 1 if base itself is
// free.
func freeNumber(ctx context.Context, tx *ent.Tx, s OwnedSlug, base string) (int, error) {
	// first returns the index of the first free number in ascending numbers, or their count if none is free.
	first := func(numbers []int) (int, error) {
		asked := make([]string, len(numbers))
		for i, n := range numbers {
			asked[i] = calendar.NumberedSlug(base, n)
		}
		taken, err := tx.Slug.Query().
			Where(slug.KindEQ(s.Kind), slug.SlugIn(asked...), slug.TrashedID(s.scope())).
			Select(slug.FieldSlug).Strings(ctx)
		if err != nil {
			return 0, fmt.Errorf("slugs like %s: %w", base, err)
		}
		others := make(map[string]bool, len(taken))
		for _, t := range taken {
			others[t] = t != s.Slug
		}
		for i, text := range asked {
			if !others[text] {
				return i, nil
			}
		}
		return len(asked), nil
	}
	numbers := make([]int, slugProbes)
	for i := range numbers {
		numbers[i] = i + 1
	}
	at, err := first(numbers)
	if err != nil || at < slugProbes {
		return at + 1, err
	}
	taken := slugProbes
	for i := range numbers {
		numbers[i] = taken << (i + 1)
	}
	if at, err = first(numbers); err != nil || at == slugProbes {
		return 0, errors.Join(err, errSlugs)
	}
	if at > 0 {
		taken = numbers[at-1]
	}
	free := numbers[at]
	for free-taken > 1 {
		step := max((free-taken)/slugProbes, 1)
		numbers = numbers[:0]
		for n := taken + step; n < free && len(numbers) < slugProbes; n += step {
			numbers = append(numbers, n)
		}
		if at, err = first(numbers); err != nil {
			return 0, err
		}
		if at < len(numbers) {
			free = numbers[at]
		}
		if at > 0 {
			taken = numbers[at-1]
		}
	}
	return free, nil
}

// ChooseSlugs returns a free slug for each base, as if new owners took them one after the other. It takes none of
// them. The slug for the base "" is "". If the caller remembers which number of a base may be free, known returns
// it. The map next has the number to remember for each base.
func ChooseSlugs(
	ctx context.Context, tx *ent.Tx, kind calendar.Kind, bases []string, known func(base string) (int, bool),
) (slugs []string, next map[string]int, err error) {
	start := make(map[string]int, len(bases)) // first number to try for each base
	certain := make(map[string]bool)          // bases with a known first number, which need no query
	for _, b := range bases {
		if _, ok := start[b]; ok || b == "" {
			continue
		}
		if n, ok := known(b); ok {
			start[b], certain[b] = n, true
		} else {
			start[b] = 1
		}
	}
	taken, asked := make(map[string]bool), make(map[string]bool)
	for round := 1; ; round++ {
		slugs, next = numberSlugs(bases, start, taken)
		var ask []string
		for i, b := range bases {
			if s := slugs[i]; b != "" && !certain[b] && !asked[s] {
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
		if round < countedRounds {
			continue
		}
		if err := raiseStarts(ctx, tx, kind, bases, slugs, taken, start); err != nil {
			return nil, nil, err
		}
	}
}

// numberSlugs gives each base the first number that is not taken and that no earlier base got. The map start has
// the first number to try for each base. The map next has the number after the last one that was given.
func numberSlugs(bases []string, start map[string]int, taken map[string]bool) (slugs []string, next map[string]int) {
	slugs = make([]string, len(bases))
	used := make(map[string]bool, len(bases))
	next = make(map[string]int, len(start))
	for i, b := range bases {
		if b == "" {
			continue
		}
		n := max(start[b], next[b])
		s := calendar.NumberedSlug(b, n)
		for used[s] || taken[s] {
			n++
			s = calendar.NumberedSlug(b, n)
		}
		slugs[i], used[s] = s, true
		next[b] = n + 1
	}
	return slugs, next
}

// raiseStarts sets start to the first free number of each base whose slug is taken. It skips bases whose start was
// raised before.
func raiseStarts(
	ctx context.Context, tx *ent.Tx, kind calendar.Kind, bases, slugs []string, taken map[string]bool, start map[string]int,
) error {
	counted := make(map[string]bool)
	for i, b := range bases {
		if !taken[slugs[i]] || counted[b] || start[b] > 1 {
			continue
		}
		counted[b] = true
		n, err := freeNumber(ctx, tx, OwnedSlug{Kind: kind}, b)
		if err != nil {
			return err
		}
		start[b] = n
	}
	return nil
}

// slugsTaken returns those of the given slugs that belong to a record of the kind outside the trash.
func slugsTaken(ctx context.Context, tx *ent.Tx, kind calendar.Kind, slugs []string) (taken []string, err error) {
	for part := range slices.Chunk(slugs, 2*BatchSize) {
		found, err := tx.Slug.Query().Where(slug.KindEQ(kind), slug.SlugIn(part...), slug.TrashedID(0)).
			Select(slug.FieldSlug).Strings(ctx)
		if err != nil {
			return nil, fmt.Errorf("slugs taken: %w", err)
		}
		taken = append(taken, found...)
	}
	return taken, nil
}
