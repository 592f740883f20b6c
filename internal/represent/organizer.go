package represent

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

// Organizer is the JSON representation of an organizer (contract, section 6.3). Empty members with omitempty
// are left out.
type Organizer struct {
	ID          int64           `json:"id"`
	Author      string          `json:"author,omitempty"`
	Status      calendar.Status `json:"status,omitempty"`
	Date        string          `json:"date,omitempty"`
	DateUTC     string          `json:"date_utc,omitempty"`
	Modified    string          `json:"modified,omitempty"`
	ModifiedUTC string          `json:"modified_utc,omitempty"`
	URL         string          `json:"url,omitempty"`
	Organizer   string          `json:"organizer,omitempty"`
	Description string          `json:"description,omitempty"`
	Slug        string          `json:"slug,omitempty"`
	Image       *Image          `json:"image,omitempty"`
	Phone       string          `json:"phone,omitempty"`
	Website     string          `json:"website,omitempty"`
	Email       string          `json:"email,omitempty"`
	JSONLD      *OrganizerLD    `json:"json_ld,omitempty" escape:"script"`
	OrganizerFields
	GlobalID        string   `json:"global_id"`
	GlobalIDLineage []string `json:"global_id_lineage"`
	Language        string   `json:"language"`
	Translations    []string `json:"translations"`
}

// OrganizerLD is an organizer in the schema.org vocabulary.
type OrganizerLD struct {
	Type        string `json:"@type"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
	Telephone   string `json:"telephone,omitempty"`
	Email       string `json:"email,omitempty"`
	SameAs      string `json:"sameAs,omitempty"`
}

// Organizer returns the representation of a loaded organizer. full adds the member json_ld.
func (v *View) Organizer(e *ent.Organizer, full bool) Organizer {
	t := v.Text(e)
	c := v.common(e.Core())
	out := Organizer{
		ID: e.ID, Author: c.author, Status: c.status,
		Date: c.date[0], DateUTC: c.date[1], Modified: c.changed[0], ModifiedUTC: c.changed[1],
		URL: v.page(calendar.Organizer, e.ID, c.status, t.Slug), Organizer: calendar.Escape(t.Title),
		Description: markup.Paragraphs(t.Description), Slug: t.Slug, Image: v.Image(e.Edges.Image),
		GlobalID: v.globalID(e.ID, e.SourceID), GlobalIDLineage: []string{v.globalID(e.ID, e.SourceID)},
		Language: string(t.Language), Translations: languageCodes(e.Languages),
	}
	out.setPlain(e)
	if full {
		out.JSONLD = &OrganizerLD{
			Type: "Person", Name: t.Title, Description: plainText(t.Description), URL: out.URL,
			Telephone: out.Phone, Email: out.Email, SameAs: out.Website,
		}
	}
	return out
}
