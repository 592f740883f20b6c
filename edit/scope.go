package edit

// Scope selects the occurrences of a series that a write changes (contract, section 19.5).
type Scope string

// ThisOccurrence, FollowingOccurrences and AllOccurrences are the values of Scope. "" means ThisOccurrence. The
// addressed occurrence is the one whose id is in the path of the request.
const (
	ThisOccurrence       Scope = "this"
	FollowingOccurrences Scope = "following" // the addressed occurrence and the later ones
	AllOccurrences       Scope = "all"
)

// Scopes lists all scopes.
var Scopes = []Scope{ThisOccurrence, FollowingOccurrences, AllOccurrences}

// IsSeries reports whether a write of scope s changes a series, not one occurrence alone.
func (s Scope) IsSeries() bool { return s == FollowingOccurrences || s == AllOccurrences }
