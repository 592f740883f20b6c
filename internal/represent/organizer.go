package represent

import (
	"reflect"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

// ShownKind describes a kind of record whose representation is generated code.
type ShownKind struct {
	Kind    calendar.Kind
	Doc     string       // describes the records, in English
	Type    reflect.Type // Go type of the representation
	columns []string     // columns of its CSV table
}

// members has the values that the representations of venues and organizers have in common.
type members struct {
	ID          int64
	Author      string
	Status      calendar.Status
	URL         string
	Description string
	Slug        string
	Image       *Image

	text          calendar.Text
	date, changed [2]string // times of creation and of the last change, each as local time and in UTC
	globalID      string
}

// members returns the values that the representation of a venue or organizer shares with those of other kinds.
func (v *View) members(row ent.Row, image *ent.Image) members {
	e, t := row.Core(), v.Text(row)
	changed, _ := v.LastWrite(e, false)
	m := members{
		ID: e.ID, Status: e.Status.Shown(v.Now, e.PublishedAt), Description: markup.Paragraphs(t.Description), Slug: t.Slug,
		Image: v.Image(image), text: t, globalID: v.globalID(e.ID, e.SourceID),
		date:    [2]string{v.local(e.PublishedAt), v.utc(e.PublishedAt)},
		changed: [2]string{v.local(changed), v.utc(changed)},
	}
	m.URL = v.page(e.Kind, e.ID, m.Status, t.Slug)
	if e.AuthorID != nil {
		m.Author = authorID(e.AuthorID)
	}
	return m
}
