package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTableHasTheZonesOfTheWorld(t *testing.T) {
	const zones = `{"supplemental": {"windowsZones": {"mapTimezones": [
		{"mapZone": {"_other": "B Standard Time", "_type": "Europe/Warsaw", "_territory": "001"}},
		{"mapZone": {"_other": "B Standard Time", "_type": "Europe/Warsaw", "_territory": "PL"}},
		{"mapZone": {"_other": "A Standard Time", "_type": "Asia/Kabul", "_territory": "001"}}]}}}`
	const want = "# Windows zones by name, from windowsZones.json of CLDR 48.2.0 (npm: cldr-core).\n" +
		"# Written by .ci/windows-zones. Licence: windows_zones.LICENSE\n" +
		"A Standard Time\tAsia/Kabul\nB Standard Time\tEurope/Warsaw\n"
	for _, tt := range []struct{ name, manifest, zones, want string }{
		{"a package", `{"version": "48.2.0"}`, zones, want},
		{"no version", `{}`, zones, ""},
		{"no zones", `{"version": "48.2.0"}`, `{}`, ""},
		{"no JSON", `{"version": "48.2.0"}`, `<x/>`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(text string, path ...string) {
				name := filepath.Join(append([]string{dir}, path...)...)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(tt.manifest, "package.json")
			write(tt.zones, "supplemental", "windowsZones.json")
			var stdout bytes.Buffer
			if err := run([]string{dir}, &stdout); (err != nil) != (tt.want == "") || stdout.String() != tt.want {
				t.Errorf("%s, %v; want %s", &stdout, err, tt.want)
			}
		})
	}
	for _, args := range [][]string{nil, {t.TempDir()}} {
		if err := run(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
