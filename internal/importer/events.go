package importer

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/eventorganizer"
	"github.com/almanac-cal/almanac/ent/eventvenue"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/internal/when"
)

// prepareEvents compares events with those stored.
func (r *run) prepareEvents(ctx context.Context, db *ent.Client, items []*Event) ([]write, error) {
	rows, err := db.Event.Query().Where(event.SourceIDIn(keysOf(items)...)).
		WithVenueLinks(func(q *ent.EventVenueQuery) { q.Order(eventvenue.ByPosition()) }).
		WithOrganizerLinks(func(q *ent.EventOrganizerQuery) { q.Order(eventorganizer.ByPosition()) }).
		WithTerms(func(q *ent.TermQuery) { q.Select(term.FieldID, term.FieldTaxonomy) }).
		WithTranslations().
		All(ctx)
	if err != nil {
		return nil, fmt.Errorf("events by source: %w", err)
	}
	known := bySource(rows, func(e *ent.Event) *string { return e.SourceID })
	writes := make([]write, len(items))
	for i, e := range items {
		if writes[i], err = r.prepareEvent(ctx, db, e, known[e.Key]); err != nil {
			return nil, err
		}
	}
	return writes, nil
}

func (r *run) prepareEvent(ctx context.Context, db *ent.Client, e *Event, row *ent.Event) (write, error) {
	c := &change{fresh: row == nil}
	old := row
	if old == nil {
		old = &ent.Event{}
	}
	if old.Status == calendar.Trash {
		return write{action: Unchanged, id: old.ID, notice: trashed, hidden: true}, nil
	}
	in := &edit.EventInput{}
	s := spokenOf(old)
	err := r.speak(ctx, db, c, s, &e.Origin, said{e.Title, e.Slug, e.Description, e.Excerpt})
	if err != nil {
		return write{}, err
	}
	setStatus(c, r.editor.Now, &in.Status, old.Status, old.PublishedAt, e.Status, e.Published)
	setTime(c, &in.Published, old.PublishedAt, e.Published)
	setSpan(c, in, old, e.Span)
	setCost(c, in, old, e.Cost)
	setWebsite(c, in, old, e.Website)
	if e.HasImage {
		r.setImage(c, &in.ImageID, old.ImageID, e.Image)
	}
	setIf(c, &in.ShowMap, old.ShowMap, e.ShowMap)
	setIf(c, &in.ShowMapLink, old.ShowMapLink, e.ShowMapLink)
	setIf(c, &in.Hide, old.HideFromListings, e.Hide)
	setIf(c, &in.Sticky, old.Sticky, e.Sticky)
	setIf(c, &in.Featured, old.Featured, e.Featured)
	setIf(c, &in.Ticketed, old.Ticketed, e.Ticketed)
	notice := r.setLinks(c, in, old, e)
	setModified(c, &in.ModifiedAt, old.ModifiedAt, s.many(), e.Modified)
	w := write{action: c.action(), id: old.ID, notice: notice}
	if c.fresh {
		in.SourceID, in.AuthorID = &e.Key, r.author()
	}
	if w.action != Unchanged {
		w.do = writeLanguages(r, s, c.words, row, func(
			ctx context.Context, tx *ent.Tx, at *ent.Event, one wording, first bool,
		) (*ent.Event, error) {
			in := in
			if !first {
				in = &edit.EventInput{ModifiedAt: in.ModifiedAt}
			}
			in.Title, in.Description, in.Excerpt, in.Slug = one.title, one.description, one.excerpt, one.slug
			if at == nil {
				return r.editor.CreateEvent(ctx, tx, in)
			}
			return r.editor.UpdateEvent(ctx, tx, at, in)
		})
	}
	return w, nil
}

// setSpan sends all of the dates if one of them is new, because each moves the others.
func setSpan(c *change, in *edit.EventInput, old *ent.Event, s calendar.Span) {
	if !c.fresh && old.StartWall.Equal(s.Start) && old.EndWall.Equal(s.End) && old.Timezone == s.Zone.String() &&
		old.AllDay == s.AllDay {
		return
	}
	c.any = true
	in.Start, in.End = new(when.FromWall(s.Start)), new(when.FromWall(s.End))
	in.Zone, in.AllDay = &s.Zone, &s.AllDay
}

func setCost(c *change, in *edit.EventInput, old *ent.Event, wanted *calendar.Cost) {
	if wanted == nil {
		return
	}
	a, b := old.Cost, *wanted
	if c.foreign && len(a.Texts) == len(b.Texts) {
		// Such as "Free", in the language of the reader.
		b.Texts = a.Texts
		wanted = &b
	}
	if c.fresh || a.Symbol != b.Symbol || a.Position != b.Position || !slices.Equal(a.Prices, b.Prices) ||
		!slices.Equal(a.Texts, b.Texts) {
		c.any = true
		in.Cost = wanted
	}
}

// setWebsite takes the event's own page at the source for none: it is answered with its own page here.
func setWebsite(c *change, in *edit.EventInput, old *ent.Event, wanted *Website) {
	if wanted == nil {
		return
	}
	stored := edit.Website{}
	if old.Website != nil {
		stored = edit.Website{Set: true, URL: *old.Website}
	}
	site := edit.Website{Set: true, URL: wanted.URL}
	if wanted.Own {
		site = edit.Website{}
	}
	set(c, &in.Website, stored, site)
}

// setLinks sends the links that the source has said. Those of an event that is here already stay as they are
// as long as one of the wanted ones is missing; a new event gets what there is.
func (r *run) setLinks(c *change, in *edit.EventInput, old *ent.Event, e *Event) (notice string) {
	var missing []string
	// wanted is what is to be linked, or false for what is to be left alone.
	wanted := func(said bool, what string, keys []string) ([]int64, bool) {
		if !said {
			return nil, false
		}
		ids, complete := r.linked(keys)
		if !complete {
			missing = append(missing, what)
		}
		return ids, complete || c.fresh
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
	if ids, ok := wanted(e.HasVenues, "venues", keysOf(e.Venues)); ok && (c.fresh || !slices.Equal(ids, venues)) {
		c.any = true
		refs := make([]edit.VenueRef, len(ids))
		for i, id := range ids {
			refs[i].ID = id
		}
		in.Venues = &refs
	}
	if ids, ok := wanted(e.HasOrganizers, "organizers", keysOf(e.Organizers)); ok &&
		(c.fresh || !slices.Equal(ids, organizers)) {
		c.any = true
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
		ids, ok := wanted(t.said, plural(t.kind), keys)
		if !ok || !c.fresh && sameSet(ids, terms[t.kind]) {
			continue
		}
		c.any = true
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
