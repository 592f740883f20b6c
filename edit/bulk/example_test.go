package bulk_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/edit/bulk"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// exampleCalendar is a small calendar that exercises every rule of writing. The tests write it with both an Editor
// and a Loader, and compare the tables.
type exampleCalendar struct {
	categories, tags []bulk.Term
	venues           []bulk.Venue
	organizers       []bulk.Organizer
	// events returns the events, given the ids of the records that they link to.
	events func(categories, tags, venues, organizers []int64) []bulk.Event
}

func inPolish(title, description, excerpt string) []calendar.Text {
	return []calendar.Text{{Language: calendar.Polish, Title: title, Description: description, Excerpt: excerpt}}
}

func newExample() exampleCalendar {
	source := func(kind string, i int) *string { return new(fmt.Sprintf("made.example?%s=%d", kind, i)) }
	m := exampleCalendar{
		categories: []bulk.Term{
			{TermInput: edit.TermInput{Name: new("Music"), Description: new("All of it")}, Texts: inPolish("Muzyka", "", "")},
			{TermInput: edit.TermInput{Name: new("Jazz")}, Parent: func(ids []int64) int64 { return ids[0] }},
			{TermInput: edit.TermInput{Name: new("Łódź & more")}},
			{TermInput: edit.TermInput{Name: new("!!!")}},
		},
		tags: []bulk.Term{{TermInput: edit.TermInput{Name: new("Free")}}, {TermInput: edit.TermInput{Name: new("Jazz")}}},
		venues: []bulk.Venue{
			{NamedInput: edit.VenueInput{
				Name: new("Hall"), Description: new("<p>Large</p>"), Values: edit.VenueValues{VenueValues: ent.VenueValues{Address: new("High Street 1"), City: new("Łódź"), Country: new("Poland"), Province: new("Łódzkie"), Zip: new("90-001"), Phone: new("123"), Website: new("https://hall.example/")}, Latitude: &edit.Coordinate{Set: true, Degrees: 51.77}, Longitude: &edit.Coordinate{Set: true, Degrees: 19.46}},
			}, Texts: inPolish("Hala", "<p>Duża</p>", "")},
			{NamedInput: edit.VenueInput{Name: new("Hall"), Values: edit.VenueValues{VenueValues: ent.VenueValues{ShowMap: new(false), State: new("X"), Stateprovince: new("Y")}}}},
			{NamedInput: edit.VenueInput{Name: new("Yard"), Status: new(calendar.Draft)}, Texts: inPolish("", "<p>Dwór</p>", "")},
		},
		organizers: []bulk.Organizer{
			{NamedInput: edit.OrganizerInput{
				Name: new("Choir"), Description: new("<p>Sings</p>"), Values: ent.OrganizerValues{Phone: new("1"), Email: new("a@choir.example"), Website: new("https://choir.example/")},
			}, Texts: inPolish("Chór", "", "")},
			{NamedInput: edit.OrganizerInput{Name: new("Choir")}},
		},
	}
	for i := range m.categories {
		m.categories[i].SourceID = source("category", i)
	}
	for i := range m.tags {
		m.tags[i].SourceID = source("tag", i)
	}
	for i := range m.venues {
		m.venues[i].SourceID = source("venue", i)
	}
	for i := range m.organizers {
		m.organizers[i].SourceID = source("organizer", i)
	}
	m.events = func(categories, tags, venues, organizers []int64) []bulk.Event {
		refs := func(ids ...int64) *[]edit.TermRef {
			out := []edit.TermRef{}
			for _, id := range ids {
				out = append(out, edit.TermRef{ID: id})
			}
			return &out
		}
		zone, err := calendar.ParseZone("Europe/Warsaw")
		if err != nil {
			panic(err)
		}
		events := []bulk.Event{
			{EventInput: edit.EventInput{
				Title: new("Concert"), Description: new("<p>Café &amp; jazz</p>"), Excerpt: new("<p>Jazz</p>"),
				Categories: refs(categories[1], categories[0]), Tags: refs(tags[0]), Cost: &calendar.Cost{Prices: []string{"5", "10"}},
				Venues:     &[]edit.VenueRef{{ID: venues[2]}, {ID: venues[0]}, {ID: venues[2]}},
				Organizers: &[]edit.OrganizerRef{{ID: organizers[1]}, {ID: organizers[0]}},
				Website:    &edit.Website{Set: true, URL: "https://x.example/"}, EventValues: ent.EventValues{Featured: new(true), Sticky: new(true), ShowMap: new(true), ShowMapLink: new(true)},
			}, Texts: inPolish("Koncert", "<p>Jazz</p>", "")},
			{EventInput: edit.EventInput{Title: new("Concert"), Status: new(calendar.Draft), Categories: refs(categories[0])}},
			{EventInput: edit.EventInput{Title: new("Concert"), Status: new(calendar.Private), Password: new("secret")}},
			{EventInput: edit.EventInput{Title: new("Concert 2"), EventValues: ent.EventValues{HideFromListings: new(true), Ticketed: new(true)}, Website: &edit.Website{}}},
			{EventInput: edit.EventInput{Title: new("Concert"), Published: new(edittest.Now.Add(time.Hour)), Tags: refs(tags...)}},
			{
				EventInput: edit.EventInput{Title: new("Concert"), Published: new(edittest.Now.AddDate(-1, 0, 0)), Tags: refs(tags...)},
				Parent:     func(ids []int64) int64 { return ids[0] },
			},
			{EventInput: edit.EventInput{Title: new("???"), AllDay: new(true), Cost: &calendar.Cost{}}},
			{EventInput: edit.EventInput{Title: new("???"), Slug: new("Concert 3")}, Texts: inPolish("", "", "")},
			{EventInput: edit.EventInput{Title: new("Night"), Zone: &zone, Start: edittest.Wall("2026-03-29 02:30:00"), End: edittest.Wall("2026-03-29 04:00:00")}},
			{EventInput: edit.EventInput{Title: new(strings.Repeat("a", 300))}},
			{EventInput: edit.EventInput{Title: new(strings.Repeat("a", 300)), Status: new(calendar.Pending), Slug: new("taken")}},
		}
		for i := range events {
			events[i].SourceID = source("event", i)
			if events[i].Start == nil {
				events[i].Start, events[i].End = edittest.Wall("2026-07-01 18:00:00"), edittest.Wall("2026-07-01 20:00:00")
			}
		}
		return events
	}
	return m
}

