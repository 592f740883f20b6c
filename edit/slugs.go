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

// OwnedSlug is a slug of a record or term in one language. A slug field of "" means that the owner has no slug
// yet.
type OwnedSlug struct {
	Kind     calendar.Kind
	Owner    int64
	Language calendar.Language
	Slug     string
	Trashed  bool
}

// SlugScope returns the value of the column within which a slug is unique. It is 0 outside the trash. In the
// trash it is the owner, so that the slug blocks no other record.
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

// Take takes the slug base for the owner and returns it. If base is taken, it takes base-2, base-3 and so on.
// An empty base means a slug made of kind and id. Base has no suffix of the trash. A unique index decides
// between transactions that take the same slug.
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

// TakeSent takes a slug that a client sent. Slugs has the slugs of the owner in all languages. If sent is one of them,
// the slug does not change, because clients send representations back.
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

// takeExactly takes the slug base for a term that is updated. If another term has it, it returns
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

// Move changes the slug for a move of its owner to the trash or back. Back from the trash it gets a number if
// another record has taken it.
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

// freeSlug returns base if it is free, otherwise a free one of base-2, base-3 and so on. It is the first free one
// unless the first slugProbes numbers are taken. Then freeSlug does not read thousands of taken slugs. It doubles
// the number until one is free, and divides the last interval until the number before a free one is taken.
func freeSlug(ctx context.Context, tx *ent.Tx, s OwnedSlug, base string) (string, error) {
	n, err := freeNumber(ctx, tx, s, base)
	if err != nil {
		return "", err
	}
	return calendar.NumberedSlug(base, n), nil
}

// freeNumber returns the number of the slug that freeSlug returns. 1 means base itself.
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

// ChooseSlugs returns a slug for each base, as if the new owners took them one after the other. The slug for
// the base "" is "". Known returns the first number of a base that may be free, if the caller knows it. Next
// has the next number for each base.
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

// numberSlugs gives each base the first number that is not taken and that no base before it got. Start has the first
// number to try for each base. Next has the number after the last one that a base got.
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

// raiseStarts searches the first free number of each base whose slug is taken, unless start has it already.
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

// slugsTaken returns the slugs that have an owner.
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
