package idempotency_test

import (
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/idempotencykey"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

var testTime = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const lease = 25 * time.Second

func request(user int64, key, body string) idempotency.Request {
	return idempotency.Request{User: user, Key: key, Fingerprint: sha256.Sum256([]byte(body))}
}

// begin claims a key and fails the test if Begin returns an error.
func begin(t *testing.T, k *idempotency.Keys, r idempotency.Request, at time.Time) *idempotency.Claim {
	t.Helper()
	c, err := k.Begin(t.Context(), r, at, lease)
	must.Succeed(t, err)
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
	return store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error { return c.OnWritten(t.Context(), tx, id) })
}

func TestClaims(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, k := t.Context(), idempotency.New(st)
		one := request(1, "key", "a")
		first := begin(t, k, one, testTime)
		wantRefusal(t, k, one, testTime.Add(lease-time.Second), idempotency.ErrInUse)
		wantRefusal(t, k, request(1, "key", "b"), testTime, idempotency.ErrReused)
		begin(t, k, request(2, "key", "b"), testTime)
		begin(t, k, request(1, "Key", "b"), testTime)
		begin(t, k, request(1, "key ", "b"), testTime)

		// A request of another process takes the key over once the first one's heart has stopped, and the first one can
		// no longer use it. The lease is irrelevant.
		other := idempotency.New(st)
		wantRefusal(t, other, one, testTime.Add(lease), idempotency.ErrInUse)
		age(t, st, 4*time.Second)
		wantRefusal(t, k, one, testTime, idempotency.ErrInUse)
		second := begin(t, other, one, testTime)
		wantRefusal(t, k, one, testTime.Add(lease), idempotency.ErrInUse)
		if err := mark(t, st, first, 7); !errors.Is(err, idempotency.ErrInUse) {
			t.Errorf("got %v, want that the key is in use", err)
		}
		must.Succeed(t, first.StoreReply(ctx, idempotency.Reply{Status: 201}))
		must.Succeed(t, first.Release(ctx))
		wantRefusal(t, k, one, testTime.Add(lease), idempotency.ErrInUse)

		// A key that is dropped is free; what is committed is not dropped.
		must.Succeed(t, second.Release(ctx))
		third := begin(t, k, request(1, "key", "b"), testTime)
		must.Succeed(t, mark(t, st, third, 7))
		must.Succeed(t, third.Release(ctx))
		again := begin(t, k, request(1, "key", "b"), testTime)
		if again.AlreadyWritten != 7 || again.Reply != nil {
			t.Errorf("got %+v, want what was made", again)
		}
		if err := mark(t, st, third, 8); !errors.Is(err, idempotency.ErrInUse) {
			t.Errorf("marked twice: %v", err)
		}

		// The first answer that is kept stays.
		answer := idempotency.Reply{Status: 201, Header: [][2]string{{"Location", "x"}, {"Link", `<a>; rel="next"`}}, Body: []byte("\x00ł")}
		must.Succeed(t, third.StoreReply(ctx, answer))
		must.Succeed(t, again.StoreReply(ctx, idempotency.Reply{Status: 200, Body: []byte("other")}))
		for range 2 {
			found := begin(t, k, request(1, "key", "b"), testTime.Add(idempotency.Lifetime-time.Second))
			if diff := cmp.Diff(&idempotency.Claim{Reply: &answer, AlreadyWritten: 7}, found, cmpopts.IgnoreUnexported(idempotency.Claim{})); diff != "" {
				t.Errorf("claim (-want +got):\n%s", diff)
			}
		}

		// A key is free a day after its first use, whatever was made with it.
		fresh := begin(t, k, one, testTime.Add(idempotency.Lifetime))
		if fresh.AlreadyWritten != 0 || fresh.Reply != nil {
			t.Errorf("got %+v of a key that has expired", fresh)
		}
		must.Succeed(t, mark(t, st, fresh, 9))
		if c := begin(t, k, one, testTime.Add(2*idempotency.Lifetime-time.Second)); c.AlreadyWritten != 9 {
			t.Errorf("got %+v, want what was made the second time", c)
		}
	})
}

