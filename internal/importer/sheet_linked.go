package importer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// links sets the venue, organizer, categories and tags of a row's event.
func (r sheetRow) links(e *Event) {
	ids := r.isOurs && (e.Edited != nil || r.cells["id"] == "") // numbers are ids of this calendar
	if r.has("venue") || r.has("location") {
		e.HasVenues = true
		if list := idList(r.cells["venue"]); ids && list != nil {
			for _, id := range list {
				e.Venues = append(e.Venues, &Venue{Named: Named{Origin: r.originHere(calendar.Venue, id)}})
			}
		} else if v := r.venue(); v != nil {
			e.Venues = []*Venue{v}
		}
	}
	if r.has("organizer") {
		e.HasOrganizers = true
		name := truncate(onOneLine(r.cells["organizer"]), maxTitle)
		if list := idList(name); ids && list != nil {
			for _, id := range list {
				e.Organizers = append(e.Organizers, &Organizer{Named: Named{Origin: r.originHere(calendar.Organizer, id)}})
			}
		} else if name != "" {
			email := r.inert("organizer_email", maxText)
			e.Organizers = []*Organizer{{Email: email, Named: Named{
				Origin: Origin{
					Key:   csvOrganizer + shortHash(calendar.FoldName(name)+"\n"+strings.ToLower(email)),
					Where: "organizer of " + r.where, NameOnly: true,
				},
				Name: name, Phone: r.inert("organizer_phone", maxText),
			}}}
		}
	}
	e.HasCategories, e.HasTags = r.has("categories"), r.has("tags")
	r.terms(e, "categories", calendar.Category)
	r.terms(e, "tags", calendar.Tag)
}

// originHere returns the Origin of a record that the table names by its id in this calendar.
func (r sheetRow) originHere(kind calendar.Kind, id int64) Origin {
	return Origin{Key: fmt.Sprintf("%s%s:%d", csvHere, kind, id), Where: fmt.Sprintf("%s of %s", kind, r.where), Here: id}
}

// idList parses a list of ids such as "12,15". Nil means that the text is no such list.
func idList(text string) (ids []int64) {
	for item := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(item), 10, 64)
		if err != nil || id <= 0 {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// venue returns the venue of a row; nil means none.
func (r sheetRow) venue() *Venue {
	name, address := r.cells["venue"], r.cells["venue_address"]
	if location := r.cells["location"]; name == "" && location != "" {
		if webAddress(location) != "" {
			return nil // it is the virtual_url
		}
		var rest string
		if name, rest, _ = strings.Cut(location, "\n"); rest == "" {
			name, rest, _ = strings.Cut(location, ",")
		}
		if address == "" {
			address = strings.TrimSpace(rest)
		}
	}
	r.set("venue_address", onOneLine(address))
	v := &Venue{
		Named: Named{Name: truncate(onOneLine(name), maxTitle)}, Address: r.inert("venue_address", maxText), City: r.inert("venue_city", maxText),
		Zip: r.inert("venue_zip", maxText), Province: r.inert("venue_province", maxText), State: r.inert("venue_state", maxText),
		Country: r.inert("venue_country", maxText), ShowMap: true, ShowMapLink: true,
	}
	if v.Name == "" {
		if v.Address != "" {
			r.notice("venue_address", "without the name of a venue; left out")
		}
		return nil
	}
	v.Origin = Origin{
		Key: csvVenue + shortHash(calendar.FoldName(v.Name+"\n"+v.Address+"\n"+v.City)), Where: "venue of " + r.where, NameOnly: true,
	}
	return v
}

// maxSheetTerms is the maximum number of categories or tags of a row.
const maxSheetTerms = 50

// terms adds the categories or tags in the cell of field to an event. The cell has names or slugs, separated by commas,
// semicolons, "|" or line breaks.
func (r sheetRow) terms(e *Event, field string, kind calendar.Kind) {
	seen := make(map[string]bool)
	for item := range strings.FieldsFuncSeq(r.cells[field], func(c rune) bool { return strings.ContainsRune(",;|\n", c) }) {
		name := truncate(onOneLine(item), maxText)
		folded := calendar.FoldName(name)
		if name == "" || seen[folded] {
			continue
		}
		if len(seen) == maxSheetTerms {
			r.notice(field, fmt.Sprintf("more than %d; the rest is left out", maxSheetTerms))
			return
		}
		seen[folded] = true
		e.Terms = append(e.Terms, &Term{
			Origin: Origin{
				Key: csvTerm + string(kind) + ":" + shortHash(folded), Where: fmt.Sprintf("%s of %s", kind, r.where), NameOnly: true, BySlug: r.isOurs,
			},
			Kind: kind, Name: name,
		})
	}
}

// image sets the image of a row's event. The cell has a URL, or the id of an existing image. An empty cell changes
// nothing. In a table that Almanac exported, 0 removes the image.
func (r sheetRow) image(e *Event) {
	text := r.cells["image"]
	if list := idList(text); r.isOurs && len(list) == 1 {
		if e.Edited != nil || r.cells["id"] == "" {
			e.HasImage, e.Image = true, &Image{Origin: r.originHere(calendar.Image, list[0])}
		}
		return
	}
	switch {
	case text == "0" && r.isOurs:
		e.HasImage = true // none
		return
	case text == "":
		return
	}
	address := r.address("image")
	if address == "" {
		return
	}
	img := &Image{URL: address, Extension: extension("", address), Sizes: map[string]calendar.ImageSize{}}
	if img.MIMEType = mimeTypes[img.Extension]; img.MIMEType == "" {
		img.MIMEType = "application/octet-stream"
	}
	img.Origin = Origin{Key: csvImage + shortHash(address), Where: "image of " + r.where}
	e.HasImage, e.Image = true, img
}
