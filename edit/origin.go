package edit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/origin"
	entrecord "github.com/almanac-cal/almanac/ent/record"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/store"
)

// Origin identifies a record or term at the source of an import, such as another website.
type Origin struct {
	SourceID string
	Kind     calendar.Kind
	Number   int64  // id at the source; 0 means that it has none
	UID      string // UID in iCalendar; "" means the one that Almanac makes
	GUID     string // guid in news feeds; "" means the one that Almanac makes
	// ID is the id in this calendar of a record that is stored already. 0 means that the import creates it.
	ID int64
}

// ReservedIDs has ids chosen in advance for records that an import will create. A new record without a reserved id
// gets the next free one. BySource has them by source id.
type ReservedIDs struct {
	BySource map[string]int64
	// ByStart has ids of occurrences by their nominal start. It is set for one series at a time.
	ByStart map[calendar.Wall]int64
	// Sequences has the first iCalendar SEQUENCE of events that are created again with their former id, by id.
	// It is above the last one before the deletion. 0 means an event that was never deleted.
	Sequences map[int64]int64
}

// idBatch is the number of ids or source ids in one statement.
const idBatch = 500

// TakenIDs returns the records of an import that cannot keep the id that they have at their source. Another
// record or term has that id, or had it before it was deleted. Two new records with the same id at the source
// are also returned.
func TakenIDs(ctx context.Context, db *ent.Client, list []Origin) (taken []Origin, err error) {
	own, err := originRows(ctx, db, list)
	if err != nil {
		return nil, err
	}
	wanted := make(map[bool]map[int64][]int) // by whether it is a term, then by number: indexes in list
	for i, o := range list {
		if o.Number == 0 || o.ID != 0 || own[o.SourceID] != nil {
			continue
		}
		numbers := wanted[o.Kind.IsTerm()]
		if numbers == nil {
			numbers = make(map[int64][]int)
			wanted[o.Kind.IsTerm()] = numbers
		}
		numbers[o.Number] = append(numbers[o.Number], i)
	}
	refused := make(map[int]bool)
	refuse := func(terms bool, ids []int64) {
		for _, id := range ids {
			for _, i := range wanted[terms][id] {
				refused[i] = true
			}
		}
	}
	for terms, numbers := range wanted {
		all := make([]int64, 0, len(numbers))
		for n, same := range numbers {
			all = append(all, n)
			if len(same) > 1 {
				refuse(terms, []int64{n})
			}
		}
		for some := range slices.Chunk(all, idBatch) {
			var ids []int64
			if terms {
				ids, err = takenTerms(ctx, db, some)
			} else {
				ids, err = db.Record.Query().Where(entrecord.IDIn(some...)).IDs(ctx)
			}
			if err != nil {
				return nil, fmt.Errorf("ids of a source: %w", err)
			}
			refuse(terms, ids)
		}
	}
	for i, o := range list {
		if refused[i] {
			taken = append(taken, o)
		}
	}
	return taken, nil
}

// takenTerms returns which of the ids cannot be given to new terms. They belong to a term, to a deleted term in
// the change log, or to a term of another import.
func takenTerms(ctx context.Context, db *ent.Client, ids []int64) ([]int64, error) {
	taken, err := db.Term.Query().Where(term.IDIn(ids...)).IDs(ctx)
	if err != nil {
		return nil, err
	}
	deleted, err := db.Change.Query().
		Where(entchange.KindIn(calendar.Category, calendar.Tag), entchange.RecordIDIn(ids...), entchange.ActionEQ(calendar.Deleted)).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range deleted {
		taken = append(taken, c.RecordID)
	}
	reserved, err := db.Origin.Query().
		Where(origin.KindIn(calendar.Category, calendar.Tag), origin.RecordIDIn(ids...)).Select(origin.FieldRecordID).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range reserved {
		taken = append(taken, o.RecordID)
	}
	return taken, nil
}

// originRows loads the stored rows for the given origins, by source id. An origin without a row is missing in the
// map.
func originRows(ctx context.Context, db *ent.Client, list []Origin) (map[string]*ent.Origin, error) {
	found := make(map[string]*ent.Origin)
	for some := range slices.Chunk(list, idBatch) {
		keys := make([]string, len(some))
		for i, o := range some {
			keys[i] = o.SourceID
		}
		rows, err := db.Origin.Query().Where(origin.SourceIDIn(keys...)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("origins: %w", err)
		}
		for _, row := range rows {
			found[row.SourceID] = row
		}
	}
	return found, nil
}

