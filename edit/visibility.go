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

// PublicChange describes a change of a record. ImpactOf decides from it whether the public can see the change
// (decision 056).
type PublicChange struct {
	Before, After PublicationState
	Protected     bool     // true if the record has a password before and after the change
	Fields        []string // names of the changed fields, as in the change log
	Unseen        []string // those of the fields whose old and new values look the same to the public
	Languages     bool     // true if the set of languages with text changes
	Dated         bool     // true if an import gives the date of the change
}

// Impact describes whether the public sees a change of a record, and which dates and versions the change affects.
type Impact struct {
	// Visible reports whether the public sees the change.
	Visible bool
	// Hidden reports whether the change must leave the public date and version of the record alone. It is false for
	// a record that is not public, because no public response shows that.
	Hidden bool
}

// ImpactOf decides whether the public can see a change.
func (e *Editor) ImpactOf(c *PublicChange) Impact {
	was := c.Before.Status.Shown(e.Now, c.Before.Published)
	is := c.After.Status.Shown(e.Now, c.After.Published)
	if was != calendar.Publish && is != calendar.Publish {
		return Impact{}
	}
	visible := c.Languages || c.Dated && len(c.Fields) == 0 && !c.Protected ||
		slices.ContainsFunc(c.Fields, func(name string) bool {
			switch {
			case slices.Contains(c.Unseen, name), c.Protected && calendar.HidesField(name):
				return false
			case name == "status":
				return was != is
			}
			return true
		})
	return Impact{Visible: visible, Hidden: !visible}
}

// ImpactOfCreated returns the impact of a new record, from its status and publication date.
func (e *Editor) ImpactOfCreated(status calendar.Status, published time.Time) Impact {
	return Impact{Visible: IsPublic(status, published, e.Now)}
}

// stamp sets the version and the modification date of a changed record in m. An import may give the date; nil
// means now. If the public cannot see the change, the public modification date stays.
func (e *Editor) stamp(m trackedMutation, version int64, given *time.Time, i Impact) {
	at := ValueOr(e.Now, given).UTC().Truncate(time.Second)
	m.SetVersion(version)
	if i.Hidden {
		m.SetHiddenAt(at)
		m.AddHiddenChanges(1)
		return
	}
	m.SetModifiedAt(at)
	m.ClearHiddenAt()
}

// StampRows sets the modification date in a statement that changes several rows. If the public cannot see the
// change, their public date stays. The statement itself must increase the versions.
func (e *Editor) StampRows(u *sql.UpdateBuilder, i Impact) {
	if i.Hidden {
		u.Set(event.FieldHiddenAt, e.Now).Add(event.FieldHiddenChanges, 1)
		return
	}
	u.Set(event.FieldModifiedAt, e.Now).SetNull(event.FieldHiddenAt)
}

// publicityRow has the stored state of a record that decides whether the public sees a change of it.
type publicityRow struct {
	ID          int64           `sql:"id"`
	Status      calendar.Status `sql:"status"`
	PublishedAt time.Time       `sql:"published_at"`
	Protected   bool            `sql:"protected"`
}

// scanPublicity loads the publicityRow of each record of a kind. Repeated ids are loaded once.
func scanPublicity(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) ([]publicityRow, error) {
	var rows []publicityRow
	for part := range slices.Chunk(uniqueIDs(ids), BatchSize) {
		var some []publicityRow
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

// PublicIDs returns a map with true for those of the ids whose records the public can see. It is nil without ids.
func (e *Editor) PublicIDs(ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64) (map[int64]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := scanPublicity(ctx, tx, kind, ids)
	if err != nil {
		return nil, err
	}
	public := make(map[int64]bool, len(rows))
	for _, row := range rows {
		if IsPublic(row.Status, row.PublishedAt, e.Now) {
			public[row.ID] = true
		}
	}
	return public, nil
}

// SameToPublic reports whether the public sees the same links in the lists was and is. The map public is true
// for records that the public sees. Other links are ignored.
func SameToPublic(was, is []int64, public map[int64]bool) bool {
	hidden := func(id int64) bool { return !public[id] }
	return slices.Equal(slices.DeleteFunc(slices.Clone(was), hidden), slices.DeleteFunc(slices.Clone(is), hidden))
}

// UnseenLinks returns the names of the link fields in which the public sees no change. The parameters was and is
// have the ids of venues, then of organizers.
func (e *Editor) UnseenLinks(ctx context.Context, tx *ent.Tx, was, is [2][]int64) (fields []string, err error) {
	for i, kind := range calendar.LinkedKinds {
		same := slices.Equal(was[i], is[i])
		if !same {
			public, err := e.PublicIDs(ctx, tx, kind, slices.Concat(was[i], is[i]))
			if err != nil {
				return nil, err
			}
			same = SameToPublic(was[i], is[i], public)
		}
		if same {
			fields = append(fields, eventField(kind))
		}
	}
	return fields, nil
}

// touch gives new versions to records that lost a value, such as a link to a deleted venue. It logs fields as
// changed. The parameter seen reports whether the public could see the lost value. The function set changes
// further columns; nil changes none. The caller has locked the records, or a row that all writers of the value
// lock.
func (e *Editor) touch(
	ctx context.Context, tx *ent.Tx, kind calendar.Kind, ids []int64, fields []string, seen bool, set func(*sql.UpdateBuilder),
) error {
	if len(ids) == 0 {
		return nil
	}
	impacts := make(map[int64]Impact, len(ids))
	groups := make(map[bool][]int64, 2) // ids by impact.hidden
	if kind == calendar.Image {
		groups[false] = ids
	} else {
		rows, err := scanPublicity(ctx, tx, kind, ids)
		if err != nil {
			return err
		}
		for _, row := range rows {
			standing := PublicationState{Status: row.Status, Published: row.PublishedAt}
			c := &PublicChange{Before: standing, After: standing, Protected: row.Protected, Fields: fields}
			if !seen {
				c.Unseen = fields
			}
			i := e.ImpactOf(c)
			impacts[row.ID] = i
			groups[i.Hidden] = append(groups[i.Hidden], row.ID)
		}
	}
	for _, hidden := range [...]bool{false, true} {
		for part := range slices.Chunk(groups[hidden], BatchSize) {
			err := tx.Client().ChangeRecords(ctx, kind, part, func(u *sql.UpdateBuilder) {
				if kind != calendar.Image {
					e.StampRows(u, Impact{Hidden: hidden})
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
		e.LogChange(kind, id, calendar.Updated, fields, impacts[id])
	}
	return nil
}
