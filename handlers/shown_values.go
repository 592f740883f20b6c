package handlers

import (
	"slices"

	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/represent"
)

// omitStored removes from an update of the occurrence e the values that equal those in a read of e. They count as
// not sent (contract, section 19.5). Package edit compares the other fields with the stored ones. Texts must be
// sanitised before.
func (r *writing) omitStored(e *ent.Event, in *edit.EventInput) error {
	if e.SeriesID == nil {
		return nil
	}
	page, err := r.DB.ReadEventLinks(r.Ctx, []*ent.Event{e})
	if err != nil {
		return err
	}
	page.Events = []*ent.Event{e}
	if err := r.Translate(page); err != nil {
		return err
	}
	return r.omitShown(e, in, func(shown *represent.Event) string { return shown.URL })
}

// omitStoredOfSeries removes from an update of the series s the values that equal those in a read of s. They
// count as not sent (contract, section 19.5). Texts must be sanitised before.
func (r *writing) omitStoredOfSeries(s *ent.Series, in *edit.EventInput) error {
	e, err := read.SeriesEvent(s)
	if err != nil {
		return err
	}
	if err := r.ReadTemplateLinks([]*ent.Event{e}); err != nil {
		return err
	}
	return r.omitShown(e, in, func(shown *represent.Event) string { return r.View().SeriesPage(s.ID, shown.Status, shown.Slug) })
}

// omitShown removes from an update the values that equal those in a read of the event. The function page returns
// the URL that a read shows as website if none is stored.
func (r *writing) omitShown(e *ent.Event, in *edit.EventInput, page func(*represent.Event) string) error {
	v := r.View()
	replied := v.Event(e, false)
	v.Language = r.Site.Language
	site := v.Event(e, false)
	shown := &site
	if r.Chosen != "" {
		shown = &replied // the reply shows the texts in the language that the request writes
	}
	if err := r.omitTexts(shown, in); err != nil {
		return err
	}
	zone := r.Site.Zone
	read := zone.Instant(zone.Wall(e.PublishedAt))
	omitIf(&in.Published, in.Published != nil && (in.Published.Equal(e.PublishedAt) || in.Published.Equal(read)))
	omitIf(&in.AuthorID, in.AuthorID != nil && *in.AuthorID == 0 && e.AuthorID == nil)
	omitIf(&in.Status, in.Status != nil && *in.Status == shown.Status)
	for _, one := range []*represent.Event{&replied, &site} {
		cost, fault := costOf(r.decimal())(one.Cost)
		omitIf(&in.Cost, in.Cost != nil && fault == nil && in.Cost.Equal(cost))
		omitIf(&in.Website, in.Website != nil && e.Website == nil && *in.Website == edit.Website{Set: true, URL: page(one)})
	}
	omitIf(&in.Venues, namesLinks(in.Venues, readableIDs(v, e.Edges.Venues)))
	omitIf(&in.Organizers, namesLinks(in.Organizers, readableIDs(v, e.Edges.Organizers)))
	return nil
}

// omitTexts removes from an update the texts that equal those in a read. It parses the shown texts like those of a
// request body before it compares them.
func (r *writing) omitTexts(shown *represent.Event, in *edit.EventInput) error {
	title, fault := textOf("title", maxTitle, nil)(shown.Title)
	omitIf(&in.Title, in.Title != nil && fault == nil && *in.Title == title)
	omitIf(&in.Slug, in.Slug != nil && *in.Slug == shown.Slug)
	reason, fault := textOf("event_status_reason", maxText, markup.Inert)(shown.EventStatusReason)
	omitIf(&in.EventStatusReason, in.EventStatusReason != nil && fault == nil && *in.EventStatusReason == reason)
	for _, html := range []struct {
		sent  **string
		shown string
	}{{&in.Description, shown.Description}, {&in.Excerpt, shown.Excerpt}} {
		if *html.sent == nil {
			continue
		}
		text, err := sanitiseHTML(r.Ctx, html.shown)
		if err != nil {
			return err
		}
		omitIf(html.sent, **html.sent == text)
	}
	return nil
}

// omitIf clears a sent field if its value is the same as the stored one.
func omitIf[T any](sent **T, same bool) {
	if same {
		*sent = nil
	}
}

// readableIDs returns the ids of the linked records that a representation shows to the caller.
func readableIDs[R ent.Row](v *represent.View, rows []R) []int64 {
	var ids []int64
	for _, row := range rows {
		if c := row.Core(); v.Readable(c.Kind, c.AuthorID, c.Status, c.PublishedAt) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// namesLinks reports whether exactly the linked records with these ids are sent.
func namesLinks[I any](sent *[]edit.LinkRef[I], ids []int64) bool {
	return sent != nil && slices.EqualFunc(*sent, ids, func(ref edit.LinkRef[I], id int64) bool {
		return ref.New == nil && ref.ID == id
	})
}
