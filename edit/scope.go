package edit

// Scope selects the occurrences of a series that a write changes (contract, section 19.5).
type Scope string

// The scopes of a write. The scope "" means ThisOccurrence.
const (
	ThisOccurrence       Scope = "this"
	FollowingOccurrences Scope = "following" // the addressed occurrence and those with a later nominal start
	AllOccurrences       Scope = "all"
)

// Scopes lists all scopes.
var Scopes = []Scope{ThisOccurrence, FollowingOccurrences, AllOccurrences}

// IsSeries reports whether a write of scope s changes a series, not one occurrence alone.
func (s Scope) IsSeries() bool { return s == FollowingOccurrences || s == AllOccurrences }
