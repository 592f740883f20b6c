package translations

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// maxUnit is the maximum number of bytes between the ends of two units in a file: several times the longest
// text.
const maxUnit = 16 << 20

// ErrFile is the error for a file that is not a file of translations.
var ErrFile = errors.New("no file of translations")

// refusal is an error that errors.Is reports as ErrFile, but whose text does not repeat that of ErrFile.
type refusal struct{ error }

func (refusal) Is(target error) bool { return target == ErrFile }

func refuse(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

// limitedReader limits how much is read from a file between two resets. So no single text can fill the memory.
type limitedReader struct {
	io.Reader
	left int
}

func (g *limitedReader) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, refuse("more than %d MiB without the end of a unit", maxUnit>>20)
	}
	n, err := g.Reader.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

func (g *limitedReader) reset() { g.left = maxUnit }

// Read calls do for each unit of a file, in order. An unusable unit is included; its fault says why. If
// the file itself is invalid, Read ends with an error that is ErrFile. An error of do ends it too.
func Read(r io.Reader, do func(*Unit) error) error {
	g := &limitedReader{Reader: r, left: maxUnit}
	b := bufio.NewReader(g)
	head, err := b.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		if _, err := b.Discard(3); err != nil {
			return err
		}
		head = head[3:]
	}
	switch text := bytes.TrimLeft(head, " \t\r\n"); {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return refuse("the file is in UTF-16; save it in UTF-8")
	case bytes.HasPrefix(text, []byte("<")):
		return refuse("the file is XML, and the import reads JSON as the export writes it")
	case bytes.HasPrefix(text, []byte("{")):
		return readJSON(b, g, do)
	case len(text) == 0:
		return refuse("the file is empty")
	}
	return refuse("the file is not JSON")
}

// Name returns the id of the unit in the file.
func (u *Unit) Name() string {
	if u.name != "" {
		return u.name
	}
	return u.ID.String()
}

// reject marks a unit as unusable. The first error remains as its fault.
func (u *Unit) reject(err error) {
	if u.fault == nil {
		u.fault = err
	}
}

// setID sets the ID of a unit from its id attribute or member in the file. An invalid one makes the unit unusable.
func (u *Unit) setID(name string) {
	id, err := parseID(name)
	u.ID, u.name = id, shorten(name)
	if err != nil {
		u.reject(fmt.Errorf("id %w", err))
	}
}

// setLanguages sets the source and target language of a unit. Unknown or equal languages make the unit unusable.
func (u *Unit) setLanguages(from, to string) {
	var ok bool
	if u.From, ok = language(from); !ok {
		u.reject(fmt.Errorf("source language %q: want en, pl or es", shorten(from)))
	}
	if u.To, ok = language(to); !ok {
		u.reject(fmt.Errorf("target language %q: want en, pl or es", shorten(to)))
	}
	if u.From == u.To {
		u.reject(fmt.Errorf("from %s into %s is no translation", u.From, u.To))
	}
}

// language parses a language tag. It ignores a region or script, as in pl-PL. It reports false for an unknown
// language.
func language(tag string) (calendar.Language, bool) {
	code, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	l := calendar.Language(strings.ToLower(strings.TrimSpace(code)))
	return l, l.Known()
}
