package calendar

import "slices"

// Role is the name of a set of permissions of a user.
type Role string

// Subscriber to Administrator are the values of Role. Each has all rights of the role before it.
const (
	Subscriber    Role = "subscriber"
	Contributor   Role = "contributor"
	Author        Role = "author"
	Editor        Role = "editor"
	Administrator Role = "administrator"
)

// Roles lists all roles in ascending order of rights.
var Roles = []Role{Subscriber, Contributor, Author, Editor, Administrator}

// Known reports whether r is one of Roles.
func (r Role) Known() bool { return slices.Contains(Roles, r) }

// AtLeast reports whether r has all rights of least. The empty role of anonymous callers is below all others.
func (r Role) AtLeast(least Role) bool { return slices.Index(Roles, r) >= slices.Index(Roles, least) }
