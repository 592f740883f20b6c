package main

import (
	"encoding/json"
	"slices"
	"sync"
)

// event contains the fields of an event that scenarios compare with the stored ones.
type event struct {
	Title       string
	Description string
	Featured    bool
	Venue       string
	Organizers  []string
	Tags        []string // sorted
	Categories  []string // sorted
	Trashed     bool
}

func (e *event) equal(o *event) bool {
	if e == nil || o == nil {
		return e == o
	}
	return e.Title == o.Title && e.Description == o.Description && e.Featured == o.Featured && e.Venue == o.Venue &&
		slices.Equal(e.Organizers, o.Organizers) && slices.Equal(e.Tags, o.Tags) &&
		slices.Equal(e.Categories, o.Categories) && e.Trashed == o.Trashed
}

// entry lists the states in which an event may be, since a write without a reply has an unknown outcome.
type entry struct {
	ID int64 // 0 while no reply has contained it
	// May lists the possible states. Nil means that the event does not exist. A single state was acknowledged. Two mean
	// that the last write had no reply. Writers do not change the event again until its state is known.
	May []*event
}

func (e *entry) settled() bool { return len(e.May) == 1 }

// journal records all writes: which were acknowledged, and for which the outcome is unknown. It identifies events by
// their unique titles.
type journal struct {
	mu           sync.Mutex
	events       map[string]*entry
	images       map[int64]stateAt
	acknowledged int
	unknown      int
}

// stateAt is an image whose upload was acknowledged: its URL and its bytes.
type stateAt struct {
	URL  string
	Data []byte `json:"-"`
}

func newJournal() *journal {
	return &journal{events: make(map[string]*entry), images: make(map[int64]stateAt)}
}

// created records a create. known is false if the client got no reply. The event may then exist or not.
func (j *journal) created(e *event, id int64, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known {
		j.acknowledged++
		j.events[e.Title] = &entry{ID: id, May: []*event{e}}
		return
	}
	j.unknown++
	j.events[e.Title] = &entry{May: []*event{nil, e}}
}

// changed records an update or delete. known is false if the client got no reply. The event may then have the old or
// the new state.
func (j *journal) changed(e *event, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	was := j.events[e.Title]
	if known {
		j.acknowledged++
		was.May = []*event{e}
		return
	}
	j.unknown++
	was.May = append(was.May, e)
}

// pictured records an acknowledged upload of an image.
func (j *journal) pictured(id int64, p stateAt) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.acknowledged++
	j.images[id] = p
}

// lost counts a write with an unknown outcome that the audit does not examine.
func (j *journal) lost() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unknown++
}

// pick returns a copy of the first event with one of these titles that certainly exists outside the trash. It returns
// nil if there is none.
func (j *journal) pick(titles []string) (id int64, e *event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, title := range titles {
		if found := j.events[title]; found != nil && found.settled() && found.May[0] != nil && !found.May[0].Trashed {
			copied := *found.May[0]
			return found.ID, &copied
		}
	}
	return 0, nil
}

func (j *journal) counts() (acknowledged, unknown int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.acknowledged, j.unknown
}

func (j *journal) dump() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	data, err := json.MarshalIndent(struct {
		Events map[string]*entry
		Images map[int64]stateAt
	}{j.events, j.images}, "", " ")
	if err != nil {
		return []byte(err.Error())
	}
	return data
}
