package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/ent"
)

// tokenPrefix marks our tokens, for people and for programs that look for leaked secrets.
const tokenPrefix = "alm_"

// tokenBytes is how much chance is in a token.
const tokenBytes = 32

// What tokens are refused for.
var (
	ErrTokenExpiry = errors.New("expiry is not in the future")
	ErrNoToken     = errors.New("no such token")
)

// IssueToken creates an access token for a user, in the transaction of db if it has one. The secret is returned only
// here: the database stores its SHA-256. A nil expires means never; it is stored in whole seconds. Errors are ErrName,
// ErrTokenExpiry and ErrNoUser.
func IssueToken(ctx context.Context, db *ent.Client, now time.Time, userID int64, name string, expires *time.Time) (
	secret string, t *ent.Token, err error,
) {
	if name, err = properName(name); err != nil {
		return "", nil, fmt.Errorf("token for user %d: %w", userID, err)
	}
	if expires != nil {
		at := databaseTime(*expires)
		if !at.After(now) {
			return "", nil, fmt.Errorf("token for user %d: %w", userID, ErrTokenExpiry)
		}
		expires = &at
	}
	secret = newSecret()
	t, err = db.Token.Create().SetUserID(userID).SetName(name).SetHash(hashToken(secret)).
		SetCreatedAt(databaseTime(now)).SetNillableExpiresAt(expires).Save(ctx)
	if ent.IsConstraintError(err) { // the foreign key; the hash is unique by 256 bits of chance
		return "", nil, fmt.Errorf("token for user %d: %w", userID, ErrNoUser)
	}
	if err != nil {
		return "", nil, fmt.Errorf("token for user %d: %w", userID, err)
	}
	return secret, t, nil
}

// RevokeToken ends a token. Running processes refuse it within seconds. One revoked already stays so since
// the first time. Errors: ErrNoToken.
func RevokeToken(ctx context.Context, db *ent.Client, now time.Time, tokenID int64) error {
	t, err := db.Token.Get(ctx, tokenID)
	if ent.IsNotFound(err) {
		return fmt.Errorf("token %d: %w", tokenID, ErrNoToken)
	}
	if err == nil && t.RevokedAt == nil {
		err = db.Token.UpdateOneID(tokenID).SetRevokedAt(databaseTime(now)).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("token %d: %w", tokenID, err)
	}
	return nil
}

func newSecret() string {
	var b [tokenBytes]byte
	rand.Read(b[:]) // never fails: without randomness it ends the program
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

func hashToken(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// isToken reports whether a secret has the form of a token. No password has: what is presented as a token is
// looked up and never costs a password computation.
func isToken(secret string) bool {
	text, ok := strings.CutPrefix(secret, tokenPrefix)
	if !ok || len(text) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return false
	}
	return strings.IndexFunc(text, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && (r < '0' || r > '9') && r != '-' && r != '_'
	}) < 0
}

// removeSpaces removes the spaces people copy along with a token.
func removeSpaces(secret string) string { return strings.ReplaceAll(secret, " ", "") }
