package auth

import (
	"slices"
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
)

// Operation is something done to the calendar for which a right is needed.
type Operation string

// The operations of the permission matrix.
const (
	Read        Operation = "read"
	Create      Operation = "create"
	Publish     Operation = "publish" // to give the status publish, future or private
	Edit        Operation = "edit"
	Delete      Operation = "delete"
	Restore     Operation = "restore"    // out of the trash
	SetAuthor   Operation = "set author" // to somebody else
	ManageTerms Operation = "manage terms"
	Upload      Operation = "upload an image"
	ListImages  Operation = "list images"
	DeleteImage Operation = "delete an image"
)

// Operations lists them all.
var Operations = []Operation{
	Read, Create, Publish, Edit, Delete, Restore, SetAuthor, ManageTerms, Upload, ListImages, DeleteImage,
}

// Record is what the matrix asks about the thing an operation is done to. AuthorID is a user id, 0 for none;
// for an image it is who uploaded it. Status is the effective one (calendar.Status.Shown); BeforeTrash is the
// status a trashed record had, and means nothing for others.
type Record struct {
	Kind        calendar.Kind
	AuthorID    int64
	Status      calendar.Status
	BeforeTrash calendar.Status
}

// RecordOf returns what the matrix asks about a row. A nil authorID is a record without an author.
func RecordOf(kind calendar.Kind, authorID *int64, status, before calendar.Status) Record {
	r := Record{Kind: kind, Status: status, BeforeTrash: before}
	if authorID != nil {
		r.AuthorID = *authorID
	}
	return r
}

// stage is where a record stands, as far as rights tell statuses apart; a set of them in the matrix.
type stage uint8

const (
	published stage = 1 << iota
	draftOrPending
	privateOrFuture
	wasDraftOrPending // in the trash, from draft or pending
	wasOther          // in the trash, from anything else

	whatever    stage = 0 // the status does not matter
	unpublished       = draftOrPending | privateOrFuture
	trashed           = wasDraftOrPending | wasOther
	all               = published | unpublished | trashed
)

func (r Record) stage() stage {
	switch r.Status {
	case calendar.Publish:
		return published
	case calendar.Draft, calendar.Pending:
		return draftOrPending
	case calendar.Private, calendar.Future:
		return privateOrFuture
	case calendar.Trash:
		if r.BeforeTrash == calendar.Draft || r.BeforeTrash == calendar.Pending {
			return wasDraftOrPending
		}
		return wasOther
	}
	return 0
}

// whose says to whom the record of a rule belongs.
type whose uint8

const (
	anyones whose = iota
	own
	others
)

// The cells of the matrix.
const (
	n = false
	y = true
)

// cells has a column each for the anonymous caller, subscribers, contributors, authors, and editors with
// administrators.
type cells [5]bool

// rule is a line of the matrix. Without kinds it holds for everything.
type rule struct {
	may       cells
	operation Operation
	kinds     []calendar.Kind
	stages    stage
	whose     whose
}

var (
	records = []calendar.Kind{calendar.Event, calendar.Venue, calendar.Organizer, calendar.Series}
	linked  = []calendar.Kind{calendar.Venue, calendar.Organizer}
	open    = []calendar.Kind{calendar.Category, calendar.Tag, calendar.Image}
)

