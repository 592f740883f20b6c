package calendar

import "slices"

// Versions is a set of versions of a record. A new record has version 1, and each write adds one.
type Versions struct {
	Any  bool // all versions
	List []int64
}

// Has reports whether a version is in the set.
func (v *Versions) Has(version int64) bool { return v.Any || slices.Contains(v.List, version) }

// Expect is a precondition on the version of a record, so that a writer does not overwrite changes it has not
// seen. The zero value sets no condition.
type Expect struct {
	Some *Versions // the version must be one of these; nil allows any
	None *Versions // the version must be none of these; nil allows any
}

// Met reports whether a record with this version meets the precondition.
func (e Expect) Met(version int64) bool {
	return (e.Some == nil || e.Some.Has(version)) && (e.None == nil || !e.None.Has(version))
}
