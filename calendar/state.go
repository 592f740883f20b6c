package calendar

import "slices"

// EventStatus tells readers whether an event takes place as planned (contract, section 27.3). It is independent
// of Status, the status of the record.
type EventStatus string

// Scheduled, Canceled and Postponed are the values of EventStatus.
const (
	Scheduled EventStatus = "scheduled"
	Canceled  EventStatus = "canceled"
	Postponed EventStatus = "postponed"
)

// EventStatuses lists all states of events.
var EventStatuses = []EventStatus{Scheduled, Canceled, Postponed}

// Known reports whether s is one of EventStatuses.
func (s EventStatus) Known() bool { return slices.Contains(EventStatuses, s) }

// Attendance is the place where people attend an event: at the venue, online or both (contract, section 27.3).
type Attendance string

// Offline, Online and Mixed are the values of Attendance.
const (
	Offline Attendance = "offline"
	Online  Attendance = "online"
	Mixed   Attendance = "mixed" // at the venue or online
)

// Attendances lists all ways to attend events.
var Attendances = []Attendance{Offline, Online, Mixed}

// Known reports whether a is one of Attendances.
func (a Attendance) Known() bool { return slices.Contains(Attendances, a) }
