// Package must ends a test at its first unexpected error. It imports no package of the module, so the tests of every
// package can use it.
package must

// T is a test, a benchmark or a round of a property.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Succeed ends the test if err is not nil. Only the goroutine of the test may call it, since it calls Fatal.
func Succeed(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
