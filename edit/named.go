package edit

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/store"
)

// Named has the rules for writing records of one kind that have a name, such as venues. R is the type of a row, M
// of its mutation, T of its translation. V has the values of the fields that only this kind has.
type Named[R ent.Row, M namedMutation, T any, V comparable] struct {
	ent.NamedTable[R, M, T]
	// apply sets the sent values in a row.
	apply func(v *V, row R)
	// faults returns the parameter errors in the values of a row after a write. Nil means that the kind has no such
	// checks.
	faults func(row R) []*param.Fault
	// derive sets in m the columns that are computed from the values. Nil means that the kind has no such
	// columns.
	derive func(m M, d *diff, old, row R)
}

// NamedTexts writes the texts of one kind of named records, for callers that work with several kinds.
type NamedTexts interface {
	// LockRow loads a record and locks it until the transaction ends.
	LockRow(ctx context.Context, tx *ent.Tx, id int64) (ent.Row, error)
	// UpdateTexts stores the sent texts of a row that LockRow returned. Nil means not sent.
	UpdateTexts(ctx context.Context, tx *ent.Tx, e *Editor, row ent.Row, name, description, slug *string) error
}

// namedTexts maps each kind of records with a name, such as venues, to the writer of their texts.
var namedTexts = map[calendar.Kind]NamedTexts{}

// TextsOf returns the writer of texts for venues, organizers or another kind of named records. It returns nil for
// other kinds.
func TextsOf(kind calendar.Kind) NamedTexts { return namedTexts[kind] }

// declared registers the rules n of a kind, so that TextsOf finds them, and returns n. Each package variable such as
// Venues calls it once.
func declared[R ent.Row, M namedMutation, T any, V comparable](n *Named[R, M, T, V]) *Named[R, M, T, V] {
	namedTexts[n.Kind] = n
	return n
}

// LockRow implements NamedTexts. It loads a record and locks it until the transaction ends.
func (n *Named[R, M, T, V]) LockRow(ctx context.Context, tx *ent.Tx, id int64) (ent.Row, error) {
	return n.Lock(ctx, tx, id)
}

// UpdateTexts implements NamedTexts. It stores the sent texts of a row that LockRow returned.
func (n *Named[R, M, T, V]) UpdateTexts(ctx context.Context, tx *ent.Tx, e *Editor, row ent.Row, name, description, slug *string) error {
	own, ok := row.(R)
	if !ok {
		return fmt.Errorf("%T is no row of a %s", row, n.Kind)
	}
	_, err := n.Update(ctx, tx, e, own, &NamedInput[V]{Name: name, Description: description, Slug: slug})
	return err
}

// NamedInput is the data that a client sent for a named record, such as a venue. Nil means not sent. To create a
// record, Name is required. V has the values of the fields that only its kind has.
type NamedInput[V any] struct {
	AuthorID  *int64 // ignored for a record created with an event, which gets the author of the event
	Published *time.Time
	Status    *calendar.Status

	Name        *string
	Description *string // sanitised HTML
	Slug        *string // any text, which calendar.KeptSlug normalises; "" means not sent
	ImageID     *int64  // 0 removes the image
	Values      V

	SourceID   *string
	ModifiedAt *time.Time
}

func (in *NamedInput[V]) record() *recordInput {
	return &recordInput{
		author: in.AuthorID, published: in.Published, status: in.Status,
		sentText: sentText{title: in.Name, description: in.Description, slug: in.Slug},
		image:    in.ImageID, source: in.SourceID, modified: in.ModifiedAt,
	}
}

// recordOf returns the columns of a row that all kinds of records have. The row must have those columns that the
// caller uses.
func recordOf(row ent.Row) *record {
	c, t := row.Core(), row.Text()
	return &record{
		textOwner: textOwner{
			kind: c.Kind, id: c.ID, language: t.Language, languages: c.Languages, trashed: c.Status == calendar.Trash,
			recordText: recordText{
				title: t.Title, description: t.Description, excerpt: t.Excerpt, slug: t.Slug, reason: t.EventStatusReason,
			},
		},
		PublicationState: PublicationState{c.Status, c.StatusBeforeTrash, c.PublishedAt, c.Dated},
		author:           c.AuthorID, image: c.ImageID, source: c.SourceID, modified: c.ModifiedAt, version: c.Writes(),
	}
}

