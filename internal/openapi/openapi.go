// Package openapi describes the API in OpenAPI 3. It reads the routes, the parameter declarations and the types
// of the representations.
package openapi

import "github.com/almanac-cal/almanac/internal/jsonwrite"

// ordered and member make up a description. An ordered object keeps its members in the order in which they were
// added.
type (
	ordered = jsonwrite.Object
	member  = jsonwrite.Member
)
