package calendar

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// Maximum lengths of stored sort keys in bytes. A letter takes about four: two for itself and two for its
// accent. The database engines compare the first 1024 bytes of a value and index fewer than 3072.
const (
	NameKeySize        = 512
	DescriptionKeySize = 255
)

// sortBytes is the number of bytes of a text that SortKey reads. A character has at most four bytes and a key
// of at least two, so this fills the longest key. Descriptions may be much longer.
const sortBytes = 8 * NameKeySize

// collator orders the texts of one language. It is not safe for concurrent use.
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

// SortKey returns the key by which a language sorts a text: at most size bytes, whose byte order is the order
// of the texts. In Polish ł is a letter after l, and in Spanish ñ is a letter after n. In English both are
// accents, which only distinguish words that are equal without them. Case and runs of white space do not count.
// Punctuation is before digits, and digits are before letters. Texts that differ only after size bytes of key
// have the same key. An unknown language is sorted like English.
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
