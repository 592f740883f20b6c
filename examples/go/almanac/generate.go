// Package almanac is a client of the calendar's REST API, generated from its interface description.
//
// config.yaml says what is generated, and overlay.yaml what is taken out of the description first: all errors become
// one, and what Go programs have no use for is left out.
package almanac

// Both run in the root of the repository: the description is written by the service, and the generator is pinned there.
//go:generate go -C ../../.. run ./cmd/almanac openapi --out examples/go/almanac/openapi.json
//go:generate go -C ../../.. tool -modfile=tools.mod oapi-codegen -config examples/go/almanac/config.yaml -o examples/go/almanac/client.gen.go examples/go/almanac/openapi.json
