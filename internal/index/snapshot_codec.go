package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
)

// errDamaged is the error for a snapshot with values that no index has.
var errDamaged = errors.New("the content is damaged")

// codec writes values to a snapshot, or reads them from one. A method takes a pointer to a value: it either writes
// the value or replaces it. So one function describes both directions, and they cannot disagree.
//
// Numbers are varints. A list begins with its length. No memory is allocated for a list that is longer than the rest of the
// data allows. After an error, reads return zero values.
type codec struct {
	reading bool
	data    []byte // the bytes written so far, or the bytes not read yet
	err     error
}

// fail ends reading with errDamaged.
func (c *codec) fail() {
	if c.err == nil {
		c.err = errDamaged
	}
	c.data = nil
}

// require ends reading with errDamaged if holds is false. It reports whether values can still be read.
func (c *codec) require(holds bool) bool {
	if c.reading && !holds {
		c.fail()
	}
	return c.err == nil
}

func (c *codec) uint64(v *uint64) {
	if !c.reading {
		c.data = binary.AppendUvarint(c.data, *v)
		return
	}
	n, size := binary.Uvarint(c.data)
	if size <= 0 {
		c.fail()
		n, size = 0, 0
	}
	*v, c.data = n, c.data[size:]
}

func (c *codec) int64(v *int64) {
	folded := uint64(*v<<1) ^ uint64(*v>>63)
	c.uint64(&folded)
	*v = int64(folded>>1) ^ -int64(folded&1)
}

func (c *codec) uint32(v *uint32) {
	n := uint64(*v)
	c.uint64(&n)
	if !c.require(n <= math.MaxUint32) {
		n = 0
	}
	*v = uint32(n)
}

func (c *codec) uint8(v *uint8) {
	if !c.reading {
		c.data = append(c.data, *v)
		return
	}
	*v = 0
	if c.require(len(c.data) > 0) {
		*v, c.data = c.data[0], c.data[1:]
	}
}

func (c *codec) bool(v *bool) {
	var n uint8
	if *v {
		n = 1
	}
	c.uint8(&n)
	c.require(n <= 1)
	*v = n == 1
}

func (c *codec) float64(v *float64) {
	if !c.reading {
		c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(*v))
		return
	}
	*v = 0
	if c.require(len(c.data) >= 8) {
		*v, c.data = math.Float64frombits(binary.LittleEndian.Uint64(c.data)), c.data[8:]
	}
}

// length writes the length n of a list, or reads a length, and returns it. Each element takes least bytes or more. It
// returns 0 after an error.
func (c *codec) length(n, least int) int {
	long := uint64(n)
	c.uint64(&long)
	if !c.require(long <= uint64(len(c.data)/least)) {
		return 0
	}
	return int(long)
}

// bytes writes or reads a slice of bytes. What was read shares memory with the data, so callers copy what they keep.
func (c *codec) bytes(v *[]byte) {
	n := c.length(len(*v), 1)
	if !c.reading {
		c.data = append(c.data, *v...)
		return
	}
	*v, c.data = c.data[:n:n], c.data[n:]
}

// ownBytes writes or reads a slice of bytes. What was read does not share memory with the data.
func (c *codec) ownBytes(v *[]byte) {
	c.bytes(v)
	if c.reading {
		*v = slices.Clone(*v)
	}
}

func (c *codec) string(v *string) {
	text := []byte(*v)
	c.bytes(&text)
	if c.reading {
		*v = string(text)
	}
}

// number is the type of the values in a list of differences.
type number interface{ int64 | uint32 }

// codeNumbers writes or reads a list as differences of neighbours, which are small in columns of an index. Differences
// wrap around.
func codeNumbers[N number](c *codec, list *[]N) {
	n := c.length(len(*list), 1)
	if c.reading {
		*list = make([]N, n)
	}
	var last N
	for i := range *list {
		delta := int64((*list)[i] - last)
		if !c.reading {
			c.data = binary.AppendVarint(c.data, delta)
			last = (*list)[i]
			continue
		}
		c.int64(&delta)
		last += N(delta)
		(*list)[i] = last
	}
}

// slots writes or reads a set of slots below size.
func (c *codec) slots(b *slotSet, size uint32) {
	n := c.length(len(*b), 8)
	if !c.reading {
		for _, w := range *b {
			c.data = binary.LittleEndian.AppendUint64(c.data, w)
		}
		return
	}
	*b = nil
	if !c.require(uint64(n) <= (uint64(size)+63)/64) || n == 0 {
		return
	}
	*b = make(slotSet, n)
	for i := range *b {
		(*b)[i] = binary.LittleEndian.Uint64(c.data[8*i:])
	}
	c.data = c.data[8*n:]
	if rest := size % 64; rest != 0 && uint32(n) == size/64+1 {
		c.require((*b)[n-1]>>rest == 0)
	}
}

// codeMap writes or reads a map in the order of its keys, and calls code for each element. An element takes at least
// least bytes.
func codeMap[K cmp.Ordered, V any](c *codec, m map[K]V, least int, code func(key *K, value *V)) {
	n := c.length(len(m), least)
	if !c.reading {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			value := m[key]
			code(&key, &value)
		}
		return
	}
	for range n {
		var key K
		var value V
		code(&key, &value)
		if c.err != nil {
			return
		}
		m[key] = value
	}
}

// codeList writes or reads a list, and calls code for each element. An element takes at least least bytes.
func codeList[V any](c *codec, list *[]V, least int, code func(value *V)) {
	n := c.length(len(*list), least)
	if c.reading {
		*list = nil
		if n > 0 {
			*list = make([]V, n)
		}
	}
	for i := range *list {
		code(&(*list)[i])
	}
}
