// Package openapi describes the API as OpenAPI 3. Its input is the routes, the declarations of their parameters, and the
// representations.
package openapi

import "github.com/almanac-cal/almanac/internal/jsonwrite"

// A description is made of objects whose members keep their order.
type (
	ordered = jsonwrite.Object
	member  = jsonwrite.Member
)
