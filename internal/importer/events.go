package importer

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/series"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	entseries "github.com/almanac-cal/almanac/ent/series"
	"github.com/almanac-cal/almanac/internal/when"
)

// prepareEvents compares single events of the source with the stored ones, and returns the writes that make them
// equal.
func (r *importRun) prepareEvents(ctx context.Context, db *ent.Client, items []*Event) ([]recordWrite, error) {
	rows, err := eventsWithLinks(db.Event.Query().Where(event.SourceIDIn(keysOf(items)...))).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("events by source: %w", err)
	}
	known := bySource(rows, func(e *ent.Event) *string { return e.SourceID })
	edited, err := r.editedEvents(ctx, db, items)
	if err != nil {
		return nil, err
	}
	writes := make([]recordWrite, len(items))
	for i, e := range items {
		row := known[e.Key]
		if e.Edited != nil {
			row = edited[r.edited[e.Key]]
			if e, err = r.onlyEdits(e, row); err != nil {
				return nil, err
			}
		}
		if e.Replaces != nil {
			occurrence, inSeries, err := r.occurrenceOf(ctx, db, e.Replaces)
			switch {
			case err != nil:
				return nil, err
			case inSeries && occurrence == nil:
				writes[i] = recordWrite{action: Unchanged, notice: "a date of a series that is not here, or not yet", hidden: true}
				continue
			case inSeries:
				row = occurrence
			}
		}
		if writes[i], err = r.prepareEvent(ctx, db, e, row); err != nil {
			return nil, err
		}
	}
	return writes, nil
}

// withoutForeignNames returns the events of a file, without venues, organizers and categories where the stored event
// has another original language. Names in the language of the file would create duplicate records.
func (r *importRun) withoutForeignNames(ctx context.Context, all []*Event) ([]*Event, error) {
	var keys []string
	for _, e := range all {
		switch {
		case e.Replaces != nil:
			keys = append(keys, e.Key, e.Replaces.series)
		case e.InFile:
			keys = append(keys, e.Key)
		}
	}
	foreign := make(map[string]bool)
	for some := range slices.Chunk(keys, idBatch) {
		events, err := r.DB.Event.Query().Where(event.SourceIDIn(some...), event.LanguageNEQ(r.language)).
			Select(event.FieldSourceID).Strings(ctx)
		if err != nil {
			return nil, fmt.Errorf("languages of events: %w", err)
		}
		list, err := r.DB.Series.Query().Where(entseries.SourceIDIn(some...), entseries.LanguageNEQ(r.language)).
			Select(entseries.FieldSourceID).Strings(ctx)
		if err != nil {
			return nil, fmt.Errorf("languages of series: %w", err)
		}
		for _, key := range append(events, list...) {
			foreign[key] = true
		}
	}
	without := func(e *Event) *Event {
		one := *e
		one.HasVenues, one.HasOrganizers, one.HasCategories = false, false, false
		one.Venues, one.Organizers, one.Terms = nil, nil, nil
		return &one
	}
	out := slices.Clone(all)
	for i, e := range out {
		if !foreign[e.Key] && (e.Replaces == nil || !foreign[e.Replaces.series]) {
			continue
		}
		out[i] = without(e)
		if e.Series == nil {
			continue
		}
		s := *e.Series
		s.Changed = slices.Clone(s.Changed)
		for k, o := range s.Changed {
			s.Changed[k] = without(o)
		}
		out[i].Series = &s
	}
	return out, nil
}

// occurrenceOf finds the stored occurrence with the series and date of d. It returns a nil row if the stored series has
// no such date. It reports false if the series is not stored.
func (r *importRun) occurrenceOf(ctx context.Context, db *ent.Client, d *replacedDate) (row *ent.Event, inSeries bool, err error) {
	id, err := db.Series.Query().Where(entseries.SourceID(d.series)).OnlyID(ctx)
	if ent.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("series by source: %w", err)
	}
	s, err := seriesWithPhases(ctx, db, id)
	if err != nil {
		return nil, false, err
	}
	starts := make([]calendar.Wall, len(s.Edges.Phases))
	for i, p := range s.Edges.Phases {
		schedule, err := edit.ScheduleOf(p)
		if err != nil {
			return nil, false, fmt.Errorf("series %d: %w", id, err)
		}
		starts[i] = d.date.nominalIn(schedule.Span)
		if schedule.AllDay {
			starts[i] = d.date.asDay(schedule.Has).wall
		}
	}
	row, err = eventsWithLinks(db.Event.Query().Where(event.SeriesID(id), event.OriginalStartIn(starts...))).
		Order(event.ByOriginalStart()).First(ctx)
	if err != nil && !ent.IsNotFound(err) {
		return nil, false, fmt.Errorf("occurrences of series %d: %w", id, err)
	}
	return row, true, nil
}

