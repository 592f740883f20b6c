package edit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/series"
)

// publicChange has what decides whether the public can see a change of a record (decision 056).
type publicChange struct {
	before, after publicationState
	protected     bool     // the record has a password before and after the change
	fields        []string // names of the changed fields, as in the change log
	unseen        []string // those of the fields whose old and new values look the same to the public
	languages     bool     // the set of languages with text changes
	dated         bool     // an import gives the date of the change
}

// impact is how a change of a record affects public replies.
type impact struct {
	// visible reports whether the public sees the change.
	visible bool
	// hidden reports whether the change must leave the public date and version of the record alone. It is false for
	// a record that is not public, because no public reply shows that.
	hidden bool
}

// impactOf returns the impact of a change.
func (e *Editor) impactOf(c *publicChange) impact {
	was := c.before.status.Shown(e.Now, c.before.published)
	is := c.after.status.Shown(e.Now, c.after.published)
	if was != calendar.Publish && is != calendar.Publish {
		return impact{}
	}
	visible := c.languages || c.dated && len(c.fields) == 0 && !c.protected ||
		slices.ContainsFunc(c.fields, func(name string) bool {
			switch {
			case slices.Contains(c.unseen, name), c.protected && calendar.HidesField(name):
				return false
			case name == "status":
				return was != is
			}
			return true
		})
	return impact{visible: visible, hidden: !visible}
}

// impactOfCreated returns the impact of a new record.
func (e *Editor) impactOfCreated(status calendar.Status, published time.Time) impact {
	return impact{visible: isPublic(status, published, e.Now)}
}

// stamp sets the version of a changed record, and the time of the change. If given is not nil, an import gives that
// time.
func (e *Editor) stamp(m trackedMutation, version int64, given *time.Time, i impact) {
	at := valueOr(e.Now, given).UTC().Truncate(time.Second)
	m.SetVersion(version)
	if i.hidden {
		m.SetHiddenAt(at)
		m.AddHiddenChanges(1)
		return
	}
	m.SetModifiedAt(at)
	m.ClearHiddenAt()
}

// stampRows is stamp for a statement that changes several rows and increases their versions.
func (e *Editor) stampRows(u *sql.UpdateBuilder, i impact) {
	if i.hidden {
		u.Set(event.FieldHiddenAt, e.Now).Add(event.FieldHiddenChanges, 1)
		return
	}
	u.Set(event.FieldModifiedAt, e.Now).SetNull(event.FieldHiddenAt)
}

// publicityOf is the state of a stored record that decides whether the public sees a change of it.
type publicityOf struct {
	ID          int64           `sql:"id"`
	Status      calendar.Status `sql:"status"`
	PublishedAt time.Time       `sql:"published_at"`
	Protected   bool            `sql:"protected"`
}

// scanPublicity reads the state of records. The ids may have repeats.
func scanPublicity(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) ([]publicityOf, error) {
	var rows []publicityOf
	for part := range slices.Chunk(uniqueIDs(ids), batch) {
		var some []publicityOf
		read := func(s *sql.Selector) {
			s.Select(s.C(event.FieldID), s.C(event.FieldStatus), s.C(event.FieldPublishedAt))
			switch kind {
			case calendar.Event:
				s.AppendSelectExprAs(sql.NotNull(s.C(event.FieldPasswordHash)), series.FieldProtected)
			case calendar.Series:
				s.AppendSelect(s.C(series.FieldProtected))
			}
			sql.FieldIn(event.FieldID, part...)(s)
		}
		if err := tx.Client().ScanKind(ctx, kind, &some, read); err != nil {
			return nil, fmt.Errorf("state of records of kind %s: %w", kind, err)
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// publicIDs returns which of the records the public can see.
func (e *Editor) publicIDs(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) (map[int64]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := scanPublicity(ctx, tx, kind, ids)
	if err != nil {
		return nil, err
	}
	public := make(map[int64]bool, len(rows))
	for _, row := range rows {
		if isPublic(row.Status, row.PublishedAt, e.Now) {
			public[row.ID] = true
		}
	}
	return public, nil
}

// sameShown reports whether two lists of links look the same to the public.
func sameShown(was, is []int64, public map[int64]bool) bool {
	hidden := func(id int64) bool { return !public[id] }
	return slices.Equal(slices.DeleteFunc(slices.Clone(was), hidden), slices.DeleteFunc(slices.Clone(is), hidden))
}

// unseenLinks returns the fields of venues and of organizers in which the public sees no difference between two lists.
func (e *Editor) unseenLinks(ctx context.Context, tx *ent.Tx, was, is [2][]int64) (fields []string, err error) {
	for i, kind := range calendar.LinkedKinds {
		same := slices.Equal(was[i], is[i])
		if !same {
			public, err := e.publicIDs(ctx, tx, kind, slices.Concat(was[i], is[i]))
			if err != nil {
				return nil, err
			}
			same = sameShown(was[i], is[i], public)
		}
		if same {
			fields = append(fields, eventField(kind))
		}
	}
	return fields, nil
}

// touch changes records that lost a value in another table or column. It increases their versions and logs fields as
// changed. If seen is false, the public did not see the lost value. set sets further columns; nil sets none. The
// transaction has locked the records, or something that all writers of the value lock.
func (e *Editor) touch(
	ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64, fields []string, seen bool, set func(*sql.UpdateBuilder),
) error {
	if len(ids) == 0 {
		return nil
	}
	impacts := make(map[int64]impact, len(ids))
	groups := make(map[bool][]int64, 2) // ids by impact.hidden
	if kind == calendar.Image {
		groups[false] = ids
	} else {
		rows, err := scanPublicity(ctx, tx, kind, ids)
		if err != nil {
			return err
		}
		for _, row := range rows {
			standing := publicationState{status: row.Status, published: row.PublishedAt}
			c := &publicChange{before: standing, after: standing, protected: row.Protected, fields: fields}
			if !seen {
				c.unseen = fields
			}
			i := e.impactOf(c)
			impacts[row.ID] = i
			groups[i.hidden] = append(groups[i.hidden], row.ID)
		}
	}
	for _, hidden := range [...]bool{false, true} {
		for part := range slices.Chunk(groups[hidden], batch) {
			err := tx.Client().ChangeRecords(ctx, kind, part, func(u *sql.UpdateBuilder) {
				if kind != calendar.Image {
					e.stampRows(u, impact{hidden: hidden})
				}
				if set != nil {
					set(u)
				}
			})
			if err != nil {
				return fmt.Errorf("records of kind %s without %s: %w", kind, fields, err)
			}
		}
	}
	for _, id := range ids {
		e.log(kind, id, calendar.Updated, fields, impacts[id])
	}
	return nil
}
