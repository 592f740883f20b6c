package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cespare/xxhash/v2"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/search"
)

// snapshotFormat is the number of the form in which state.code writes. It has to be increased when that or the meaning of
// a value changes. Changes of the Go types and of the splitting of texts into words are noticed without it.
const snapshotFormat = 2

// Snapshot is a copy of an index in a file, so that a process that starts need not read the whole calendar. It may be
// removed at any time.
type Snapshot struct {
	// File is the path. Its folder must exist. Several processes on one database may share the file.
	File string
	// Database is the random id of the database. A restored backup does not have it.
	Database []byte
	// Schema names the migrations of the program, which may change rows without an entry in the change log.
	Schema string
}

var (
	// ErrNoSnapshot is returned by Index.Restore if the file is missing, too old, or of another database, program or
	// history. The index must be loaded from the database.
	ErrNoSnapshot = errors.New("no snapshot of this index")

	// ErrDamagedSnapshot is returned by Index.Restore if the content of the file is damaged.
	ErrDamagedSnapshot = errors.New("damaged snapshot")
)

// snapshotMagic begins each file.
const snapshotMagic = "ALMANAC-INDEX\r\n\x00"

// snapshotHeader says whether a snapshot can be used: its format, database and history. A file has the magic, the
// header, the state and a checksum.
type snapshotHeader struct {
	format   string
	database []byte
	schema   string
	revision int64
	history  history
}

func (h *snapshotHeader) code(c *codec) {
	c.string(&h.format)
	c.ownBytes(&h.database)
	c.string(&h.schema)
	c.int64(&h.revision)
	h.history.code(c)
}

// formatOf returns a text that changes with everything in the program on which the bytes of a state depend.
func formatOf(declared []*query.Column) string {
	words := strings.Join(slices.Collect(search.EachWord(
		"don't 12:30 śródmieście c++ 🎷🎺 東京都千代田区 half-past a_b x.y 1,5 ́e "+strings.Repeat("long", search.MaxWord),
	)), " ")
	columns := ""
	for _, c := range newColumns(declared) {
		columns += fmt.Sprintf("%+v %s;", c, typeText(reflect.TypeOf(c), map[reflect.Type]bool{}))
	}
	text := fmt.Sprint(snapshotFormat, columns, calendar.Statuses, calendar.Languages, recordKinds(), unicode.Version, words,
		typeText(reflect.TypeFor[state](), map[reflect.Type]bool{}))
	return fmt.Sprintf("%d-%016x", snapshotFormat, xxhash.Sum64String(text))
}

// typeText returns a type's name with the names and types of its fields or elements.
func typeText(t reflect.Type, seen map[reflect.Type]bool) string {
	if seen[t] || t.PkgPath() != "" && t.PkgPath() != reflect.TypeFor[state]().PkgPath() {
		return t.String()
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		text := t.String() + "{"
		for i := range t.NumField() {
			text += t.Field(i).Name + " " + typeText(t.Field(i).Type, seen) + ";"
		}
		return text + "}"
	case reflect.Map:
		return t.String() + "[" + typeText(t.Key(), seen) + "]" + typeText(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return t.String() + "*" + typeText(t.Elem(), seen)
	default:
		return t.String() + " " + t.Kind().String()
	}
}

// headerFor returns the header of a snapshot of s, for this program and database.
func (x *Index) headerFor(s *state) snapshotHeader {
	return snapshotHeader{
		format: formatOf(x.db.declared), database: x.Snapshot.Database, schema: x.Snapshot.Schema,
		revision: s.revision, history: s.history,
	}
}

// encodeSnapshot returns the content of a snapshot file.
func encodeSnapshot(header snapshotHeader, s *state, compared *comparisons) []byte {
	c := &codec{data: make([]byte, 0, 1<<16+128*len(s.ids))}
	c.data = append(c.data, snapshotMagic...)
	header.code(c)
	s.code(c, recordKinds())
	compared.code(c, s.size())
	return binary.LittleEndian.AppendUint64(c.data, xxhash.Sum64(c.data))
}

// openSnapshot checks the content of a file. It returns the header, and a codec that reads the state. For a damaged
// file the error wraps ErrDamagedSnapshot.
func openSnapshot(data []byte) (header snapshotHeader, c *codec, err error) {
	end := len(data) - 8
	if end < len(snapshotMagic) || string(data[:len(snapshotMagic)]) != snapshotMagic ||
		binary.LittleEndian.Uint64(data[end:]) != xxhash.Sum64(data[:end]) {
		return header, nil, ErrDamagedSnapshot
	}
	c = &codec{reading: true, data: data[len(snapshotMagic):end]}
	header.code(c)
	if c.err != nil {
		return header, nil, fmt.Errorf("%w: %w", ErrDamagedSnapshot, c.err)
	}
	return header, c, nil
}

// readState reads the state that follows a header. If the data is invalid, the error wraps ErrDamagedSnapshot.
func readState(header snapshotHeader, c *codec, declared []*query.Column) (*state, error) {
	s := newState(declared)
	s.revision, s.history = header.revision, header.history
	s.code(c, recordKinds())
	s.compared.code(c, s.size())
	c.require(len(c.data) == 0)
	if c.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamagedSnapshot, c.err)
	}
	return s, nil
}

