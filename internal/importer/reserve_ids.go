package importer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/ent/record"
	"github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/feed"
)

// reserve chooses the ids of the records that the import will create. They keep the source's ids, unless
// Importer.NewIDs is set or an earlier import of this source gave new ids. It returns *TakenError if another record
// has one of these ids.
func (r *importRun) reserve(ctx context.Context, found linkedRecords, events []*Event) error {
	list, titles := originsOf(found, events)
	if len(list) == 0 {
		return nil
	}
	renumbered, err := r.findStored(ctx, list)
	if err != nil {
		return err
	}
	keep := !r.NewIDs && !renumbered
	if renumbered && !r.NewIDs && slices.ContainsFunc(list, func(o edit.Origin) bool { return o.ID == 0 && o.Number != 0 }) {
		r.report.Notices = append(r.report.Notices, "new records get new ids, as those of earlier imports of this source did")
	}
	if err := dropNamesakes(ctx, r.DB, list, titles); err != nil {
		return err
	}
	check := func(db *ent.Client) error {
		if !keep {
			return nil
		}
		taken, err := edit.TakenIDs(ctx, db, list)
		if err == nil && len(taken) > 0 {
			err = describeTaken(ctx, db, taken, titles)
		}
		return err
	}
	if r.DryRun {
		return check(r.DB)
	}
	if err := r.dropOwnUIDs(ctx, list); err != nil {
		return err
	}
	return edit.Write(ctx, r.DB, r.editor, func(tx *ent.Tx) (err error) {
		if err := check(tx.Client()); err != nil {
			return err
		}
		r.editor.Reserved, err = r.editor.Reserve(ctx, tx, list, keep)
		return err
	})
}

// TakenID is an id of a source record that another record of this calendar already has.
type TakenID struct {
	ID                int64
	SourceKind, Kind  calendar.Kind
	SourceTitle       string
	Title             string // "" for a record that was deleted
	sharedAtTheSource bool
}

// TakenError is returned by Run if records of the source cannot keep their ids. Run then wrote nothing.
type TakenError struct{ IDs []TakenID }

// maxNumber is the highest source id that an import keeps. New ids are drawn above those of the source, and
// JavaScript must represent them exactly.
const maxNumber = 1_000_000_000_000

// numberOf parses the id of a record at the source. It returns 0 for an id that this calendar cannot use.
func numberOf(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n < 1 || n > maxNumber {
		return 0
	}
	return n
}

func (e *TakenError) Error() string {
	const most = 20
	var b strings.Builder
	if slices.ContainsFunc(e.IDs, func(t TakenID) bool { return !t.sharedAtTheSource }) {
		fmt.Fprintf(&b, "%d of the source's ids belong to other records here, so nothing was imported:", len(e.IDs))
	} else {
		fmt.Fprintf(&b, "the source counts its kinds separately: %d of its records share their ids, so nothing was imported:", len(e.IDs))
	}
	for i, t := range e.IDs {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(e.IDs)-most)
			break
		}
		here := fmt.Sprintf("%s %q", t.Kind, abbreviate(t.Title))
		switch {
		case t.sharedAtTheSource:
			here = "that of another record of the source, too"
		case t.Title == "":
			here = "a deleted or reserved " + string(t.Kind)
		}
		fmt.Fprintf(&b, "\n  %d: %s %q there, %s here", t.ID, t.SourceKind, abbreviate(t.SourceTitle), here)
	}
	return b.String()
}

// dropNamesakes sets Number to 0 for terms in list that exist here with the same id and name. The import links the
// existing term instead of creating one. titles has the names by source id.
func dropNamesakes(ctx context.Context, db *ent.Client, list []edit.Origin, titles map[string]string) error {
	wanted := make(map[int64]int) // indexes in list
	for i, o := range list {
		if o.Kind.IsTerm() && o.Number != 0 {
			wanted[o.Number] = i
		}
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(wanted)), idBatch) {
		rows, err := db.Term.Query().Where(term.IDIn(some...)).Select(term.FieldID, term.FieldTaxonomy, term.FieldNameKey).All(ctx)
		if err != nil {
			return fmt.Errorf("terms by id: %w", err)
		}
		for _, row := range rows {
			o := &list[wanted[row.ID]]
			if o.Kind == row.Taxonomy && calendar.FoldName(titles[o.SourceID]) == row.NameKey {
				o.Number = 0
			}
		}
	}
	return nil
}

