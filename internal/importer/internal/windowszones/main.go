// Windowszones writes the table of the Windows time zones named in iCalendar files. A line has a Windows name, a tab
// and the IANA zone that CLDR gives it for the whole world. The argument is the folder of the npm package cldr-core:
//
//	go run ./internal/importer/internal/windowszones node_modules/cldr-core >internal/importer/windows_zones.txt
//
// The script .ci/windows-zones installs the package and runs it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "windowszones:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	if len(args) != 1 {
		return errors.New("want the folder of cldr-core")
	}
	manifest, err := os.ReadFile(filepath.Join(args[0], "package.json"))
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(args[0], "supplemental", "windowsZones.json"))
	if err != nil {
		return err
	}
	table, err := tableOf(manifest, data)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	_, err = stdout.Write(table)
	return err
}

// world is the territory in windowsZones.json of the default IANA zone for a Windows zone.
const world = "001"

// tableOf converts a windowsZones.json of CLDR to a table of zone names, sorted by Windows name. manifest is the
// package.json that names the release.
func tableOf(manifest, data []byte) ([]byte, error) {
	var pack struct{ Version string }
	var file struct {
		Supplemental struct {
			WindowsZones struct {
				MapTimezones []struct {
					MapZone struct {
						Windows   string `json:"_other"`
						IANA      string `json:"_type"`
						Territory string `json:"_territory"`
					}
				}
			}
		}
	}
	if err := errors.Join(json.Unmarshal(manifest, &pack), json.Unmarshal(data, &file)); err != nil {
		return nil, err
	}
	var lines []string
	for _, z := range file.Supplemental.WindowsZones.MapTimezones {
		if z.MapZone.Territory == world {
			lines = append(lines, z.MapZone.Windows+"\t"+z.MapZone.IANA+"\n")
		}
	}
	if len(lines) == 0 || pack.Version == "" {
		return nil, errors.New("no zones, or no version")
	}
	slices.Sort(lines)
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Windows zones by name, from windowsZones.json of CLDR %s (npm: cldr-core).\n", pack.Version)
	fmt.Fprintln(&out, "# Written by .ci/windows-zones. Licence: windows_zones.LICENSE")
	for _, line := range lines {
		out.WriteString(line)
	}
	return out.Bytes(), nil
}
