package represent

import (
	"github.com/almanac-cal/almanac/internal/jsonwrite"
)

// The most frequent shapes write their own JSON, byte for byte as encoding/json does. Reflection took an eighth
// of the time of a list. The struct types remain, because the interface description is built from them.
// TestShapesWriteThemselves compares both.

// AppendJSON implements jsonwrite.Appender.
func (j *Event) AppendJSON(b []byte) []byte { return appendEvent(b, j) }

func appendEvent(b []byte, j *Event) []byte {
	o := jsonwrite.Begin(b)
	o.Int("id", j.ID)
	o.String("global_id", j.GlobalID)
	o.Strings("global_id_lineage", j.GlobalIDLineage)
	o.String("author", j.Author)
	o.String("status", string(j.Status))
	o.String("date", j.Date)
	o.String("date_utc", j.DateUTC)
	o.String("modified", j.Modified)
	o.String("modified_utc", j.ModifiedUTC)
	o.String("url", j.URL)
	o.String("rest_url", j.RESTURL)
	o.String("title", j.Title)
	o.String("description", j.Description)
	o.String("excerpt", j.Excerpt)
	o.String("slug", j.Slug)
	o.Key("image")
	o.B = appendImageOrFalse(o.B, j.Image)
	o.BoolOrNull("all_day", j.AllDay)
	appendDate(&o, "start_date", j.StartDate, &j.StartDateDetails)
	appendDate(&o, "end_date", j.EndDate, &j.EndDateDetails)
	appendDate(&o, "utc_start_date", j.UTCStartDate, &j.UTCStartDateDetails)
	appendDate(&o, "utc_end_date", j.UTCEndDate, &j.UTCEndDateDetails)
	o.String("timezone", j.Timezone)
	o.String("timezone_abbr", j.TimezoneAbbr)
	o.String("cost", j.Cost)
	o.Key("cost_details")
	cost := jsonwrite.Begin(o.B)
	cost.String("currency_symbol", j.CostDetails.CurrencySymbol)
	cost.String("currency_code", j.CostDetails.CurrencyCode)
	cost.String("currency_position", j.CostDetails.CurrencyPosition)
	cost.Strings("values", j.CostDetails.Values)
	o.B = cost.End()
	o.String("website", j.Website)
	o.BoolOrNull("show_map", j.ShowMap)
	o.BoolOrNull("show_map_link", j.ShowMapLink)
	o.BoolOrNull("hide_from_listings", j.HideFromListings)
	o.BoolOrNull("sticky", j.Sticky)
	o.BoolOrNull("featured", j.Featured)
	o.String("event_status", string(j.EventStatus))
	o.String("event_status_reason", j.EventStatusReason)
	o.String("attendance", string(j.Attendance))
	o.String("virtual_url", j.VirtualURL)
	o.Key("categories")
	o.B = jsonwrite.List(o.B, j.Categories, appendEventTerm)
	o.Key("tags")
	o.B = jsonwrite.List(o.B, j.Tags, appendEventTerm)
	o.Key("venue")
	switch v := j.Venue.(type) {
	case *Venue:
		o.B = appendVenue(o.B, v)
	case []Venue:
		o.B = jsonwrite.List(o.B, v, appendVenue)
	default:
		o.B = append(o.B, "null"...)
	}
	o.Key("organizer")
	o.B = jsonwrite.List(o.B, j.Organizer, appendOrganizer)
	o.Strings("custom_fields", j.CustomFields)
	o.BoolOrNull("ticketed", j.Ticketed)
	o.Int("post_parent", j.PostParent)
	o.String("language", j.Language)
	o.Strings("translations", j.Translations)
	o.Key("series")
	o.B = appendEventSeries(o.B, j.Series)
	if j.JSONLD != nil {
		o.Key("json_ld")
		o.B = jsonwrite.ForScript(appendEventLD(o.B, j.JSONLD), len(o.B))
	}
	return o.End()
}

// appendEventSeries appends the series of an event as JSON. Nil gives null.
func appendEventSeries(b []byte, j *EventSeries) []byte {
	if j == nil {
		return append(b, "null"...)
	}
	o := jsonwrite.Begin(b)
	o.Int("id", j.ID)
	o.String("rest_url", j.RESTURL)
	o.String("original_start_date", j.OriginalStartDate)
	o.Bool("is_exception", j.IsException)
	o.Strings("own_fields", j.OwnFields)
	o.String("text", j.Text)
	return o.End()
}

