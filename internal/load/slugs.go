package load

import "github.com/almanac-cal/almanac/calendar"

// slugMemo remembers up to which number slugs are taken, so that a calendar with a thousand lessons of one name
// does not look for the next number a thousand times. The unique index refuses a slug that another writer took.
// Entries that were not needed for long are dropped.
type slugMemo struct{ recent, older map[string]int }

// memoSize bounds each half of a memo.
const memoSize = 1 << 16

func memoKey(kind calendar.Kind, base string) string { return string(kind) + " " + base }

// next returns the first number of a base that may be free, if it is known.
func (m *slugMemo) next(kind calendar.Kind, base string) (int, bool) {
	key := memoKey(kind, base)
	n, ok := m.recent[key]
	if !ok {
		n, ok = m.older[key]
	}
	return n, ok
}

// learn stores the next numbers after a transaction was committed.
func (m *slugMemo) learn(kind calendar.Kind, next map[string]int) {
	if m.recent == nil || len(m.recent) > memoSize {
		m.older, m.recent = m.recent, make(map[string]int)
	}
	for base, n := range next {
		m.recent[memoKey(kind, base)] = n
	}
}

func (m *slugMemo) forget() { *m = slugMemo{} }
