package calendar

// Template has the fields that the occurrences of a series share: all fields except dates, author, status and
// publication date, and the texts in all languages. New occurrences do not get ids of records that no longer
// exist.
type Template struct {
	// Original is in the language of the series. Its Slug is that of the series.
	Original Text
	Others   []Text `json:",omitempty"` // in other languages, sorted by language

	Cost    Cost    `json:",omitzero"`
	Website *string `json:",omitempty"` // nil: never set
	// PasswordHash is keyed with PasswordID. It is nil without a password.
	PasswordHash []byte `json:",omitempty"`
	PasswordID   int64  `json:",omitempty"`

	ShowMap          bool `json:",omitempty"`
	ShowMapLink      bool `json:",omitempty"`
	HideFromListings bool `json:",omitempty"`
	Sticky           bool `json:",omitempty"`
	Featured         bool `json:",omitempty"`
	Ticketed         bool `json:",omitempty"`

	EventStatus EventStatus
	Attendance  Attendance
	VirtualURL  string `json:",omitempty"`

	ImageID  int64 `json:",omitempty"` // 0: none
	ParentID int64 `json:",omitempty"` // 0: none

	Categories []int64 `json:",omitempty"`
	Tags       []int64 `json:",omitempty"`
	Venues     []int64 `json:",omitempty"` // in their order
	Organizers []int64 `json:",omitempty"` // in their order
}
