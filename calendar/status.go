package calendar

import (
	"slices"
	"time"
)

// Status is where a record stands between draft and public.
type Status string

// The statuses of events, venues and organizers (contract, section 12.2).
const (
	Publish Status = "publish"
	Future  Status = "future"
	Draft   Status = "draft"
	Pending Status = "pending"
	Private Status = "private"
	Trash   Status = "trash"
)

// Statuses lists them all.
var Statuses = []Status{Publish, Future, Draft, Pending, Private, Trash}

// Known reports whether s is one of Statuses.
func (s Status) Known() bool { return slices.Contains(Statuses, s) }

// At is the status at now of a record that is written with the status s and the publication instant published:
// future becomes publish when its date has come, and publish is future until then.
func (s Status) At(now, published time.Time) Status {
	switch {
	case s == Future && !published.After(now):
		return Publish
	case s == Publish && published.After(now):
		return Future
	}
	return s
}

// Shown is the status at now of a record that is stored: future is publish from its date on, whether or not it was noted
// yet. What is stored as publish stays so, by a clock that is behind, too: it is in all lists.
func (s Status) Shown(now, published time.Time) Status {
	if s == Future && !published.After(now) {
		return Publish
	}
	return s
}

// HasSlug reports whether a record of the status always has a slug; a draft or pending one has none until
// one is sent.
func (s Status) HasSlug() bool { return s == Publish || s == Future || s == Private }
