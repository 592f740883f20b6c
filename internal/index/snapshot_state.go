package index

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"github.com/almanac-cal/almanac/calendar"
)

// code writes a state to a snapshot or reads it from one. It leaves out what can be computed from the rest, and the revision
// and the history, which are in the header. A state that was read without an error causes no panic, whatever the data was.
//
// Whoever changes what code writes increases snapshotFormat.
func (s *state) code(c *codec, kinds []calendar.Kind) {
	s.codeColumns(c)
	if c.err != nil {
		return
	}
	size := s.size()
	for i := range s.statuses {
		c.slots(&s.statuses[i], size)
	}
	for _, set := range []*slotSet{&s.hidden, &s.locked, &s.drafts} {
		c.slots(set, size)
	}
	for _, column := range s.columns {
		column.code(c, size)
	}
	slot := func(v *uint32) {
		c.uint32(v)
		c.require(*v < size)
	}
	codeMap(c, s.scheduled, 2, func(key *uint32, at *int64) {
		slot(key)
		c.int64(at)
	})
	codeMap(c, s.allDays, 3, func(key *uint32, days *dayRange) {
		slot(key)
		codeDay(c, &days.first)
		codeDay(c, &days.last)
	})
	for _, ps := range []postings[int64]{s.authors, s.images} {
		codePostings(c, ps, size, c.int64)
	}
	s.codeSeries(c)
	s.termsOf.code(c, size)
	s.changed.code(c, size)
	s.places.code(c)
	for _, kind := range kinds {
		s.records[kind].code(c, kind)
	}
	if s.words == nil {
		s.words = newVocabulary()
	}
	s.words.code(c, size)
	if c.reading && c.err == nil {
		s.derive()
	}
}

// recordKinds returns the keys of state.records.
func recordKinds() []calendar.Kind { return append(slices.Clone(calendar.NamedKinds), calendar.Series) }

// codeColumns writes or reads the values of every slot, and the orders of slots.
func (s *state) codeColumns(c *codec) {
	c.uint32(&s.base)
	codeNumbers(c, &s.ids)
	for _, column := range []*[]int64{&s.starts, &s.ends, &s.published, &s.modified} {
		codeNumbers(c, column)
		c.require(len(*column) == len(s.ids))
	}
	codeNumbers(c, &s.byID)
	codeNumbers(c, &s.tail)
	unused := uint64(s.unused)
	c.uint64(&unused)
	if !c.require(s.base <= s.size() && len(s.byID) == int(s.base) && len(s.tail) == len(s.ids)-int(s.base) &&
		unused <= uint64(s.base)) || !c.reading {
		return
	}
	s.unused = int(unused)
	for i := 1; i < int(s.base); i++ {
		if !c.require(s.compare(uint32(i-1), uint32(i)) < 0) {
			return
		}
	}
	for i, slot := range s.byID {
		if !c.require(slot < s.base && (i == 0 || s.ids[s.byID[i-1]] < s.ids[slot])) {
			return
		}
	}
	seen := make(slotSet, (s.size()+63)/64)
	for i, slot := range s.tail {
		if !c.require(slot >= s.base && slot < s.size() && !seen.has(slot)) ||
			!c.require(i == 0 || s.compare(s.tail[i-1], slot) <= 0) {
			return
		}
		seen.add(slot)
	}
}

// derive computes the parts of a state that a snapshot leaves out.
func (s *state) derive() {
	s.boundEnds()
	for i, id := range s.ids[s.base:] {
		slot := s.base + uint32(i)
		if slices.ContainsFunc(s.statuses, func(b slotSet) bool { return b.has(slot) }) {
			s.moved[id] = slot
		}
	}
	s.nextDue = maxTime
	for _, at := range s.scheduled {
		s.nextDue = min(s.nextDue, at)
	}
	s.locate()
}

