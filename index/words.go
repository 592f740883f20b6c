package index

import (
	"bytes"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/search"
)

// vocabulary is the words of the search texts, each with the slots of the events in whose texts it is. Words are
// looked up by any part of them, so they stand one after another in one text that is searched through.
type vocabulary struct {
	ids map[string]uint32
	// text is all words, each between two line feeds; start is where each begins in it.
	text  []byte
	start []uint32
	// texts are, for each word, the slots by the languages in which the text is served that has it.
	texts [][]served
}

// served is the slots of a word in texts of the same languages.
type served struct {
	languages uint8
	posting
}

func newVocabulary() *vocabulary {
	return &vocabulary{ids: map[string]uint32{}, text: []byte{'\n'}}
}

// add notes that a slot, not smaller than any before, has a text in some languages.
func (v *vocabulary) add(slot uint32, languages uint8, text string) {
	for word := range search.EachWord(text) {
		id, known := v.ids[word]
		if !known {
			id = uint32(len(v.start))
			word = strings.Clone(word)
			v.ids[word] = id
			v.start = append(v.start, uint32(len(v.text)))
			v.text = append(append(v.text, word...), '\n')
			v.texts = append(v.texts, nil)
		}
		at := slices.IndexFunc(v.texts[id], func(s served) bool { return s.languages == languages })
		if at < 0 {
			at = len(v.texts[id])
			v.texts[id] = append(v.texts[id], served{languages: languages})
		}
		v.texts[id][at].add(slot)
	}
}

// into adds the slots of all words that hold a piece, in texts served in a language, to a set.
func (v *vocabulary) into(b set, piece search.Piece, language uint8) {
	if piece.Start && piece.End {
		if id, known := v.ids[piece.Text]; known {
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
		// From the line feed before the next word on: no word is met twice.
		at = int(v.start[id+1]) - 1
	}
}

func (v *vocabulary) wordInto(b set, id uint32, language uint8) {
	for i := range v.texts[id] {
		if v.texts[id][i].languages&language != 0 {
			v.texts[id][i].into(b)
		}
	}
}
