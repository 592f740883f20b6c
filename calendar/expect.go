package calendar

import "slices"

// Versions are some of the versions that a record may have: a record starts with 1, and each write adds one.
type Versions struct {
	Any  bool // all there are
	List []int64
}

// Has reports whether a version is among them.
func (v *Versions) Has(version int64) bool { return v.Any || slices.Contains(v.List, version) }

// Expect is what somebody who changes a record expects of its version, so that nobody overwrites what they have not
// seen. The zero value expects nothing.
type Expect struct {
	Some *Versions // it is one of these; nil: it may be any
	None *Versions // it is none of these; nil: it may be any
}

// Met reports whether a record of that version is as expected.
func (e Expect) Met(version int64) bool {
	return (e.Some == nil || e.Some.Has(version)) && (e.None == nil || !e.None.Has(version))
}
