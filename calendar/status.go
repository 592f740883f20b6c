package calendar

import (
	"slices"
	"time"
)

// Status is the state of a record, such as draft, pending, published or in the trash.
type Status string

// Publish to Trash are the values of Status (contract, section 12.2).
const (
	Publish Status = "publish"
	Future  Status = "future"
	Draft   Status = "draft"
	Pending Status = "pending"
	Private Status = "private"
	Trash   Status = "trash"
)

// Statuses lists all statuses.
var Statuses = []Status{Publish, Future, Draft, Pending, Private, Trash}

// Known reports whether s is one of Statuses.
func (s Status) Known() bool { return slices.Contains(Statuses, s) }

// Shown returns the status that readers see at now. A record with the status future counts as published from its
// publication date on. A published record stays published even if the clock of this process is slow.
func (s Status) Shown(now, published time.Time) Status {
	if s == Future && !published.After(now) {
		return Publish
	}
	return s
}

// HasSlug reports whether every record with this status has a slug. A draft or pending record has none until a
// client sends one.
func (s Status) HasSlug() bool { return s == Publish || s == Future || s == Private }
