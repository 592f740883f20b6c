package edit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/user"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
)

// references caches lookups of ids for the next Write, so that its first attempt need not repeat them. If a record
// was deleted since the lookup, a foreign key fails, and the retry looks it up again. Events, venues and
// organizers are not cached, because their state decides whether a write may refer to them.
type references struct {
	users, images knownIDs
	terms         map[calendar.Kind]knownIDs
}

// knownIDs is a cache of looked-up ids. The value reports whether a write may refer to the record.
type knownIDs map[int64]bool

// findIDs is a query that returns those of the given ids that a write may refer to.
type findIDs func(ctx context.Context, ids []int64) ([]int64, error)

// load looks up the ids that are not in the map yet.
func (k knownIDs) load(ctx context.Context, find findIDs, ids []int64) error {
	fresh := slices.DeleteFunc(uniqueIDs(ids), func(id int64) bool { _, known := k[id]; return known })
	for part := range slices.Chunk(fresh, BatchSize) {
		found, err := find(ctx, part)
		if err != nil {
			return err
		}
		for _, id := range part {
			k[id] = false
		}
		for _, id := range found {
			k[id] = true
		}
	}
	return nil
}

// fault returns the parameter error with the ids that a write may not refer to. It returns nil if there are none. It
// runs find for ids that are not cached.
func (k knownIDs) fault(ctx context.Context, find findIDs, kind calendar.Kind, ids []int64) (*param.Fault, error) {
	return unknownFault(kind, ids, func(part []int64) ([]int64, error) {
		err := k.load(ctx, find, part)
		return slices.DeleteFunc(slices.Clone(part), func(id int64) bool { return !k[id] }), err
	})
}

// unknownFault returns a parameter error with the ids that find does not return, or nil. It searches in batches and
// stops after the first batch with an unknown id. Even anonymous clients can send thousands of ids.
func unknownFault(kind calendar.Kind, ids []int64, find func(part []int64) ([]int64, error)) (*param.Fault, error) {
	for part := range slices.Chunk(uniqueIDs(ids), BatchSize) {
		found, err := find(part)
		if err != nil {
			return nil, err
		}
		if missing := idsWithout(part, found); missing != nil {
			return UnknownIDs(kind, missing), nil
		}
	}
	return nil, nil
}

// authorKind stands for users in the keys of error messages.
const authorKind calendar.Kind = "user"

// UnknownIDs returns the parameter error for ids that belong to no record of the kind. It is also for records that
// the caller may not read, so that the response does not reveal them.
func UnknownIDs(kind calendar.Kind, ids []int64) *param.Fault {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.FormatInt(id, 10)
	}
	return &param.Fault{
		Reason: "unknown-ids", Key: "no-" + string(kind),
		Args: map[string]any{"IDs": strings.Join(words, ", "), "Count": len(ids)}, Data: map[string]any{"ids": ids},
	}
}

// The following functions return the error of a parameter that refers to a record. Nil means that there is no error.
// The caller sets the name of the parameter. A write passes the client of its transaction, other callers any client.

// LoadReferences looks up authors and images in batches. Later calls of AuthorFault and ImageFault then need no
// query.
func (e *Editor) LoadReferences(ctx context.Context, db *ent.Client, authors, images []int64) error {
	e.makeReferences()
	if err := e.refs.users.load(ctx, findUsers(db), authors); err != nil {
		return fmt.Errorf("authors: %w", err)
	}
	if err := e.refs.images.load(ctx, findImages(db), images); err != nil {
		return fmt.Errorf("images: %w", err)
	}
	return nil
}

// AuthorFault returns a parameter error if no user has the id. It returns nil otherwise.
func (e *Editor) AuthorFault(ctx context.Context, db *ent.Client, id int64) (*param.Fault, error) {
	e.makeReferences()
	fault, err := e.refs.users.fault(ctx, findUsers(db), authorKind, []int64{id})
	if err != nil {
		return nil, fmt.Errorf("author %d: %w", id, err)
	}
	return fault, nil
}

// ImageFault returns a parameter error if no image has the id. It returns nil otherwise, and for 0, which means no
// image.
func (e *Editor) ImageFault(ctx context.Context, db *ent.Client, id int64) (*param.Fault, error) {
	if id == 0 {
		return nil, nil
	}
	e.makeReferences()
	fault, err := e.refs.images.fault(ctx, findImages(db), calendar.Image, []int64{id})
	if err != nil {
		return nil, fmt.Errorf("image %d: %w", id, err)
	}
	return fault, nil
}

// TermsFault returns a parameter error with the ids that belong to no term of the taxonomy. It returns nil if there
// are none.
func (e *Editor) TermsFault(
	ctx context.Context, db *ent.Client, taxonomy calendar.Kind, ids []int64,
) (*param.Fault, error) {
	e.makeReferences()
	fault, err := e.refs.terms[taxonomy].fault(ctx, func(ctx context.Context, ids []int64) ([]int64, error) {
		return db.Term.Query().Where(term.IDIn(ids...), term.TaxonomyEQ(taxonomy)).IDs(ctx)
	}, taxonomy, ids)
	if err != nil {
		return nil, fmt.Errorf("%s by id: %w", taxonomy, err)
	}
	return fault, nil
}

