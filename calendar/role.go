package calendar

import "slices"

// Role is what a user may do, as one word.
type Role string

// The roles, each may do what the one before it may.
const (
	Subscriber    Role = "subscriber"
	Contributor   Role = "contributor"
	Author        Role = "author"
	Editor        Role = "editor"
	Administrator Role = "administrator"
)

// Roles lists them in rising order.
var Roles = []Role{Subscriber, Contributor, Author, Editor, Administrator}

// Known reports whether r is one of Roles.
func (r Role) Known() bool { return slices.Contains(Roles, r) }

// AtLeast reports whether r may do what least may. The empty role, of anonymous callers, is below all.
func (r Role) AtLeast(least Role) bool { return slices.Index(Roles, r) >= slices.Index(Roles, least) }