// Reserve stores the origins of imported records and reserves ids for those that do not exist here yet. If keep is
// true, they get their ids at the source. Otherwise records get new ids, and terms get none in advance. A record
// that was deleted here gets its former id again.
//
// Ids that are allocated later are above all ids at the source. With keep, the caller must call TakenIDs in the
// same transaction.
func (e *Editor) Reserve(ctx context.Context, tx *ent.Tx, list []Origin, keep bool) (none ReservedIDs, err error) {
	own, err := originRows(ctx, tx.Client(), list)
	if err != nil {
		return none, err
	}
	var fresh []Origin // without a row
	seen := make(map[string]bool)
	for _, o := range list {
		if own[o.SourceID] == nil && !seen[o.SourceID] {
			seen[o.SourceID] = true
			fresh = append(fresh, o)
		}
	}
	ids, err := e.newIDs(ctx, tx, fresh, list, keep)
	if err != nil {
		return none, err
	}
	if err := storeOrigins(ctx, tx, fresh, ids); err != nil {
		return none, err
	}
	reserved := make(map[string]int64)
	for i, o := range fresh {
		if o.ID == 0 && ids[i] != 0 {
			reserved[o.SourceID] = ids[i]
		}
	}
	var again []*ent.Origin
	for _, o := range list {
		if row := own[o.SourceID]; row != nil && o.ID == 0 && row.Kind == o.Kind {
			again = append(again, row)
		}
	}
	used, err := usedIDs(ctx, tx, again)
	if err != nil {
		return none, err
	}
	var events []int64
	for _, row := range again {
		if !used[row.Kind][row.RecordID] {
			reserved[row.SourceID] = row.RecordID
			if row.Kind == calendar.Event {
				events = append(events, row.RecordID)
			}
		}
	}
	sequences, err := lastRevisions(ctx, tx, events)
	return ReservedIDs{BySource: reserved, Sequences: sequences}, err
}

// lastRevisions returns, by event id, the id of the last change of each event in the change log. It is above the
// last iCalendar SEQUENCE of a deleted event, because each rise of SEQUENCE is a change. If the log no longer has
// changes of an event, the result is the last id before the log begins. It is missing if no entry was removed from
// the log.
func lastRevisions(ctx context.Context, tx *ent.Tx, events []int64) (map[int64]int64, error) {
	last := make(map[int64]int64)
	if len(events) == 0 {
		return last, nil
	}
	first, err := FirstChange(ctx, tx.Client())
	if err != nil {
		return nil, fmt.Errorf("changes of deleted events: %w", err)
	}
	if first > 1 {
		for _, id := range events {
			last[id] = first - 1
		}
	}
	for some := range slices.Chunk(events, idBatch) {
		var rows []struct {
			RecordID int64 `sql:"record_id"`
			Last     int64 `sql:"last"`
		}
		err := tx.Change.Query().Where(entchange.KindEQ(calendar.Event), entchange.RecordIDIn(some...)).
			GroupBy(entchange.FieldRecordID).Aggregate(ent.As(ent.Max(entchange.FieldID), "last")).Scan(ctx, &rows)
		if err != nil {
			return nil, fmt.Errorf("changes of deleted events: %w", err)
		}
		for _, row := range rows {
			last[row.RecordID] = row.Last
		}
	}
	return last, nil
}

// newIDs returns an id for each origin in list. A stored record keeps its id. A new one gets its id at the source if
// keep is true, or else the next free id. A new term gets 0 if keep is false or it has no id at the source. Free ids
// are above all ids at the source, which are in all.
func (e *Editor) newIDs(ctx context.Context, tx *ent.Tx, list, all []Origin, keep bool) ([]int64, error) {
	ids := make([]int64, len(list))
	kept := store.Rows{Table: entrecord.Table, Columns: []string{entrecord.FieldID, entrecord.FieldKind}}
	drawn := make(map[calendar.Kind][]int) // indexes in list
	for i, o := range list {
		switch {
		case o.ID != 0:
			ids[i] = o.ID
		case keep && o.Number != 0:
			ids[i] = o.Number
			if !o.Kind.IsTerm() {
				kept.Add(i, nil, string(o.Kind))
			}
		case !o.Kind.IsTerm():
			drawn[o.Kind] = append(drawn[o.Kind], i)
		}
	}
	if err := kept.Insert(ctx, tx, ids); err != nil {
		return nil, fmt.Errorf("ids of a source: %w", store.AsConflict(err))
	}
	if err := raiseSequences(ctx, tx, all, e.Now); err != nil {
		return nil, err
	}
	for kind, indexes := range drawn {
		some, err := store.DrawIDs(ctx, tx, kind, len(indexes))
		if err != nil {
			return nil, fmt.Errorf("draw ids: %w", err)
		}
		for n, i := range indexes {
			ids[i] = some[n]
		}
	}
	return ids, nil
}

// idGap is the number of ids above those of a source that are left free. The source may get new records before its site
// moves, and a later import keeps their ids too.
const idGap = 100_000

