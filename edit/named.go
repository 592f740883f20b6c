package edit

import (
	"context"
	"fmt"
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/store"
)

// namedTable gives access to the table of venues or organizers, for the input of one record. R is the type of a
// row.
type namedTable[R any] struct {
	kind   calendar.Kind
	record func(row R) *record
	sent   *recordInput
	// faults returns the faults of the fields that only this kind has. For a new record, row is the zero R.
	faults func(row R) []*param.Fault
	get    func(ctx context.Context, id int64) (R, error)
	insert func(ctx context.Context, d *diff, common func(namedMutation)) (R, error)
	// update changes the row. It calls stamp last, when d is complete. It returns store.ErrConflict if the row no
	// longer has the version of old.
	update func(ctx context.Context, old R, d *diff, common, stamp func(namedMutation)) error
	// named lists rows by folded name, except those in the trash. It finds rows by the original name, and by
	// the name in language l.
	named func(ctx context.Context, key string, l calendar.Language) ([]R, error)
}

// namedMutation is the mutation of a venue or an organizer.
type namedMutation interface {
	recordMutation
	SetName(string)
	SetNameKey(string)
}

// fillNamed sets the fields in m of a venue or organizer that differ from the stored record.
func (e *Editor) fillNamed(m namedMutation, r, old *record, s *recordInput, d *diff) {
	e.fill(m, r, old, s, d)
	putValue(d, "", old.title, r.title, m.SetName)
	putValue(d, "", calendar.FoldName(old.title), calendar.FoldName(r.title), m.SetNameKey)
}

// createNamed stores a new row. If a row with the same name exists, createNamed returns that and created is
// false. A record with a source id is always new.
func createNamed[R any](ctx context.Context, tx *ent.Tx, e *Editor, t namedTable[R]) (row R, created bool, err error) {
	none := &record{textOwner: textOwner{kind: t.kind}}
	author, picture, err := e.referenceFaults(ctx, tx, none, t.sent)
	if err != nil {
		return row, false, err
	}
	if err := invalidInput(author, picture); err != nil {
		return row, false, err
	}
	if err := e.permit(none, t.sent); err != nil {
		return row, false, err
	}
	if err := invalidInput(t.faults(row)...); err != nil {
		return row, false, err
	}
	// Records of a source are identified by their source id, not by their name.
	if t.sent.source == nil {
		found, ok, err := t.findOrLock(ctx, tx, e)
		if ok || err != nil {
			return found, false, err
		}
	}
	r, err := e.createRecord(ctx, tx, t.kind, t.sent)
	if err != nil {
		return row, false, err
	}
	d := &diff{fresh: true}
	row, err = t.insert(ctx, d, func(m namedMutation) { e.fillNamed(m, r, none, t.sent, d) })
	if err != nil {
		return row, false, fmt.Errorf("create %s: %w", t.kind, store.AsConflict(err))
	}
	e.log(t.kind, r.id, calendar.Created, nil, e.impactOfCreated(r.status, r.published))
	return row, true, nil
}

// findOrLock finds the row that a new one would duplicate. If there is none, it locks the name: no other
// transaction can create such a row until this transaction ends.
func (t namedTable[R]) findOrLock(ctx context.Context, tx *ent.Tx, e *Editor) (row R, ok bool, err error) {
	key := calendar.FoldName(*t.sent.title)
	row, ok, err = t.duplicate(ctx, tx, e, key)
	if ok || err != nil {
		return row, ok, err
	}
	// Another transaction may be about to create such a row, so look again under the lock.
	if err := lockName(ctx, tx, t.kind, key); err != nil {
		return row, false, err
	}
	return t.duplicate(ctx, tx, e, key)
}

