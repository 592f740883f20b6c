package auth

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/proof/storetest"
)

func TestConcurrentMissesComputeOnce(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, "")
	if err := SetPassword(t.Context(), st.Ent, u.ID, horse); err != nil { // its hash takes long enough for the others to wait
		t.Fatal(err)
	}
	want := Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}
	var together sync.WaitGroup
	for range 32 {
		together.Go(func() {
			got, err := w.Verify(t.Context(), inBasic("ewa:"+horse))
			if err != nil || got != want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	together.Wait()
	if got := w.computed.Load(); got != 1 {
		t.Errorf("computed %d passwords, want 1", got)
	}
}

func TestManyCallersWhileUsersChange(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, horse)
	key, tok := issue(t, st.Ent, u.ID, nil)
	var together sync.WaitGroup
	for i := range 8 {
		together.Go(func() {
			for range 50 {
				headers := []string{inBasic("ewa:" + horse), "Bearer " + key, inBasic("ewa:" + key), inBasic("ewa:wrong"), ""}
				p, err := w.Verify(t.Context(), headers[i%len(headers)])
				var refused *calendar.Error
				if err != nil && !errors.As(err, &refused) {
					t.Error(err)
				}
				if err == nil && !p.Anonymous() && p.UserID != u.ID {
					t.Errorf("got %+v", p)
				}
				w.pass(time.Second)
			}
		})
	}
	together.Go(func() {
		for i := range 20 {
			if err := SetDisabled(t.Context(), st.Ent, noon, u.ID, i%2 == 0); err != nil {
				t.Error(err)
			}
		}
		if err := RevokeToken(t.Context(), st.Ent, noon, tok.ID); err != nil {
			t.Error(err)
		}
	})
	together.Wait()
	w.pass(recheckAfter)
	w.accepts(t, inBasic("ewa:"+horse), Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author})
	w.refuses(t, "Bearer "+key, badToken, revokedToken)
}

func TestComputationsAreBounded(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	limit := int64(max(1, runtime.GOMAXPROCS(0)/2))
	var running, most atomic.Int64
	w.matches = func(passwordHash, string) bool {
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		runtime.Gosched()
		return false
	}
	var together sync.WaitGroup
	for i := range 32 {
		together.Go(func() {
			_, err := w.Verify(t.Context(), inBasic(fmt.Sprintf("ewa:%s%d", horse, i)))
			if !errors.Is(err, wrongPair) && !errors.Is(err, ErrBusy) {
				t.Errorf("got %v, want %v or %v", err, wrongPair, ErrBusy)
			}
		})
	}
	together.Wait()
	if got := most.Load(); got > limit {
		t.Errorf("%d at once, want at most %d", got, limit)
	}
}

// TestFewWaitToCompute sends many passwords at the same time. Beyond a few they are refused at once, with the same
// work for known and unknown users. Cached passwords and tokens must still be accepted.
func TestFewWaitToCompute(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, horse)
	jan := addUser(t, st.Ent, "jan", calendar.Author, horse)
	key, tok := issue(t, st.Ent, u.ID, nil)
	right, want := inBasic("ewa:"+horse), Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}
	w.accepts(t, right, want)

	atOnce := max(1, runtime.GOMAXPROCS(0)/2)
	let, flood := make(chan struct{}), make(chan error)
	compute := w.matches
	w.matches = func(passwordHash, string) bool {
		<-let
		return false
	}
	for i := range 200 {
		go func() {
			_, err := w.Verify(t.Context(), inBasic(fmt.Sprintf("ewa:%s%d", horse, i)))
			flood <- err
		}()
	}
	for range 200 - atOnce - maxWaiting {
		if err := <-flood; !errors.Is(err, ErrBusy) {
			t.Errorf("got %v, want %v", err, ErrBusy)
		}
	}

	w.accepts(t, right, want)
	w.pass(recheckAfter)
	w.accepts(t, right, want)
	w.accepts(t, "Bearer "+key, want.by(tok))
	w.accepts(t, inBasic("ewa:"+key), want.by(tok))
	for _, header := range []string{inBasic("nobody:" + horse), inBasic("jan:wrong horse"), inBasic("jan:" + horse)} {
		_, queries := w.cost(func() {
			got, err := w.Verify(t.Context(), header)
			var refused *calendar.Error
			if !errors.Is(err, ErrBusy) || errors.As(err, &refused) || got != (Principal{}) {
				t.Errorf("%s: got %+v, %v", header, got, err)
			} else if strings.Contains(err.Error(), "jan") || strings.Contains(err.Error(), "horse") {
				t.Errorf("the error tells: %v", err)
			}
		})
		if queries != 0 {
			t.Errorf("%s: %d queries", header, queries)
		}
	}

	close(let)
	for range atOnce + maxWaiting {
		if err := <-flood; !errors.Is(err, wrongPair) {
			t.Errorf("got %v, want %v", err, wrongPair)
		}
	}
	w.matches = compute
	w.accepts(t, inBasic("jan:"+horse), Principal{UserID: jan.ID, Login: "jan", Role: calendar.Author})
}

func TestWaitForATurnEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewVerifier(nil, time.Now)
		for range cap(v.slots) {
			v.slots <- struct{}{}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := v.compute(ctx, v.dummy, horse)
			ended <- err
		}()
		synctest.Wait() // until it waits for a slot
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		if len(v.slots) != cap(v.slots) {
			t.Error("it gave back a slot it did not have")
		}
	})
}

func TestWaitForALeaderEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewVerifier(nil, time.Now)
		v.cache.lookup(cacheKey{}, v.now()) // leads, and never ends
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := v.find(ctx, cacheKey{}, credential{})
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
}

func TestFollowersShareARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewVerifier(nil, time.Now)
		_, f, _ := v.cache.lookup(cacheKey{}, v.now())
		ended := make(chan error)
		for range 3 {
			go func() {
				_, err := v.find(t.Context(), cacheKey{}, credential{})
				ended <- err
			}()
		}
		synctest.Wait()
		f.abandoned, f.err = false, wrongPair
		v.cache.finish(cacheKey{}, f)
		for range 3 {
			if err := <-ended; !errors.Is(err, wrongPair) {
				t.Errorf("got %v, want %v", err, wrongPair)
			}
		}
	})
}

// TestLeaderWhoGivesUpIsSucceeded cancels the request that verifies a credential for others. The waiting requests
// must neither fail nor wait for ever.
func TestLeaderWhoGivesUpIsSucceeded(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, "")
	if err := SetPassword(t.Context(), st.Ent, u.ID, horse); err != nil { // its hash takes long enough for the others to wait
		t.Fatal(err)
	}
	header, want := inBasic("ewa:"+horse), Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author}
	c, err := parseHeader(header)
	if err != nil {
		t.Fatal(err)
	}
	key := w.cacheKey(c)
	_, f, _ := w.cache.lookup(key, w.now())
	var together sync.WaitGroup
	for range 4 {
		together.Go(func() {
			if got, err := w.Verify(t.Context(), header); err != nil || got != want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.lead(ctx, key, f, c, cachedCredential{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the leader got %v, want %v", err, context.Canceled)
	}
	together.Wait()
	if got := w.computed.Load(); got != 1 {
		t.Errorf("computed %d passwords, want 1", got)
	}
}

func TestPanicLeavesNothingLocked(t *testing.T) {
	st := storetest.Migrated(t, storetest.SQLite(t))
	w := newWorld(st.Ent)
	u := addUser(t, st.Ent, "ewa", calendar.Author, horse)
	w.matches = func(passwordHash, string) bool { panic("out of luck") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		got, err := w.Verify(t.Context(), inBasic("ewa:"+horse))
		t.Errorf("got %+v, %v", got, err)
	}()
	w.matches = passwordHash.matches
	w.accepts(t, inBasic("ewa:"+horse), Principal{UserID: u.ID, Login: "ewa", Role: calendar.Author})
	if len(w.slots) != 0 || len(w.line) != 0 {
		t.Error("a slot or a place in the line was not given back")
	}
}
