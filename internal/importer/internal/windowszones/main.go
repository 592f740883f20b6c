// Windowszones writes the table of the time zones of Windows that iCalendar files name. A line has a Windows name, a tab
// and the IANA zone that CLDR gives it for the whole world.
//
//	go run ./internal/importer/internal/windowszones -release 41 windowsZones.xml >internal/importer/windows_zones.txt
//
// The file windowsZones.xml is in common/supplemental of a CLDR release.
package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "windowszones:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("windowszones", flag.ContinueOnError)
	flags.SetOutput(stderr)
	release := flags.String("release", "", "the CLDR release that the file is of")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *release == "" {
		return errors.New("want -release N FILE")
	}
	data, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	table, err := tableOf(data, *release)
	if err != nil {
		return fmt.Errorf("%s: %w", flags.Arg(0), err)
	}
	_, err = stdout.Write(table)
	return err
}

// world is the territory in windowsZones.xml of the default IANA zone for a Windows zone.
const world = "001"

// tableOf converts a windowsZones.xml to the table, sorted by Windows name.
func tableOf(data []byte, release string) ([]byte, error) {
	var file struct {
		Zones struct {
			Windows string `xml:"otherVersion,attr"`
			IANA    string `xml:"typeVersion,attr"`
			List    []struct {
				Windows   string `xml:"other,attr"`
				Territory string `xml:"territory,attr"`
				IANA      string `xml:"type,attr"`
			} `xml:"mapZone"`
		} `xml:"windowsZones>mapTimezones"`
	}
	if err := xml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	var lines []string
	for _, z := range file.Zones.List {
		if z.Territory == world {
			lines = append(lines, z.Windows+"\t"+z.IANA+"\n")
		}
	}
	if len(lines) == 0 {
		return nil, errors.New("no zones")
	}
	slices.Sort(lines)
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Windows zones by name, from windowsZones.xml of CLDR %s (Windows %s, tz %s).\n",
		release, file.Zones.Windows, file.Zones.IANA)
	fmt.Fprintln(&out, "# Written by internal/importer/internal/windowszones. Licence: windows_zones.LICENSE")
	for _, line := range lines {
		out.WriteString(line)
	}
	return out.Bytes(), nil
}
