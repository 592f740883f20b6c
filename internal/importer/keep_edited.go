package importer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	entchange "github.com/almanac-cal/almanac/ent/change"
)

// KeptRecord is a record with fields that an import left alone, because a person changed them here.
type KeptRecord struct {
	Kind   calendar.Kind
	Title  string
	Fields []string // names in the API; dates stand for the start, the end, the zone and all_day together
}

// datesField is the name in KeptRecord of all fields that move an event. Each can move the others.
const datesField = "dates"

var (
	movingFields   = []string{"start_date", "end_date", "timezone", "all_day"}
	scheduleFields = append(slices.Clone(movingFields), "rrule", "rdate")
)

// editedFields is the set of a record's fields that persons changed here. The names are those of the change log: title,
// or title:pl for a translation.
type editedFields map[string]bool

// editedByPersons returns, by record id, which fields users changed. The change log names a
// user for each change by the API; imports and the service itself have none. Moves to the trash and back do not count. It
// returns nothing unless KeepEdited is set.
func (r *importRun) editedByPersons(ctx context.Context, db *ent.Client, kind calendar.Kind, ids []int64) (map[int64]editedFields, error) {
	if !r.KeepEdited {
		return nil, nil
	}
	all := make(map[int64]editedFields)
	for some := range slices.Chunk(ids, idBatch) {
		rows, err := db.Change.Query().Where(
			entchange.KindEQ(kind), entchange.RecordIDIn(some...), entchange.UserIDNotNil(), entchange.ActionEQ(calendar.Updated),
		).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("changes of %s: %w", kind.Plural(), err)
		}
		for _, row := range rows {
			if all[row.RecordID] == nil {
				all[row.RecordID] = make(editedFields)
			}
			for _, name := range row.Fields {
				all[row.RecordID][name] = true
			}
		}
	}
	return all, nil
}

// editedByPerson returns which fields of one record users changed (see editedByPersons). For id 0, a new record, it
// returns nil.
func (r *importRun) editedByPerson(ctx context.Context, db *ent.Client, kind calendar.Kind, id int64) (editedFields, error) {
	if id == 0 {
		return nil, nil
	}
	all, err := r.editedByPersons(ctx, db, kind, []int64{id})
	return all[id], err
}

// editedEvent returns the fields of an event that persons changed, alone or with its series. The parameter series is
// the id of its series; nil means a single event.
func (r *importRun) editedEvent(ctx context.Context, db *ent.Client, id int64, series *int64) (editedFields, error) {
	edited, err := r.editedByPerson(ctx, db, calendar.Event, id)
	if err != nil || series == nil {
		return edited, err
	}
	common, err := r.editedByPerson(ctx, db, calendar.Series, *series)
	for name := range common {
		if edited == nil {
			edited = make(editedFields)
		}
		edited[name] = true
	}
	return edited, err
}

// hasAny reports whether a person changed one of the fields.
func (f editedFields) hasAny(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f[name] })
}

// keptFields collects the names of the fields that an import leaves alone.
type keptFields struct {
	edited editedFields
	names  []string
}

// keepTexts removes the writes of edited texts. The parameter title is the name of a title in the change log.
func (k *keptFields) keepTexts(c *change, original calendar.Language, title string) {
	var rest []translationWrite
	for _, w := range c.texts.all {
		for name, text := range map[string]**string{
			title: &w.title, "description": &w.description, "excerpt": &w.excerpt, "slug": &w.slug, "event_status_reason": &w.reason,
		} {
			if w.language != original {
				name += ":" + string(w.language)
			}
			freed := *text != nil && text == &w.slug && **text == c.texts.freedSlug
			if keepValue(k, name, text) && freed {
				c.texts.freedSlug, c.texts.freedFrom = "", ""
			}
		}
		if !w.empty() {
			rest = append(rest, w)
		}
	}
	c.texts.all = rest
	c.isTranslation = c.isTranslation && c.texts.translates(original)
}

// keepValue sets *value, a field's planned new value, to nil if a person changed the field here. It then adds the field
// to k.names. It reports whether it did so.
func keepValue[T any](k *keptFields, name string, value **T) bool {
	if *value == nil || !k.edited[name] {
		return false
	}
	*value = nil
	k.names = append(k.names, name)
	return true
}

// keepPlain calls keepValue for a record's plain fields, such as flags and phone numbers. It returns an error for a
// field of an unknown type.
func (k *keptFields) keepPlain(fields []ent.PlainField) error {
	for _, f := range fields {
		switch value := f.Value.(type) {
		case **bool:
			keepValue(k, f.Name, value)
		case **string:
			keepValue(k, f.Name, value)
		case **int:
			keepValue(k, f.Name, value)
		case **calendar.EventStatus:
			keepValue(k, f.Name, value)
		case **calendar.Attendance:
			keepValue(k, f.Name, value)
		default:
			return fmt.Errorf("field %s has the type %T", f.Name, f.Value)
		}
	}
	return nil
}

