package importer

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/markup"
)

// editedRow is a row of a table that Almanac exported. A person may have edited the row since.
type editedRow struct {
	id    int64
	slug  string // slug at the end of the address; "" means none
	page  int64  // id in the address; 0 means none
	cells map[string]string
	texts bool // a text differs from those of the event
}

// newEditedRow returns the row of an event with an id. The URL in its cells ends with the event's slug, or has the
// id (/?p=15).
func newEditedRow(id int64, cells map[string]string) *editedRow {
	e := &editedRow{id: id, cells: cells}
	u, err := url.Parse(cells["url"])
	if err != nil {
		return e
	}
	if p, err := strconv.ParseInt(u.Query().Get("p"), 10, 64); err == nil {
		e.page = p
		return e
	}
	if last := path.Base(u.EscapedPath()); last != "." && last != "/" {
		e.slug = strings.ToLower(last)
	}
	return e
}

// isPageOf reports whether the URL in the row belongs to a stored event, so that the row edits that event. An event
// without a page has a URL with its id only, which another calendar may also use. So an event with a page must then
// have the row's title.
func (e *editedRow) isPageOf(row *ent.Event) bool {
	if e.slug == "" {
		hasPage := row.Slug != "" && (row.Status == calendar.Publish || row.Status == calendar.Private)
		return e.page == e.id && (!hasPage || html.UnescapeString(e.cells["title"]) == row.Title)
	}
	if e.slug == row.Slug || e.slug == calendar.UntrashedSlug(row.Slug) {
		return true
	}
	return slices.ContainsFunc(row.Edges.Translations, func(t *ent.EventTranslation) bool { return t.Slug == e.slug })
}

// findEdited finds the stored events that the rows of an exported table edit. It also finds the venues, organizers,
// images and terms in these rows. A row whose event is not found becomes a new event, and must have a start.
func (r *importRun) findEdited(ctx context.Context, all []*Event) ([]*Event, error) {
	r.edited = make(map[string]int64)
	var ids []int64
	for _, e := range all {
		if e.Edited != nil {
			ids = append(ids, e.Edited.id)
		}
	}
	rows := make(map[int64]*ent.Event)
	for some := range slices.Chunk(ids, idBatch) {
		list, err := r.DB.Event.Query().Where(event.IDIn(some...)).WithTranslations().
			Select(event.FieldID, event.FieldSlug, event.FieldTitle, event.FieldStatus).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("events of the table: %w", err)
		}
		for _, row := range list {
			rows[row.ID] = row
		}
	}
	out := make([]*Event, 0, len(all))
	for _, e := range all {
		if e.Edited != nil {
			row := rows[e.Edited.id]
			if row != nil && e.Edited.isPageOf(row) {
				r.edited[e.Key] = row.ID
			} else if e = r.asNew(e); e == nil {
				continue
			}
		}
		out = append(out, e)
	}
	return out, r.findHere(ctx, out)
}

// asNew converts an exported row to a new event, because no stored event matches. It drops the ids of venues,
// organizers and images, which belong to another calendar. If title or start is missing, it adds a Problem and
// returns nil.
func (r *importRun) asNew(e *Event) *Event {
	one := *e
	one.Edited = nil
	if one.Title == "" || one.Span.Start.IsZero() {
		p := Problem{Kind: calendar.Event, Title: abbreviate(e.Title), Where: e.Where, Reason: "no event here has its id and url, and a new one needs a title and a start"}
		r.report.Problems = append(r.report.Problems, p)
		r.report.unread = append(slices.Clip(r.report.unread), p)
		r.report.count(calendar.Event, Fail)
		return nil
	}
	if one.Span.Check() != nil {
		one.Span.End = one.Span.Start
	}
	foreign := func(o *Origin) bool { return o.Here != 0 }
	kinds := len(one.Venues) + len(one.Organizers)
	one.Venues = slices.DeleteFunc(slices.Clone(one.Venues), func(v *Venue) bool { return foreign(&v.Origin) })
	one.Organizers = slices.DeleteFunc(slices.Clone(one.Organizers), func(o *Organizer) bool { return foreign(&o.Origin) })
	if one.Image != nil && foreign(&one.Image.Origin) {
		one.HasImage, one.Image = false, nil
	}
	if kinds > len(one.Venues)+len(one.Organizers) {
		one.Altered = true
		r.report.notice(&one.Origin, "no event here has its id and url, so it is a new event; ids of venues and organizers are left out")
	}
	return &one
}

// editedEvents loads the stored events that the rows edit, by id.
func (r *importRun) editedEvents(ctx context.Context, db *ent.Client, items []*Event) (map[int64]*ent.Event, error) {
	var ids []int64
	for _, e := range items {
		if id := r.edited[e.Key]; e.Edited != nil && id != 0 {
			ids = append(ids, id)
		}
	}
	out := make(map[int64]*ent.Event, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := eventsWithLinks(db.Event.Query().Where(event.IDIn(ids...))).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("events of the table: %w", err)
	}
	for _, row := range rows {
		out[row.ID] = row
	}
	return out, nil
}