// appendDate appends a date member, and a second member name_details with the parts of the date. The parts are
// digits, so nothing is escaped.
func appendDate(o *jsonwrite.Builder, name, date string, d *DateDetails) {
	o.String(name, date)
	o.Key(name + "_details")
	o.B = append(append(append(o.B, `{"year":"`...), d.Year...), `","month":"`...)
	o.B = append(append(append(o.B, d.Month...), `","day":"`...), d.Day...)
	o.B = append(append(append(o.B, `","hour":"`...), d.Hour...), `","minutes":"`...)
	o.B = append(append(append(o.B, d.Minutes...), `","seconds":"`...), d.Seconds...)
	o.B = append(o.B, `"}`...)
}

func appendEventTerm(b []byte, j *EventTerm) []byte {
	o := jsonwrite.Begin(b)
	o.String("name", j.Name)
	o.String("slug", j.Slug)
	o.Int("term_group", int64(j.TermGroup))
	o.Int("term_taxonomy_id", j.TermTaxonomyID)
	o.String("taxonomy", j.Taxonomy)
	o.String("description", j.Description)
	o.Int("parent", j.Parent)
	o.Int("count", int64(j.Count))
	o.String("filter", j.Filter)
	o.Int("id", j.ID)
	o.Key("urls")
	urls := jsonwrite.Begin(o.B)
	urls.String("self", j.URLs.Self)
	urls.String("collection", j.URLs.Collection)
	urls.Some("up", j.URLs.Up)
	o.B = urls.End()
	return o.End()
}

// AppendJSON implements jsonwrite.Appender.
func (j Venue) AppendJSON(b []byte) []byte { return appendVenue(b, &j) }

func appendVenue(b []byte, j *Venue) []byte {
	o := jsonwrite.Begin(b)
	o.Int("id", j.ID)
	o.Some("author", j.Author)
	o.Some("status", string(j.Status))
	o.Some("date", j.Date)
	o.Some("date_utc", j.DateUTC)
	o.Some("modified", j.Modified)
	o.Some("modified_utc", j.ModifiedUTC)
	o.Some("url", j.URL)
	o.Some("venue", j.Venue)
	o.Some("description", j.Description)
	o.Some("slug", j.Slug)
	appendImage(&o, j.Image)
	o.Some("address", j.Address)
	o.Some("city", j.City)
	o.Some("country", j.Country)
	o.Some("province", j.Province)
	o.Some("state", j.State)
	o.Some("zip", j.Zip)
	o.Some("phone", j.Phone)
	o.Some("website", j.Website)
	o.Some("stateprovince", j.Stateprovince)
	if j.GeoLat != nil {
		o.Float("geo_lat", *j.GeoLat)
	}
	if j.GeoLng != nil {
		o.Float("geo_lng", *j.GeoLng)
	}
	if j.JSONLD != nil {
		o.Key("json_ld")
		o.B = jsonwrite.ForScript(appendPlaceLD(o.B, j.JSONLD), len(o.B))
	}
	o.Bool("show_map", j.ShowMap)
	o.Bool("show_map_link", j.ShowMapLink)
	o.String("global_id", j.GlobalID)
	o.Strings("global_id_lineage", j.GlobalIDLineage)
	o.String("language", j.Language)
	o.Strings("translations", j.Translations)
	return o.End()
}

// AppendJSON implements jsonwrite.Appender.
func (j Organizer) AppendJSON(b []byte) []byte { return appendOrganizer(b, &j) }

func appendOrganizer(b []byte, j *Organizer) []byte {
	o := jsonwrite.Begin(b)
	o.Int("id", j.ID)
	o.Some("author", j.Author)
	o.Some("status", string(j.Status))
	o.Some("date", j.Date)
	o.Some("date_utc", j.DateUTC)
	o.Some("modified", j.Modified)
	o.Some("modified_utc", j.ModifiedUTC)
	o.Some("url", j.URL)
	o.Some("organizer", j.Organizer)
	o.Some("description", j.Description)
	o.Some("slug", j.Slug)
	appendImage(&o, j.Image)
	o.Some("phone", j.Phone)
	o.Some("website", j.Website)
	o.Some("email", j.Email)
	if j.JSONLD != nil {
		o.Key("json_ld")
		o.B = jsonwrite.ForScript(appendOrganizerLD(o.B, j.JSONLD), len(o.B))
	}
	o.String("global_id", j.GlobalID)
	o.Strings("global_id_lineage", j.GlobalIDLineage)
	o.String("language", j.Language)
	o.Strings("translations", j.Translations)
	return o.End()
}

// appendImageOrFalse appends an image as JSON, or false if there is none.
func appendImageOrFalse(b []byte, image OrFalse) []byte {
	if i, ok := image.(*Image); ok && i != nil {
		return appendImageJSON(b, i)
	}
	return append(b, "false"...)
}

