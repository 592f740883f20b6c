// Command files writes calendars as other programs write them, and the occurrences that readers must find in them:
//
//	go run ./.ci/ical/files FOLDER
//
// NAME.ics has the occurrences of NAME.txt: start, end and title. NAME.strict.ics is one in which all readers find them.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/almanac-cal/almanac/proof/icaltest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./.ci/ical/files FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string) (err error) {
	files, err := icaltest.Files()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, f := range files {
		name := f.Name
		if f.Strict {
			name += ".strict"
		}
		if err := root.WriteFile(name+".ics", []byte(f.Text), 0o644); err != nil {
			return err
		}
		if err := root.WriteFile(name+".txt", []byte(strings.Join(f.Occurrences, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
