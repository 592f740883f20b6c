// Package openapi describes the API in OpenAPI 3. It reads the routes, the parameter declarations and the types
// of the representations.
package openapi

import "github.com/almanac-cal/almanac/internal/jsonwrite"

// ordered is a JSON object that keeps its members in the order in which they were added. A description consists of
// these.
type (
	ordered = jsonwrite.Object
	member  = jsonwrite.Member
)
