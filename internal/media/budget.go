package media

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// Budget limits the memory, in bytes, of all pictures that are decoded at the same time. A nil Budget means no
// limit.
type Budget struct {
	most int64
	room *semaphore.Weighted
}

// NewBudget returns a budget of most bytes. 0 means no limit.
func NewBudget(most int64) *Budget {
	if most <= 0 {
		return nil
	}
	return &Budget{most: most, room: semaphore.NewWeighted(most)}
}

// collectThreshold is the size, in bytes, from which a picture's memory is collected before the next picture
// gets it. Smaller pictures wait for the ordinary garbage collection.
const collectThreshold = 32 << 20

// take waits until n bytes of the budget are free; callers are served in order. It returns ErrMemory if n
// exceeds the whole budget. The caller must call release.
func (b *Budget) take(ctx context.Context, n int64) (release func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	if n > b.most {
		return nil, fmt.Errorf("%w: %d bytes, and the limit is %d", ErrMemory, n, b.most)
	}
	if err := b.room.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() {
		if n >= collectThreshold {
			runtime.GC()
		}
		b.room.Release(n)
	}, nil
}
