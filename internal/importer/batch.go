package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/param"
)

// recordWrite is the planned write of one record that an import read from its source.
type recordWrite struct {
	action Action
	id     int64 // id of the stored record; 0 for a new one
	// do writes the record and returns its id. Nil means that there is nothing to write.
	do     func(ctx context.Context, tx *ent.Tx) (int64, error)
	notice string   // for the report; "" means none
	kept   []string // names of the fields that stay, because a person changed them here
	// dates has the writes of single occurrences of a series. When do runs, it plans these again and replaces their
	// notice. Nil for other records.
	dates *datesToWrite
	// hidden is true if events must not be linked to the record, because it is in the trash or not stored.
	hidden bool
}

// sourceRecord is any record that an import reads from its source: an event, venue, organizer, term or image.
type sourceRecord interface {
	source() *Origin
	displayName() string // title or name for the report
}

// syncRecords imports the records of one kind in batches. For each batch it calls prepare, which compares the batch
// with the stored records and returns the planned writes.
func syncRecords[T sourceRecord](
	ctx context.Context, r *importRun, kind calendar.Kind, items []T,
	prepare func(context.Context, *ent.Client, []T) ([]recordWrite, error),
) error {
	size := batchSize
	if kind == calendar.Series {
		size = 1 // a series has up to a thousand events
	}
	for batch := range slices.Chunk(items, size) {
		if err := syncBatch(ctx, r, kind, batch, prepare); err != nil {
			return fmt.Errorf("import of the %s: %w", kind.Plural(), err)
		}
		r.done += len(batch)
		if r.Progress != nil {
			r.Progress(r.done, r.total)
		}
	}
	return nil
}

const (
	// batchSize is the maximum number of records that one transaction writes. It is small, so that other writers wait
	// only briefly.
	batchSize = 50
	// maxBroken is the number of successive records after which the import stops, if each failed with an unexpected
	// error. Invalid records do not count.
	maxBroken = 3
)

func syncBatch[T sourceRecord](
	ctx context.Context, r *importRun, kind calendar.Kind, batch []T,
	prepare func(context.Context, *ent.Client, []T) ([]recordWrite, error),
) error {
	writes, err := tryBatch(ctx, r, kind, batch, prepare)
	if err == nil {
		for i, w := range writes {
			reportWrite(r, kind, batch[i], w)
		}
		r.broken = 0
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(batch) > 1 {
		for i := range batch {
			if err := syncBatch(ctx, r, kind, batch[i:i+1], prepare); err != nil {
				return err
			}
		}
		return nil
	}
	reason, refused := refusal(err)
	if refused {
		r.broken = 0
	} else if r.broken++; r.broken >= maxBroken {
		return err
	}
	r.report.fail(kind, batch[0].source(), batch[0].displayName(), reason)
	return nil
}

// tryBatch plans a batch and stores it in one transaction. In a dry run it only plans. If an event changes
// between the plan and the write, its version differs, and the transaction is retried.
func tryBatch[T sourceRecord](
	ctx context.Context, r *importRun, kind calendar.Kind, batch []T,
	prepare func(context.Context, *ent.Client, []T) ([]recordWrite, error),
) (writes []recordWrite, err error) {
	if r.DryRun {
		return prepare(ctx, r.DB, batch)
	}
	err = edit.Write(ctx, r.DB, r.editor, func(tx *ent.Tx) error {
		if writes, err = prepare(ctx, tx.Client(), batch); err != nil {
			return err
		}
		if kind == calendar.Event {
			if _, err := edit.LockEvents(ctx, tx, changedIDs(writes)...); err != nil {
				return err
			}
		}
		for i := range writes {
			if writes[i].do == nil {
				continue
			}
			if writes[i].id, err = writes[i].do(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	return writes, err
}

// changedIDs returns the ids of existing records that the writes will change. It leaves out new records and writes
// with nothing to do.
func changedIDs(writes []recordWrite) (ids []int64) {
	for _, w := range writes {
		if w.do != nil && w.id != 0 {
			ids = append(ids, w.id)
		}
	}
	return ids
}

// reportWrite adds a planned or completed write to the report. Unless the record is hidden, it also stores its id in
// r.ids, so that later records can link to it. A new record that a dry run does not store gets a negative id there.
func reportWrite[T sourceRecord](r *importRun, kind calendar.Kind, item T, w recordWrite) {
	from := item.source()
	if w.id == 0 {
		w.id = -int64(len(r.ids) + 1)
	}
	if !w.hidden {
		r.ids[from.Key] = w.id
	}
	if w.dates != nil {
		w.notice = joinNotices(w.notice, w.dates.notice)
		r.report.Kept = append(r.report.Kept, w.dates.kept...)
	}
	if len(w.kept) > 0 {
		r.report.Kept = append(r.report.Kept, KeptRecord{Kind: kind, Title: item.displayName(), Fields: w.kept})
	}
	if w.notice != "" {
		r.report.notice(from, w.notice)
	}
	e, isEvent := any(item).(*Event)
	r.report.add(Item{
		Kind: kind, Action: w.action, Title: item.displayName(), Source: from.Key, ID: max(w.id, 0), Altered: isEvent && e.isAltered(),
	})
}

// refusedRecord is the error for a record of the source that cannot be imported. Its text is the reason.
type refusedRecord string

func (r refusedRecord) Error() string { return string(r) }

// refusal reports whether an error is caused by the record itself, such as an invalid field, and returns the reason.
// For other errors, such as a lost connection, it returns the error's text and false.
func refusal(err error) (reason string, refused bool) {
	if record, ok := errors.AsType[refusedRecord](err); ok {
		return string(record), true
	}
	if invalid, ok := errors.AsType[param.Invalid](err); ok {
		var all []error
		for _, f := range invalid.Faults {
			why := f.Reason
			if why == "" {
				why = f.Key
			}
			all = append(all, fmt.Errorf("%s: %s", f.Param, why))
		}
		return joinErrors(all), true
	}
	if known, ok := errors.AsType[*calendar.Error](err); ok {
		return known.Code, true
	}
	return err.Error(), false
}
