package feed

import (
	"time"

	"github.com/almanac-cal/almanac/internal/jsonwrite"
)

// JSON returns the entries as JSON Feed 1.1, latest change first. Withdrawn entries are left out.
func (f *Feed) JSON(entries []Entry) []byte {
	o := jsonwrite.Begin(nil)
	o.String("version", "https://jsonfeed.org/version/1.1")
	o.String("title", f.Name)
	o.Some("home_page_url", uri(f.Page))
	o.Some("feed_url", uri(f.Self))
	o.String("language", string(f.Language))
	o.Key("items")
	o.B = append(o.B, '[')
	first := true
	for _, e := range newestFirst(entries) {
		if e.Withdrawn {
			continue
		}
		if !first {
			o.B = append(o.B, ',')
		}
		first = false
		o.B = f.jsonItem(o.B, e)
	}
	o.B = append(o.B, ']')
	return append(o.End(), '\n')
}

func (f *Feed) jsonItem(b []byte, e *Entry) []byte {
	o := jsonwrite.Begin(b)
	summary := f.summary(e)
	o.String("id", e.newsID())
	o.Some("url", uri(e.URL))
	o.String("title", e.Title)
	// JSON Feed requires a content for each item.
	if e.Protected || e.Description == "" {
		o.String("content_text", summary)
	} else {
		o.String("content_html", e.Description)
	}
	o.String("summary", summary)
	if !e.Protected {
		o.Some("image", uri(e.Image.URL))
	}
	if !e.Created.IsZero() {
		o.String("date_published", rfc3339(e.Created))
	}
	o.String("date_modified", rfc3339(e.Stamp))
	if !e.Protected && len(e.Categories) > 0 {
		o.Strings("tags", e.Categories)
	}
	o.Key("_event")
	o.B = e.appendDates(o.B)
	return o.End()
}

// appendDates appends an object with the time and place of an entry. Its dates are in ISO 8601.
func (e *Entry) appendDates(b []byte) []byte {
	o := jsonwrite.Begin(b)
	const offset = "2006-01-02T15:04:05-07:00"
	if e.days() {
		o.String("start", e.StartWall.Format(time.DateOnly))
		o.String("end", e.EndWall.Format(time.DateOnly))
	} else {
		o.String("start", e.Start.In(e.Zone.Location()).Format(offset))
		o.String("end", e.End.In(e.Zone.Location()).Format(offset))
	}
	o.String("timezone", e.Zone.String())
	if e.Protected {
		o.BoolOrNull("all_day", nil)
	} else {
		o.Bool("all_day", e.AllDay)
		o.Some("location", e.location())
	}
	return o.End()
}
