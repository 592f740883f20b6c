//go:build !linux

package store

// walIndex is only read where files and what processes map of them are known to be one.
type walIndex struct{}

func openWALIndex(string) (walIndex, bool) { return walIndex{}, false }

func (walIndex) read() (h walHeader, ok bool) { return h, false }
