package handlers

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

// venueJSON is the representation of a venue (contract, section 6.2): empty members are absent.
type venueJSON struct {
	ID              int64           `json:"id"`
	Author          string          `json:"author,omitempty"`
	Status          calendar.Status `json:"status,omitempty"`
	Date            string          `json:"date,omitempty"`
	DateUTC         string          `json:"date_utc,omitempty"`
	Modified        string          `json:"modified,omitempty"`
	ModifiedUTC     string          `json:"modified_utc,omitempty"`
	URL             string          `json:"url,omitempty"`
	Venue           string          `json:"venue,omitempty"`
	Description     string          `json:"description,omitempty"`
	Slug            string          `json:"slug,omitempty"`
	Image           *imageJSON      `json:"image,omitempty"`
	Address         string          `json:"address,omitempty"`
	City            string          `json:"city,omitempty"`
	Country         string          `json:"country,omitempty"`
	Province        string          `json:"province,omitempty"`
	State           string          `json:"state,omitempty"`
	Zip             string          `json:"zip,omitempty"`
	Phone           string          `json:"phone,omitempty"`
	Website         string          `json:"website,omitempty"`
	StateProvince   string          `json:"stateprovince,omitempty"`
	GeoLat          *float64        `json:"geo_lat,omitempty"` // degrees north
	GeoLng          *float64        `json:"geo_lng,omitempty"` // degrees east
	JSONLD          *placeLD        `json:"json_ld,omitempty"`
	ShowMap         bool            `json:"show_map"`
	ShowMapLink     bool            `json:"show_map_link"`
	GlobalID        string          `json:"global_id"`
	GlobalIDLineage []string        `json:"global_id_lineage"`
	Language        string          `json:"language"`
	Translations    []string        `json:"translations"`
}

// placeLD is a venue in the vocabulary of schema.org.
type placeLD struct {
	Type        string     `json:"@type"`
	Name        string     `json:"name,omitempty"`
	Description string     `json:"description,omitempty"`
	Image       string     `json:"image,omitempty"`
	URL         string     `json:"url,omitempty"`
	Address     *addressLD `json:"address,omitempty"`
	Geo         *geoLD     `json:"geo,omitempty"`
	Telephone   string     `json:"telephone,omitempty"`
	SameAs      string     `json:"sameAs,omitempty"`
}

type addressLD struct {
	Type     string `json:"@type"`
	Street   string `json:"streetAddress,omitempty"`
	Locality string `json:"addressLocality,omitempty"`
	Region   string `json:"addressRegion,omitempty"`
	Postcode string `json:"postalCode,omitempty"`
	Country  string `json:"addressCountry,omitempty"`
}

type geoLD struct {
	Type      string  `json:"@type"`
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// venue is the representation of a loaded venue; full adds json_ld.
func (v *view) venue(e *ent.Venue, full bool) venueJSON {
	t := v.venueTexts(e)
	c := v.common(e.ID, e.AuthorID, e.Status, e.PublishedAt, e.ModifiedAt)
	out := venueJSON{
		ID: c.id, Author: c.author, Status: c.status,
		Date: c.date[0], DateUTC: c.date[1], Modified: c.changed[0], ModifiedUTC: c.changed[1],
		URL: v.page(calendar.Venue, e.ID, c.status, t.slug), Venue: calendar.Escape(t.title),
		Description: markup.Paragraphs(t.description), Slug: t.slug, Image: v.image(e.Edges.Image),
		Address: e.Address, City: e.City, Country: e.Country, Province: e.Province, State: e.State, Zip: e.Zip,
		Phone: e.Phone, Website: e.Website, StateProvince: stateProvince(e),
		GeoLat: e.Latitude, GeoLng: e.Longitude,
		ShowMap: e.ShowMap, ShowMapLink: e.ShowMapLink,
		GlobalID: v.globalID(e.ID), GlobalIDLineage: []string{v.globalID(e.ID)},
		Language: string(t.language), Translations: languages(e.Languages),
	}
	if full {
		out.JSONLD = v.placeLD(e, t, &out)
	}
	return out
}

// stateProvince is what was written, else the state of an address in the United States, else the province.
func stateProvince(e *ent.Venue) string {
	if e.Stateprovince != "" {
		return e.Stateprovince
	}
	if e.State != "" {
		switch strings.ToLower(e.Country) {
		case "", "us", "usa", "united states":
			return e.State
		}
	}
	return e.Province
}

func (v *view) placeLD(e *ent.Venue, t texts, j *venueJSON) *placeLD {
	ld := &placeLD{
		Type: "Place", Name: t.title, Description: plain(t.description), URL: j.URL,
		Telephone: e.Phone, SameAs: e.Website,
	}
	if e.Edges.Image != nil {
		ld.Image = v.imageURL(e.Edges.Image)
	}
	address := addressLD{
		Street: e.Address, Locality: e.City, Region: j.StateProvince, Postcode: e.Zip, Country: e.Country,
	}
	if address != (addressLD{}) {
		address.Type = "PostalAddress"
		ld.Address = &address
	}
	if e.Latitude != nil && e.Longitude != nil {
		ld.Geo = &geoLD{"GeoCoordinates", *e.Latitude, *e.Longitude}
	}
	return ld
}