// onlyEdits returns the event of a row with only the cells that change the stored event row. It drops cells that show
// the stored value in another form. It returns a refusedRecord if row is nil.
func (r *importRun) onlyEdits(e *Event, row *ent.Event) (*Event, error) {
	if row == nil {
		return nil, refusedRecord("its event is no longer here")
	}
	one, edit := *e, *e.Edited
	one.Edited = &edit
	if err := one.keepSpan(row); err != nil {
		return nil, err
	}
	titles, descriptions := []string{row.Title}, []string{row.Description}
	excerpts, reasons := []string{row.Excerpt}, []string{row.EventStatusReason}
	for _, t := range row.Edges.Translations {
		titles, descriptions = append(titles, t.Title), append(descriptions, t.Description)
		excerpts, reasons = append(excerpts, t.Excerpt), append(reasons, t.EventStatusReason)
	}
	one.Slug = ""
	if slug := keptSlug(edit.cells["slug"]); slug != "" && slug != edit.slug && !calendar.IsSlugOf(row.Slug, edit.cells["slug"]) {
		one.Slug, edit.texts = slug, true
	}
	if one.Title == "" || slices.Contains(titles, one.Title) {
		s := storedTextsOf(row)
		one.Title = calendar.Served(r.language, r.Site.Language, s.original, s.others).Title
	} else {
		edit.texts = true
	}
	for _, f := range []struct {
		text   **string
		stored []string
	}{{&one.Description, descriptions}, {&one.Excerpt, excerpts}, {&one.EventStatusReason, reasons}} {
		if *f.text == nil {
			continue
		}
		if isOneOf(**f.text, f.stored) {
			*f.text = nil
		} else {
			edit.texts = true
		}
	}
	if one.Cost != nil && r.isCostOf(row.Cost, *one.Cost, edit.cells["cost"]) {
		one.Cost = nil
	}
	return &one, nil
}

// isOneOf reports whether a cell's HTML equals one of the stored texts, either as stored or as the API sends it.
func isOneOf(text string, stored []string) bool {
	return slices.ContainsFunc(stored, func(s string) bool {
		return text == strings.TrimSpace(s) || unixText(text) == unixText(s) || unixText(text) == unixText(markup.Paragraphs(s))
	})
}

// unixText returns a text with LF line breaks, and without white space at its ends.
func unixText(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// isCostOf reports whether a cell shows the stored cost. wanted is the cost parsed from the cell. "10" equals
// "10.00".
func (r *importRun) isCostOf(stored, wanted calendar.Cost, cell string) bool {
	for _, free := range []string{"Free", "Bezpłatnie", "Gratis"} {
		if html.UnescapeString(stored.Display(r.Site.Currency, free)) == html.UnescapeString(strings.TrimSpace(cell)) {
			return true
		}
	}
	bare := func(prices []string) []string {
		out := make([]string, len(prices))
		for i, p := range prices {
			if out[i] = p; strings.Contains(p, ".") {
				out[i] = strings.TrimRight(strings.TrimRight(p, "0"), ".")
			}
		}
		return out
	}
	if len(wanted.Prices) > 0 && wanted.Symbol == "" && wanted.Position == "" {
		wanted.Symbol, wanted.Position, wanted.Codes = stored.Symbol, stored.Position, stored.Codes
	}
	sameSymbol := stored.Symbol == wanted.Symbol ||
		stored.Symbol == "" && wanted.Symbol == r.Site.Currency.Symbol
	return sameSymbol && slices.Equal(stored.Codes, wanted.Codes) && slices.Equal(bare(stored.Prices), bare(wanted.Prices)) && slices.Equal(stored.Texts, wanted.Texts)
}

// keepSpan fills in start, end, zone and all_day from the stored event, where the table lacks them. It returns an error
// if the resulting span is invalid.
func (e *Event) keepSpan(row *ent.Event) error {
	zone, err := calendar.ParseZone(row.Timezone)
	if err != nil {
		return fmt.Errorf("event %d: %w", row.ID, err)
	}
	s, cells := e.Span, e.Edited.cells
	if _, ok := cells["timezone"]; !ok {
		s.Zone = zone
	}
	if s.Start.IsZero() {
		s.Start, s.AllDay = row.StartWall, row.AllDay
		if cells["timezone"] == "" {
			s.Zone = zone
		}
	}
	if s.End.IsZero() || cells["end_date"] == "" && cells["end_time"] == "" && cells["duration"] == "" {
		s.End = row.EndWall
	}
	if _, ok := cells["all_day"]; !ok && s.Start.Equal(row.StartWall) && s.End.Equal(row.EndWall) {
		s.AllDay = row.AllDay
	}
	s = s.Rounded()
	if err := s.Check(); err != nil {
		return refusedRecord("end_date: " + err.Error())
	}
	e.Span = s
	return nil
}
