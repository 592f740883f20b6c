package calendar

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// Lengths of stored sort keys, in bytes. A letter takes about four: two for itself and two for its accent. The
// engines compare the first 1024 bytes of a value and index fewer than 3072.
const (
	NameKeySize        = 512
	DescriptionKeySize = 255
)

// sortBytes is the number of bytes of a text that SortKey reads. A character has at most four bytes and a key
// of at least two, so this fills the longest key. Descriptions may be much longer.
const sortBytes = 8 * NameKeySize

// collator orders the texts of one language. It is not for concurrent use.
type collator struct {
	order  *collate.Collator
	buffer collate.Buffer
}

// collators has pools of collators, because creating one takes much longer than computing a key.
var collators = map[Language]*sync.Pool{
	English: collatorsOf(language.English),
	Polish:  collatorsOf(language.Polish),
	Spanish: collatorsOf(language.Spanish),
}

func collatorsOf(tag language.Tag) *sync.Pool {
	return &sync.Pool{New: func() any { return &collator{order: collate.New(tag, collate.IgnoreCase)} }}
}

// SortKey returns what a text is sorted by where it is read in a language: bytes whose order is that of the
// language's own collation, of at most size. In Polish ł is a letter after l, in Spanish ñ is one after n, in
// English both are accents, which only decide between words that are the same without them. Case and runs of
// white space do not count; punctuation is before digits, digits are before letters. Texts that differ only
// beyond what size has room for have the same key. An unknown language is sorted like English.
func SortKey(l Language, text string, size int) []byte {
	text = strings.Join(strings.Fields(text), " ")
	if end := sortBytes; len(text) > end {
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	pool, ok := collators[l]
	if !ok {
		pool = collators[English]
	}
	c := pool.Get().(*collator)
	defer pool.Put(c)
	c.buffer.Reset()
	key := c.order.KeyFromString(&c.buffer, text)
	return append([]byte{}, key[:min(len(key), size)]...)
}