// Lock loads a record and locks it. Other writers of the record wait until the transaction ends.
func (n *Named[R, M, T, V]) Lock(ctx context.Context, tx *ent.Tx, id int64) (R, error) {
	return n.Get(ctx, tx.Client(), id, ForUpdate)
}

// Create stores a new record, unless there is a duplicate. A duplicate has the same name, and the same description
// if one is sent. It is outside the trash, and the caller may read it.
//
// If there is a duplicate, Create returns it, and created is false. It stores the other sent fields in the
// duplicate if the caller may edit it. If the input has a source id, Create always stores a new record.
func (n *Named[R, M, T, V]) Create(ctx context.Context, tx *ent.Tx, e *Editor, in *NamedInput[V]) (row R, created bool, err error) {
	return n.create(ctx, tx, e, in, in.record())
}

// createLinked stores a record that a client sent inside an event, or returns its duplicate. A new record gets
// the given author, which is that of the event.
func (n *Named[R, M, T, V]) createLinked(ctx context.Context, tx *ent.Tx, e *Editor, in *NamedInput[V], author *int64) (row R, err error) {
	s := in.record()
	s.author, s.linked = author, true
	row, _, err = n.create(ctx, tx, e, in, s)
	return row, err
}

func (n *Named[R, M, T, V]) create(
	ctx context.Context, tx *ent.Tx, e *Editor, in *NamedInput[V], s *recordInput,
) (row R, created bool, err error) {
	row, created, err = n.createOrFind(ctx, tx, e, in, s)
	if err != nil || created {
		return row, created, err
	}
	rest := *in
	rest.Name, rest.Description = nil, nil
	if s.linked {
		rest.AuthorID = nil
	}
	if rest != (NamedInput[V]{}) && e.isAllowed(auth.Edit, recordOf(row)) {
		sent := rest.record()
		sent.inline = s.linked
		row, err = n.update(ctx, tx, e, row, &rest, sent, true)
	}
	return row, false, err
}

// Update stores the sent fields of a record that the same transaction loaded, preferably with Lock.
func (n *Named[R, M, T, V]) Update(ctx context.Context, tx *ent.Tx, e *Editor, row R, in *NamedInput[V]) (R, error) {
	return n.update(ctx, tx, e, row, in, in.record(), false)
}

// Trash moves a record to the trash and removes the links of events and series to it for good. If it is in the trash
// already, Trash returns *calendar.Error, such as venue-is-in-trash.
func (n *Named[R, M, T, V]) Trash(ctx context.Context, tx *ent.Tx, e *Editor, row R) (R, error) {
	old := recordOf(row)
	if err := e.permitTrash(old); err != nil {
		return row, err
	}
	if err := e.CheckPrecondition(old.version); err != nil {
		return row, err
	}
	return n.change(ctx, tx, e, row, row, old, &recordInput{status: new(calendar.Trash)})
}

// rowAfter returns a copy of old with the image and the sent fields that only this kind has. It does not set the
// fields that all named records share.
func (n *Named[R, M, T, V]) rowAfter(in *NamedInput[V], old R) R {
	row := n.Clone(old)
	n.apply(&in.Values, row)
	*n.Image(row) = applyID(*n.Image(old), in.ImageID)
	return row
}

// fill sets in m the fields that only this kind has and that differ between old and row. For a new row it sets all
// of them. The function fillNamed sets the others.
func (n *Named[R, M, T, V]) fill(m M, old, row R, d *diff) {
	putFields(d, n.Fields, m, old, row)
	if n.derive != nil {
		n.derive(m, d, old, row)
	}
}

// check returns param.Invalid if the values of a row are not allowed for its kind.
func (n *Named[R, M, T, V]) check(row R) error {
	if n.faults == nil {
		return nil
	}
	return InvalidInput(n.faults(row)...)
}

