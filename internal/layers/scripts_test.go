package layers

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestScriptsAreShort checks the number of lines of each shell script of CI. A longer one is written in Go.
func TestScriptsAreShort(t *testing.T) {
	scripts := 0
	err := filepath.WalkDir("../../.ci", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil || !bytes.HasPrefix(text, []byte("#!")) && filepath.Ext(name) != ".sh" {
			return err
		}
		scripts++
		most := 100
		if d.Name() == "check" { // what a developer runs stays in one file
			most = 150
		}
		if lines := bytes.Count(text, []byte("\n")); lines > most {
			t.Errorf("%s: %d lines, want at most %d", name, lines, most)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if scripts == 0 {
		t.Error("no script was found")
	}
}