// duplicate finds the oldest row with the sent name, and with the sent description if there is one. It skips
// rows in the trash and rows that the caller may not read. It ignores letter case. It compares the original
// text and the text in the language of the request.
func (t namedTable[R]) duplicate(ctx context.Context, tx *ent.Tx, e *Editor, key string) (found R, ok bool, err error) {
	rows, err := t.named(ctx, key, e.request())
	if err != nil {
		return found, false, fmt.Errorf("%s of the same name: %w", t.kind, err)
	}
	description := calendar.FoldName(valueOr("", t.sent.description))
	var oldest *record
	for _, row := range rows {
		r := t.record(row)
		if (oldest != nil && oldest.id <= r.id) || !e.isAllowed(auth.Read, r) {
			continue
		}
		if description != "" && calendar.FoldName(r.description) != description {
			if r.language == e.request() || !r.languages.Has(e.request()) {
				continue
			}
			if err := r.load(ctx, tx); err != nil {
				return found, false, err
			}
			other := r.translationInto(e.request())
			if other == nil || calendar.FoldName(other.description) != description {
				continue
			}
		}
		found, oldest = row, r
	}
	return found, oldest != nil, nil
}

// updateNamed updates a row. Found means that a create matched this row: then Expect is not checked.
func updateNamed[R any](ctx context.Context, tx *ent.Tx, e *Editor, t namedTable[R], row R, found bool) (R, error) {
	old := t.record(row)
	author, picture, err := e.referenceFaults(ctx, tx, old, t.sent)
	if err != nil {
		return row, err
	}
	if err := invalidInput(author, picture); err != nil {
		return row, err
	}
	if err := e.permit(old, t.sent); err != nil {
		return row, err
	}
	if !found {
		if err := e.expect(old.version); err != nil {
			return row, err
		}
	}
	if err := invalidInput(t.faults(row)...); err != nil {
		return row, err
	}
	return t.change(ctx, tx, e, row, old)
}

// trashNamed moves a row to the trash.
func trashNamed[R any](ctx context.Context, tx *ent.Tx, e *Editor, t namedTable[R], row R) (R, error) {
	old := t.record(row)
	if err := e.permitTrash(old); err != nil {
		return row, err
	}
	if err := e.expect(old.version); err != nil {
		return row, err
	}
	t.sent.status = new(calendar.Trash)
	return t.change(ctx, tx, e, row, old)
}

// change stores an input without checking permissions, and returns the new row.
func (t namedTable[R]) change(ctx context.Context, tx *ent.Tx, e *Editor, row R, old *record) (R, error) {
	d := &diff{}
	r, action, err := e.revise(ctx, tx, old, t.sent, d)
	if err != nil {
		return row, err
	}
	var i impact
	err = t.update(ctx, row, d, func(m namedMutation) { e.fillNamed(m, r, old, t.sent, d) }, func(m namedMutation) {
		i = e.impactOf(&publicChange{
			was: old.publicationState, is: r.publicationState, fields: d.fields, languages: old.languages != r.languages,
			dated: t.sent.modified != nil,
		})
		e.stamp(m, r.version.All, t.sent.modified, i)
	})
	if err != nil {
		return row, fmt.Errorf("%s %d: %w", t.kind, r.id, err)
	}
	wasPublic := isPublic(old.status, old.published, e.Now)
	if wasPublic && !isPublic(r.status, r.published, e.Now) {
		events, err := linkedEvents(ctx, tx, t.kind, []int64{r.id})
		if err != nil {
			return row, fmt.Errorf("events of %s %d: %w", t.kind, r.id, err)
		}
		if t.sent.inline {
			for _, id := range events {
				e.lost = append(e.lost, eventLink{id, t.kind, strconv.FormatInt(r.id, 10)})
			}
		}
		if action != calendar.Trashed {
			// The public no longer sees the record in its events. That is a change of the events.
			if err := e.touch(ctx, tx, calendar.Event, events, []string{eventField(t.kind)}, true, nil); err != nil {
				return row, fmt.Errorf("%s %d: %w", t.kind, r.id, err)
			}
		}
	}
	if action == calendar.Trashed {
		if err := e.unlink(ctx, tx, t.kind, []int64{r.id}, wasPublic); err != nil {
			return row, fmt.Errorf("%s %d: %w", t.kind, r.id, err)
		}
	}
	e.log(t.kind, r.id, action, d.fields, i)
	return t.get(ctx, r.id)
}
