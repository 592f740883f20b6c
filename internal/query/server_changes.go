package query

// ServerChanges returns a number that changes whenever reads switch to another database server. That server may
// lag behind the previous one (store.Store.ServerChanges). A nil function means that there is only one server.
type ServerChanges func() int64

// Number returns the result of f, or 0 if f is nil. Call it before and after several reads. If both numbers are
// equal, one server answered all of the reads.
func (f ServerChanges) Number() int64 {
	if f == nil {
		return 0
	}
	return f()
}
