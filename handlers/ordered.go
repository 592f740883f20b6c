package handlers

import "github.com/almanac-cal/almanac/internal/jsonwrite"

// ordered is a JSON object whose members keep their order. It is for replies that no struct describes.
type (
	ordered = jsonwrite.Object
	member  = jsonwrite.Member
)
