package auth

import (
	"slices"
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
)

// Operation is an action on the calendar that requires a permission.
type Operation string

// Read to DeleteImage are the operations of the permission matrix.
const (
	Read        Operation = "read"
	Create      Operation = "create"
	Publish     Operation = "publish" // to set the status publish, future or private
	Edit        Operation = "edit"
	Delete      Operation = "delete"
	Restore     Operation = "restore"    // to take out of the trash
	SetAuthor   Operation = "set author" // to assign another user as author
	ManageTerms Operation = "manage terms"
	Upload      Operation = "upload an image"
	ListImages  Operation = "list images"
	DeleteImage Operation = "delete an image"
)

// Operations lists all operations.
var Operations = []Operation{
	Read, Create, Publish, Edit, Delete, Restore, SetAuthor, ManageTerms, Upload, ListImages, DeleteImage,
}

// Record is the target of an operation. AuthorID is a user id, for an image that of the uploader; 0 means none.
// Status is the effective status (calendar.Status.Shown). BeforeTrash is the earlier status of a trashed
// record.
type Record struct {
	Kind        calendar.Kind
	AuthorID    int64
	Status      calendar.Status
	BeforeTrash calendar.Status
}

// RecordOf returns the Record of a row. A nil authorID means no author.
func RecordOf(kind calendar.Kind, authorID *int64, status, before calendar.Status) Record {
	r := Record{Kind: kind, Status: status, BeforeTrash: before}
	if authorID != nil {
		r.AuthorID = *authorID
	}
	return r
}

// stage is a group of statuses with the same permissions. Rules combine stages as bits.
type stage uint8

const (
	stagePublished stage = 1 << iota
	stageDraftOrPending
	stagePrivateOrFuture
	stageWasDraftOrPending // in the trash, earlier draft or pending
	stageWasOther          // in the trash, earlier any other status

	anyStage         stage = 0 // records of any status
	stageUnpublished       = stageDraftOrPending | stagePrivateOrFuture
	stageTrashed           = stageWasDraftOrPending | stageWasOther
	allStages              = stagePublished | stageUnpublished | stageTrashed
)

func (r Record) stage() stage {
	switch r.Status {
	case calendar.Publish:
		return stagePublished
	case calendar.Draft, calendar.Pending:
		return stageDraftOrPending
	case calendar.Private, calendar.Future:
		return stagePrivateOrFuture
	case calendar.Trash:
		if r.BeforeTrash == calendar.Draft || r.BeforeTrash == calendar.Pending {
			return stageWasDraftOrPending
		}
		return stageWasOther
	}
	return 0
}

// ownership limits a rule of the permission matrix to the caller's own records, or to records of others.
type ownership uint8

const (
	anyOwner ownership = iota
	ownOnly
	othersOnly
)

// n and y are the cells of the matrix: no and yes.
const (
	n = false
	y = true
)

// cells has the permissions of each role in a line of the matrix. The columns are anonymous, subscriber, contributor,
// author, and editor or administrator.
type cells [5]bool

// rule is a line of the permission matrix. Nil kinds mean that it applies to all kinds.
type rule struct {
	may       cells
	operation Operation
	kinds     []calendar.Kind
	stages    stage
	whose     ownership
}

var (
	recordKinds = calendar.PublishedKinds
	namedKinds  = calendar.NamedKinds
	openKinds   = []calendar.Kind{calendar.Category, calendar.Tag, calendar.Image}
)