// Draft sets the columns of a new record in m and returns the rest as a Draft. It returns param.Invalid for
// impossible values.
func (n *Named[R, M, T, V]) Draft(e *Editor, m M, in *NamedInput[V], others []calendar.Text) (*Draft, error) {
	row := n.rowAfter(in, n.New())
	if err := n.check(row); err != nil {
		return nil, err
	}
	s := in.record()
	r := e.draftRecord(n.Kind, s, others)
	d := &diff{isNew: true}
	e.fillNamed(m, r, &record{}, s, d)
	n.fill(m, n.New(), row, d)
	return e.draft(r, s, row.Searched()...), nil
}

// namedMutation is the mutation of a named record, such as a venue.
type namedMutation interface {
	recordMutation
	SetName(string)
	SetNameKey(string)
}

// fillNamed sets the changed fields in m that all named records share. The record before the write is old, and r
// is the record after it.
func (e *Editor) fillNamed(m namedMutation, r, old *record, s *recordInput, d *diff) {
	e.fill(m, r, old, s, d)
	putValue(d, "", old.title, r.title, m.SetName)
	putValue(d, "", calendar.FoldName(old.title), calendar.FoldName(r.title), m.SetNameKey)
}

// createOrFind stores a new row. If there is a duplicate, it returns that row instead, and created is false. A
// record with a source id is always new.
func (n *Named[R, M, T, V]) createOrFind(
	ctx context.Context, tx *ent.Tx, e *Editor, in *NamedInput[V], s *recordInput,
) (row R, created bool, err error) {
	none := &record{textOwner: textOwner{kind: n.Kind}}
	if err := e.checkNamed(ctx, tx, none, s); err != nil {
		return row, false, err
	}
	next := n.rowAfter(in, n.New())
	if err := n.check(next); err != nil {
		return row, false, err
	}
	// Records of a source are identified by their source id, not by their name.
	if s.source == nil {
		found, ok, err := n.findOrLock(ctx, tx, e, s)
		if ok || err != nil {
			return found, false, err
		}
	}
	r, err := e.createRecord(ctx, tx, n.Kind, s)
	if err != nil {
		return row, false, err
	}
	d := &diff{isNew: true}
	m, save := n.NamedTable.Create(tx.Client())
	e.fillNamed(m, r, none, s, d)
	n.fill(m, n.New(), next, d)
	if row, err = save(ctx); err != nil {
		return row, false, fmt.Errorf("create %s: %w", n.Kind, store.AsConflict(err))
	}
	e.LogChange(n.Kind, r.id, calendar.Created, nil, e.ImpactOfCreated(r.Status, r.Published))
	return row, true, nil
}

// checkNamed checks the references in a request, and whether the caller may write the record. It returns
// param.Invalid or Forbidden.
func (e *Editor) checkNamed(ctx context.Context, tx *ent.Tx, old *record, s *recordInput) error {
	author, picture, err := e.referenceFaults(ctx, tx, old, s)
	if err != nil {
		return err
	}
	if err := InvalidInput(author, picture); err != nil {
		return err
	}
	return e.permit(old, s)
}

// findOrLock finds the row of which a new row would be a duplicate. If there is none, it locks the name. Then no
// other transaction can create such a row until this one ends.
func (n *Named[R, M, T, V]) findOrLock(ctx context.Context, tx *ent.Tx, e *Editor, s *recordInput) (row R, ok bool, err error) {
	key := calendar.FoldName(*s.title)
	row, ok, err = n.duplicate(ctx, tx, e, s, key)
	if ok || err != nil {
		return row, ok, err
	}
	// Another transaction may be about to create such a row, so look again under the lock.
	if err := lockName(ctx, tx, n.Kind, key); err != nil {
		return row, false, err
	}
	return n.duplicate(ctx, tx, e, s, key)
}

