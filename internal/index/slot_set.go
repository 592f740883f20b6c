package index

import "math/bits"

// slotSet is a set of slots, as a bit map with one bit per slot.
type slotSet []uint64

func (b slotSet) has(slot uint32) bool {
	w := slot / 64
	return int(w) < len(b) && b[w]&(1<<(slot%64)) != 0
}

// add adds a slot to the set and grows the set if necessary.
func (b *slotSet) add(slot uint32) {
	for int(slot/64) >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[slot/64] |= 1 << (slot % 64)
}

func (b slotSet) remove(slot uint32) {
	if w := slot / 64; int(w) < len(b) {
		b[w] &^= 1 << (slot % 64)
	}
}

// or adds the slots of other, which must not be longer than b.
func (b slotSet) or(other slotSet) {
	for i, w := range other {
		b[i] |= w
	}
}

// and removes the slots that are not in other. Slots beyond the length of other are removed too.
func (b slotSet) and(other slotSet) {
	n := min(len(b), len(other))
	for i, w := range other[:n] {
		b[i] &= w
	}
	clear(b[n:])
}

// without removes the slots that are in other.
func (b slotSet) without(other slotSet) {
	n := min(len(b), len(other))
	for i, w := range other[:n] {
		b[i] &^= w
	}
}

func (b slotSet) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b slotSet) empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

// each calls yield for each slot in [from, to), in rising order, until yield returns false.
func (b slotSet) each(from, to uint32, yield func(slot uint32) bool) {
	for i := from / 64; int(i) < len(b) && i*64 < to; i++ {
		w := b[i]
		if i == from/64 {
			w &= ^uint64(0) << (from % 64)
		}
		for ; w != 0; w &= w - 1 {
			slot := i*64 + uint32(bits.TrailingZeros64(w))
			if slot >= to || !yield(slot) {
				return
			}
		}
	}
}

// between removes the slots below end that are outside [from, to).
func (b slotSet) between(from, to, end uint32) {
	b.clear(0, min(from, end))
	b.clear(max(from, to), end)
}

// clear removes the slots in [from, to).
func (b slotSet) clear(from, to uint32) {
	to = min(to, uint32(len(b)*64))
	if from >= to {
		return
	}
	first, last := from/64, (to-1)/64
	head := ^uint64(0) << (from % 64)
	tail := ^uint64(0) >> (63 - (to-1)%64)
	if first == last {
		b[first] &^= head & tail
		return
	}
	b[first] &^= head
	clear(b[first+1 : last])
	b[last] &^= tail
}

// countIn returns the number of slots of the set in [from, to).
func (b slotSet) countIn(from, to uint32) int {
	to = min(to, uint32(len(b)*64))
	if from >= to {
		return 0
	}
	first, last := from/64, (to-1)/64
	head := ^uint64(0) << (from % 64)
	tail := ^uint64(0) >> (63 - (to-1)%64)
	if first == last {
		return bits.OnesCount64(b[first] & head & tail)
	}
	return bits.OnesCount64(b[first]&head) + b[first+1:last].count() + bits.OnesCount64(b[last]&tail)
}

// skip passes over up to n slots of the set in [from, to). It returns the position after them, and how many of
// n are left.
func (b slotSet) skip(from, to uint32, n int) (at uint32, left int) {
	for from < to && n > 0 {
		next := min((from/64+1)*64, to)
		c := b.countIn(from, next)
		if c > n {
			b.each(from, next, func(slot uint32) bool {
				from = slot
				n--
				return n >= 0
			})
			return from, 0
		}
		n -= c
		from = next
	}
	return from, n
}
