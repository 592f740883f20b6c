package represent

import (
	"path"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// Attachment is an image in the shape that clients of WordPress read (contract, section 18).
type Attachment struct {
	ID           int64        `json:"id"`
	Date         string       `json:"date"`
	DateGMT      string       `json:"date_gmt"`
	GUID         Rendered     `json:"guid"`
	Slug         string       `json:"slug"`
	Status       string       `json:"status"`
	Type         string       `json:"type"`
	Link         string       `json:"link"`
	Title        Rendered     `json:"title"`
	Author       int64        `json:"author"` // 0 means none
	AltText      string       `json:"alt_text"`
	Caption      Rendered     `json:"caption"`
	Description  Rendered     `json:"description"`
	MediaType    string       `json:"media_type"`
	MIMEType     string       `json:"mime_type"`
	MediaDetails MediaDetails `json:"media_details"`
	SourceURL    string       `json:"source_url"`
}

// Rendered is a text of an Attachment as HTML.
type Rendered struct {
	Rendered string `json:"rendered"`
}

// MediaDetails are the file of an Attachment and its smaller copies. Width and Height are pixels, Filesize is bytes.
type MediaDetails struct {
	Width    int                       `json:"width"`
	Height   int                       `json:"height"`
	File     string                    `json:"file"`
	Filesize int64                     `json:"filesize"`
	Sizes    map[string]AttachmentSize `json:"sizes"` // by name; full is the file itself
}

// AttachmentSize is one file of an Attachment. Width and Height are pixels, Filesize is bytes.
type AttachmentSize struct {
	File      string `json:"file"`
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	MIMEType  string `json:"mime_type"`
	Filesize  int64  `json:"filesize"`
	SourceURL string `json:"source_url"`
}

// isoWall is the layout of a wall time in the shapes of WordPress.
const isoWall = "2006-01-02T15:04:05"

// Attachment returns an image row as WordPress shows it.
func (v *View) Attachment(row *ent.Image) *Attachment {
	address := v.imageURL(row)
	file := path.Base(address)
	stem := strings.TrimSuffix(file, path.Ext(file))
	out := &Attachment{
		ID: row.ID, Date: row.CreatedAt.In(v.Site.Zone.Location()).Format(isoWall), DateGMT: row.CreatedAt.In(time.UTC).Format(isoWall),
		GUID: Rendered{address}, Slug: stem, Status: "inherit", Type: "attachment", Link: address, Title: Rendered{calendar.Escape(stem)},
		MediaType: "image", MIMEType: row.MimeType, SourceURL: address,
		MediaDetails: MediaDetails{Width: row.Width, Height: row.Height, File: row.Path, Filesize: row.Filesize, Sizes: map[string]AttachmentSize{
			"full": {file, row.Width, row.Height, row.MimeType, row.Filesize, address},
		}},
	}
	if row.AuthorID != nil {
		out.Author = *row.AuthorID
	}
	for name, size := range row.Sizes {
		url := v.sizeURL(size)
		out.MediaDetails.Sizes[name] = AttachmentSize{path.Base(url), size.Width, size.Height, size.MIMEType, size.Filesize, url}
	}
	return out
}
