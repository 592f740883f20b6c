package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/token"
	"github.com/almanac-cal/almanac/ent/user"
)

// maxWaiting is the number of passwords that may wait to be hashed. Each waiting request occupies a slot of the
// server. A processor hashes that many within a fraction of a second.
const maxWaiting = 4

// touchTime is the longest time that a reply waits until its token's last use is written. The commit may take
// longer, for example if another transaction has the write lock.
const touchTime = 200 * time.Millisecond

// ErrBusy is returned by Verify if too many passwords already wait to be hashed. It reveals nothing about the
// password or the user.
var ErrBusy = errors.New("too many passwords are being verified")

// Verifier checks credentials against the database. The first check of a password takes about 50 ms. Its result
// is cached until 15 minutes pass without use, or until the user changes. Changes of users and tokens take
// effect within 5 s. It is safe for concurrent use.
type Verifier struct {
	// Log records problems that do not affect the caller. NewVerifier sets slog.Default(). It may be replaced
	// before the first use.
	Log *slog.Logger

	db      *ent.Client
	now     func() time.Time
	key     [32]byte // random key of this process, for cache keys
	cache   *cache
	line    chan struct{} // one element for each password that is hashed or waits
	slots   chan struct{} // one element for each password that is being hashed
	dummy   passwordHash
	matches func(passwordHash, string) bool

	touchTime time.Duration
}

// NewVerifier returns a verifier that reads the time from now. At most half of the processors hash passwords,
// and few requests may wait. So a flood of wrong passwords leaves capacity for other requests.
func NewVerifier(db *ent.Client, now func() time.Time) *Verifier {
	atOnce := max(1, runtime.GOMAXPROCS(0)/2)
	v := &Verifier{
		Log:     slog.Default(),
		db:      db,
		now:     now,
		cache:   newCache(),
		line:    make(chan struct{}, atOnce+maxWaiting),
		slots:   make(chan struct{}, atOnce),
		dummy:   newDummyHash(),
		matches: passwordHash.matches,

		touchTime: touchTime,
	}
	rand.Read(v.key[:]) // rand.Read never fails; without randomness it ends the program
	return v
}

// Verify returns the caller that an Authorization header identifies; "" is the anonymous caller (contract,
// section 12.1). Basic takes a login with a password or a token of the user. Bearer takes a token.
//
// Malformed, wrong, revoked or expired credentials, and those of a disabled user, give a *calendar.Error. Its
// code is incorrect_password for Basic and rest_invalid_token for other schemes. ErrBusy is returned at once if
// a password must be hashed and too many wait already. Other errors come from the database or from ctx, which
// also ends the wait.
func (v *Verifier) Verify(ctx context.Context, authorization string) (Principal, error) {
	c, err := parseHeader(authorization)
	if err == nil && c.scheme == noScheme {
		return Principal{}, nil
	}
	var found cachedCredential
	key := v.cacheKey(c)
	if err == nil {
		found, err = v.find(ctx, key, c)
	}
	if err == nil && found.expired(v.now()) {
		err = expiredToken
	}
	var why refusal
	if errors.As(err, &why) {
		return Principal{}, c.scheme.refused(why)
	}
	if err != nil {
		return Principal{}, fmt.Errorf("credentials: %w", err)
	}
	v.touch(ctx, key, found)
	return found.principal, nil
}

// IsGuess reports whether an Authorization header could be a guess, and returns the login whose password it
// guesses. "" means that it guesses none. A token that this process has verified lately is no guess, because
// tokens are too long to be guessed.
func (v *Verifier) IsGuess(authorization string) (guess bool, login string) {
	c, err := parseHeader(authorization)
	switch {
	case err != nil:
		return true, ""
	case c.scheme == noScheme:
		return false, ""
	case c.token:
		return !v.cache.has(v.cacheKey(c)), ""
	}
	return true, c.login
}

// expired reports whether the credential is a token that has expired at now.
func (f cachedCredential) expired(now time.Time) bool {
	return !f.expires.IsZero() && !now.Before(f.expires)
}

// cacheKey returns a keyed hash of a credential. The separator ":" cannot occur in the login, so the hashed
// text is unambiguous.
func (v *Verifier) cacheKey(c credential) (key cacheKey) {
	mac := hmac.New(sha256.New, v.key[:])
	mac.Write([]byte{byte(c.scheme)})
	mac.Write([]byte(c.login + ":" + c.secret))
	mac.Sum(key[:0])
	return key
}

// find verifies a credential. The result comes from the cache, from another goroutine's verification, or from
// the database.
func (v *Verifier) find(ctx context.Context, key cacheKey, c credential) (cachedCredential, error) {
	for {
		found, f, leads := v.cache.lookup(key, v.now())
		if f == nil {
			return found, nil
		}
		if leads {
			return v.lead(ctx, key, f, c, found)
		}
		select {
		case <-ctx.Done():
			return cachedCredential{}, ctx.Err()
		case <-f.done:
		}
		if !f.abandoned {
			return f.found, f.err
		}
	}
}

// lead verifies a credential against the database, for all requests that wait for f. It wakes them even if it
// panics. The entry known is the stale one of the cache, or zero.
func (v *Verifier) lead(ctx context.Context, key cacheKey, f *verification, c credential, known cachedCredential) (cachedCredential, error) {
	defer v.cache.finish(key, f)
	found, err := v.ask(ctx, c, known)
	f.found, f.err = found, err
	f.abandoned = err != nil && ctx.Err() != nil
	return found, err
}

