package calendar

import "slices"

// Version counts the writes of a record. All counts every write, and the creation of the record is the first.
// Hidden counts the writes whose changes the public cannot see.
type Version struct{ All, Hidden int64 }

// Public returns the version number for readers who must not notice hidden changes.
func (v Version) Public() int64 { return v.All - v.Hidden }

// ShownVersion is the version of the record in a reply, for its ETag. The zero value means that the reply has no
// record, or several.
type ShownVersion struct {
	Number int64 // Version.All, or the result of Version.Public
	Public bool  // Number is the result of Version.Public
}

// Versions is a set of versions of one record, such as those in an If-Match header.
type Versions struct {
	Any    bool    // all versions
	List   []int64 // values of Version.All
	Public []int64 // results of Version.Public
}

// Has reports whether a version is in the set.
func (s *Versions) Has(v Version) bool {
	return s.Any || slices.Contains(s.List, v.All) || slices.Contains(s.Public, v.Public())
}

// Precondition is a condition on the version of a record, so that a writer does not overwrite changes it has not
// seen. The zero value sets no condition.
type Precondition struct {
	Some *Versions // the version must be one of these; nil allows any
	None *Versions // the version must be none of these; nil allows any
}

// Met reports whether a record with this version meets the precondition.
func (e Precondition) Met(v Version) bool {
	return (e.Some == nil || e.Some.Has(v)) && (e.None == nil || !e.None.Has(v))
}
