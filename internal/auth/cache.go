package auth

import (
	"errors"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
)

const (
	// recheckAfter is how long a verified credential is used without a query. A changed password, a revocation or a
	// changed role takes effect within that time.
	recheckAfter = 5 * time.Second
	// evictAfter is how long after its last check a credential is forgotten. Until then an unchanged password is
	// not computed again. A credential in use is checked each recheckAfter.
	evictAfter = 15 * time.Minute
	// touchEvery is the shortest time between two writes of a token's last use.
	touchEvery = time.Minute
	// maxEntries bounds the cache.
	maxEntries = 1024
)

// cacheKey is a keyed hash of a credential. It reveals nothing without the key of the process.
type cacheKey [32]byte

// cachedCredential is a credential found right.
type cachedCredential struct {
	principal Principal
	hash      string    // of the password in the database when it matched; "" for a token
	expires   time.Time // of the token; zero is never
	touched   time.Time // when the last use of the token was written
	checked   time.Time // when the database confirmed it
}

// verification is a verification in progress, shared by all requests with the same credential.
type verification struct {
	done chan struct{} // closed when the rest is set
	// abandoned means that the leading request gave up, so there is no result.
	abandoned bool
	found     cachedCredential
	err       error
}

// cache stores verified credentials and the verifications in progress. It never stores refusals.
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

// lookup returns a fresh entry (f is nil), a verification to wait for, or one to lead. The leader also gets a stale
// entry, which may save work. The zero value means no entry.
func (c *cache) lookup(key cacheKey, now time.Time) (found cachedCredential, f *verification, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries.GetIfPresent(key)
	if ok && now.Sub(found.checked) > evictAfter {
		c.entries.Invalidate(key)
		found, ok = cachedCredential{}, false
	}
	// A clock set back makes the entry look younger than new.
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

// land ends a verification. It stores a success and removes a refused credential. If the query failed, the earlier
// entry stays.
func (c *cache) land(key cacheKey, f *verification) {
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

// claimTouch reports whether it is time to write the last use of the token, once per touchEvery.
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
