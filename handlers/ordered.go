package handlers

import "github.com/almanac-cal/almanac/internal/jsonwrite"

// Replies that no struct describes are objects whose members keep their order.
type (
	ordered = jsonwrite.Object
	member  = jsonwrite.Member
)
