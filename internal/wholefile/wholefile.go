// Package wholefile writes files that are either whole or not there. Its files are for their owner alone, because those of a
// calendar have texts that are not public.
package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Write replaces file, or creates it, so that readers see either the old or the new content. It calls content with a
// temporary file in the same folder, and then renames that file. After an error, file is unchanged, and the temporary
// file is removed.
func Write(file string, content func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), temporaryPattern(file)) // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	err = content(f)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// temporaryPattern returns the pattern of the names of file's temporary files, for os.CreateTemp.
func temporaryPattern(file string) string { return "." + filepath.Base(file) + ".*.tmp" }

// abandonedAfter is the age at which a temporary file is one of a process that was killed.
const abandonedAfter = time.Hour

// RemoveAbandoned removes the temporary files of file that killed processes left, judged by their age at now. Files
// that it cannot remove stay.
func RemoveAbandoned(file string, now time.Time) {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return
	}
	before, after, _ := strings.Cut(temporaryPattern(file), "*") // the pattern has one
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), before) || !strings.HasSuffix(e.Name(), after) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(filepath.Dir(file), e.Name())) // another process may have removed it
		}
	}
}