// matrix is the permission matrix (contract, section 12.3). An operation without a matching line is forbidden:
// for example reading a trashed event, or restoring a record that is not in the trash.
var matrix = []rule{
	{cells{y, y, y, y, y}, Read, recordKinds, stagePublished, anyOwner},
	{cells{n, n, y, y, y}, Read, recordKinds, stageUnpublished, ownOnly},
	{cells{n, n, n, n, y}, Read, recordKinds, stageUnpublished, othersOnly},
	// A caller who may edit a trashed record with a name may read it.
	{cells{n, n, y, y, y}, Read, namedKinds, stageWasDraftOrPending, ownOnly},
	{cells{n, n, n, y, y}, Read, namedKinds, stageWasOther, ownOnly},
	{cells{n, n, n, n, y}, Read, namedKinds, stageTrashed, othersOnly},
	{cells{y, y, y, y, y}, Read, openKinds, anyStage, anyOwner},

	{cells{n, n, y, y, y}, Create, recordKinds, anyStage, anyOwner},
	{cells{n, n, n, y, y}, Publish, recordKinds, anyStage, anyOwner},

	// A contributor's permission for a trashed record depends on the status before it was trashed.
	{cells{n, n, y, y, y}, Edit, recordKinds, stageDraftOrPending | stageWasDraftOrPending, ownOnly},
	{cells{n, n, n, y, y}, Edit, recordKinds, stagePublished | stagePrivateOrFuture | stageWasOther, ownOnly},
	{cells{n, n, n, n, y}, Edit, recordKinds, allStages, othersOnly},

	{cells{n, n, y, y, y}, Delete, recordKinds, stageDraftOrPending | stageWasDraftOrPending, ownOnly},
	{cells{n, n, n, y, y}, Delete, recordKinds, stagePublished | stagePrivateOrFuture | stageWasOther, ownOnly},
	{cells{n, n, n, n, y}, Delete, recordKinds, allStages, othersOnly},

	{cells{n, n, y, y, y}, Restore, recordKinds, stageWasDraftOrPending, ownOnly},
	{cells{n, n, n, y, y}, Restore, recordKinds, stageWasOther, ownOnly},
	{cells{n, n, n, n, y}, Restore, recordKinds, stageTrashed, othersOnly},

	{cells{n, n, n, n, y}, SetAuthor, recordKinds, anyStage, anyOwner},

	{cells{n, n, n, y, y}, ManageTerms, nil, anyStage, anyOwner},

	{cells{n, n, n, y, y}, Upload, nil, anyStage, anyOwner},
	{cells{n, n, n, y, y}, ListImages, nil, anyStage, anyOwner},
	{cells{n, n, n, y, y}, DeleteImage, nil, anyStage, ownOnly},
	{cells{n, n, n, n, y}, DeleteImage, nil, anyStage, othersOnly},
}

// column returns the column of a role in the matrix. An unknown role has the permissions of the anonymous
// caller.
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
// Create, Publish and SetAuthor depend on the kind only. A change of an existing record needs Edit as well.
// ManageTerms, Upload and ListImages ignore the record; DeleteImage depends on its author. Every caller may read terms
// and images. Read covers single records. The trash is listed for owners and for callers with MaySeeAllUnpublished.
func May(p Principal, op Operation, r Record) bool {
	at, mine, place := column(p.Role), p.owns(r.AuthorID), r.stage()
	return slices.ContainsFunc(matrix, func(l rule) bool {
		return l.operation == op && l.may[at] &&
			(l.whose == anyOwner || mine == (l.whose == ownOnly)) &&
			(l.stages == anyStage || l.stages&place != 0) &&
			(l.kinds == nil || slices.Contains(l.kinds, r.Kind))
	})
}

// MaySeeOwnUnpublished reports whether lists show p its own unpublished records.
func MaySeeOwnUnpublished(p Principal) bool {
	return May(p, Read, Record{Kind: calendar.Event, Status: calendar.Draft, AuthorID: p.UserID})
}

// MaySeeAllUnpublished reports whether lists show p the unpublished records of all authors.
func MaySeeAllUnpublished(p Principal) bool {
	return May(p, Read, Record{Kind: calendar.Event, Status: calendar.Draft})
}

// ReadScope returns a text that is equal for callers who may read the same records outside the trash. Caches
// use it as a key.
func ReadScope(p Principal) string {
	switch {
	case MaySeeAllUnpublished(p):
		return "all"
	case MaySeeOwnUnpublished(p):
		return strconv.FormatInt(p.UserID, 10)
	}
	return ""
}
