package calendar

// ImageSize is one size of an image. Path is below the media root, or an absolute URL when the image is a
// reference to one elsewhere.
type ImageSize struct {
	Path     string `json:"path"`
	MIMEType string `json:"mime_type"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Filesize int64  `json:"filesize"` // bytes
}
