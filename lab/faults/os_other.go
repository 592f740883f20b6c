//go:build !linux

package main

import "errors"

// raiseFiles does nothing, since only Linux is supported.
func raiseFiles() error { return nil }

func mountSmall(string, int64) (func() error, error) { return nil, errors.ErrUnsupported }

func limitFiles(int, uint64) error { return errors.ErrUnsupported }

func peakMemory(int) (int64, error) { return 0, errors.ErrUnsupported }

func setWindow(uintptr, int) {}
