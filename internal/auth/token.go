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

// tokenPrefix begins every token, so that people and scanners for leaked secrets recognise it.
const tokenPrefix = "alm_"

// tokenBytes is the number of random bytes in a token.
const tokenBytes = 32

// ErrTokenExpiry and ErrNoToken are errors of IssueToken and RevokeToken.
var (
	ErrTokenExpiry = errors.New("expiry is not in the future")
	ErrNoToken     = errors.New("no such token")
)

// IssueToken creates an access token for a user; db may be a transaction. Only this call returns the secret,
// because the database stores its SHA-256 hash. A nil expires means never. It is stored in whole seconds.
// Errors are ErrName, ErrTokenExpiry and ErrNoUser.
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
	if ent.IsConstraintError(err) { // only the foreign key can fail, because the hash is random
		return "", nil, fmt.Errorf("token for user %d: %w", userID, ErrNoUser)
	}
	if err != nil {
		return "", nil, fmt.Errorf("token for user %d: %w", userID, err)
	}
	return secret, t, nil
}

// RevokeToken revokes a token. Running processes refuse it within seconds. Revoking a token again does not
// change the time of revocation. The error is ErrNoToken.
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
	rand.Read(b[:]) // rand.Read never fails; without randomness it ends the program
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

func hashToken(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// isToken reports whether a secret has the form of a token. Passwords never do. So a token is looked up without
// the cost of a password hash.
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

// removeSpaces removes the spaces that people may copy with a token.
func removeSpaces(secret string) string { return strings.ReplaceAll(secret, " ", "") }
