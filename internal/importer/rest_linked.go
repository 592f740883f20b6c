package importer

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/almanac-cal/almanac/calendar"
)

// named reads the fields that venues and organizers share. kind is also the JSON member with the record's name.
func (d recordReader) named(o object, kind calendar.Kind) Named {
	n := Named{
		Origin: d.origin(o, o.id("id"), string(kind)),
		// The name may be empty, because some services have venues without a name.
		Name: o.text(string(kind), maxTitle), Description: o.html("description"), Slug: o.slug("slug"), Page: o.page(),
		Status:    o.status(),
		Published: o.instant("date_utc", "date", d.site.Zone),
		Modified:  o.instant("modified_utc", "modified", d.site.Zone),
		Phone:     o.inert("phone", maxText), Website: o.link("website"), Image: d.image(o),
	}
	n.Removed = o.log.takeRemoved()
	return n
}

func (d recordReader) venue(o object) *Venue {
	v := &Venue{
		Named:   d.named(o, calendar.Venue),
		Address: o.inert("address", maxText), City: o.inert("city", maxText), Country: o.inert("country", maxText),
		Province: o.inert("province", maxText), State: o.inert("state", maxText), Zip: o.inert("zip", maxText),
		ShowMap: o.isTrue("show_map"), ShowMapLink: o.isTrue("show_map_link"),
	}
	if sp := o.inert("stateprovince", maxText); sp != v.derivedState() {
		v.StateProvince = sp
	}
	lat, lng := o.number("geo_lat"), o.number("geo_lng")
	switch {
	case lat == nil && lng == nil:
	case lat == nil || lng == nil || *lat < -90 || *lat > 90 || *lng < -180 || *lng > 180:
		o.notice("geo_lat, geo_lng", "not a place on earth; left out")
	default:
		v.Latitude, v.Longitude = lat, lng
	}
	return v
}

// derivedState returns the stateprovince that Almanac sends for a venue without a stored one (contract, section 6.2).
// It is the state, if there is one and the country is the United States or unknown. Otherwise it is the province.
func (v *Venue) derivedState() string {
	switch strings.ToUpper(v.Country) {
	case "", "US", "USA", "UNITED STATES":
		if v.State != "" {
			return v.State
		}
	}
	return v.Province
}

func (o object) isTrue(name string) bool {
	f := o.flag(name)
	return f != nil && *f
}

func (d recordReader) organizer(o object) *Organizer {
	return &Organizer{Named: d.named(o, calendar.Organizer), Email: o.inert("email", maxText)}
}

// term reads a category or tag. Its source id has another form than that of an event or venue, because the numbers
// may be equal.
func (d recordReader) term(o object, kind calendar.Kind) *Term {
	id := o.id("id")
	t := &Term{Origin: d.termOrigin(o, id, kind), Kind: kind}
	t.Name, t.Slug, t.Description = o.requiredText("name"), o.slug("slug"), o.inert("description", 0)
	if parent := o.id("parent"); parent != "" && kind.IsHierarchical() && parent != id {
		t.Parent = termKey(d.prefix, parent)
		t.ParentURL = d.parentURL(o, parent)
	}
	return t
}

func (d recordReader) termOrigin(o object, id string, kind calendar.Kind) Origin {
	switch {
	case id == "":
		o.fault("id", "missing")
	case d.prefix == "":
		o.fault("id", "of an unknown service")
	}
	key := termKey(d.prefix, id)
	title, all := o.languages()
	return Origin{
		Key: key, Number: numberOf(id), Where: fmt.Sprintf("%s %s, first in %s", kind, key, d.where), Language: title, Languages: all,
	}
}

func termKey(prefix, id string) string { return prefix + "?term=" + id }

// parentURL returns the API URL of a category's parent. parent is the parent's id. "" means that the URL cannot be
// derived.
func (d recordReader) parentURL(o object, parent string) string {
	if urls, ok := newObject(o.members["urls"], "", &readLog{}); ok {
		if up := urls.raw("up"); up != "" {
			return up
		}
		if all := urls.raw("collection"); all != "" {
			return strings.TrimRight(all, "/") + "/" + parent
		}
	}
	if d.root == "" {
		return ""
	}
	return d.root + "/categories/" + parent
}

// sizeNames are the image sizes that are read from the source (contract, section 6.6).
var sizeNames = []string{"thumbnail", "medium", "medium_large", "large"}

// mimeTypes are the MIME types of images by extension.
var mimeTypes = map[string]string{
	"jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
	"svg": "image/svg+xml", "avif": "image/avif", "bmp": "image/bmp", "tiff": "image/tiff",
}

// image reads the image of a record. Nil means that it has none with a usable URL and id.
func (d recordReader) image(o object) *Image {
	if o.isEmpty("image") {
		return nil
	}
	in, ok := newObject(o.members["image"], o.at+"image: ", o.log)
	if !ok {
		o.fault("image", "neither an object nor false")
		return nil
	}
	img := &Image{
		URL:   in.address("url"),
		Width: int(in.count("width")), Height: int(in.count("height")), Filesize: in.count("filesize"),
		Sizes: make(map[string]calendar.ImageSize),
	}
	if img.URL == "" {
		return nil
	}
	img.Extension = extension(in.raw("extension"), img.URL)
	if img.MIMEType = mimeTypes[img.Extension]; img.MIMEType == "" {
		img.MIMEType = "application/octet-stream"
	}
	key := img.URL
	id := in.id("id")
	if id != "" && d.prefix != "" {
		key = d.prefix + "?id=" + id
	}
	if utf8.RuneCountInString(key) > maxSource {
		in.notice("id", "missing; left out")
		return nil
	}
	img.Origin = Origin{Key: key, Number: numberOf(id), Where: fmt.Sprintf("image %s, first in %s", key, d.where)}
	sizes, ok := newObject(in.members["sizes"], in.at+"sizes: ", in.log)
	if !ok {
		return img
	}
	for _, name := range sizeNames {
		if sizes.isEmpty(name) {
			continue
		}
		one, ok := newObject(sizes.members[name], sizes.at+name+": ", sizes.log)
		if !ok {
			continue
		}
		s := calendar.ImageSize{
			Path: one.address("url"), MIMEType: one.text("mime-type", maxText),
			Width: int(one.count("width")), Height: int(one.count("height")), Filesize: one.count("filesize"),
		}
		if s.Path != "" {
			img.Sizes[name] = s
		}
	}
	return img
}

// extension returns a file extension in lower case, without the dot: the one that the service sent, or else that of the
// URL. It returns "" for one longer than 10 bytes or with letters beyond ASCII.
func extension(sent, address string) string {
	ext := sent
	if ext == "" {
		if u, err := url.Parse(address); err == nil {
			ext = path.Ext(u.Path)
		}
	}
	ext = strings.ToLower(strings.TrimPrefix(ext, "."))
	if ext == "jpeg" {
		return "jpg"
	}
	if len(ext) > 10 || strings.ContainsFunc(ext, func(r rune) bool { return r > 127 }) {
		return ""
	}
	return ext
}