// originsOf returns the source records with an id, UID or guid at the source. It leaves out records that a table finds
// here, and dates whose series is not in the source. The result titles has their titles by source id.
func originsOf(found linkedRecords, events []*Event) (list []edit.Origin, titles map[string]string) {
	titles = make(map[string]string)
	add := func(kind calendar.Kind, item sourceRecord, uid, guid string) {
		o := item.source()
		if !isUID(uid) {
			uid = ""
		}
		if !isGUID(guid) {
			guid = ""
		}
		if o.Here != 0 || o.Key == "" || o.Number == 0 && uid == "" && guid == "" {
			return
		}
		if _, again := titles[o.Key]; again {
			return
		}
		titles[o.Key] = item.displayName()
		list = append(list, edit.Origin{SourceID: o.Key, Kind: kind, Number: o.Number, UID: uid, GUID: guid})
	}
	for _, t := range found.terms {
		add(t.Kind, t, "", "")
	}
	for _, i := range found.images {
		add(calendar.Image, i, "", "")
	}
	for _, v := range found.venues {
		add(calendar.Venue, v, "", "")
	}
	for _, o := range found.organizers {
		add(calendar.Organizer, o, "", "")
	}
	for _, e := range events {
		switch {
		case e.Series != nil:
			for _, one := range e.Series.Single {
				add(calendar.Event, one, one.UID, one.GUID)
			}
		case e.Replaces == nil && e.Edited == nil:
			add(calendar.Event, e, e.UID, e.GUID)
		}
	}
	return list, titles
}

// maxUID and maxGUID are the maximum lengths of stored UIDs and guids, in characters.
const (
	maxUID  = maxText
	maxGUID = 500
)

// isUID reports whether this calendar can store a UID of the source.
func isUID(uid string) bool {
	return uid != "" && utf8.ValidString(uid) && utf8.RuneCountInString(uid) <= maxUID && !strings.ContainsFunc(uid, unicode.IsControl) &&
		strings.TrimSpace(uid) == uid
}

