package handlers

import (
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
)

// imageJSON is a picture with its sizes (contract, section 6.6).
type imageJSON struct {
	URL       string     `json:"url"`
	ID        int64      `json:"id"`
	Extension string     `json:"extension"`
	Width     int        `json:"width"`    // pixels
	Height    int        `json:"height"`   // pixels
	Filesize  int64      `json:"filesize"` // bytes
	Sizes     imageSizes `json:"sizes"`
}

// imageSizes has the sizes that were made, in a fixed order.
type imageSizes struct {
	Thumbnail *sizeJSON `json:"thumbnail,omitempty"`
	Medium    *sizeJSON `json:"medium,omitempty"`
	Large     *sizeJSON `json:"large,omitempty"`
}

type sizeJSON struct {
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	MIMEType string `json:"mime-type"`
	Filesize int64  `json:"filesize"`
	URL      string `json:"url"`
}

func (v *view) image(row *ent.Image) *imageJSON {
	if row == nil {
		return nil
	}
	return &imageJSON{
		URL: v.imageURL(row), ID: row.ID, Extension: row.Extension,
		Width: row.Width, Height: row.Height, Filesize: row.Filesize,
		Sizes: imageSizes{
			Thumbnail: v.imageSize(row, "thumbnail"),
			Medium:    v.imageSize(row, "medium"),
			Large:     v.imageSize(row, "large"),
		},
	}
}

// imageURL is where the picture is: ours, or the one a reference points to.
func (v *view) imageURL(row *ent.Image) string {
	if row.Path == "" {
		return row.SourceURL
	}
	return v.site.BaseURL + MediaPath + row.Path
}

// MediaPath is where files are served, below the base URL and without a language.
const MediaPath = "/media/"

func (v *view) imageSize(row *ent.Image, name string) *sizeJSON {
	s, ok := row.Sizes[name]
	if !ok {
		return nil
	}
	return &sizeJSON{
		Width: s.Width, Height: s.Height, MIMEType: s.MIMEType, Filesize: s.Filesize, URL: v.sizeURL(s),
	}
}

func (v *view) sizeURL(s calendar.ImageSize) string {
	if strings.Contains(s.Path, "://") {
		return s.Path
	}
	return v.site.BaseURL + MediaPath + s.Path
}

// orFalse is an object, or false when there is none.
type orFalse any

func imageOrFalse(i *imageJSON) orFalse {
	if i == nil {
		return false
	}
	return i
}
