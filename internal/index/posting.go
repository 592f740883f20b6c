package index

import (
	"encoding/binary"
	"iter"
)

// distances are slots in rising order: the first, and then how far the next one is, as varints.
type distances []byte

// into adds the slots to a set that has room for them.
func (d distances) into(b slotSet) {
	slot := uint32(0)
	for len(d) > 0 {
		// Mostly one byte.
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

// posting is the list of slots with one value, such as a tag or a word. It stores the distances between them, or a set
// if that is smaller.
type posting struct {
	distances distances
	dense     *slotSet
	n, last   uint32
}

// add adds a slot that is not smaller than the last; the last again adds nothing.
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

// condense turns the distances up to a slot into a set if that has less than a number of bits for each of their bytes.
func (p *posting) condense(slot uint32, bits int) {
	if p.dense == nil && len(p.distances) > 1024 && len(p.distances)*bits > int(slot) {
		dense := make(slotSet, slot/64+1)
		p.distances.into(dense)
		p.distances, p.dense = nil, &dense
	}
}

// into adds the slots to a set that has room for them.
func (p *posting) into(b slotSet) {
	if p.dense != nil {
		b.or(*p.dense)
		return
	}
	p.distances.into(b)
}

// meets reports whether a slot is in a set.
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

// all yields the slots in order.
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

// postings are the postings of the values of one property: ids or words.
type postings[V comparable] map[V]*posting

func (ps postings[V]) add(value V, slot uint32) {
	p := ps[value]
	if p == nil {
		p = &posting{}
		ps[value] = p
	}
	p.add(slot)
	p.condense(slot, 64) // lists read these most
}

// into adds the slots of some values to a set.
func (ps postings[V]) into(b slotSet, values []V) {
	for _, v := range values {
		if p := ps[v]; p != nil {
			p.into(b)
		}
	}
}
