package calendar

// Template has the fields that the occurrences of a series share: all fields except dates, author, status and
// publication date. It has the texts in all languages. New occurrences do not get ids of records that no longer
// exist.
type Template struct {
	// Original is the text in the original language of the series. Its Slug is that of the series.
	Original Text
	Others   []Text `json:",omitempty"` // translations, sorted by language

	Cost    Cost    `json:",omitzero"`
	Website *string `json:",omitempty"` // nil means never set
	// PasswordHash is keyed with PasswordID (edit.HashPassword). Nil means no password.
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

	ImageID  int64 `json:",omitempty"` // 0 means none
	ParentID int64 `json:",omitempty"` // 0 means none

	Categories []int64 `json:",omitempty"`
	Tags       []int64 `json:",omitempty"`
	Venues     []int64 `json:",omitempty"` // in display order
	Organizers []int64 `json:",omitempty"` // in display order
}