func (r *importRun) prepareEvent(ctx context.Context, db *ent.Client, e *Event, row *ent.Event) (recordWrite, error) {
	c := &change{isNew: row == nil}
	old := row
	if old == nil {
		old = &ent.Event{}
	}
	if old.Status == calendar.Trash {
		return recordWrite{action: Unchanged, id: old.ID, notice: trashedNotice, hidden: true}, nil
	}
	if e.Protected && r.Protected == AsDraft {
		draft := *e
		draft.Status = new(calendar.Draft)
		e = &draft
	}
	s := storedTextsOf(old)
	in, notice, err := r.compareEvent(ctx, db, c, s, e, old)
	if err != nil {
		return recordWrite{}, err
	}
	setSpan(c, in, old, e.Span)
	notice = joinNotices(notice, r.protect(c, in, old, e))
	edited, err := r.editedEvent(ctx, db, old.ID, old.SeriesID)
	if err != nil {
		return recordWrite{}, err
	}
	kept, err := keepEvent(c, s, in, edited)
	if err != nil {
		return recordWrite{}, err
	}
	setModified(c, &in.ModifiedAt, old.Core().LastWrite(), s.isTranslated() || len(edited) > 0, e.Modified)
	if old.SeriesID != nil && c.differs {
		notice = joinNotices(notice, "recurs here; this date alone is changed")
	}
	w := recordWrite{action: c.action(), id: old.ID, notice: notice, kept: kept}
	if c.isNew {
		in.SourceID, in.AuthorID = &e.Key, r.author()
	}
	ofSeries, err := r.protectedSeries(ctx, db, old, e)
	if err != nil {
		return recordWrite{}, err
	}
	if w.action == Unchanged && ofSeries == nil {
		return w, nil
	}
	own := w.action != Unchanged
	w.action = c.action()
	if !own {
		w.action = Update
	}
	save := r.writeEvent(s, c, row, in)
	w.do = func(ctx context.Context, tx *ent.Tx) (id int64, err error) {
		id = old.ID
		if own {
			if id, err = save(ctx, tx); err != nil {
				return 0, err
			}
		}
		if ofSeries != nil {
			err = series.Update(ctx, tx, r.editor, *old.SeriesID, ofSeries)
		}
		return id, err
	}
	return w, nil
}

// protectedSeries returns the change that hides the series of an occurrence which the source protects by a password.
// Otherwise the public could read the occurrence's text in its series. Nil means that no change is needed.
func (r *importRun) protectedSeries(ctx context.Context, db *ent.Client, old *ent.Event, e *Event) (*edit.EventInput, error) {
	if !e.Protected || old.SeriesID == nil {
		return nil, nil
	}
	s, err := db.Series.Get(ctx, *old.SeriesID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("series %d: %w", *old.SeriesID, err)
	case r.Protected == AsDraft && s.Status != calendar.Draft:
		return &edit.EventInput{Status: new(calendar.Draft)}, nil
	case r.Protected != AsDraft && !s.Protected:
		return &edit.EventInput{Password: new(rand.Text())}, nil
	}
	return nil, nil
}

// protect sets a random password for a protected event, because the source does not reveal its own. A stored
// password remains. Events imported as drafts get none. notice is for the report; "" means none.
func (r *importRun) protect(c *change, in *edit.EventInput, old *ent.Event, e *Event) (notice string) {
	if !e.Protected {
		if e.InFile || !edit.HasPassword(old) { // a file has no passwords
			return ""
		}
		return "not protected at its source, or no longer; its password here stays"
	}
	if r.Protected == AsDraft {
		return "protected at its source; a draft here, without what the source does not show"
	}
	if !edit.HasPassword(old) {
		c.differs, in.Password = true, new(rand.Text())
	}
	return "protected at its source; protected with a random password here, without what the source does not show"
}

// compareEvent compares an event of the source with the stored event, apart from its dates, and returns the fields
// to write.
func (r *importRun) compareEvent(
	ctx context.Context, db *ent.Client, c *change, s storedTexts, e *Event, old *ent.Event,
) (in *edit.EventInput, notice string, err error) {
	if e.Edited == nil || e.Edited.texts {
		err = r.compareTexts(ctx, db, c, s, &e.Origin, sourceTexts{e.Title, e.Slug, e.Description, e.Excerpt, e.EventStatusReason})
		if err != nil {
			return nil, "", err
		}
	}
	in = &edit.EventInput{}
	setStatus(c, r.editor.Now, &in.Status, old.Status, old.PublishedAt, e.Status, e.Published)
	setTime(c, &in.Published, old.PublishedAt, e.Published)
	setCost(c, in, old, e.costOn(r.Site.Currency))
	setWebsite(c, in, old, e.Website)
	if e.HasImage {
		r.setImage(c, &in.ImageID, old.ImageID, e.Image)
	}
	if in.EventValues = e.EventValues; !c.isNew {
		in.EventValues = e.Differing(old)
	}
	c.differs = c.differs || in.EventValues != (ent.EventValues{})
	return in, r.setLinks(c, in, old, e), nil
}

