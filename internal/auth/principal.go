// Package auth decides who a caller is, by password or access token. It also decides what the caller may do,
// by one permission matrix.
// The database stores hashes, never secrets. The package does not use HTTP, apart from the text of the
// Authorization header.
package auth

import "github.com/almanac-cal/almanac/calendar"

// Principal is the caller of a request. The zero value is the anonymous caller.
type Principal struct {
	UserID int64
	Login  string
	Role   calendar.Role
	// TokenID is the id of the access token that was used. 0 means a password. Permissions do not depend on it.
	TokenID int64
}

// System returns the caller for commands such as an import: an administrator without a user. It owns no record.
func System() Principal { return Principal{Role: calendar.Administrator} }

// Anonymous reports whether the caller sent no credentials.
func (p Principal) Anonymous() bool { return p == Principal{} }

// owns reports whether p is the author with the given user id. It is false for 0, so neither the anonymous
// caller nor System owns records without an author.
func (p Principal) owns(author int64) bool { return p.UserID != 0 && p.UserID == author }
