package auth

import (
	"errors"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
)

const (
	// recheckAfter is the time for which a verified credential is used without a query. Changes of passwords,
	// roles and tokens take effect within that time.
	recheckAfter = 5 * time.Second
	// evictAfter is how long after its last check a credential is forgotten. Until then an unchanged password is
	// not computed again. A credential in use is checked each recheckAfter.
	evictAfter = 15 * time.Minute
	// touchEvery is the shortest time between two updates of a token's last use in the database.
	touchEvery = time.Minute
	// maxEntries is the largest number of credentials in the cache.
	maxEntries = 1024
)

// cacheKey is a keyed hash of a credential. It reveals nothing without the key of the process.
type cacheKey [32]byte

// cachedCredential is the cache entry of a verified credential: its caller and its times.
type cachedCredential struct {
	principal Principal
	hash      string    // password hash in the database at the match; "" for a token
	expires   time.Time // expiry of the token; zero means never
	touched   time.Time // last time at which the token's use was written to the database
	checked   time.Time // last time at which the database confirmed the credential
}

// verification is a running verification. All requests with the same credential share it.
type verification struct {
	done chan struct{} // closed when the other fields are set
	// abandoned means that the leading request gave up without a result.
	abandoned bool
	found     cachedCredential
	err       error
}

// cache stores verified credentials and running verifications. It never stores refused credentials.
type cache struct {
	mu      sync.Mutex
	entries *otter.Cache[cacheKey, cachedCredential]
	flights map[cacheKey]*verification
}

func newCache() *cache {
	return &cache{
		entries: otter.Must(&otter.Options[cacheKey, cachedCredential]{
			MaximumSize: maxEntries,
			Executor:    func(evict func()) { evict() }, // in the calling goroutine
		}),
		flights: map[cacheKey]*verification{},
	}
}

// has reports whether the cache contains a credential. The entry may be so old that it must be verified again.
func (c *cache) has(key cacheKey) bool {
	_, ok := c.entries.GetIfPresent(key)
	return ok
}

// lookup returns the cache entry of a credential if it is fresh. Then f is nil. Otherwise it returns a running
// verification, or starts a new one and returns true. In the latter case the caller must carry out the verification
// and call finish. Other callers wait for it. The leading caller also gets a stale entry, if there is one, which may
// save the hash computation.
func (c *cache) lookup(key cacheKey, now time.Time) (found cachedCredential, f *verification, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries.GetIfPresent(key)
	if ok && now.Sub(found.checked) > evictAfter {
		c.entries.Invalidate(key)
		found, ok = cachedCredential{}, false
	}
	// If the clock was set back, the age is negative and the entry counts as stale.
	if age := now.Sub(found.checked); ok && age >= 0 && age < recheckAfter {
		return found, nil, false
	}
	if f, ok := c.flights[key]; ok {
		return cachedCredential{}, f, false
	}
	f = &verification{done: make(chan struct{}), abandoned: true}
	c.flights[key] = f
	return found, f, true
}

// finish ends a verification and wakes the requests that wait for it. It stores a verified credential and removes a
// refused one. If the database query failed, an earlier entry stays.
func (c *cache) finish(key cacheKey, f *verification) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, key)
	close(f.done)
	if f.abandoned {
		return
	}
	if f.err != nil {
		if why := refusal(""); errors.As(f.err, &why) {
			c.entries.Invalidate(key)
		}
		return
	}
	e := f.found
	if old, ok := c.entries.GetIfPresent(key); ok &&
		old.principal.TokenID == e.principal.TokenID && old.touched.After(e.touched) {
		e.touched = old.touched
	}
	c.entries.Set(key, e)
}

// claimTouch reports whether the caller must record the use of a token in the database now. It returns true once per
// touchEvery for each token.
func (c *cache) claimTouch(key cacheKey, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.GetIfPresent(key)
	if !ok || e.principal.TokenID == 0 || now.Sub(e.touched) < touchEvery {
		return false
	}
	e.touched = now
	c.entries.Set(key, e)
	return true
}
