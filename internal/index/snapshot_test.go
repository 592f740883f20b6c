package index

import (
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/search"
)

// encodedState returns the bytes of a state.
func encodedState(s *state) []byte { return encodedWith(s, recordKinds()) }

func encodedWith(s *state, kinds []calendar.Kind) []byte {
	c := &codec{}
	s.code(c, kinds)
	s.compared.code(c, s.size())
	return c.data
}

func decodedState(data []byte) (*state, error) {
	return readState(snapshotHeader{}, &codec{reading: true, data: data}, modelDeclared())
}

// snapshotModel is a random state with everything that a state may have.
func snapshotModel(r *rand.Rand) *state {
	s, _ := build(r)
	s.records[calendar.Organizer].fill(map[int64]*record{
		1: {id: 1, published: 5, texts: []text{text2(3, "jazz club"), text2(4, "klub")}}, 2: {id: 2, status: statusTrash, image: 9, changed: 3},
	})
	s.records[calendar.Series].fill(map[int64]*record{
		5: {id: 5, author: 2, series: &seriesData{hidden: true, titles: []string{"=a", "", "=c"}}},
		6: {id: 6, series: &seriesData{protected: true, draft: true, titles: []string{"=b", "=b", "=b"}}},
	})
	s.changed.before, s.changed.counts = 7, 8
	s.changed.kinds[calendar.Venue], s.changed.series[5] = 9, 10
	if r.IntN(2) == 0 {
		s.words.pack()
	}
	if s.size() > 0 {
		s.compared.note(search.Term{Text: "jazz night"}, calendar.English, []uint32{0, s.size() - 1}, func(i int) bool { return i > 0 })
	}
	return s
}

func TestSnapshotHasTheWholeState(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := snapshotModel(r)
		data := encodedState(s)
		read, err := decodedState(data)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again := encodedState(read); !slices.Equal(data, again) {
			t.Fatalf("seed %d: it is written differently after it was read", seed)
		}
		same := cmpopts.IgnoreFields(state{}, "words", "records", "cached", "located")
		unused := gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().String() == ".byCell" || p.Last().String() == ".unpublished" }, gocmp.Ignore())
		exported := gocmp.Exporter(func(reflect.Type) bool { return true })
		if diff := gocmp.Diff(s, read, same, unused, exported, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d (-written +read):\n%s", seed, diff)
		}
		for range 30 { // they stay the same as they follow changes
			id := 1 + r.Int64N(320)
			if d := randomDocument(r, id); r.IntN(3) > 0 {
				s.put(d)
				read.put(d)
			} else {
				s.drop(id)
				read.drop(id)
			}
			f := randomFilter(r)
			f.Series.First = false
			if want, got := foundBy(s, f), foundBy(read, f); !slices.Equal(want, got) {
				t.Fatalf("seed %d, %+v: %v was written, %v is read", seed, f, want, got)
			}
		}
	}
}

// foundBy returns the ids that the words of the index find for a query.
func foundBy(s *state, f *query.Events) []int64 {
	found, _ := s.find(f, &scratchSets{})
	if f.Series.First {
		s.firstOfSeries(found, f, &scratchSets{})
	}
	return s.page(found, 0, -1, true).IDs
}

// TestDamagedSnapshotIsRefused checks that a cut or altered snapshot is refused.
func TestDamagedSnapshotIsRefused(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 5))
	s := snapshotModel(r)
	header := snapshotHeader{format: "1", database: []byte{1, 2, 3}, schema: "4", revision: 5, history: history{[]historyEntry{{5, 6}}}}
	whole := encodeSnapshot(header, s, &s.compared)
	if _, _, err := openSnapshot(whole); err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		if _, _, err := openSnapshot(whole[:at]); !errors.Is(err, ErrDamagedSnapshot) {
			t.Fatalf("the first %d of %d bytes: %v", at, len(whole), err)
		}
		flipped := slices.Clone(whole)
		flipped[at] ^= 1 << r.IntN(8)
		if _, _, err := openSnapshot(flipped); !errors.Is(err, ErrDamagedSnapshot) {
			t.Fatalf("byte %d of %d is another: %v", at, len(whole), err)
		}
	}
	if _, _, err := openSnapshot(append(whole, 0)); !errors.Is(err, ErrDamagedSnapshot) {
		t.Errorf("one more byte: %v", err)
	}
}

