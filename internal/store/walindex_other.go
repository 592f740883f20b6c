//go:build !linux

package store

// walIndex is read only on systems where a file and its mappings are known to agree.
type walIndex struct{}

func openWALIndex(string) (walIndex, bool) { return walIndex{}, false }

func (walIndex) read() (h walHeader, ok bool) { return h, false }
