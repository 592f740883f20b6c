package idempotency_test

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/storetest"
)

var testTime = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const lease = 25 * time.Second

func request(user int64, key, body string) idempotency.Request {
	return idempotency.Request{User: user, Key: key, Fingerprint: sha256.Sum256([]byte(body))}
}

// begin claims a key that must be free, or to be answered.
func begin(t *testing.T, k *idempotency.Keys, r idempotency.Request, at time.Time) *idempotency.Claim {
	t.Helper()
	c, err := k.Begin(t.Context(), r, at, lease)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantRefusal(t *testing.T, k *idempotency.Keys, r idempotency.Request, at time.Time, want error) {
	t.Helper()
	if _, err := k.Begin(t.Context(), r, at, lease); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func mark(t *testing.T, st *store.Store, c *idempotency.Claim, id int64) error {
	t.Helper()
	return store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error { return c.Mark(t.Context(), tx, id) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, k := t.Context(), idempotency.New(st.Ent)
		one := request(1, "key", "a")
		first := begin(t, k, one, testTime)
		wantRefusal(t, k, one, testTime.Add(lease-time.Second), idempotency.ErrInUse)
		wantRefusal(t, k, request(1, "key", "b"), testTime, idempotency.ErrReused)
		begin(t, k, request(2, "key", "b"), testTime)
		begin(t, k, request(1, "Key", "b"), testTime)
		begin(t, k, request(1, "key ", "b"), testTime)

		// Another request takes the key over after the lease, and the first one can no longer use it.
		second := begin(t, k, one, testTime.Add(lease))
		wantRefusal(t, k, one, testTime.Add(lease), idempotency.ErrInUse)
		if err := mark(t, st, first, 7); !errors.Is(err, idempotency.ErrInUse) {
			t.Errorf("got %v, want that the key is in use", err)
		}
		must(t, first.StoreReply(ctx, idempotency.Reply{Status: 201}))
		must(t, first.Release(ctx))
		wantRefusal(t, k, one, testTime.Add(lease), idempotency.ErrInUse)

		// A key that is dropped is free; what is committed is not dropped.
		must(t, second.Release(ctx))
		third := begin(t, k, request(1, "key", "b"), testTime)
		must(t, mark(t, st, third, 7))
		must(t, third.Release(ctx))
		again := begin(t, k, request(1, "key", "b"), testTime)
		if again.Made != 7 || again.Reply != nil {
			t.Errorf("got %+v, want what was made", again)
		}
		if err := mark(t, st, third, 8); !errors.Is(err, idempotency.ErrInUse) {
			t.Errorf("marked twice: %v", err)
		}

		// The first answer that is kept stays.
		answer := idempotency.Reply{Status: 201, Header: [][2]string{{"Location", "x"}, {"Link", `<a>; rel="next"`}}, Body: []byte("\x00ł")}
		must(t, third.StoreReply(ctx, answer))
		must(t, again.StoreReply(ctx, idempotency.Reply{Status: 200, Body: []byte("other")}))
		for range 2 {
			found := begin(t, k, request(1, "key", "b"), testTime.Add(idempotency.Lifetime-time.Second))
			if diff := cmp.Diff(&idempotency.Claim{Reply: &answer, Made: 7}, found, cmpopts.IgnoreUnexported(idempotency.Claim{})); diff != "" {
				t.Errorf("claim (-want +got):\n%s", diff)
			}
		}

		// A key is free a day after its first use, whatever was made with it.
		fresh := begin(t, k, one, testTime.Add(idempotency.Lifetime))
		if fresh.Made != 0 || fresh.Reply != nil {
			t.Errorf("got %+v of a key that has expired", fresh)
		}
		must(t, mark(t, st, fresh, 9))
		if c := begin(t, k, one, testTime.Add(2*idempotency.Lifetime-time.Second)); c.Made != 9 {
			t.Errorf("got %+v, want what was made the second time", c)
		}
	})
}

// TestAWriteThatEndsInTimeIsNotTakenOver has a second request find an expired lease while the first one commits.
func TestAWriteThatEndsInTimeIsNotTakenOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		k, one := idempotency.New(st.Ent), request(1, "key", "a")
		first := begin(t, k, one, testTime)
		ended := make(chan error)
		var second *idempotency.Claim
		must(t, store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error {
			if err := first.Mark(t.Context(), tx, 7); err != nil {
				return err
			}
			go func() {
				var err error
				second, err = k.Begin(t.Context(), one, testTime.Add(lease), lease)
				ended <- err
			}()
			return nil
		}))
		switch err := <-ended; {
		case errors.Is(err, idempotency.ErrInUse):
		case err != nil:
			t.Error(err)
		case second.Made != 7:
			t.Errorf("got %+v, want what was made, or that the key is in use", second)
		}
	})
}

func TestForget(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, k := t.Context(), idempotency.New(st.Ent)
		const expired = 1001 // more than two batches
		var rows []*ent.IdempotencyKeyCreate
		for i := range expired + 2 {
			hash, at := sha256.Sum256([]byte{byte(i), byte(i >> 8)}), testTime
			if i >= expired {
				at = testTime.Add(time.Second)
			}
			rows = append(rows, st.Ent.IdempotencyKey.Create().SetHash(hash[:]).SetUserID(1).SetFingerprint(hash[:]).
				SetLeaseUntil(testTime).SetExpiresAt(at))
		}
		must(t, st.Ent.IdempotencyKey.CreateBulk(rows...).Exec(ctx))
		for _, want := range []int{expired, 0} {
			n, err := k.DeleteExpired(ctx, testTime)
			must(t, err)
			if n != want {
				t.Errorf("%d were forgotten, want %d", n, want)
			}
		}
		left, err := st.Ent.IdempotencyKey.Query().Count(ctx)
		must(t, err)
		if left != 2 {
			t.Errorf("%d are left, want 2", left)
		}
	})
}
