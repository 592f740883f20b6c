package bulk

import "github.com/almanac-cal/almanac/calendar"

// slugMemo remembers, for slug bases such as "lesson", the next number that could be free. Without it, a thousand
// lessons of one name would need a thousand look-ups. If another writer took a slug meanwhile, the unique index
// refuses the insert. Then the Loader forgets all numbers. Entries that were not used for long are dropped.
type slugMemo struct{ recent, older map[string]int }

// memoSize is the number of entries in slugMemo.recent after which they become older, and the former older ones are
// dropped.
const memoSize = 1 << 16

func memoKey(kind calendar.Kind, base string) string { return string(kind) + " " + base }

// next returns the first number of a slug base that may be free. It returns false if the memo has no number for
// the base.
func (m *slugMemo) next(kind calendar.Kind, base string) (int, bool) {
	key := memoKey(kind, base)
	n, ok := m.recent[key]
	if !ok {
		n, ok = m.older[key]
	}
	return n, ok
}

// learn remembers the next number of each base. It is called after the transaction that took the slugs is
// committed.
func (m *slugMemo) learn(kind calendar.Kind, next map[string]int) {
	if m.recent == nil || len(m.recent) > memoSize {
		m.older, m.recent = m.recent, make(map[string]int)
	}
	for base, n := range next {
		m.recent[memoKey(kind, base)] = n
	}
}

func (m *slugMemo) forget() { *m = slugMemo{} }