func (v *Verifier) ask(ctx context.Context, c credential, known cachedCredential) (cachedCredential, error) {
	if c.token {
		return v.askToken(ctx, c)
	}
	if known.hash != "" {
		found, err := v.unchanged(ctx, known.principal.UserID, c.login, known.hash)
		var why refusal
		if !errors.As(err, &why) {
			return found, err
		}
	}
	return v.askPassword(ctx, c)
}

// askToken verifies a token by looking it up by its hash, using a database index. Timing does not help to guess
// tokens, because only hashes are compared.
func (v *Verifier) askToken(ctx context.Context, c credential) (cachedCredential, error) {
	now, hash := v.now(), hashToken(c.secret)
	t, err := v.db.Token.Query().Where(token.Hash(hash)).WithUser().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return cachedCredential{}, unknownToken
	case err != nil:
		return cachedCredential{}, fmt.Errorf("token: %w", err)
	}
	found := cachedCredential{checked: now}
	if t.ExpiresAt != nil {
		found.expires = *t.ExpiresAt
	}
	if t.LastUsedAt != nil {
		found.touched = *t.LastUsedAt
	}
	u := t.Edges.User
	switch {
	case subtle.ConstantTimeCompare(t.Hash, hash) != 1 || u == nil:
		return cachedCredential{}, unknownToken
	case c.scheme == basic && u.Login != c.login:
		return cachedCredential{}, otherUser
	case t.RevokedAt != nil:
		return cachedCredential{}, revokedToken
	case found.expired(now):
		return cachedCredential{}, expiredToken
	case u.DisabledAt != nil:
		return cachedCredential{}, disabledUser
	}
	found.principal = principalOf(u)
	found.principal.TokenID = t.ID
	return found, nil
}

// askPassword checks a password against the database. It always computes one hash, even if the user is unknown,
// disabled or has no password. So the response time does not reveal which logins exist.
func (v *Verifier) askPassword(ctx context.Context, c credential) (cachedCredential, error) {
	// A place in line is taken before the query. Otherwise a refusal after it would reveal by its time whether
	// the user exists.
	select {
	case v.line <- struct{}{}:
	default:
		return cachedCredential{}, ErrBusy
	}
	defer func() { <-v.line }()
	u, err := v.db.User.Query().Where(user.Login(c.login)).Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return cachedCredential{}, fmt.Errorf("user: %w", err)
	}
	against, why := v.dummy, wrongPair
	switch {
	case err != nil: // there is no such user
	case u.DisabledAt != nil:
		why = disabledUser
	case u.PasswordHash == nil:
		why = userWithoutPassword
	default:
		if kept, err := parseHash(*u.PasswordHash); err == nil {
			against = kept
		} else {
			why = brokenHash
			v.Log.ErrorContext(ctx, "password hash", "user", u.ID, "error", err)
		}
	}
	ok, err := v.compute(ctx, against, c.secret)
	if err != nil {
		return cachedCredential{}, fmt.Errorf("password: %w", err)
	}
	if !ok {
		return cachedCredential{}, why
	}
	// The row may have changed while the request waited.
	return v.unchanged(ctx, u.ID, c.login, *u.PasswordHash)
}

// unchanged checks without hashing that a user still has the given password hash and is not disabled.
func (v *Verifier) unchanged(ctx context.Context, userID int64, login, hash string) (cachedCredential, error) {
	now := v.now()
	u, err := v.db.User.Get(ctx, userID)
	switch {
	case ent.IsNotFound(err):
		return cachedCredential{}, wrongPair
	case err != nil:
		return cachedCredential{}, fmt.Errorf("user %d: %w", userID, err)
	case u.DisabledAt != nil:
		return cachedCredential{}, disabledUser
	case u.PasswordHash == nil:
		return cachedCredential{}, userWithoutPassword
	case u.Login != login || subtle.ConstantTimeCompare([]byte(*u.PasswordHash), []byte(hash)) != 1:
		return cachedCredential{}, wrongPair
	}
	return cachedCredential{principal: principalOf(u), hash: hash, checked: now}, nil
}

// compute waits for a slot, hashes the password and compares it with h.
func (v *Verifier) compute(ctx context.Context, h passwordHash, password string) (bool, error) {
	// If a slot is free and the context has ended, select may choose either.
	if err := ctx.Err(); err != nil {
		return false, err
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case v.slots <- struct{}{}:
	}
	defer func() { <-v.slots }()
	return v.matches(h, password), nil
}

// touch records the use of a token in the database, once a minute for all processes together. A failure or
// timeout neither rejects the caller nor delays the reply further. The first use after another minute tries
// again.
func (v *Verifier) touch(ctx context.Context, key cacheKey, found cachedCredential) {
	now, id := v.now(), found.principal.TokenID
	if id == 0 || now.Sub(found.touched) < touchEvery || !v.cache.claimTouch(key, now) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, v.touchTime)
	defer cancel()
	at := databaseTime(now)
	_, err := v.db.Token.Update().Where(
		token.ID(id),
		token.Or(token.LastUsedAtIsNil(), token.LastUsedAtLTE(at.Add(-touchEvery))),
	).SetLastUsedAt(at).Save(ctx)
	if err != nil {
		v.Log.WarnContext(ctx, "last use of a token", "token", id, "error", err)
	}
}

func principalOf(u *ent.User) Principal {
	return Principal{UserID: u.ID, Login: u.Login, Role: u.Role}
}