// TestAWriteThatEndsInTimeIsNotTakenOver begins a second request while the transaction of the first one is still
// committing. The claim of the first one has no recent heartbeat, but must not be taken over.
func TestAWriteThatEndsInTimeIsNotTakenOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		k, other, one := idempotency.New(st), idempotency.New(st), request(1, "key", "a")
		first := begin(t, k, one, testTime)
		age(t, st, 4*time.Second)
		ended := make(chan error)
		var second *idempotency.Claim
		must.Succeed(t, store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error {
			if err := first.OnWritten(t.Context(), tx, 7); err != nil {
				return err
			}
			go func() {
				var err error
				second, err = other.Begin(t.Context(), one, testTime, lease)
				ended <- err
			}()
			return nil
		}))
		switch err := <-ended; {
		case errors.Is(err, idempotency.ErrInUse):
		case err != nil:
			t.Error(err)
		case second.AlreadyWritten != 7:
			t.Errorf("got %+v, want what was made, or that the key is in use", second)
		}
	})
}

// age moves the heartbeats of all claims into the past, as if that much time had passed on the database's clock.
func age(t *testing.T, st *store.Store, by time.Duration) {
	t.Helper()
	must.Succeed(t, st.Ent.IdempotencyKey.Update().AddBeat(-by.Milliseconds()).Exec(t.Context()))
}

// fakeClock is a clock whose time changes only with pass.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestHeartbeats has a second process claim a key that the first one holds. It has cases in which the first process
// renews its claim, and others in which it does not.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		for _, tt := range []struct {
			name  string
			work  func(t *testing.T, k *idempotency.Keys, clock *fakeClock)
			taken bool // by another process
			lost  bool // to the first process
		}{
			{"a request that has just begun", func(*testing.T, *idempotency.Keys, *fakeClock) {}, false, false},
			{"a process that died", func(t *testing.T, _ *idempotency.Keys, _ *fakeClock) { age(t, st, 4*time.Second) }, true, true},
			{"a heartbeat that is a little late", func(t *testing.T, _ *idempotency.Keys, _ *fakeClock) {
				age(t, st, time.Second)
			}, false, false},
			{"an upload of a minute", func(t *testing.T, k *idempotency.Keys, clock *fakeClock) {
				for range 60 {
					age(t, st, 3*time.Second)
					clock.pass(3 * time.Second)
					k.Beat()
				}
			}, false, false},
			{"a database that was away", func(t *testing.T, k *idempotency.Keys, clock *fakeClock) {
				age(t, st, time.Minute)
				clock.pass(time.Second)
				k.Beat()
			}, false, false},
			{"a clock of the database that was set back", func(t *testing.T, _ *idempotency.Keys, _ *fakeClock) {
				age(t, st, -time.Hour)
			}, true, true},
			{"the same with a heartbeat after it", func(t *testing.T, k *idempotency.Keys, clock *fakeClock) {
				age(t, st, -time.Hour)
				clock.pass(time.Second)
				k.Beat()
			}, false, false},
			{"a process that was stopped and beats again", func(t *testing.T, k *idempotency.Keys, clock *fakeClock) {
				age(t, st, 20*time.Second)
				clock.pass(20 * time.Second)
				k.Beat()
				clock.pass(time.Second)
				k.Beat()
			}, true, true},
			{"a process that was stopped, with a key that nobody wants", func(_ *testing.T, _ *idempotency.Keys, clock *fakeClock) {
				clock.pass(20 * time.Second)
			}, false, true},
			// The first heart beats on, but the claim belongs to another one.
			{"a program without heartbeats that took over", func(t *testing.T, k *idempotency.Keys, clock *fakeClock) {
				must.Succeed(t, st.Ent.IdempotencyKey.Update().AddAttempt(1).SetLeaseUntil(testTime.Add(lease)).Exec(t.Context()))
				age(t, st, time.Minute)
				clock.pass(time.Second)
				k.Beat()
			}, false, true},
			{"a claim of a program without heartbeats", func(t *testing.T, _ *idempotency.Keys, _ *fakeClock) {
				must.Succeed(t, st.Ent.IdempotencyKey.Update().SetBeat(0).SetBeatAttempt(0).Exec(t.Context()))
			}, false, false},
			{"the same after its lease", func(t *testing.T, _ *idempotency.Keys, _ *fakeClock) {
				must.Succeed(t, st.Ent.IdempotencyKey.Update().SetBeat(0).SetBeatAttempt(0).SetLeaseUntil(testTime).Exec(t.Context()))
			}, true, true},
		} {
			t.Run(tt.name, func(t *testing.T) {
				_, err := st.Ent.IdempotencyKey.Delete().Exec(t.Context())
				must.Succeed(t, err)
				k, clock := idempotency.New(st), &fakeClock{now: testTime}
				k.SetClock(clock.time)
				one := request(1, "key", "a")
				first := begin(t, k, one, testTime)
				tt.work(t, k, clock)
				switch _, err := idempotency.New(st).Begin(t.Context(), one, testTime, lease); {
				case tt.taken && err != nil:
					t.Errorf("another process got %v, want the key", err)
				case !tt.taken && !errors.Is(err, idempotency.ErrInUse):
					t.Errorf("another process got %v, want that the key is in use", err)
				}
				switch err := mark(t, st, first, 7); {
				case tt.lost && !errors.Is(err, idempotency.ErrInUse):
					t.Errorf("the first process got %v, want that it has lost the key", err)
				case !tt.lost && err != nil:
					t.Errorf("the first process got %v, want that it has the key", err)
				}
				marked, err := st.Ent.IdempotencyKey.Query().Where(idempotencykey.RecordID(7)).Count(t.Context())
				must.Succeed(t, err)
				if tt.lost == (marked > 0) {
					t.Errorf("%d rows have the record of the first process", marked)
				}
				must.Succeed(t, first.Release(t.Context()))
			})
		}
	})
}

