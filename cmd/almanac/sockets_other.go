//go:build !unix

package main

import (
	"errors"
	"syscall"
)

// reusePort lets several processes listen on one address, which this system cannot.
func reusePort(string, string, syscall.RawConn) error {
	return errors.New("--reuse-port: not supported on this system")
}