// raiseSequences ensures that ids allocated later are above the ids at the source of an import. The distance is
// idGap. It is at least idGap/2 if an earlier import has raised the ids already.
func raiseSequences(ctx context.Context, tx *ent.Tx, list []Origin, now time.Time) error {
	highest := make(map[bool]Origin) // by whether it is a term
	for _, o := range list {
		if o.Number > highest[o.Kind.IsTerm()].Number {
			highest[o.Kind.IsTerm()] = o
		}
	}
	if o := highest[false]; o.Number != 0 {
		above, err := tx.Record.Query().Where(entrecord.IDGTE(o.Number + idGap/2)).Exist(ctx)
		if err == nil && !above {
			err = tx.Record.Create().SetID(o.Number + idGap).SetKind(o.Kind).Exec(ctx)
		}
		if err != nil {
			return fmt.Errorf("ids above those of a source: %w", store.AsConflict(err))
		}
	}
	o := highest[true]
	if o.Number == 0 {
		return nil
	}
	above, err := tx.Term.Query().Where(term.IDGTE(o.Number + idGap/2)).Exist(ctx)
	if err == nil && !above {
		err = raiseTermSequence(ctx, tx, o.Number+idGap, now)
	}
	if err != nil {
		return fmt.Errorf("term ids above those of a source: %w", store.AsConflict(err))
	}
	return nil
}

// storeOrigins inserts the rows of origins. The list ids has the id of each record in this calendar. 0 skips the
// record. A UID or guid is left out if another origin has it or the record was stored before.
func storeOrigins(ctx context.Context, tx *ent.Tx, list []Origin, ids []int64) error {
	uids, err := freeTexts(list, func(o Origin) string { return o.UID }, func(some []string) ([]string, error) {
		return tx.Origin.Query().Where(origin.UIDIn(some...)).Select(origin.FieldUID).Strings(ctx)
	})
	if err != nil {
		return fmt.Errorf("UIDs of a source: %w", err)
	}
	guids, err := freeTexts(list, func(o Origin) string { return o.GUID }, func(some []string) ([]string, error) {
		return tx.Origin.Query().Where(origin.GUIDIn(some...)).Select(origin.FieldGUID).Strings(ctx)
	})
	if err != nil {
		return fmt.Errorf("guids of a source: %w", err)
	}
	rows := store.Rows{
		Table: origin.Table,
		Columns: []string{
			origin.FieldSourceID, origin.FieldKind, origin.FieldRecordID, origin.FieldNumber, origin.FieldUID, origin.FieldGUID,
		},
		Owner: 2,
	}
	for i, o := range list {
		if ids[i] == 0 {
			continue
		}
		var number, uid, guid any
		if o.Number != 0 {
			number = o.Number
		}
		if o.ID == 0 { // stored records keep what feeds have said of them
			if uids[o.UID] {
				uid = o.UID
			}
			if guids[o.GUID] {
				guid = o.GUID
			}
		}
		rows.Add(i, o.SourceID, string(o.Kind), nil, number, uid, guid)
	}
	if err := rows.Insert(ctx, tx, ids); err != nil {
		return fmt.Errorf("origins: %w", store.AsConflict(err))
	}
	return nil
}

// freeTexts returns the texts that exactly one origin of the list has and that no stored origin has. The function
// text reads the UID or guid of an origin. The function stored returns those of its arguments that are in the
// database.
func freeTexts(list []Origin, text func(Origin) string, stored func([]string) ([]string, error)) (map[string]bool, error) {
	count := make(map[string]int)
	var all []string
	for _, o := range list {
		if t := text(o); t != "" {
			if count[t]++; count[t] == 1 {
				all = append(all, t)
			}
		}
	}
	for some := range slices.Chunk(all, idBatch) {
		found, err := stored(some)
		if err != nil {
			return nil, err
		}
		for _, t := range found {
			count[t]++
		}
	}
	free := make(map[string]bool)
	for t, n := range count {
		free[t] = n == 1
	}
	return free, nil
}

// usedIDs returns the ids in origins for which a record exists, by kind. Records that were deleted are missing.
func usedIDs(ctx context.Context, tx *ent.Tx, rows []*ent.Origin) (map[calendar.Kind]map[int64]bool, error) {
	byKind := make(map[calendar.Kind][]int64)
	for _, row := range rows {
		byKind[row.Kind] = append(byKind[row.Kind], row.RecordID)
	}
	used := make(map[calendar.Kind]map[int64]bool)
	for kind, ids := range byKind {
		used[kind] = make(map[int64]bool)
		for some := range slices.Chunk(ids, idBatch) {
			found, err := tx.Client().RecordIDs(ctx, kind, idBatch, sql.FieldIn(event.FieldID, some...))
			if err != nil {
				return nil, fmt.Errorf("records of kind %s: %w", kind, err)
			}
			for _, id := range found {
				used[kind][id] = true
			}
		}
	}
	return used, nil
}

// OccurrenceIDs returns an id for each new occurrence: the reserved one for its start, or else a new one.
func (e *Editor) OccurrenceIDs(ctx context.Context, tx *ent.Tx, list []recur.Occurrence) ([]int64, error) {
	ids := make([]int64, len(list))
	missing := 0
	for i, o := range list {
		if ids[i] = e.Reserved.ByStart[o.Nominal]; ids[i] == 0 {
			missing++
		}
	}
	drawn, err := store.DrawIDs(ctx, tx, calendar.Event, missing)
	if err != nil {
		return nil, err
	}
	for i := range ids {
		if ids[i] == 0 {
			ids[i], drawn = drawn[0], drawn[1:]
		}
	}
	return ids, nil
}
