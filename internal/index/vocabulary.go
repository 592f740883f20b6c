package index

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/almanac-cal/almanac/internal/search"
)

// vocabulary is the words of all search texts, each with the slots of the events whose texts contain it. A
// search for a part of a word scans all words, so they are stored in one byte slice.
type vocabulary struct {
	// text has all words, with a line feed before and after each. start has the offset of each word in text, by
	// word number.
	text  []byte
	start []uint32
	// table is a hash table from words to their numbers plus one. 0 means an empty place.
	table []uint32
	seed  maphash.Seed
	// slots has the slots of each word, by word number. They are those of texts with one set of languages,
	// which is that of the first text with the word. The map further has the slots of texts with other
	// languages.
	slots   []servedSlots
	further map[uint32][]servedSlots
	packed  packedSlots
}

// packedSlots are the slots of the words that were loaded together. For each word and each set of its
// languages, all has the language bits, the length of the distances as a varint, and the distances.
type packedSlots struct {
	all  []byte
	from []uint32 // start of each word in all, by word number; the last element is the length of all
}

// servedSlots are the slots of one word, in texts that are served in the same languages.
type servedSlots struct {
	posting
	languages uint8
}

func newVocabulary() *vocabulary {
	return &vocabulary{text: []byte{'\n'}, seed: maphash.MakeSeed(), further: map[uint32][]servedSlots{}}
}

// word returns the bytes of a word by its number.
func (v *vocabulary) word(id uint32) []byte {
	end := len(v.text)
	if int(id)+1 < len(v.start) {
		end = int(v.start[id+1])
	}
	return v.text[v.start[id] : end-1]
}

// find returns the number of a word, or false if the word is unknown. The result at is the word's place in the table,
// or the place to add it. In an empty table it is 0.
func (v *vocabulary) find(word string) (id uint32, at int, known bool) {
	if len(v.table) == 0 {
		return 0, 0, false
	}
	mask := len(v.table) - 1
	for at = int(maphash.String(v.seed, word)) & mask; ; at = (at + 1) & mask {
		switch id = v.table[at]; {
		case id == 0:
			return 0, at, false
		case string(v.word(id-1)) == word:
			return id - 1, at, true
		}
	}
}

// grow doubles the hash table if it is three quarters full.
func (v *vocabulary) grow() {
	if 4*len(v.start) >= 3*len(v.table) {
		v.rehash(2 * len(v.table))
	}
}

// rehash builds the hash table with at least size places. At most three quarters of them are in use.
func (v *vocabulary) rehash(size int) {
	places := 1 << 10
	for places < size || 4*len(v.start) >= 3*places {
		places *= 2
	}
	v.table = make([]uint32, places)
	mask := len(v.table) - 1
	for id := range v.start {
		at := int(maphash.Bytes(v.seed, v.word(uint32(id)))) & mask
		for v.table[at] != 0 {
			at = (at + 1) & mask
		}
		v.table[at] = uint32(id) + 1
	}
}

// add adds the words of a text to the vocabulary. Slots must be added in rising order.
func (v *vocabulary) add(slot uint32, languages uint8, text string) {
	for word := range search.EachWord(text) {
		v.grow()
		id, at, known := v.find(word)
		if !known {
			id = uint32(len(v.start))
			v.table[at] = id + 1
			v.start = append(v.start, uint32(len(v.text)))
			v.text = append(append(v.text, word...), '\n')
			if v.packed.from == nil {
				v.slots = append(v.slots, servedSlots{languages: languages})
			}
		}
		v.of(id, languages).add(slot)
	}
}

// of returns the slots of a word in texts of exactly the given languages. It creates them if necessary.
func (v *vocabulary) of(id uint32, languages uint8) *servedSlots {
	if int(id) < len(v.slots) && v.slots[id].languages == languages {
		return &v.slots[id]
	}
	all := v.further[id]
	at := slices.IndexFunc(all, func(s servedSlots) bool { return s.languages == languages })
	if at < 0 {
		at = len(all)
		all = append(all, servedSlots{languages: languages})
		v.further[id] = all
	}
	return &all[at]
}

// pack replaces the slots by a form with fewer bytes and no pointers. Most words are rare, and a slice for each
// would take several times its contents. The bit maps of frequent words, and words added later, are stored
// separately.
func (v *vocabulary) pack() {
	v.text, v.start = slices.Clone(v.text), slices.Clone(v.start)
	size, frequent := 0, map[uint32][]servedSlots{}
	for id := range uint32(len(v.slots)) {
		for s := range v.served(id) {
			size += s.packedSize()
		}
	}
	v.packed = packedSlots{all: make([]byte, 0, size), from: make([]uint32, 0, len(v.slots)+1)}
	for id := range uint32(len(v.slots)) {
		v.packed.from = append(v.packed.from, uint32(len(v.packed.all)))
		for s := range v.served(id) {
			if s.dense != nil {
				*s.dense = slices.Clone(*s.dense)
				frequent[id] = append(frequent[id], *s)
				continue
			}
			v.packed.all = binary.AppendUvarint(append(v.packed.all, s.languages), uint64(len(s.distances)))
			v.packed.all = append(v.packed.all, s.distances...)
		}
	}
	v.packed.from = append(v.packed.from, uint32(len(v.packed.all)))
	v.slots, v.further = nil, frequent
}

// packedSize returns the number of bytes of s in packed form. 0 means that s is a bit map, which is not packed.
func (s *servedSlots) packedSize() int {
	if s.dense != nil {
		return 0
	}
	return 1 + len(binary.AppendUvarint(nil, uint64(len(s.distances)))) + len(s.distances)
}

// served yields the slots of a word that are not in packed form, one set of languages at a time.
func (v *vocabulary) served(id uint32) iter.Seq[*servedSlots] {
	return func(yield func(*servedSlots) bool) {
		if int(id) < len(v.slots) && !yield(&v.slots[id]) {
			return
		}
		all := v.further[id]
		for i := range all {
			if !yield(&all[i]) {
				return
			}
		}
	}
}

// into adds to a set the slots of all words that match a piece, in texts served in the given language.
func (v *vocabulary) into(b slotSet, piece search.Piece, language uint8) {
	if piece.Start && piece.End {
		if id, _, known := v.find(piece.Text); known {
			v.wordInto(b, id, language)
		}
		return
	}
	look := []byte(piece.Text)
	if piece.Start {
		look = append([]byte{'\n'}, look...)
	}
	if piece.End {
		look = append(look, '\n')
	}
	for at := 0; ; {
		i := bytes.Index(v.text[at:], look)
		if i < 0 {
			return
		}
		at += i
		if piece.Start {
			at++
		}
		id, found := slices.BinarySearch(v.start, uint32(at))
		if !found {
			id--
		}
		v.wordInto(b, uint32(id), language)
		if id+1 == len(v.start) {
			return
		}
		// The scan continues at the line feed before the next word, so that no word is found twice.
		at = int(v.start[id+1]) - 1
	}
}

// wordInto adds to a set the slots of one word, in texts served in the given language.
func (v *vocabulary) wordInto(b slotSet, id uint32, language uint8) {
	if int(id)+1 < len(v.packed.from) {
		for rest := v.packed.all[v.packed.from[id]:v.packed.from[id+1]]; len(rest) > 0; {
			n, size := binary.Uvarint(rest[1:])
			end := 1 + size + int(n)
			if rest[0]&language != 0 {
				distances(rest[1+size : end]).into(b)
			}
			rest = rest[end:]
		}
	}
	for s := range v.served(id) {
		if s.languages&language != 0 {
			s.into(b)
		}
	}
}
