package represent

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

// Venue is the JSON representation of a venue (contract, section 6.2). Empty members with omitempty are left
// out.
type Venue struct {
	ID            int64           `json:"id"`
	Author        string          `json:"author,omitempty"`
	Status        calendar.Status `json:"status,omitempty"`
	Date          string          `json:"date,omitempty"`
	DateUTC       string          `json:"date_utc,omitempty"`
	Modified      string          `json:"modified,omitempty"`
	ModifiedUTC   string          `json:"modified_utc,omitempty"`
	URL           string          `json:"url,omitempty"`
	Venue         string          `json:"venue,omitempty"`
	Description   string          `json:"description,omitempty"`
	Slug          string          `json:"slug,omitempty"`
	Image         *Image          `json:"image,omitempty"`
	Address       string          `json:"address,omitempty"`
	City          string          `json:"city,omitempty"`
	Country       string          `json:"country,omitempty"`
	Province      string          `json:"province,omitempty"`
	State         string          `json:"state,omitempty"`
	Zip           string          `json:"zip,omitempty"`
	Phone         string          `json:"phone,omitempty"`
	Website       string          `json:"website,omitempty"`
	Stateprovince string          `json:"stateprovince,omitempty"`
	GeoLat        *float64        `json:"geo_lat,omitempty"` // degrees north
	GeoLng        *float64        `json:"geo_lng,omitempty"` // degrees east
	JSONLD        *PlaceLD        `json:"json_ld,omitempty" escape:"script"`
	ShowMap       bool            `json:"show_map"`
	ShowMapLink   bool            `json:"show_map_link"`
	VenueFields
	GlobalID        string   `json:"global_id"`
	GlobalIDLineage []string `json:"global_id_lineage"`
	Language        string   `json:"language"`
	Translations    []string `json:"translations"`
}

// PlaceLD is a venue in the schema.org vocabulary.
type PlaceLD struct {
	Type        string     `json:"@type"`
	Name        string     `json:"name,omitempty"`
	Description string     `json:"description,omitempty"`
	Image       string     `json:"image,omitempty"`
	URL         string     `json:"url,omitempty"`
	Address     *AddressLD `json:"address,omitempty"`
	Geo         *GeoLD     `json:"geo,omitempty"`
	Telephone   string     `json:"telephone,omitempty"`
	SameAs      string     `json:"sameAs,omitempty"`
}

// AddressLD is a postal address in the schema.org vocabulary.
type AddressLD struct {
	Type     string `json:"@type"`
	Street   string `json:"streetAddress,omitempty"`
	Locality string `json:"addressLocality,omitempty"`
	Region   string `json:"addressRegion,omitempty"`
	Postcode string `json:"postalCode,omitempty"`
	Country  string `json:"addressCountry,omitempty"`
}

// GeoLD is a position in the schema.org vocabulary, in degrees north and east.
type GeoLD struct {
	Type      string  `json:"@type"`
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// Venue returns the representation of a loaded venue. If full is true, it has the member json_ld.
func (v *View) Venue(e *ent.Venue, full bool) Venue {
	m := v.members(e, e.Edges.Image)
	out := Venue{
		ID: m.ID, Author: m.Author, Status: m.Status,
		Date: m.date[0], DateUTC: m.date[1], Modified: m.changed[0], ModifiedUTC: m.changed[1],
		URL: m.URL, Venue: calendar.Escape(m.text.Title), Description: m.Description, Slug: m.Slug, Image: m.Image,
		GeoLat: e.Latitude, GeoLng: e.Longitude,
		GlobalID: m.globalID, GlobalIDLineage: []string{m.globalID},
		Language: string(m.text.Language), Translations: languageCodes(e.Languages),
	}
	out.setPlain(e)
	out.Stateprovince = markup.Inert(stateProvince(e))
	if full {
		out.JSONLD = v.linkedDataOfPlace(e, m.text, &out)
	}
	return out
}

// stateProvince returns the state or province that representations show for a venue. This is the stored
// stateprovince if there is one. Otherwise it is the state for a venue in the United States or without a country.
// Elsewhere, or without a state, it is the province.
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

func (v *View) linkedDataOfPlace(e *ent.Venue, t calendar.Text, j *Venue) *PlaceLD {
	ld := &PlaceLD{
		Type: "Place", Name: t.Title, Description: plainText(t.Description), URL: j.URL,
		Telephone: j.Phone, SameAs: j.Website,
	}
	if e.Edges.Image != nil {
		ld.Image = v.imageURL(e.Edges.Image)
	}
	address := AddressLD{
		Street: j.Address, Locality: j.City, Region: j.Stateprovince, Postcode: j.Zip, Country: j.Country,
	}
	if address != (AddressLD{}) {
		address.Type = "PostalAddress"
		ld.Address = &address
	}
	if e.Latitude != nil && e.Longitude != nil {
		ld.Geo = &GeoLD{"GeoCoordinates", *e.Latitude, *e.Longitude}
	}
	return ld
}
