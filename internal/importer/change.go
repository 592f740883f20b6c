package importer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
)

// change collects the fields in which a record of the source differs from the stored record. For a new record, every
// field differs.
type change struct {
	isNew   bool
	differs bool
	texts   textWrites // differing texts, with their writes
	// isTranslation reports whether some of these texts are not in the original language of the record.
	isTranslation bool
	// isOtherLanguage reports whether the source was read in a language other than the original language of the record.
	isOtherLanguage bool
}

// compareTexts compares the texts of a source record with the stored texts. It adds the differences to c, with the
// texts to write in each language.
func (r *importRun) compareTexts(ctx context.Context, db *ent.Client, c *change, s storedTexts, o *Origin, in sourceTexts) (err error) {
	c.isOtherLanguage = !c.isNew && r.language != s.original.Language
	if c.texts, err = r.planTexts(ctx, db, s, o, in); err != nil {
		return fmt.Errorf("texts of %s %d: %w", s.kind, s.id, err)
	}
	if len(c.texts.all) > 0 {
		c.differs = true
		c.isTranslation = !c.isNew && c.texts.translates(s.original.Language)
	}
	return nil
}

// action returns Create, Update, Translate or Unchanged, depending on the differences found so far.
func (c *change) action() Action {
	switch {
	case c.isNew:
		return Create
	case c.isTranslation:
		return Translate
	case c.differs:
		return Update
	}
	return Unchanged
}

// setIfChanged sets *input to a copy of wanted, and marks c as changed, if wanted differs from stored. For a new
// record it always does so.
func setIfChanged[T comparable](c *change, input **T, stored, wanted T) {
	if c.isNew || stored != wanted {
		c.differs = true
		*input = new(wanted)
	}
}

// setIfSent sets *input to a copy of *wanted, and marks c as changed, if *wanted differs from stored or the record
// is new. Nil means that the source did not send the value, so nothing happens.
func setIfSent[T comparable](c *change, input **T, stored T, wanted *T) {
	if wanted != nil {
		setIfChanged(c, input, stored, *wanted)
	}
}

// setTime sets *input to wanted, and marks c as changed, if it is another instant than stored or the record is new.
// Zones do not matter. A nil wanted does nothing.
func setTime(c *change, input **time.Time, stored time.Time, wanted *time.Time) {
	if wanted != nil && (c.isNew || !stored.Equal(*wanted)) {
		c.differs = true
		*input = wanted
	}
}

// setStatus sets *input to the source's status, and marks c as changed, if it differs from the stored one. A nil
// wanted does nothing. A scheduled record whose publication date is in the past counts as published.
func setStatus(c *change, now time.Time, input **calendar.Status, stored calendar.Status, storedDate time.Time,
	wanted *calendar.Status, date *time.Time,
) {
	if wanted == nil {
		return
	}
	if date == nil {
		date = &storedDate
	}
	if c.isNew || edit.StatusChanges(now, stored, *wanted, storedDate, *date) {
		c.differs = true
		*input = wanted
	}
}

// setImage sets *input to the stored id of the source's image if the record has another image. A nil wanted removes
// the image. If the image could not be imported, the record keeps its image.
func (r *importRun) setImage(c *change, input **int64, stored *int64, wanted *Image) {
	var id, old int64
	if stored != nil {
		old = *stored
	}
	if wanted != nil {
		if id = r.ids[wanted.Key]; id == 0 {
			return
		}
	}
	if old != id {
		c.differs = true
		*input = new(id)
	}
}

// setModified sets *input to wanted, the time of the last change at the source. It marks c as changed if that differs
// from stored. It sets an equal time as well, because the write would otherwise store the present time. If
// c.isOtherLanguage or many is true, the later time counts. The parameter many is true if the record has several
// languages or was edited here. A nil wanted sets nil.
func setModified(c *change, input **time.Time, stored time.Time, many bool, wanted *time.Time) {
	if wanted != nil && (many || c.isOtherLanguage) && wanted.Before(stored) {
		wanted = &stored
	}
	setTime(c, input, stored, wanted)
	*input = wanted
}

// linkedIDs returns the ids in this calendar of the records with the given source ids, in order and without repeats.
// The result complete is false if one of them was not imported.
func (r *importRun) linkedIDs(keys []string) (ids []int64, complete bool) {
	ids, complete = []int64{}, true
	for _, key := range keys {
		id, ok := r.ids[key]
		switch {
		case !ok:
			complete = false
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	return ids, complete
}

// keysOf returns the source ids of items.
func keysOf[T sourceRecord](items []T) []string {
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = item.source().Key
	}
	return keys
}

// bySource returns a map of rows by source id, which the function id returns. It leaves out rows with a nil id.
func bySource[R any](rows []R, id func(R) *string) map[string]R {
	m := make(map[string]R, len(rows))
	for _, row := range rows {
		if key := id(row); key != nil {
			m[*key] = row
		}
	}
	return m
}

const trashedNotice = "in the trash here; left alone"
