package handlers

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

// organizerJSON is the representation of an organizer (contract, section 6.3): empty members are absent.
type organizerJSON struct {
	ID              int64           `json:"id"`
	Author          string          `json:"author,omitempty"`
	Status          calendar.Status `json:"status,omitempty"`
	Date            string          `json:"date,omitempty"`
	DateUTC         string          `json:"date_utc,omitempty"`
	Modified        string          `json:"modified,omitempty"`
	ModifiedUTC     string          `json:"modified_utc,omitempty"`
	URL             string          `json:"url,omitempty"`
	Organizer       string          `json:"organizer,omitempty"`
	Description     string          `json:"description,omitempty"`
	Slug            string          `json:"slug,omitempty"`
	Image           *imageJSON      `json:"image,omitempty"`
	Phone           string          `json:"phone,omitempty"`
	Website         string          `json:"website,omitempty"`
	Email           string          `json:"email,omitempty"`
	JSONLD          *organizerLD    `json:"json_ld,omitempty"`
	GlobalID        string          `json:"global_id"`
	GlobalIDLineage []string        `json:"global_id_lineage"`
	Language        string          `json:"language"`
	Translations    []string        `json:"translations"`
}

// organizerLD is an organizer in the vocabulary of schema.org.
type organizerLD struct {
	Type        string `json:"@type"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
	Telephone   string `json:"telephone,omitempty"`
	Email       string `json:"email,omitempty"`
	SameAs      string `json:"sameAs,omitempty"`
}

// organizer is the representation of a loaded organizer; full adds json_ld.
func (v *view) organizer(e *ent.Organizer, full bool) organizerJSON {
	t := v.organizerTexts(e)
	c := v.common(e.ID, e.AuthorID, e.Status, e.PublishedAt, e.ModifiedAt)
	out := organizerJSON{
		ID: c.id, Author: c.author, Status: c.status,
		Date: c.date[0], DateUTC: c.date[1], Modified: c.changed[0], ModifiedUTC: c.changed[1],
		URL: v.page(calendar.Organizer, e.ID, c.status, t.slug), Organizer: calendar.Escape(t.title),
		Description: markup.Paragraphs(t.description), Slug: t.slug, Image: v.image(e.Edges.Image),
		Phone: e.Phone, Website: e.Website, Email: e.Email,
		GlobalID: v.globalID(e.ID), GlobalIDLineage: []string{v.globalID(e.ID)},
		Language: string(t.language), Translations: languages(e.Languages),
	}
	if full {
		out.JSONLD = &organizerLD{
			Type: "Person", Name: t.title, Description: plain(t.description), URL: out.URL,
			Telephone: e.Phone, Email: e.Email, SameAs: e.Website,
		}
	}
	return out
}