// writeEvent returns the function that stores an event, once for each language with changed texts. A nil row creates
// the event.
func (r *importRun) writeEvent(
	s storedTexts, c *change, row *ent.Event, in *edit.EventInput,
) func(context.Context, *ent.Tx) (int64, error) {
	return writeLanguages(r, s, c.texts, row, func(
		ctx context.Context, tx *ent.Tx, at *ent.Event, one translationWrite, first bool,
	) (*ent.Event, error) {
		in := in
		if !first {
			in = &edit.EventInput{ModifiedAt: in.ModifiedAt}
		}
		in.Title, in.Description, in.Excerpt, in.Slug = one.title, one.description, one.excerpt, one.slug
		in.EventStatusReason = one.reason
		if at == nil {
			return series.CreateEvent(ctx, tx, r.editor, in)
		}
		return series.UpdateEvent(ctx, tx, r.editor, at, in)
	})
}

// setSpan sets start, end, zone and all_day together if one of them differs, because each can move the others.
func setSpan(c *change, in *edit.EventInput, old *ent.Event, s calendar.Span) {
	if !c.isNew && old.StartWall.Equal(s.Start) && old.EndWall.Equal(s.End) && old.Timezone == s.Zone.String() &&
		old.AllDay == s.AllDay {
		return
	}
	c.differs = true
	in.Start, in.End = new(when.FromWall(s.Start)), new(when.FromWall(s.End))
	in.Zone, in.AllDay = &s.Zone, &s.AllDay
}

func setCost(c *change, in *edit.EventInput, old *ent.Event, wanted *calendar.Cost) {
	if wanted == nil {
		return
	}
	a, b := old.Cost, *wanted
	if c.isOtherLanguage && len(a.Texts) == len(b.Texts) {
		// A text such as "Free" is in the language of the reader.
		b.Texts = a.Texts
		wanted = &b
	}
	if c.isNew || !a.Equal(b) {
		c.differs = true
		in.Cost = wanted
	}
}

// setWebsite sets the website of an event to the source's. If the source sent the URL of its own event page, it removes
// the website. Readers then open the event's page in this calendar. Nil changes nothing.
func setWebsite(c *change, in *edit.EventInput, old *ent.Event, wanted *Website) {
	if wanted == nil {
		return
	}
	stored := edit.Website{}
	if old.Website != nil {
		stored = edit.Website{Set: true, URL: *old.Website}
	}
	setIfChanged(c, &in.Website, stored, edit.Website{Set: !wanted.Own, URL: wanted.URL})
}

// setLinks sets the venues, organizers, categories and tags that the source sent. If one of them was not imported, a
// stored event keeps its links, and a new event gets the others. notice names what is missing; "" means nothing.
func (r *importRun) setLinks(c *change, in *edit.EventInput, old *ent.Event, e *Event) (notice string) {
	var missing []string
	// wanted returns the ids of keys to link. It returns false if the source said nothing or the links must stay.
	wanted := func(said bool, what string, keys []string) ([]int64, bool) {
		if !said {
			return nil, false
		}
		ids, complete := r.linkedIDs(keys)
		if !complete {
			missing = append(missing, what)
		}
		return ids, complete || c.isNew
	}
	var venues, organizers []int64
	terms := make(map[calendar.Kind][]int64)
	for _, l := range old.Edges.VenueLinks {
		venues = append(venues, l.VenueID)
	}
	for _, l := range old.Edges.OrganizerLinks {
		organizers = append(organizers, l.OrganizerID)
	}
	for _, t := range old.Edges.Terms {
		terms[t.Taxonomy] = append(terms[t.Taxonomy], t.ID)
	}
	if ids, ok := wanted(e.HasVenues, "venues", keysOf(e.Venues)); ok && (c.isNew || !slices.Equal(ids, venues)) {
		c.differs = true
		refs := make([]edit.VenueRef, len(ids))
		for i, id := range ids {
			refs[i].ID = id
		}
		in.Venues = &refs
	}
	if ids, ok := wanted(e.HasOrganizers, "organizers", keysOf(e.Organizers)); ok &&
		(c.isNew || !slices.Equal(ids, organizers)) {
		c.differs = true
		refs := make([]edit.OrganizerRef, len(ids))
		for i, id := range ids {
			refs[i].ID = id
		}
		in.Organizers = &refs
	}
	for _, t := range []struct {
		kind  calendar.Kind
		said  bool
		input **[]edit.TermRef
	}{
		{calendar.Category, e.HasCategories, &in.Categories},
		{calendar.Tag, e.HasTags, &in.Tags},
	} {
		keys := keysOf(slices.DeleteFunc(slices.Clone(e.Terms), func(x *Term) bool { return x.Kind != t.kind }))
		ids, ok := wanted(t.said, t.kind.Plural(), keys)
		if !ok || !c.isNew && sameSet(ids, terms[t.kind]) {
			continue
		}
		c.differs = true
		refs := make([]edit.TermRef, len(ids))
		for i, id := range ids {
			refs[i].ID = id
		}
		*t.input = &refs
	}
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("some of its %v were not imported or are in the trash here", missing)
}

func sameSet(a, b []int64) bool {
	return maps.Equal(setOf(a), setOf(b))
}

func setOf(ids []int64) map[int64]bool {
	m := make(map[int64]bool, len(ids))
	for _, id := range ids {
		m[id] = true
	}
	return m
}