// duplicate finds the oldest row with the sent name, and with the sent description if there is one. It skips rows
// in the trash and rows that the caller may not read. It ignores letter case. It compares both the original text
// and the text in the language of the request.
func (n *Named[R, M, T, V]) duplicate(
	ctx context.Context, tx *ent.Tx, e *Editor, s *recordInput, key string,
) (found R, ok bool, err error) {
	rows, err := n.ByName(ctx, tx.Client(), key, e.requestLanguage())
	if err != nil {
		return found, false, fmt.Errorf("%s of the same name: %w", n.Kind, err)
	}
	description := calendar.FoldName(ValueOr("", s.description))
	var oldest *record
	for _, row := range rows {
		r := recordOf(row)
		if (oldest != nil && oldest.id <= r.id) || !e.isAllowed(auth.Read, r) {
			continue
		}
		if description != "" && calendar.FoldName(r.description) != description {
			if r.language == e.requestLanguage() || !r.languages.Has(e.requestLanguage()) {
				continue
			}
			if err := r.load(ctx, tx); err != nil {
				return found, false, err
			}
			other := r.translationInto(e.requestLanguage())
			if other == nil || calendar.FoldName(other.description) != description {
				continue
			}
		}
		found, oldest = row, r
	}
	return found, oldest != nil, nil
}

// update checks the input and the rights, and stores the sent fields of a row. True for found means that a
// create matched this row as a duplicate. Then the precondition of the request does not apply.
func (n *Named[R, M, T, V]) update(
	ctx context.Context, tx *ent.Tx, e *Editor, row R, in *NamedInput[V], s *recordInput, found bool,
) (R, error) {
	old := recordOf(row)
	if err := e.checkNamed(ctx, tx, old, s); err != nil {
		return row, err
	}
	if !found {
		if err := e.CheckPrecondition(old.version); err != nil {
			return row, err
		}
	}
	next := n.rowAfter(in, row)
	if err := n.check(next); err != nil {
		return row, err
	}
	return n.change(ctx, tx, e, row, next, old, s)
}

// change stores the changes of a row whose rights are checked. If the row moves to the trash, it removes the links
// to it. The parameter next has the new values of the fields that only this kind has.
func (n *Named[R, M, T, V]) change(
	ctx context.Context, tx *ent.Tx, e *Editor, row, next R, old *record, s *recordInput,
) (R, error) {
	d := &diff{}
	r, action, err := e.revise(ctx, tx, old, s, d)
	if err != nil {
		return row, err
	}
	m, save := n.NamedTable.Update(tx.Client(), old.id, old.version.All)
	e.fillNamed(m, r, old, s, d)
	n.fill(m, row, next, d)
	i := e.ImpactOf(&PublicChange{
		Before: old.PublicationState, After: r.PublicationState, Fields: d.fields, Languages: old.languages != r.languages,
		Dated: s.modified != nil,
	})
	e.stamp(m, r.version.All, s.modified, i)
	if err := expectOneRow(save(ctx)); err != nil {
		return row, fmt.Errorf("%s %d: %w", n.Kind, r.id, err)
	}
	wasPublic := IsPublic(old.Status, old.Published, e.Now)
	if n.Kind.IsLinked() && wasPublic && !IsPublic(r.Status, r.Published, e.Now) {
		events, err := linkedEvents(ctx, tx, n.Kind, []int64{r.id})
		if err != nil {
			return row, fmt.Errorf("events of %s %d: %w", n.Kind, r.id, err)
		}
		if s.inline {
			for _, id := range events {
				e.hiddenLinks = append(e.hiddenLinks, eventLink{id, n.Kind, strconv.FormatInt(r.id, 10)})
			}
		}
		if action != calendar.Trashed {
			// The public no longer sees the record in its events. That is a change of the events.
			if err := e.touch(ctx, tx, calendar.Event, events, []string{eventField(n.Kind)}, true, nil); err != nil {
				return row, fmt.Errorf("%s %d: %w", n.Kind, r.id, err)
			}
		}
	}
	if n.Kind.IsLinked() && action == calendar.Trashed {
		if err := e.unlink(ctx, tx, n.Kind, []int64{r.id}, wasPublic); err != nil {
			return row, fmt.Errorf("%s %d: %w", n.Kind, r.id, err)
		}
	}
	e.LogChange(n.Kind, r.id, action, FieldsInLanguages(d.fields, d.namesInLanguages), i)
	return n.Get(ctx, tx.Client(), r.id, func(*sql.Selector) {})
}
