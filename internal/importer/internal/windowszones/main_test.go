package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTableHasTheZonesOfTheWorld(t *testing.T) {
	file := filepath.Join(t.TempDir(), "windowsZones.xml")
	xml := `<supplementalData><windowsZones><mapTimezones otherVersion="7e11800" typeVersion="2021a">
		<mapZone other="B Standard Time" territory="001" type="Europe/Warsaw"/>
		<mapZone other="B Standard Time" territory="PL" type="Europe/Warsaw"/>
		<mapZone other="A Standard Time" territory="001" type="Asia/Kabul"/>
		</mapTimezones></windowsZones></supplementalData>`
	if err := os.WriteFile(file, []byte(xml), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if err := run([]string{"-release", "41", file}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	want := "# Windows zones by name, from windowsZones.xml of CLDR 41 (Windows 7e11800, tz 2021a).\n" +
		"# Written by internal/importer/internal/windowszones. Licence: windows_zones.LICENSE\n" +
		"A Standard Time\tAsia/Kabul\nB Standard Time\tEurope/Warsaw\n"
	if stdout.String() != want {
		t.Errorf("%s, want %s", &stdout, want)
	}
	for _, args := range [][]string{{file}, {"-release", "41"}, {"-release", "41", file + "x"}, {"-x"}} {
		if err := run(args, &stdout, &stderr); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