// matrix is the permission matrix (contract, section 12.3). What no line speaks of nobody may: read a trashed
// event, restore what is not in the trash, edit a term as if it were a record.
var matrix = []rule{
	{cells{y, y, y, y, y}, Read, records, published, anyones},
	{cells{n, n, y, y, y}, Read, records, unpublished, own},
	{cells{n, n, n, n, y}, Read, records, unpublished, others},
	// A trashed venue or organizer is read by who may edit it.
	{cells{n, n, y, y, y}, Read, linked, wasDraftOrPending, own},
	{cells{n, n, n, y, y}, Read, linked, wasOther, own},
	{cells{n, n, n, n, y}, Read, linked, trashed, others},
	{cells{y, y, y, y, y}, Read, open, whatever, anyones},

	{cells{n, n, y, y, y}, Create, records, whatever, anyones},
	{cells{n, n, n, y, y}, Publish, records, whatever, anyones},

	// A contributor's right on a trashed record follows the status it had.
	{cells{n, n, y, y, y}, Edit, records, draftOrPending | wasDraftOrPending, own},
	{cells{n, n, n, y, y}, Edit, records, published | privateOrFuture | wasOther, own},
	{cells{n, n, n, n, y}, Edit, records, all, others},

	{cells{n, n, y, y, y}, Delete, records, draftOrPending | wasDraftOrPending, own},
	{cells{n, n, n, y, y}, Delete, records, published | privateOrFuture | wasOther, own},
	{cells{n, n, n, n, y}, Delete, records, all, others},

	{cells{n, n, y, y, y}, Restore, records, wasDraftOrPending, own},
	{cells{n, n, n, y, y}, Restore, records, wasOther, own},
	{cells{n, n, n, n, y}, Restore, records, trashed, others},

	{cells{n, n, n, n, y}, SetAuthor, records, whatever, anyones},

	{cells{n, n, n, y, y}, ManageTerms, nil, whatever, anyones},

	{cells{n, n, n, y, y}, Upload, nil, whatever, anyones},
	{cells{n, n, n, y, y}, ListImages, nil, whatever, anyones},
	{cells{n, n, n, y, y}, DeleteImage, nil, whatever, own},
	{cells{n, n, n, n, y}, DeleteImage, nil, whatever, others},
}

// column is the place of a role in the lines of the matrix. A role the program does not know has the rights
// of the anonymous caller.
func column(r calendar.Role) int {
	switch r {
	case calendar.Subscriber:
		return 1
	case calendar.Contributor:
		return 2
	case calendar.Author:
		return 3
	case calendar.Editor, calendar.Administrator:
		return 4
	}
	return 0
}

// May reports whether p may do op to r (contract, section 12.3).
//
// Create, Publish and SetAuthor look at the kind only: they are rights in general, and what happens to an
// existing record needs Edit on it as well. ManageTerms, Upload and ListImages do not look at the record at
// all, DeleteImage only at its author. Terms and images are read by everybody. Read answers for a single
// record; the trash, which no single event is read from, is listed for owners and for those who
// MaySeeAllUnpublished.
func May(p Principal, op Operation, r Record) bool {
	at, mine, place := column(p.Role), p.owns(r.AuthorID), r.stage()
	return slices.ContainsFunc(matrix, func(l rule) bool {
		return l.operation == op && l.may[at] &&
			(l.whose == anyones || mine == (l.whose == own)) &&
			(l.stages == whatever || l.stages&place != 0) &&
			(l.kinds == nil || slices.Contains(l.kinds, r.Kind))
	})
}

// MayPublish reports whether what p writes may become publish, future or private. Without it these become
// pending, and a new record without a status is a draft.
func MayPublish(p Principal) bool { return May(p, Publish, Record{Kind: calendar.Event}) }

// MaySeeOwnUnpublished reports whether lists show p the records p is author of in any status.
func MaySeeOwnUnpublished(p Principal) bool {
	return May(p, Read, Record{Kind: calendar.Event, Status: calendar.Draft, AuthorID: p.UserID})
}

// MaySeeAllUnpublished reports whether lists show p everybody's records in any status.
func MaySeeAllUnpublished(p Principal) bool {
	return May(p, Read, Record{Kind: calendar.Event, Status: calendar.Draft})
}

// ReadScope returns the same text for callers who read the same records outside the trash, and another one for callers who may
// not.
func ReadScope(p Principal) string {
	switch {
	case MaySeeAllUnpublished(p):
		return "all"
	case MaySeeOwnUnpublished(p):
		return strconv.FormatInt(p.UserID, 10)
	}
	return ""
}