// codeSeries writes or reads which event is an occurrence of which series.
func (s *state) codeSeries(c *codec) {
	ids := make([]int64, len(s.seriesNumbers))
	for id, number := range s.seriesNumbers {
		ids[number-1] = id
	}
	codeNumbers(c, &ids)
	codeNumbers(c, &s.seriesOf)
	if !c.require(len(s.seriesOf) <= len(s.ids)) || !c.reading {
		return
	}
	for i, id := range ids {
		s.seriesNumbers[id] = uint32(i) + 1
	}
	if !c.require(len(s.seriesNumbers) == len(ids)) {
		return
	}
	for i, number := range s.seriesOf {
		if number == 0 {
			continue
		}
		if !c.require(int(number) <= len(ids)) {
			return
		}
		slot := uint32(i)
		s.series.add(ids[number-1], slot)
		s.occurrences.add(slot)
	}
}

func codeDay(c *codec, day *int32) {
	long := int64(*day)
	c.int64(&long)
	*day = int32(long)
}

// codePostings writes or reads the slots of each value of a property. A value and its slots take at least two bytes.
func codePostings[V cmp.Ordered](c *codec, ps postings[V], size uint32, value func(*V)) {
	n := c.length(len(ps), 2)
	if !c.reading {
		for _, key := range slices.Sorted(maps.Keys(ps)) {
			p := ps[key]
			value(&key)
			p.code(c, size)
		}
		return
	}
	all := make([]posting, n)
	for i := range all {
		var key V
		value(&key)
		all[i].code(c, size)
		if c.err != nil {
			return
		}
		ps[key] = &all[i]
	}
}

// code writes the slots of a posting to a snapshot or reads them. All are below size.
func (p *posting) code(c *codec, size uint32) {
	isDense := p.dense != nil
	c.bool(&isDense)
	if isDense {
		if c.reading {
			p.dense = new(slotSet)
		}
		c.slots(p.dense, size)
		if words := len(*p.dense); c.reading && c.require(words > 0 && (*p.dense)[words-1] != 0) {
			p.n = uint32(p.dense.count())
			p.last = uint32(64*words - 1 - bits.LeadingZeros64((*p.dense)[words-1]))
		}
		return
	}
	c.ownBytes((*[]byte)(&p.distances))
	if c.reading {
		p.n, p.last = p.distances.check(c, size)
	}
}

// check returns the number of slots in a list and the last slot. It fails if the list is not one of rising slots below size.
func (d distances) check(c *codec, size uint32) (n, last uint32) {
	slot := uint64(0)
	for at := 0; at < len(d); n++ {
		distance := uint64(d[at])
		if distance < 0x80 {
			at++
		} else {
			var length int
			if distance, length = binary.Uvarint(d[at:]); !c.require(length > 0 && distance <= uint64(size)) {
				return 0, 0
			}
			at += length
		}
		slot += distance
		if slot >= uint64(size) || distance == 0 && n > 0 {
			c.require(false)
			return 0, 0
		}
	}
	return n, uint32(slot)
}

func (l *slotLists) code(c *codec, size uint32) {
	codeNumbers(c, &l.ends)
	codeNumbers(c, &l.values)
	c.require(len(l.ends) == int(size) && slices.IsSorted(l.ends) && (size == 0 || int(l.ends[size-1]) == len(l.values)))
}

func (r *changeRevisions) code(c *codec, size uint32) {
	c.int64(&r.before)
	c.int64(&r.counts)
	codeNumbers(c, &r.slots)
	c.require(len(r.slots) == int(size))
	codeMap(c, r.kinds, 2, func(kind *calendar.Kind, at *int64) {
		c.string((*string)(kind))
		c.int64(at)
	})
	codeMap(c, r.series, 2, func(id, at *int64) {
		c.int64(id)
		c.int64(at)
	})
}

func (p *places) code(c *codec) {
	if c.reading {
		p.all = map[int64]place{}
	}
	codeMap(c, p.all, 20, func(id *int64, at *place) {
		c.int64(id)
		at.venue = *id
		c.int64(&at.cell)
		c.float64(&at.latitude)
		c.float64(&at.longitude)
		c.bool(&at.complete)
		codeStatus(c, &at.status)
	})
}

func codeStatus(c *codec, status *uint8) {
	c.uint8(status)
	c.require(int(*status) < len(calendar.Statuses))
}

