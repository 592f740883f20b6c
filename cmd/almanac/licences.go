package main

import (
	_ "embed"
	"fmt"
)

// notices are the licences and notices of the linked software, which must be distributed with the program. The
// script .ci/release/licences writes them.
//
//go:embed notices.txt
var notices string

type versionCmd struct {
	Licences bool `help:"Print the licences and notices of the bundled software instead."`
}

// Run prints the version, or the licences if asked.
func (c versionCmd) Run(s streams) error {
	if c.Licences {
		_, err := fmt.Fprint(s.Out, notices)
		return err
	}
	_, err := fmt.Fprintln(s.Out, version())
	return err
}