// keepEvent removes the fields from the planned write of an event or a series that a person changed here. It returns the
// names of those that would have changed.
func keepEvent(c *change, s storedTexts, in *edit.EventInput, edited editedFields) ([]string, error) {
	if len(edited) == 0 {
		return nil, nil
	}
	k := &keptFields{edited: edited}
	k.keepTexts(c, s.original.Language, "title")
	keepValue(k, "status", &in.Status)
	keepValue(k, "date", &in.Published)
	keepValue(k, "cost", &in.Cost)
	keepValue(k, "website", &in.Website)
	keepValue(k, "password", &in.Password)
	keepValue(k, "image", &in.ImageID)
	keepValue(k, "post_parent", &in.ParentID)
	keepValue(k, "author", &in.AuthorID)
	keepValue(k, "categories", &in.Categories)
	keepValue(k, "tags", &in.Tags)
	keepValue(k, "venue", &in.Venues)
	keepValue(k, "organizer", &in.Organizers)
	if err := k.keepPlain(in.Plain()); err != nil {
		return nil, err
	}
	if in.Start != nil && edited.hasAny(movingFields) {
		in.Start, in.End, in.Zone, in.AllDay = nil, nil, nil, nil
		k.names = append(k.names, datesField)
	}
	c.differs = *in != edit.EventInput{} || len(c.texts.all) > 0
	return k.sorted(), nil
}

// sorted returns the names of the kept fields in alphabetical order.
func (k *keptFields) sorted() []string {
	slices.Sort(k.names)
	return k.names
}

// keepNamed removes the fields that a person changed here from the planned write of a venue or organizer. It calls
// fields for those that only one kind has. It returns the names of those that would have changed.
func keepNamed[V comparable](
	c *change, s storedTexts, in *edit.NamedInput[V], fields func(*keptFields, *V) error, edited editedFields,
) ([]string, error) {
	if len(edited) == 0 {
		return nil, nil
	}
	k := &keptFields{edited: edited}
	k.keepTexts(c, s.original.Language, string(s.kind))
	keepValue(k, "status", &in.Status)
	keepValue(k, "date", &in.Published)
	keepValue(k, "image", &in.ImageID)
	keepValue(k, "author", &in.AuthorID)
	if err := fields(k, &in.Values); err != nil {
		return nil, err
	}
	c.differs = *in != edit.NamedInput[V]{} || len(c.texts.all) > 0
	return k.sorted(), nil
}

// keepTerm removes the fields that a person changed here from the planned write of a category or tag. It returns the
// names of those that would have changed.
func keepTerm(c *change, s storedTexts, in *edit.TermInput, edited editedFields) []string {
	if len(edited) == 0 {
		return nil
	}
	k := &keptFields{edited: edited}
	k.keepTexts(c, s.original.Language, "name")
	keepValue(k, "parent", &in.ParentID)
	c.differs = in.ParentID != nil || len(c.texts.all) > 0
	return k.sorted()
}

func keepVenueValues(k *keptFields, v *edit.VenueValues) error {
	keepValue(k, "geo_lat", &v.Latitude)
	keepValue(k, "geo_lng", &v.Longitude)
	return k.keepPlain(v.Plain())
}

func keepOrganizerValues(k *keptFields, v *ent.OrganizerValues) error { return k.keepPlain(v.Plain()) }

// KeptFields says in English how many fields the import left alone because persons changed them here, and in which
// records. It returns "" if there are none.
func (r *Report) KeptFields() string {
	fields := 0
	var titles []string
	for _, k := range r.Kept {
		fields += len(k.Fields)
		titles = append(titles, fmt.Sprintf("%s %q (%s)", k.Kind, abbreviate(k.Title), strings.Join(k.Fields, ", ")))
	}
	switch fields {
	case 0:
		return ""
	case 1:
		return "1 field kept that was changed here: " + titles[0]
	}
	return fmt.Sprintf("%d fields kept that were changed here: %s", fields, strings.Join(titles, "; "))
}

// noteForgotten adds a notice if KeepEdited is set and the change log does not reach back to the first write. Then the
// import may overwrite what persons changed before.
func (r *importRun) noteForgotten(ctx context.Context) error {
	if !r.KeepEdited {
		return nil
	}
	first, err := edit.FirstChange(ctx, r.DB)
	if err != nil || first <= 1 {
		return err
	}
	oldest, err := r.DB.Change.Get(ctx, first)
	if err != nil {
		return fmt.Errorf("oldest change: %w", err)
	}
	r.report.Notices = append(r.report.Notices, fmt.Sprintf(
		"the change log begins on %s, so fields that were changed here earlier follow the source again (--keep-changes of serve)",
		oldest.At.Format("2006-01-02"),
	))
	return nil
}
