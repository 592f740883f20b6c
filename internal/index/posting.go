package index

import (
	"encoding/binary"
	"iter"
)

// distances is a list of slots in rising order, as varints: the first slot, then the distance to each next one.
type distances []byte

// into adds the listed slots to the set b, which must have room for them.
func (d distances) into(b slotSet) {
	slot := uint32(0)
	for len(d) > 0 {
		// Most distances take one byte.
		if d[0] < 0x80 {
			slot += uint32(d[0])
			d = d[1:]
		} else {
			distance, size := binary.Uvarint(d)
			slot += uint32(distance)
			d = d[size:]
		}
		b[slot/64] |= 1 << (slot % 64)
	}
}

// posting is the list of slots with one value, such as a tag or a word. It stores distances, or a bit map if
// that is smaller or faster to read.
type posting struct {
	distances distances
	dense     *slotSet
	n, last   uint32
}

// add appends a slot, which must not be smaller than the last one. If it is the last one, nothing changes.
func (p *posting) add(slot uint32) {
	switch {
	case p.n > 0 && slot == p.last:
		return
	case p.dense != nil:
		p.dense.add(slot)
	default:
		p.distances = binary.AppendUvarint(p.distances, uint64(slot-p.last))
		p.condense(slot, 8)
	}
	p.n++
	p.last = slot
}

// condense replaces the list of distances by a bit map if that is smaller or faster to read. It does so if the list
// is long, and the map has fewer than bits bits for each byte of the list. The parameter slot is the last slot.
func (p *posting) condense(slot uint32, bits int) {
	if p.dense == nil && len(p.distances) > 1024 && len(p.distances)*bits > int(slot) {
		dense := make(slotSet, slot/64+1)
		p.distances.into(dense)
		p.distances, p.dense = nil, &dense
	}
}

// into adds the slots of the posting to a set. The set must have room for them.
func (p *posting) into(b slotSet) {
	if p.dense != nil {
		b.or(*p.dense)
		return
	}
	p.distances.into(b)
}

// meets reports whether a slot of the posting is in a set.
func (p *posting) meets(b slotSet) bool {
	if p.dense != nil {
		n := min(len(*p.dense), len(b))
		for i, w := range (*p.dense)[:n] {
			if w&b[i] != 0 {
				return true
			}
		}
		return false
	}
	slot, d := uint32(0), p.distances
	for len(d) > 0 {
		if d[0] < 0x80 {
			slot += uint32(d[0])
			d = d[1:]
		} else {
			distance, size := binary.Uvarint(d)
			slot += uint32(distance)
			d = d[size:]
		}
		if b.has(slot) {
			return true
		}
	}
	return false
}

// all yields the slots in rising order.
func (p *posting) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if p.dense != nil {
			p.dense.each(0, p.last+1, yield)
			return
		}
		slot, d := uint32(0), p.distances
		for len(d) > 0 {
			distance, size := binary.Uvarint(d)
			slot += uint32(distance)
			d = d[size:]
			if !yield(slot) {
				return
			}
		}
	}
}

// postings maps each value of one property (an id or a word) to the slots that have it.
type postings[V comparable] map[V]*posting

func (ps postings[V]) add(value V, slot uint32) {
	p := ps[value]
	if p == nil {
		p = &posting{}
		ps[value] = p
	}
	p.add(slot)
	p.condense(slot, 64) // bit maps are faster for lists, which is worth up to 8 times the bytes
}

// into adds the slots of the given values to a set.
func (ps postings[V]) into(b slotSet, values []V) {
	for _, v := range values {
		if p := ps[v]; p != nil {
			p.into(b)
		}
	}
}