// Restore reads the index from its snapshot and applies the changes since then. If the snapshot is of no use, the error wraps
// ErrNoSnapshot or ErrDamagedSnapshot. After any error, call Load. Call Restore before the first Load.
func (x *Index) Restore(ctx context.Context) error {
	if x.Snapshot == nil {
		return ErrNoSnapshot
	}
	moves := x.ServerChanges.Number()
	data, err := os.ReadFile(x.Snapshot.File)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNoSnapshot, fs.ErrNotExist)
	}
	if err != nil {
		return fmt.Errorf("snapshot of the index: %w", err)
	}
	header, c, err := openSnapshot(data)
	if err != nil {
		return err
	}
	if err := x.checkHeader(ctx, header); err != nil {
		return err
	}
	s, err := readState(header, c, x.db.declared)
	if err != nil {
		return err
	}
	if err := x.checkBacklog(ctx, s); err != nil {
		return err
	}
	return x.adopt(ctx, s, moves)
}

// checkHeader returns ErrNoSnapshot for a snapshot of another database, program or history.
func (x *Index) checkHeader(ctx context.Context, header snapshotHeader) error {
	want := x.headerFor(&state{})
	switch {
	case header.format != want.format:
		return fmt.Errorf("%w: it is one of another version of the program", ErrNoSnapshot)
	case !slices.Equal(header.database, want.database):
		return fmt.Errorf("%w: it is one of another database, or the database was restored", ErrNoSnapshot)
	case header.schema != want.schema:
		return fmt.Errorf("%w: the tables were migrated", ErrNoSnapshot)
	}
	log, err := x.db.historyUpTo(ctx, header.revision)
	if err != nil {
		return err
	}
	if !header.history.isPartOf(log) {
		return fmt.Errorf("%w: the change log does not have what it has applied up to revision %d", ErrNoSnapshot, header.revision)
	}
	return nil
}

// checkBacklog returns ErrNoSnapshot if applying the changes since the snapshot would take longer than a load.
func (x *Index) checkBacklog(ctx context.Context, s *state) error {
	newest, err := x.db.revision(ctx)
	if err != nil {
		return err
	}
	if newest-s.revision > max(4096, int64(s.base)/8) {
		return fmt.Errorf("%w: there are %d changes since", ErrNoSnapshot, newest-s.revision)
	}
	return nil
}

// adopt replaces the state of the index by a restored one, and applies the changes since then. The parameter moves is a
// result of ServerChanges from before the snapshot was read. If reads have switched to another server since then, adopt
// returns ErrNotReady.
func (x *Index) adopt(ctx context.Context, s *state, moves int64) error {
	if err := x.lock(ctx); err != nil {
		return err
	}
	defer x.unlock()
	x.mu.Lock()
	if x.ServerChanges.Number() != moves {
		x.mu.Unlock()
		return ErrNotReady
	}
	x.state, x.mustReload, x.fragmented, x.saved = s, false, s.isFragmented(), s.revision
	x.mu.Unlock()
	err := x.followLocked(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case err != nil:
		x.mustReload = true
		return err
	case x.mustReload:
		return fmt.Errorf("%w: a later change is one of all records", ErrNoSnapshot)
	}
	x.loadedAt = time.Now()
	if x.fragmented {
		x.wakeRun()
	}
	return nil
}
