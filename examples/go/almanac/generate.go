// Package almanac is a client of the calendar's REST API, generated from its interface description.
//
// config.yaml configures the generator. overlay.yaml changes the description first: it merges all errors into one, and
// removes parts that Go programs do not need.
package almanac

// Both commands run in the root of the repository. The service writes the description. tools.mod pins the generator.
//go:generate go -C ../../.. run ./cmd/almanac openapi --out examples/go/almanac/openapi.json
//go:generate go -C ../../.. tool -modfile=tools.mod oapi-codegen -config examples/go/almanac/config.yaml -o examples/go/almanac/client.gen.go examples/go/almanac/openapi.json
