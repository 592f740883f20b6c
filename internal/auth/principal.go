// Package auth decides what a caller may do. It verifies passwords and access tokens, and contains the permission
// matrix as one table. It stores hashes only, never a secret. Its only link to HTTP is the text of the Authorization
// header.
package auth

import "github.com/almanac-cal/almanac/calendar"

// Principal is the caller of a request. The zero value is the anonymous caller.
type Principal struct {
	UserID int64
	Login  string
	Role   calendar.Role
	// TokenID is the access token that was presented, 0 for a password. Nothing is permitted or refused by it.
	TokenID int64
}

// System returns the caller for commands such as an import: an administrator without a user. It owns no record.
func System() Principal { return Principal{Role: calendar.Administrator} }

// Anonymous reports whether p presented no credentials.
func (p Principal) Anonymous() bool { return p == Principal{} }

// owns reports whether p is the author with the user id. It is false for 0, so neither the anonymous caller nor System
// owns a record without an author.
func (p Principal) owns(author int64) bool { return p.UserID != 0 && p.UserID == author }
