package series

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/search"
)

// A small request can store its texts in each of 1,000 occurrences. These limits count the bytes that the
// database stores, not those of the request (contract, section 19.4).
const (
	maxStored = 16 << 20 // bytes that one write of a series stores
	// occurrenceBytes is the size of an occurrence without its texts and links: columns, slugs, index entries and
	// the change log. SQLite takes some 800 bytes for short slugs.
	occurrenceBytes = 2 << 10
	// changeBytes is the size of a changed occurrence without its texts and links: the entry of the change log.
	changeBytes = 256
)

// mostOccurrences returns the maximum number of occurrences that one write may create, if each takes size bytes in
// the database. It is at least 1.
func mostOccurrences(size int) int {
	return max(1, min(recur.MaxOccurrences, maxStored/size))
}

// MostText returns the maximum size in bytes of an event's texts with which one write can create the given number
// of occurrences. Texts with characters that grow when folded must be shorter.
func MostText(occurrences int) int {
	return max(0, (maxStored/max(1, occurrences)-occurrenceBytes)/2)
}

// occurrenceSize estimates the bytes that an occurrence with the fields of t takes in the database, including search
// texts. The estimate does not depend on the ids of links.
func occurrenceSize(e *edit.Editor, t *ent.Event) int {
	n := occurrenceBytes
	for _, name := range edit.TemplateFieldNames(t.Language) {
		n += fieldSize(name, t)
	}
	for _, s := range e.SearchTextsOf(calendar.Event, t.Text(), t.Translated()) {
		n += len(s.Text)
	}
	return n
}

// fieldSize estimates the bytes that the named field of t takes, without search texts. It returns 0 for a field of
// fixed size.
func fieldSize(name string, t *ent.Event) int {
	switch f, l := edit.TemplateFieldOf(name); {
	case l != "":
		return len(*f.Text(edit.TextIn(t, l)))
	case f.Size != nil:
		return f.Size(t)
	}
	return 0
}

// foldedSizes caches, by text, the size in bytes of the form that searches compare (search.Fold). The occurrences of
// a series share their texts.
type foldedSizes map[string]int

func (s foldedSizes) of(text string) int {
	n, ok := s[text]
	if !ok {
		n = len(search.Fold(markup.Plain(text)))
		s[text] = n
	}
	return n
}

// storedSize estimates the bytes that a change of an occurrence stores. It also returns the changed field with the
// largest share. An unchanged text counts only where it is copied to the search texts of a new language. So an old
// series with long texts can still be renamed and trashed.
func (c *occurrenceChange) storedSize(folded foldedSizes) (size int, largest string) {
	size = changeBytes
	most := 0
	for _, name := range c.Changed {
		n := fieldSize(name, &c.After)
		if value, searched := searchedText(name, &c.After); searched {
			copies := 1
			if _, l := calendar.CutField(name); l == "" {
				copies = len(c.Languages.List()) // languages without this text show the original
			}
			n += copies * folded.of(value)
		}
		if n > most {
			most, largest = n, name
		}
		size += n
	}
	for _, l := range c.Languages.List() {
		if !c.Row.Languages.Has(l) {
			size += folded.of(c.Row.Title) + folded.of(c.Row.Excerpt) + folded.of(c.Row.Description)
		}
	}
	return size, largest
}

// searchedText returns the value of the named text field of t. It returns false if search texts do not include the
// field.
func searchedText(name string, t *ent.Event) (string, bool) {
	field, l := calendar.CutField(name)
	text := t.Text()
	if l != "" {
		text = edit.TextIn(t, l).Text()
	}
	switch field {
	case "title":
		return text.Title, true
	case "description":
		return text.Description, true
	case "excerpt":
		return text.Excerpt, true
	}
	return "", false
}

// limitStored returns an error if a write of several occurrences would store more than maxStored bytes. It charges
// the hourly budget of the caller. The rows are the stored occurrences that the write changes.
func (w *seriesWrite) limitStored(ctx context.Context, rows []*occurrenceChange) error {
	total, made := 0, len(w.newStarts)
	for _, n := range w.newStarts {
		total += w.phaseSize(n.phase)
	}
	texts := total
	folded := make(foldedSizes)
	shares := make(map[string]int)
	for _, r := range rows {
		size, largest := r.storedSize(folded)
		shares[largest] += size
		total += size
		texts += size - changeBytes
	}
	if total > maxStored && len(rows)+made > 1 {
		return edit.InvalidInput(w.tooLarge(shares, len(rows)))
	}
	return w.SpendBudget(ctx, w.tx, made, texts)
}

// phaseSize estimates the bytes that a new occurrence takes. The parameter phase is the index of the part of the
// series to which it belongs.
func (w *seriesWrite) phaseSize(phase int) int {
	if w.phaseSizes == nil {
		w.phaseSizes = make(map[int]int)
	}
	size, ok := w.phaseSizes[phase]
	if !ok {
		size = occurrenceSize(w.Editor, &w.phases[phase].template)
		w.phaseSizes[phase] = size
	}
	return size
}

// tooLarge returns the parameter error for a write that would store too much. It names the field with the largest
// share. Its maximum is the number of bytes that each occurrence can store. The parameter changed is the number of
// changed occurrences. Without a changed field, the error is that of too many occurrences.
func (w *seriesWrite) tooLarge(shares map[string]int, changed int) *param.Fault {
	largest := "rrule"
	for name, size := range shares {
		if name != "" && (largest == "rrule" || size > shares[largest] || size == shares[largest] && name < largest) {
			largest = name
		}
	}
	if largest == "rrule" { // new occurrences alone
		return ScheduleFault(tooManyOccurrences(max(1, maxStored/w.phaseSize(len(w.phases)-1))))
	}
	each := maxStored / max(1, changed+len(w.newStarts))
	field, _ := calendar.CutField(largest)
	return &param.Fault{
		Param: field, Reason: "rest_out_of_bounds", Key: "too-large-for-series",
		Args: map[string]any{"Maximum": each, "Dates": changed + len(w.newStarts)}, Data: map[string]any{"maximum": each},
	}
}
