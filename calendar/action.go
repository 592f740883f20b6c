package calendar

// Action is the kind of a change in the change log.
type Action string

// Created to Loaded are the values of Action.
const (
	Created   Action = "create"
	Updated   Action = "update"
	Published Action = "publish" // the publication date of a scheduled record came
	Trashed   Action = "trash"
	Restored  Action = "restore"
	Deleted   Action = "delete"
	Loaded    Action = "loaded" // many new records in one entry: its record id is that of the first, its field the id of the last
)
