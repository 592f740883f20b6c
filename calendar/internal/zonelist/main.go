// Zonelist writes the sorted names of the IANA time zones of the Go distribution, one per line. Run go generate
// after an update of Go that adds zones.
package main

import (
	"archive/zip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Getenv, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "zonelist:", err)
		os.Exit(1)
	}
}

func run(args []string, getenv func(string) string, stderr io.Writer) error {
	flags := flag.NewFlagSet("zonelist", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "zones.txt", "the file to write")
	goroot := flags.String("goroot", getenv("GOROOT"), "the Go distribution; go generate sets it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *goroot == "" {
		return errors.New("no -goroot; run it with go generate")
	}
	names, err := zoneNames(filepath.Join(*goroot, "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return err
	}
	return os.WriteFile(*out, []byte(strings.Join(names, "\n")+"\n"), 0o644)
}

// zoneNames returns the zone names in an archive of the IANA database. It leaves out three names that are not
// places. Factory means that a computer has no zone yet. The meaning of posixrules and localtime depends on the
// installation.
func zoneNames(archive string) (names []string, err error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	for _, f := range z.File {
		switch {
		case strings.HasSuffix(f.Name, "/"):
		case f.Name == "Factory", f.Name == "posixrules", f.Name == "localtime":
		default:
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no zones", archive)
	}
	slices.Sort(names)
	return names, nil
}
