package manual

// After ent, which the program is built from.
//go:generate go run ../../cmd/almanac manual ../../docs