// nonEmpty returns a pointer to s, or nil for "".
func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// writeByEditor stores the calendar with an Editor, one record at a time.
func (m exampleCalendar) writeByEditor(w *edittest.World, e *edit.Editor) {
	w.T.Helper()
	each := func(n int, one func(ctx context.Context, tx *ent.Tx, i int, ids []int64) (int64, error)) (ids []int64) {
		for i := range n {
			id := edittest.Write(w, e, func(ctx context.Context, tx *ent.Tx) (int64, error) {
				e.Write = ""
				return one(ctx, tx, i, append(ids, 0))
			})
			ids = append(ids, id)
		}
		return ids
	}
	terms := func(taxonomy calendar.Kind, in []bulk.Term) []int64 {
		return each(len(in), func(ctx context.Context, tx *ent.Tx, i int, ids []int64) (int64, error) {
			own := in[i].TermInput
			own.Taxonomy = taxonomy
			if in[i].Parent != nil {
				own.ParentID = new(in[i].Parent(ids))
			}
			row, err := e.CreateTerm(ctx, tx, &own)
			for _, t := range in[i].Texts {
				if err == nil {
					e.Write = t.Language
					row, err = e.UpdateTerm(ctx, tx, row, &edit.TermInput{Name: nonEmpty(t.Title), Description: nonEmpty(t.Description)})
				}
			}
			if err != nil {
				return 0, err
			}
			return row.ID, nil
		})
	}
	categories, tags := terms(calendar.Category, m.categories), terms(calendar.Tag, m.tags)
	venues := each(len(m.venues), func(ctx context.Context, tx *ent.Tx, i int, _ []int64) (int64, error) {
		row, _, err := edit.Venues.Create(ctx, tx, e, &m.venues[i].NamedInput)
		for _, t := range m.venues[i].Texts {
			if err == nil {
				e.Write = t.Language
				row, err = edit.Venues.Update(ctx, tx, e, row, &edit.VenueInput{Name: nonEmpty(t.Title), Description: nonEmpty(t.Description)})
			}
		}
		if err != nil {
			return 0, err
		}
		return row.ID, nil
	})
	organizers := each(len(m.organizers), func(ctx context.Context, tx *ent.Tx, i int, _ []int64) (int64, error) {
		row, _, err := edit.Organizers.Create(ctx, tx, e, &m.organizers[i].NamedInput)
		for _, t := range m.organizers[i].Texts {
			if err == nil {
				e.Write = t.Language
				row, err = edit.Organizers.Update(ctx, tx, e, row, &edit.OrganizerInput{Name: nonEmpty(t.Title)})
			}
		}
		if err != nil {
			return 0, err
		}
		return row.ID, nil
	})
	events := m.events(categories, tags, venues, organizers)
	each(len(events), func(ctx context.Context, tx *ent.Tx, i int, ids []int64) (int64, error) {
		if events[i].Parent != nil {
			events[i].ParentID = new(events[i].Parent(ids))
		}
		row, err := e.CreateEvent(ctx, tx, &events[i].EventInput)
		for _, t := range events[i].Texts {
			if err == nil && t.Title != "" {
				e.Write = t.Language
				row, err = e.UpdateEvent(ctx, tx, row, &edit.EventInput{
					Title: nonEmpty(t.Title), Description: nonEmpty(t.Description), Excerpt: nonEmpty(t.Excerpt),
				})
			}
		}
		if err != nil {
			return 0, err
		}
		return row.ID, nil
	})
}

// writeByLoader stores the calendar with a Loader, in batches of the given size.
func (m exampleCalendar) writeByLoader(t *testing.T, l *bulk.Loader, size int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(edittest.Describe(err))
		}
	}
	terms := func(taxonomy calendar.Kind, in []bulk.Term) (ids []int64) {
		loaded, err := l.Terms(t.Context(), taxonomy, in)
		must(err)
		for _, one := range loaded {
			if !one.Created {
				t.Errorf("%s %d was there", taxonomy, one.ID)
			}
			ids = append(ids, one.ID)
		}
		return ids
	}
	load := func(p *bulk.Batch, err error) []int64 {
		t.Helper()
		must(err)
		ids, err := l.Write(t.Context(), p)
		must(err)
		return ids
	}
	categories, tags := terms(calendar.Category, m.categories), terms(calendar.Tag, m.tags)
	venues := load(l.Venues(m.venues))
	organizers := load(l.Organizers(m.organizers))
	var all []int64
	for part := range slices.Chunk(m.events(categories, tags, venues, organizers), size) {
		for i := range part {
			if inner := part[i].Parent; inner != nil {
				before := len(all)
				part[i].Parent = func(batch []int64) int64 { return inner(append(slices.Clone(all[:before]), batch...)) }
			}
		}
		all = append(all, load(l.Events(part))...)
	}
}
