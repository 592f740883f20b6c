package represent

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// Image is a picture with its sizes (contract, section 6.6).
type Image struct {
	URL       string     `json:"url"`
	ID        int64      `json:"id"`
	Extension string     `json:"extension"`
	Width     int        `json:"width"`    // pixels
	Height    int        `json:"height"`   // pixels
	Filesize  int64      `json:"filesize"` // bytes
	Sizes     ImageSizes `json:"sizes"`
}

// ImageSizes has the sizes that were made, in a fixed order.
type ImageSizes struct {
	Thumbnail *ImageSize `json:"thumbnail,omitempty"`
	Medium    *ImageSize `json:"medium,omitempty"`
	// MediumLarge is 768 pixels wide.
	MediumLarge *ImageSize `json:"medium_large,omitempty"`
	Large       *ImageSize `json:"large,omitempty"`
}

// ImageSize is a file with a smaller copy of a picture. Width and height are pixels, Filesize is bytes.
type ImageSize struct {
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	MIMEType string `json:"mime-type"`
	Filesize int64  `json:"filesize"`
	URL      string `json:"url"`
}

// Image returns the representation of an image, nil for none.
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

// imageURL is where the picture is: ours, or the one a reference points to.
func (v *View) imageURL(row *ent.Image) string {
	if row.Path == "" {
		return row.SourceURL
	}
	return v.Site.BaseURL + MediaPath + row.Path
}

// MediaPath is where files are served, below the base URL and without a language.
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

// OrFalse is an object, or false when there is none.
type OrFalse any

func imageOrFalse(i *Image) OrFalse {
	if i == nil {
		return false
	}
	return i
}