// isGUID reports whether this calendar can store a guid of the source. It must be a web URL or a URN, because Atom
// requires an IRI (RFC 4287, section 4.2.6).
func isGUID(guid string) bool {
	u, err := url.Parse(guid)
	return err == nil && len(guid) <= maxGUID && !strings.ContainsFunc(guid, unicode.IsSpace) && !strings.ContainsFunc(guid, unicode.IsControl) &&
		!strings.ContainsAny(guid, "<>\"{}|\\^`") && (u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") || u.Scheme == "urn" && u.Opaque != "")
}

// dropOwnUIDs clears UIDs in list that this calendar generated for its own events. A file that this calendar
// exported has such UIDs.
func (r *importRun) dropOwnUIDs(ctx context.Context, list []edit.Origin) error {
	wanted := make(map[string][]int) // indexes in list
	for i, o := range list {
		if id, err := uuid.Parse(o.UID); err == nil && id.Version() == 5 {
			wanted[o.UID] = append(wanted[o.UID], i)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	key, err := edit.FeedKey(ctx, r.DB)
	if err != nil {
		return err
	}
	ids, err := r.DB.Event.Query().IDs(ctx)
	if err != nil {
		return fmt.Errorf("ids of events: %w", err)
	}
	for _, id := range ids {
		for _, i := range wanted[feed.UID(key, id)] {
			list[i].UID = ""
		}
	}
	return nil
}

// findStored sets the ids of records in list that an earlier import stored. renumbered is true if one of them
// differs from the id at the source.
func (r *importRun) findStored(ctx context.Context, list []edit.Origin) (renumbered bool, err error) {
	byKind := make(map[calendar.Kind][]int) // indexes in list
	for i, o := range list {
		byKind[o.Kind] = append(byKind[o.Kind], i)
	}
	for kind, indexes := range byKind {
		for some := range slices.Chunk(indexes, idBatch) {
			keys := make([]string, len(some))
			for n, i := range some {
				keys[n] = list[i].SourceID
			}
			stored, err := storedIDs(ctx, r.DB, kind, keys)
			if err != nil {
				return false, fmt.Errorf("%s by source: %w", kind.Plural(), err)
			}
			for _, i := range some {
				o := &list[i]
				o.ID = stored[o.SourceID]
				renumbered = renumbered || o.ID != 0 && o.Number != 0 && o.ID != o.Number
			}
		}
	}
	return renumbered, nil
}

// storedIDs returns the ids of stored records of a kind, keyed by source id. keys are the source ids to look up.
func storedIDs(ctx context.Context, db *ent.Client, kind calendar.Kind, keys []string) (map[string]int64, error) {
	var rows []struct {
		ID       int64  `sql:"id"`
		SourceID string `sql:"source_id"`
	}
	err := db.ScanKind(ctx, kind, &rows, func(s *sql.Selector) {
		s.Select(s.C(event.FieldID), s.C(event.FieldSourceID))
		sql.FieldIn(event.FieldSourceID, keys...)(s)
	})
	ids := make(map[string]int64, len(rows))
	for _, row := range rows {
		ids[row.SourceID] = row.ID
	}
	return ids, err
}

// describeTaken returns a *TakenError that names, for each id, the record that has it here and the one at the
// source.
func describeTaken(ctx context.Context, db *ent.Client, taken []edit.Origin, titles map[string]string) error {
	e := &TakenError{}
	for _, o := range taken {
		t := TakenID{ID: o.Number, SourceKind: o.Kind, SourceTitle: titles[o.SourceID], Kind: o.Kind}
		var err error
		if o.Kind.IsTerm() {
			var row *ent.Term
			if row, err = db.Term.Get(ctx, o.Number); err == nil {
				t.Kind, t.Title = row.Taxonomy, row.Name
			}
		} else {
			err = t.describeRecord(ctx, db)
		}
		if err != nil && !ent.IsNotFound(err) {
			return fmt.Errorf("id %d: %w", o.Number, err)
		}
		e.IDs = append(e.IDs, t)
	}
	return e
}

// titleColumns has the column that identifies a record to users, for the kinds without a name column.
var titleColumns = map[calendar.Kind]string{
	calendar.Event: event.FieldTitle, calendar.Image: image.FieldSourceURL, calendar.Series: series.FieldSlug,
}

// describeRecord sets the kind and title of the record of this calendar that has the id. If there is none, two records
// of the source share the id, and it sets sharedAtTheSource.
func (t *TakenID) describeRecord(ctx context.Context, db *ent.Client) error {
	drawn, err := db.Record.Query().Where(record.ID(t.ID)).Only(ctx)
	if ent.IsNotFound(err) {
		t.sharedAtTheSource = true
		return nil
	}
	if err != nil {
		return err
	}
	t.Kind = drawn.Kind
	var titles []string
	err = db.ScanKind(ctx, t.Kind, &titles, func(s *sql.Selector) {
		s.Select(s.C(cmp.Or(titleColumns[t.Kind], venue.FieldName)))
		sql.FieldEQ(event.FieldID, t.ID)(s)
	})
	if len(titles) > 0 {
		t.Title = titles[0]
	}
	return err
}

// withReservedDates runs do, which writes a series. Meanwhile the editor gives the dates of the series their
// reserved ids.
func (r *importRun) withReservedDates(e *Event, do func() error) error {
	starts := make(map[calendar.Wall]int64, len(e.Series.Changed))
	for _, o := range e.Series.Changed {
		if id := r.editor.Reserved.BySource[o.Key]; id != 0 {
			starts[o.Nominal] = id
		}
	}
	r.editor.Reserved.ByStart = starts
	defer func() { r.editor.Reserved.ByStart = nil }()
	return do()
}
