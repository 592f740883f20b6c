package calendar

// ImageSize is one size of an image. Path is relative to the media root. For an image at another service it is
// an absolute URL.
type ImageSize struct {
	Path     string `json:"path"`
	MIMEType string `json:"mime_type"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Filesize int64  `json:"filesize"` // bytes
}
