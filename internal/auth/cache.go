package auth

import (
	"errors"
	"sync"
	"time"
)

const (
	// recheckAfter is how long a verified credential is used without a query. A changed password, a revocation or a
	// changed role takes effect within that time.
	recheckAfter = 5 * time.Second
	// evictAfter is how long after its last use a credential is forgotten. Until then an unchanged password is
	// not computed again.
	evictAfter = 15 * time.Minute
	// touchEvery is the shortest time between two writes of a token's last use.
	touchEvery = time.Minute
	// maxEntries bounds the cache. Beyond it the least recently used entry is evicted.
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
	used      time.Time
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
	entries map[cacheKey]cachedCredential
	flights map[cacheKey]*verification
}

func newCache() *cache {
	return &cache{entries: map[cacheKey]cachedCredential{}, flights: map[cacheKey]*verification{}}
}

// lookup returns a fresh entry (f is nil), a verification to wait for, or one to lead. The leader also gets a stale
// entry, which may save work. The zero value means no entry.
func (c *cache) lookup(key cacheKey, now time.Time) (found cachedCredential, f *verification, leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries[key]
	if ok && now.Sub(found.used) > evictAfter {
		delete(c.entries, key)
		found, ok = cachedCredential{}, false
	}
	// A clock set back makes the entry look younger than new.
	if age := now.Sub(found.checked); ok && age >= 0 && age < recheckAfter {
		found.used = now
		c.entries[key] = found
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
func (c *cache) land(key cacheKey, f *verification, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, key)
	close(f.done)
	if f.abandoned {
		return
	}
	if f.err != nil {
		if why := refusal(""); errors.As(f.err, &why) {
			delete(c.entries, key)
		}
		return
	}
	e := f.found
	e.used = now
	if old, ok := c.entries[key]; ok {
		if old.principal.TokenID == e.principal.TokenID && old.touched.After(e.touched) {
			e.touched = old.touched
		}
	} else {
		c.makeRoom(now)
	}
	c.entries[key] = e
}

// makeRoom evicts idle entries, and the least recently used one if that is not enough.
func (c *cache) makeRoom(now time.Time) {
	if len(c.entries) < maxEntries {
		return
	}
	var oldest cacheKey
	var since time.Time
	for key, e := range c.entries {
		switch {
		case now.Sub(e.used) > evictAfter:
			delete(c.entries, key)
		case since.IsZero() || e.used.Before(since):
			oldest, since = key, e.used
		}
	}
	if len(c.entries) >= maxEntries {
		delete(c.entries, oldest)
	}
}

// claimTouch reports whether it is time to write the last use of the token, once per touchEvery.
func (c *cache) claimTouch(key cacheKey, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok || e.principal.TokenID == 0 || now.Sub(e.touched) < touchEvery {
		return false
	}
	e.touched = now
	c.entries[key] = e
	return true
}
