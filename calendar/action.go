package calendar

// Action is the kind of a change of a record: created, updated and so on.
type Action string

// The actions of the change log.
const (
	Created   Action = "create"
	Updated   Action = "update"
	Published Action = "publish" // a scheduled record whose date came
	Trashed   Action = "trash"
	Restored  Action = "restore"
	Deleted   Action = "delete"
	Loaded    Action = "loaded" // a block of new records: the entry is of the first, its field is the id of the last
)