// FuzzSnapshotState reads impossible states, as a program with other rules and the same format would write them.
func FuzzSnapshotState(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(encodedState(snapshotModel(rand.New(rand.NewPCG(seed, 6)))), seed)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		s, err := decodedState(data)
		if err != nil {
			return
		}
		r := rand.New(rand.NewPCG(seed, 7))
		pool := &scratchSets{}
		for range 10 {
			filter := randomFilter(r)
			foundBy(s, filter)
			found, left := s.find(filter, pool)
			for _, term := range left.Terms {
				s.compared.unread(found, term, filter.Language, nil, pool)
				s.compared.restrict(found, term, filter.Language)
			}
			s.pageByEnd(found, 0, 10, true)
			s.changedAt(query.Dependency{Kind: calendar.Event, ID: 1 + r.Int64N(20)})
			s.records[calendar.Venue].candidates([]string{"jazz"}, calendar.English, pool)
			s.noteRecounted(map[int64]bool{1 + r.Int64N(12): true})
			s.put(randomDocument(r, 1+r.Int64N(320)))
			s.drop(1 + r.Int64N(320))
		}
		if _, err := decodedState(encodedState(s)); err != nil {
			t.Error(err)
		}
	})
}

// snapshotHash is the hash of what TestSnapshotFormatChangesWithItsContent writes.
const snapshotHash = "961aa1a816e7d42a"

// TestSnapshotFormatChangesWithItsContent checks that the format's number changes when the content does, because
// released programs read it. A new kind of records changes the format by itself.
func TestSnapshotFormatChangesWithItsContent(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 8))
	sum := xxhash.New()
	for range 5 {
		if _, err := sum.Write(encodedWith(snapshotModel(r), []calendar.Kind{calendar.Venue, calendar.Organizer, calendar.Series})); err != nil {
			t.Fatal(err)
		}
	}
	got := hex.EncodeToString(sum.Sum(nil))
	if got != snapshotHash {
		t.Errorf("format %d has the hash %s, want %s: increase snapshotFormat, unless only the test data changed, and store the hash",
			snapshotFormat, got, snapshotHash)
	}
}

// TestSnapshotFormatNamesColumnsAndTypes checks that the format changes with everything on which the bytes of a
// state depend.
func TestSnapshotFormatNamesColumnsAndTypes(t *testing.T) {
	t.Parallel()
	flagA, flagB, wordA := query.Flag("", "a", nil, ""), query.Flag("", "b", nil, ""), query.Word[string]("", "a", nil, "")
	known := map[string]string{}
	for name, declared := range map[string][]*query.Column{
		"none": {}, "a flag": {&flagA}, "a word": {&wordA}, "two flags": {&flagA, &flagB}, "two flags in another order": {&flagB, &flagA},
		"a flag and a word": {&flagB, &wordA}, "a word and a flag": {&wordA, &flagB},
	} {
		format := formatOf(declared)
		if other, same := known[format]; same {
			t.Errorf("%s and %s have the format %s", name, other, format)
		}
		known[format] = name
	}
	type inner struct{ A int32 }
	type one struct{ In []inner }
	if a, b := typeText(reflect.TypeFor[one](), map[reflect.Type]bool{}), typeText(reflect.TypeFor[inner](), map[reflect.Type]bool{}); a == b {
		t.Errorf("both types are %s", a)
	}
	if text := typeText(reflect.TypeFor[state](), map[reflect.Type]bool{}); len(text) < 1000 {
		t.Errorf("the type of a state is %s", text)
	}
}