// appendImage appends the member "image" of a venue or an organizer. Nil appends nothing.
func appendImage(o *jsonwrite.Builder, i *Image) {
	if i != nil {
		o.Key("image")
		o.B = appendImageJSON(o.B, i)
	}
}

func appendImageJSON(b []byte, j *Image) []byte {
	o := jsonwrite.Begin(b)
	o.String("url", j.URL)
	o.Int("id", j.ID)
	o.String("extension", j.Extension)
	o.Int("width", int64(j.Width))
	o.Int("height", int64(j.Height))
	o.Int("filesize", j.Filesize)
	o.Key("sizes")
	sizes := jsonwrite.Begin(o.B)
	appendSize(&sizes, "thumbnail", j.Sizes.Thumbnail)
	appendSize(&sizes, "medium", j.Sizes.Medium)
	appendSize(&sizes, "medium_large", j.Sizes.MediumLarge)
	appendSize(&sizes, "large", j.Sizes.Large)
	o.B = sizes.End()
	return o.End()
}

func appendSize(o *jsonwrite.Builder, name string, j *ImageSize) {
	if j == nil {
		return
	}
	o.Key(name)
	size := jsonwrite.Begin(o.B)
	size.Int("width", int64(j.Width))
	size.Int("height", int64(j.Height))
	size.String("mime-type", j.MIMEType)
	size.Int("filesize", j.Filesize)
	size.String("url", j.URL)
	o.B = size.End()
}

func appendEventLD(b []byte, j *EventLD) []byte {
	o := jsonwrite.Begin(b)
	o.String("@context", j.Context)
	o.String("@type", j.Type)
	o.Some("name", j.Name)
	o.Some("description", j.Description)
	o.Some("image", j.Image)
	o.Some("url", j.URL)
	o.String("eventAttendanceMode", j.AttendanceMode)
	o.String("eventStatus", j.Status)
	o.Some("previousStartDate", j.PreviousStartDate)
	o.String("startDate", j.StartDate)
	o.String("endDate", j.EndDate)
	if j.Location != nil {
		o.Key("location")
		o.B = appendPlaceLD(o.B, j.Location)
	}
	if j.Organizer != nil {
		o.Key("organizer")
		o.B = appendOrganizerLD(o.B, j.Organizer)
	}
	if s := j.SuperEvent; s != nil {
		o.Key("superEvent")
		super := jsonwrite.Begin(o.B)
		super.String("@type", s.Type)
		super.Some("name", s.Name)
		super.Some("url", s.URL)
		o.B = super.End()
	}
	if j.Offers != nil {
		o.Key("offers")
		offer := jsonwrite.Begin(o.B)
		offer.String("@type", j.Offers.Type)
		offer.String("price", j.Offers.Price)
		offer.Some("priceCurrency", j.Offers.PriceCurrency)
		offer.Some("url", j.Offers.URL)
		offer.String("availability", j.Offers.Availability)
		offer.String("validFrom", j.Offers.ValidFrom)
		o.B = offer.End()
	}
	return o.End()
}

func appendPlaceLD(b []byte, j *PlaceLD) []byte {
	o := jsonwrite.Begin(b)
	o.String("@type", j.Type)
	o.Some("name", j.Name)
	o.Some("description", j.Description)
	o.Some("image", j.Image)
	o.Some("url", j.URL)
	if a := j.Address; a != nil {
		o.Key("address")
		address := jsonwrite.Begin(o.B)
		address.String("@type", a.Type)
		address.Some("streetAddress", a.Street)
		address.Some("addressLocality", a.Locality)
		address.Some("addressRegion", a.Region)
		address.Some("postalCode", a.Postcode)
		address.Some("addressCountry", a.Country)
		o.B = address.End()
	}
	if j.Geo != nil {
		o.Key("geo")
		geo := jsonwrite.Begin(o.B)
		geo.String("@type", j.Geo.Type)
		geo.Float("latitude", j.Geo.Latitude)
		geo.Float("longitude", j.Geo.Longitude)
		o.B = geo.End()
	}
	o.Some("telephone", j.Telephone)
	o.Some("sameAs", j.SameAs)
	return o.End()
}

func appendOrganizerLD(b []byte, j *OrganizerLD) []byte {
	o := jsonwrite.Begin(b)
	o.String("@type", j.Type)
	o.Some("name", j.Name)
	o.Some("description", j.Description)
	o.Some("url", j.URL)
	o.Some("telephone", j.Telephone)
	o.Some("email", j.Email)
	o.Some("sameAs", j.SameAs)
	return o.End()
}
