package server

// ParseKey is parseKey, for tests.
var ParseKey = parseKey