// code writes the records of a kind to a snapshot or reads them. It splits their texts into words again, because
// records are few.
func (rs *records) code(c *codec, kind calendar.Kind) {
	all := rs.byID
	if c.reading {
		all = map[int64]*record{}
	}
	codeMap(c, all, 8, func(id *int64, r **record) {
		if c.reading {
			*r = &record{}
		}
		(*r).code(c, kind)
		*id = (*r).id
	})
	if c.reading && c.err == nil {
		rs.fill(all)
	}
}

func (r *record) code(c *codec, kind calendar.Kind) {
	for _, v := range []*int64{&r.id, &r.author, &r.published, &r.modified, &r.image, &r.changed} {
		c.int64(v)
	}
	codeStatus(c, &r.status)
	codeList(c, &r.texts, 2, func(t *text) {
		c.uint8(&t.languages)
		c.string(&t.text)
	})
	if kind != calendar.Series {
		return
	}
	if c.reading {
		r.series = &seriesData{}
	}
	for _, v := range []*bool{&r.series.hidden, &r.series.protected, &r.series.draft} {
		c.bool(v)
	}
	codeList(c, &r.series.titles, 1, c.string)
	c.require(len(r.series.titles) == len(titleColumns))
}

func (v *vocabulary) code(c *codec, size uint32) {
	c.ownBytes(&v.text)
	codeNumbers(c, &v.start)
	c.ownBytes(&v.packed.all)
	codeNumbers(c, &v.packed.from)
	slots := func(s *servedSlots) {
		c.uint8(&s.languages)
		s.code(c, size)
	}
	codeList(c, &v.slots, 3, slots)
	codeMap(c, v.further, 2, func(id *uint32, all *[]servedSlots) {
		c.uint32(id)
		c.require(int(*id) < len(v.start))
		codeList(c, all, 3, slots)
	})
	if !c.reading || c.err != nil {
		return
	}
	if v.check(c, size); c.err != nil {
		return
	}
	if len(v.packed.from) == 0 {
		v.packed = packedSlots{}
	}
	v.rehash(0)
}

// check ends reading with errDamaged if the words or their slots are not in the form that add and pack produce.
func (v *vocabulary) check(c *codec, size uint32) {
	end := len(v.text)
	if !c.require(end > 0 && v.text[0] == '\n' && v.text[end-1] == '\n') {
		return
	}
	for i, at := range v.start {
		if !c.require(int(at) < end && v.text[at-min(at, 1)] == '\n' &&
			(i == 0 && at == 1 || i > 0 && v.start[i-1] < at)) {
			return
		}
	}
	from := v.packed.from
	if len(from) == 0 {
		c.require(len(v.packed.all) == 0 && len(v.slots) == len(v.start))
		return
	}
	if !c.require(len(v.slots) == 0 && len(from) <= len(v.start)+1 && from[0] == 0 && slices.IsSorted(from) &&
		int(from[len(from)-1]) == len(v.packed.all)) {
		return
	}
	for i := range from[1:] {
		words := &codec{reading: true, data: v.packed.all[from[i]:from[i+1]]}
		for len(words.data) > 0 {
			var languages uint8
			var slots []byte
			words.uint8(&languages)
			words.bytes(&slots)
			distances(slots).check(words, size)
		}
		if !c.require(words.err == nil) {
			return
		}
	}
}

func (c *comparisons) code(to *codec, size uint32) {
	if to.reading {
		c.of = map[phrase]*comparison{}
	}
	keys := make([]phrase, 0, len(c.of))
	for key := range c.of {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b phrase) int {
		return cmp.Or(cmp.Compare(a.language, b.language), cmp.Compare(a.text, b.text))
	})
	to.uint64(&c.uses)
	codeList(to, &keys, 5, func(key *phrase) {
		to.string((*string)(&key.language))
		to.string(&key.text)
		if to.reading {
			c.of[*key] = &comparison{}
		}
		with := c.of[*key]
		to.uint64(&with.used)
		to.slots(&with.known, size)
		to.slots(&with.found, size)
	})
	to.require(len(keys) <= maxCompared)
}

// clone returns a copy that later comparisons do not change.
func (c *comparisons) clone() comparisons {
	out := comparisons{of: make(map[phrase]*comparison, len(c.of)), uses: c.uses}
	for key, with := range c.of {
		out.of[key] = &comparison{known: slices.Clone(with.known), found: slices.Clone(with.found), used: with.used}
	}
	return out
}
