//go:build !unix

package main

import (
	"errors"
	"syscall"
)

// reusePort returns an error, because this system does not let several processes listen on one address.
func reusePort(string, string, syscall.RawConn) error {
	return errors.New("--reuse-port: not supported on this system")
}