// ParentFault returns a parameter error unless the parent is an event outside the trash that the caller may read. It
// returns nil for 0, which means no parent.
func (e *Editor) ParentFault(ctx context.Context, db *ent.Client, id int64) (*param.Fault, error) {
	if id == 0 {
		return nil, nil
	}
	row, err := db.Event.Query().Where(event.ID(id), event.StatusNEQ(calendar.Trash)).
		Select(event.FieldID, event.FieldAuthorID, event.FieldStatus, event.FieldPublishedAt).Only(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return nil, fmt.Errorf("parent %d: %w", id, err)
	}
	if err != nil || !e.isAllowed(auth.Read, eventRecord(row)) {
		return UnknownIDs(calendar.Event, []int64{id}), nil
	}
	return nil, nil
}

// LinkFault returns a parameter error with the ids to which an event may not be linked, or nil. Linkable are venues
// and organizers outside the trash that the caller may read.
func (e *Editor) LinkFault(
	ctx context.Context, db *ent.Client, kind calendar.Kind, ids []int64,
) (*param.Fault, error) {
	return unknownFault(kind, ids, func(part []int64) ([]int64, error) {
		return e.linkable(ctx, db, kind, part, func(*sql.Selector) {})
	})
}

// lockedLinkFault returns a parameter error with the ids to which an event may not be linked, or nil. It locks the
// records, so that none of them moves to the trash before the transaction ends.
func (e *Editor) lockedLinkFault(
	ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64,
) (*param.Fault, error) {
	return unknownFault(kind, ids, func(part []int64) ([]int64, error) {
		return e.LockLinkable(ctx, tx, kind, part)
	})
}

// LockLinkable returns the ids that an event may be linked to: those of venues or organizers that are not in
// the trash and that the caller may read. It locks them, so that none of them goes to the trash before the
// transaction ends.
func (e *Editor) LockLinkable(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) ([]int64, error) {
	return e.linkable(ctx, tx.Client(), kind, ids, ForShare)
}

// linkable returns those ids to which an event may be linked. They belong to venues or organizers outside the
// trash that the caller may read. The function lock can add a lock to the query. It must not be nil.
func (e *Editor) linkable(
	ctx context.Context, db *ent.Client, kind calendar.Kind, ids []int64, lock func(*sql.Selector),
) ([]int64, error) {
	readable := make([]int64, 0, len(ids))
	for part := range slices.Chunk(uniqueIDs(ids), BatchSize) {
		some, err := e.readable(ctx, db, kind, part, func(s *sql.Selector) {
			sql.FieldNEQ(event.FieldStatus, calendar.Trash)(s)
			lock(s)
		})
		if err != nil {
			return nil, err
		}
		readable = append(readable, some...)
	}
	return readable, nil
}

// SeriesFault returns a parameter error with the ids of series that are missing or not readable for the caller. It
// returns nil if there are none. Series in the trash count as unreadable.
func (e *Editor) SeriesFault(ctx context.Context, db *ent.Client, ids []int64) (*param.Fault, error) {
	return unknownFault(calendar.Series, ids, func(part []int64) ([]int64, error) {
		return e.readable(ctx, db, calendar.Series, part, func(*sql.Selector) {})
	})
}

// readable returns those ids of records of a kind that the caller may read, in ascending order. The function
// modify can add conditions or a lock to the query. It must not be nil.
func (e *Editor) readable(
	ctx context.Context, db *ent.Client, kind calendar.Kind, ids []int64, modify func(*sql.Selector),
) (found []int64, err error) {
	var rows []struct {
		ID          int64           `sql:"id"`
		AuthorID    *int64          `sql:"author_id"`
		Status      calendar.Status `sql:"status"`
		PublishedAt time.Time       `sql:"published_at"`
	}
	err = db.ScanKind(ctx, kind, &rows, func(s *sql.Selector) {
		s.Select(s.C(event.FieldID), s.C(event.FieldAuthorID), s.C(event.FieldStatus), s.C(event.FieldPublishedAt)).OrderBy(s.C(event.FieldID))
		sql.FieldIn(event.FieldID, ids...)(s)
		modify(s)
	})
	if err != nil {
		return nil, fmt.Errorf("records of kind %s to link: %w", kind, err)
	}
	for _, r := range rows {
		if auth.May(e.By, auth.Read, auth.RecordOf(kind, r.AuthorID, r.Status.Shown(e.Now, r.PublishedAt), "")) {
			found = append(found, r.ID)
		}
	}
	return found, nil
}

// makeReferences initialises the maps of e.refs if they are nil.
func (e *Editor) makeReferences() {
	if e.refs.users == nil {
		e.refs = references{
			users: knownIDs{}, images: knownIDs{},
			terms: map[calendar.Kind]knownIDs{calendar.Category: {}, calendar.Tag: {}},
		}
	}
}

func findUsers(db *ent.Client) findIDs {
	return func(ctx context.Context, ids []int64) ([]int64, error) {
		return db.User.Query().Where(user.IDIn(ids...)).IDs(ctx)
	}
}

func findImages(db *ent.Client) findIDs {
	return func(ctx context.Context, ids []int64) ([]int64, error) {
		return db.Image.Query().Where(image.IDIn(ids...)).IDs(ctx)
	}
}