// TestAProcessStoppedBeforeItsCommitWritesNothing stops a process between the last statement of a transaction and its
// commit. Afterwards the commit must fail.
func TestAProcessStoppedBeforeItsCommitWritesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		k, clock := idempotency.New(st), &fakeClock{now: testTime}
		k.SetClock(clock.time)
		c := begin(t, k, request(1, "key", "a"), testTime)
		err := store.Tx(t.Context(), st.Ent, func(tx *ent.Tx) error {
			if err := c.OnWritten(t.Context(), tx, 7); err != nil {
				return err
			}
			clock.pass(20 * time.Second)
			return nil
		})
		if !errors.Is(err, idempotency.ErrInUse) {
			t.Errorf("got %v, want that the key is in use", err)
		}
		if row := st.Ent.IdempotencyKey.Query().OnlyX(t.Context()); row.RecordID != 0 {
			t.Errorf("record %d is committed", row.RecordID)
		}
		must.Succeed(t, c.Release(t.Context()))
	})
}

func TestForget(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx, k := t.Context(), idempotency.New(st)
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
		must.Succeed(t, st.Ent.IdempotencyKey.CreateBulk(rows...).Exec(ctx))
		for _, want := range []int{expired, 0} {
			n, err := k.DeleteExpired(ctx, testTime)
			must.Succeed(t, err)
			if n != want {
				t.Errorf("%d were forgotten, want %d", n, want)
			}
		}
		left, err := st.Ent.IdempotencyKey.Query().Count(ctx)
		must.Succeed(t, err)
		if left != 2 {
			t.Errorf("%d are left, want 2", left)
		}
	})
}
