package represent

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// Image is the JSON representation of a picture and its smaller copies (contract, section 6.6).
type Image struct {
	URL       string     `json:"url"`
	ID        int64      `json:"id"`
	Extension string     `json:"extension"`
	Width     int        `json:"width"`    // pixels
	Height    int        `json:"height"`   // pixels
	Filesize  int64      `json:"filesize"` // bytes
	Sizes     ImageSizes `json:"sizes"`
}

// ImageSizes are the smaller copies of a picture, in a fixed order. Nil means that the copy was not made.
type ImageSizes struct {
	Thumbnail *ImageSize `json:"thumbnail,omitempty"`
	Medium    *ImageSize `json:"medium,omitempty"`
	// MediumLarge is a copy 768 pixels wide.
	MediumLarge *ImageSize `json:"medium_large,omitempty"`
	Large       *ImageSize `json:"large,omitempty"`
}

// ImageSize is one smaller copy of a picture. Width and Height are pixels, Filesize is bytes.
type ImageSize struct {
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	MIMEType string `json:"mime-type"`
	Filesize int64  `json:"filesize"`
	URL      string `json:"url"`
}

// Image returns the representation of an image row. Nil gives nil.
func (v *View) Image(row *ent.Image) *Image {
	if row == nil {
		return nil
	}
	return &Image{
		URL: v.imageURL(row), ID: row.ID, Extension: row.Extension,
		Width: row.Width, Height: row.Height, Filesize: row.Filesize,
		Sizes: ImageSizes{
			Thumbnail:   v.imageSize(row, "thumbnail"),
			Medium:      v.imageSize(row, "medium"),
			MediumLarge: v.imageSize(row, "medium_large"),
			Large:       v.imageSize(row, "large"),
		},
	}
}

// imageURL returns the address of a picture. It is below the base URL, or the source address if no file is
// stored.
func (v *View) imageURL(row *ent.Image) string {
	if row.Path == "" {
		return row.SourceURL
	}
	return v.Site.BaseURL + MediaPath + row.Path
}

// MediaPath is the path of stored files, below the base URL and without a language segment.
const MediaPath = "/media/"

func (v *View) imageSize(row *ent.Image, name string) *ImageSize {
	s, ok := row.Sizes[name]
	if !ok {
		return nil
	}
	return &ImageSize{
		Width: s.Width, Height: s.Height, MIMEType: s.MIMEType, Filesize: s.Filesize, URL: v.sizeURL(s),
	}
}

func (v *View) sizeURL(s calendar.ImageSize) string {
	if strings.Contains(s.Path, "://") {
		return s.Path
	}
	return v.Site.BaseURL + MediaPath + s.Path
}

// OrFalse is a JSON value that is an object, or false if there is none.
type OrFalse any

func imageOrFalse(i *Image) OrFalse {
	if i == nil {
		return false
	}
	return i
}
