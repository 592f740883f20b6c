package query

// ServerChanges returns another number whenever reads go to another of several database servers, which may be behind the one before
// (store.Store.ServerChanges). Nil means one server.
type ServerChanges func() int64

// Number returns the number of f, 0 for nil. If it is the same before and after some reads, one server answered all of them.
func (f ServerChanges) Number() int64 {
	if f == nil {
		return 0
	}
	return f()
}
