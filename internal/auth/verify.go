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

// maxWaiting is how many passwords wait to be computed, beyond those that are. A request that waits keeps others from the
// server, so that is bounded to what a processor computes within a fraction of a second.
const maxWaiting = 4

// touchTime is how long a reply waits for the last use of its token to be written. It is a commit, or a write lock that
// somebody else has for longer than anybody should wait for this.
const touchTime = 200 * time.Millisecond

// ErrBusy is returned by Verify for a password when too many others wait to be computed. It says nothing about the
// password, nor about whether there is such a user.
var ErrBusy = errors.New("too many passwords are being verified")

// Verifier checks credentials against the database. A password costs some 50 ms of computation the first
// time, and again only when it was not used for a quarter of an hour or the user changed; a change of
// password or role, a revocation and a disabling are noticed within 5 s. Any number of goroutines may use it.
type Verifier struct {
	// Log is told what goes wrong without concerning the caller. NewVerifier sets slog.Default(); to be
	// replaced before the first use.
	Log *slog.Logger

	db      *ent.Client
	now     func() time.Time
	key     [32]byte // of this process, for cache keys
	cache   *cache
	line    chan struct{} // one per password that is computed, or waits for that
	slots   chan struct{} // one per password computation under way
	dummy   passwordHash
	matches func(passwordHash, string) bool

	touchTime time.Duration
}

// NewVerifier is a verifier with the clock now. Password computations run on at most half of the processors, and few
// wait for that, so that a flood of wrong passwords leaves room for everybody else.
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
	rand.Read(v.key[:]) // never fails: without randomness it ends the program
	return v
}

// Verify finds who presents an Authorization header; "" is the anonymous caller (contract, section 12.1).
// Basic takes a login with a password or a token of the user, Bearer a token.
//
// Credentials that are malformed, wrong, revoked or expired, and those of a disabled user, are a
// *calendar.Error with the code incorrect_password for Basic and rest_invalid_token for other schemes. ErrBusy comes at
// once, for a password that has to be computed and not for one that is remembered. Other errors are of the database or
// of ctx, which also ends the wait for a turn to compute.
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

// expired reports whether now is at or after the expiry of the token.
func (f cachedCredential) expired(now time.Time) bool {
	return !f.expires.IsZero() && !now.Before(f.expires)
}

// cacheKey is a keyed hash of everything in c. Neither a scheme nor a login contains the separator.
func (v *Verifier) cacheKey(c credential) (key cacheKey) {
	mac := hmac.New(sha256.New, v.key[:])
	mac.Write([]byte{byte(c.scheme)})
	mac.Write([]byte(c.login + ":" + c.secret))
	mac.Sum(key[:0])
	return key
}

// find answers from the cache, or with what another goroutine is just finding out, or from the database.
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

// lead asks the database for all who wait for f. Whatever happens to the leader, a panic included, they are
// let go.
func (v *Verifier) lead(ctx context.Context, key cacheKey, f *verification, c credential, known cachedCredential) (cachedCredential, error) {
	defer func() { v.cache.land(key, f, v.now()) }()
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

// askToken looks a token up. The index finds its hash, of which timing tells nothing that helps to guess.
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

// askPassword costs the same computation whether the user exists, is disabled, has a password or not, so that
// the time of the answer does not tell which logins there are.
func (v *Verifier) askPassword(ctx context.Context, c credential) (cachedCredential, error) {
	// Before the user is looked up: without a computation after it, the time that takes would tell something.
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
	case err != nil: // not found
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
	// The computation may have waited for its turn, and what it proved is about a row read before.
	return v.unchanged(ctx, u.ID, c.login, *u.PasswordHash)
}

// unchanged verifies cheaply what matched hash before: the user still has it and is not disabled.
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

// compute compares when it is its turn.
func (v *Verifier) compute(ctx context.Context, h passwordHash, password string) (bool, error) {
	// Of a free slot and an ended context select would take either.
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

// touch notes the use of a token, once a minute over all processes. That it fails, or takes too long, is no reason to
// refuse the caller or to keep it waiting: the first use after another minute does it then.
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
