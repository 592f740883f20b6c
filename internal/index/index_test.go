package index

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/ent/organizer"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/ent/venue"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/search"
)

// model has the events that a state should contain, by id. Tests compare the results of the state with those of the
// model.
type model map[int64]*document

func randomDocument(r *rand.Rand, id int64) *document {
	d := &document{
		id: id, starts: r.Int64N(2000), status: uint8(r.IntN(len(calendar.Statuses))), published: r.Int64N(2000),
		hidden: r.IntN(5) == 0, values: []any{r.IntN(3) == 0, r.IntN(3) == 0, oneWord(r)}, locked: r.IntN(4) == 0,
		draft: r.IntN(2) == 0, author: r.Int64N(4),
		links: [...][]int64{someOf(r, 5), someOf(r, 5), someOf(r, 12)}, // venues, organizers and terms
	}
	d.ends = d.starts + r.Int64N(50)
	if r.IntN(20) == 0 {
		d.ends += 3000
	}
	words := []string{"jazz", "night", "lodz", "a", "jazznight", strings.Repeat("long", 30), "12"}
	if r.IntN(2) == 0 {
		d.series = 1 + r.Int64N(7)
	}
	for l := range 3 {
		var text []string
		for range r.IntN(4) {
			text = append(text, words[r.IntN(len(words))])
		}
		d.texts = append(d.texts, text2(1<<l, strings.Join(text, " ")))
	}
	if d.allDay = !d.locked && r.IntN(5) == 0; d.allDay {
		d.firstDay = r.Int32N(20)
		d.lastDay = d.firstDay + r.Int32N(3)
	}
	return d
}

// oneWord returns a random stored word. Most results are the same word.
func oneWord(r *rand.Rand) string {
	return []string{"scheduled", "scheduled", "scheduled", "canceled", ""}[r.IntN(5)]
}

func text2(languages uint8, words string) text { return text{languages: languages, text: words} }

func someOf(r *rand.Rand, n int64) []int64 {
	var ids []int64
	for range r.IntN(3) {
		if id := 1 + r.Int64N(n); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// modelVenues are the venues with a position, which an event may be linked to.
var modelVenues = []struct {
	id, author, published int64
	status                calendar.Status
}{{1, 1, 500, calendar.Publish}, {2, 2, 500, calendar.Private}, {3, 3, 1000, calendar.Future}}

// modelSeries are the series that are not published. The others are.
var modelSeries = map[int64]*record{
	2: {author: 1, status: uint8(slices.Index(calendar.Statuses, calendar.Private))},
	3: {author: 2, status: statusFuture, published: 1000},
	4: {status: statusTrash},
}

// seenSeries returns the id of the series of an event, or 0 if it has none that the query may see.
func (d *document) seenSeries(f *query.Events) int64 {
	r, seen := modelSeries[d.series], f.Series.Visible
	if r == nil {
		return d.series
	}
	status := calendar.Statuses[r.status]
	if r.status == statusFuture && r.published <= f.Now.Unix() {
		status = calendar.Publish
	}
	if slices.Contains(seen.Anyone, status) || r.author != 0 && r.author == seen.Author && slices.Contains(seen.Own, status) {
		return d.series
	}
	return 0
}

// someWords returns random words for a filter. One of the possible words is in no document.
func someWords(r *rand.Rand) []string {
	words := []string{"canceled", "", "scheduled", "postponed"}
	r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return words[:r.IntN(len(words)+1)]
}

// located reports whether an event has a venue with a position that counts for a filter. The venue must be at most
// the given number of kilometres from the test's centre.
func (d *document) located(f *query.Events, kilometres float64) bool {
	for _, v := range modelVenues {
		status := v.status
		if status == calendar.Future && v.published <= f.Now.Unix() {
			status = calendar.Publish
		}
		counts := v.status == calendar.Publish || slices.Contains(f.Places.Anyone, status) ||
			v.author == f.Places.Author && slices.Contains(f.Places.Own, status)
		if counts && slices.Contains(d.linked(calendar.Venue), v.id) && calendar.Distance(50, 20, 50, 19+float64(v.id)) <= kilometres {
			return true
		}
	}
	return false
}

// modelDeclared returns the filters of the model whose values are in the table of events. They are in the order of
// document.values.
func modelDeclared() (declared []*query.Column) {
	for _, name := range []string{"featured", "ticketed", "event_status"} {
		for i := range modelColumns {
			if modelColumns[i].Name == name {
				declared = append(declared, &modelColumns[i].Column)
			}
		}
	}
	return declared
}

// modelColumns are the columns of the model, and where a document has their values.
var modelColumns = []struct {
	query.Column
	ids  int64 // the number of records that links lead to
	flag func(*document) bool
	of   func(*document) []int64
	word func(*document) string
}{
	{
		Column: query.Word("event_status", event.FieldEventStatus, event.EventStatusIn, ""),
		ids:    1, word: func(d *document) string { return d.values[2].(string) },
	},
	{
		query.Flag("featured", event.FieldFeatured, event.Featured, ""),
		1, func(d *document) bool { return d.values[0] == true }, nil, nil,
	},
	{
		query.Flag("ticketed", event.FieldTicketed, event.Ticketed, ""),
		1, func(d *document) bool { return d.values[1] == true }, nil, nil,
	},
	{
		query.Terms("categories", event.TermsTable, event.HasTermsWith, term.IDIn, calendar.Category, ""),
		12, nil, func(d *document) []int64 { return d.linked(calendar.Category) }, nil,
	},
	{
		query.Terms("tags", event.TermsTable, event.HasTermsWith, term.IDIn, calendar.Tag, "").OpenToAll(),
		12, nil, func(d *document) []int64 { return d.linked(calendar.Category) }, nil,
	},
	{
		query.Link("venue", event.VenuesTable, event.HasVenuesWith, venue.IDIn, calendar.Venue, ""),
		5, nil, func(d *document) []int64 { return d.linked(calendar.Venue) }, nil,
	},
	{
		query.Link("organizer", event.OrganizersTable, event.HasOrganizersWith, organizer.IDIn, calendar.Organizer, ""),
		5, nil, func(d *document) []int64 { return d.linked(calendar.Organizer) }, nil,
	},
}

// build returns a random state, of loaded events and changes after that, and the model with the same events.
func build(r *rand.Rand) (*state, model) {
	m := model{}
	s := newState(modelDeclared())
	s.words = newVocabulary()
	venues := map[int64]*record{}
	for _, v := range modelVenues {
		status := uint8(slices.Index(calendar.Statuses, v.status))
		venues[v.id] = &record{id: v.id, author: v.author, published: v.published, status: status}
		longitude := 19 + float64(v.id)
		s.places.put(place{
			venue: v.id, cell: calendar.Cell(50, longitude), latitude: 50, longitude: longitude, complete: true, status: status,
		})
	}
	s.records[calendar.Venue].fill(venues)
	s.records[calendar.Series].unpublished = maps.Clone(modelSeries)
	var all []*document
	for id := range int64(r.IntN(300)) {
		d := randomDocument(r, id+1)
		m[d.id] = d
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *document) int {
		return cmp.Or(cmp.Compare(a.starts, b.starts), cmp.Compare(a.id, b.id))
	})
	for _, d := range all {
		s.append(d)
	}
	s.seal()
	s.locate()
	for range r.IntN(100) {
		id := 1 + r.Int64N(320)
		if r.IntN(4) == 0 {
			s.drop(id)
			delete(m, id)
			continue
		}
		m[id] = randomDocument(r, id)
		s.put(m[id])
	}
	return s, m
}

func randomFilter(r *rand.Rand) *query.Events {
	flag := func() *bool {
		switch r.IntN(6) {
		case 0:
			return new(true)
		case 1:
			return new(false)
		}
		return nil
	}
	at := func() *time.Time {
		if r.IntN(3) > 0 {
			return nil
		}
		return new(time.Unix(r.Int64N(2200), 0))
	}
	f := &query.Events{
		Now: time.Unix(r.Int64N(2000), 0), Visible: query.Visible{Anyone: calendar.Statuses[:r.IntN(7)]},
		Hidden: r.IntN(2) == 0, Protected: r.IntN(20) == 0, Window: query.Window{StartMin: at(), StartMax: at(), EndMin: at(), EndMax: at()},
		Located: flag(),
	}
	for i := range modelColumns {
		c := &modelColumns[i]
		if r.IntN(4) == 0 {
			f.Conditions = append(f.Conditions, query.Condition{Column: &c.Column, Flag: r.IntN(2) == 0, IDs: someOf(r, c.ids), Words: someWords(r)})
		}
	}
	if r.IntN(6) == 0 {
		from, to, day := r.Int64N(1000), r.Int64N(2000), calendar.WallAt(1970, 1, 1+r.IntN(20), 0, 0, 0)
		f.Periods = append(f.Periods, query.Period{
			First: day, Last: day.AddDate(0, 0, 1+r.IntN(3)).Add(-time.Second), From: time.Unix(from, 0), To: time.Unix(from+to, 0),
		})
	}
	if r.IntN(3) == 0 {
		f.Visible.Author, f.Visible.Own = 1+r.Int64N(3), calendar.Statuses[r.IntN(3):]
	}
	if r.IntN(4) == 0 {
		f.Near = &query.Circle{Latitude: 50, Longitude: 20, Kilometres: float64(1 + r.IntN(200))}
	}
	switch r.IntN(3) {
	case 0:
		f.Places.Anyone = []calendar.Status{calendar.Publish}
	case 1:
		f.Places.Anyone = calendar.Statuses[:1+r.IntN(6)]
	}
	if r.IntN(2) == 0 {
		f.Places.Author, f.Places.Own = 1+r.Int64N(3), calendar.Statuses[:5]
	}
	f.Series.Visible = f.Places
	f.Series.None, f.Series.First = r.IntN(6) == 0, r.IntN(3) == 0
	if r.IntN(6) == 0 {
		f.Series.IDs = someOf(r, 8)
	}
	f.OnlyReadable = r.IntN(4) == 0
	f.Readable = query.Readable{All: r.IntN(3) == 0, IDs: someOf(r, 50), Author: r.Int64N(4), DraftsOnly: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		q, ok := search.ParseEvents([]string{
			"jazz", "night -a", "zzn", `"jazz night"`, "12 lodz", strings.Repeat("long", 20), "az", "-jazz", "absent",
		}[r.IntN(9)])
		if !ok {
			panic("not a search")
		}
		f.Search, f.Language = &q, calendar.Languages[r.IntN(3)]
	}
	return f
}

// matches reports whether an event matches a filter. It is the expected result for the index.
func (d *document) matches(f *query.Events) bool {
	return d.isSeen(f) && (f.Hidden || !d.hidden) && (!f.Protected || d.locked) && d.isInside(f.Window) &&
		d.meetsAll(f) && d.isPlaced(f) && d.isFoundBySearch(f) && (!asksGuarded(f) || d.isReadable(f.Readable)) &&
		!slices.ContainsFunc(f.Periods, func(p query.Period) bool { return !d.during(p) }) &&
		(!f.Series.None || d.seenSeries(f) == 0) && (f.Series.IDs == nil || slices.Contains(f.Series.IDs, d.series))
}

// isSeen reports whether the caller may see the event by its status and author.
func (d *document) isSeen(f *query.Events) bool {
	status := calendar.Statuses[d.status]
	if status == calendar.Future && d.published <= f.Now.Unix() {
		status = calendar.Publish
	}
	return slices.Contains(f.Visible.Anyone, status) ||
		d.author != 0 && d.author == f.Visible.Author && slices.Contains(f.Visible.Own, status)
}

// isInside reports whether the event starts and ends in a window.
func (d *document) isInside(w query.Window) bool {
	start, end := time.Unix(d.starts, 0), time.Unix(d.ends, 0)
	return (w.StartMin == nil || !start.Before(*w.StartMin)) && (w.StartMax == nil || !start.After(*w.StartMax)) &&
		(w.EndMin == nil || !end.Before(*w.EndMin)) && (w.EndMax == nil || !end.After(*w.EndMax))
}

// isPlaced reports whether the event meets the conditions of the filter on the position of its venues.
func (d *document) isPlaced(f *query.Events) bool {
	if f.Located != nil && *f.Located != d.located(f, 1000) {
		return false
	}
	return f.Near == nil || f.Located != nil && !*f.Located || d.located(f, f.Near.Kilometres)
}

// isFoundBySearch reports whether a text of the event matches the search.
func (d *document) isFoundBySearch(f *query.Events) bool {
	return f.Search == nil || slices.ContainsFunc(d.texts, func(t text) bool {
		return int(t.languages)&f.Language.Bit() != 0 && f.Search.Match(t.text)
	})
}

// meetsAll reports whether the event meets all conditions.
func (d *document) meetsAll(f *query.Events) bool {
	return !slices.ContainsFunc(f.Conditions, func(c query.Condition) bool { return !d.meets(c) })
}

// asksGuarded reports whether a filter uses data that the password of an event protects. That is true for all
// conditions except tags.
func asksGuarded(f *query.Events) bool {
	return f.OnlyReadable || f.Search != nil || f.Located != nil || f.Near != nil ||
		slices.ContainsFunc(f.Conditions, func(c query.Condition) bool { return c.Column.Name != "tags" })
}

// isReadable reports whether the event has no password, or the caller may read it nevertheless.
func (d *document) isReadable(r query.Readable) bool {
	return !d.locked || r.All || slices.Contains(r.IDs, d.id) ||
		d.author != 0 && d.author == r.Author && (!r.DraftsOnly || d.draft)
}

// during reports whether a document is in a period.
func (d *document) during(p query.Period) bool {
	if d.allDay {
		day := func(at calendar.Wall) int32 { _, _, day := at.Date(); return int32(day) - 1 } // of January 1970
		return d.firstDay <= day(p.Last) && d.lastDay >= day(p.First)
	}
	start, end := time.Unix(d.starts, 0), time.Unix(d.ends, 0)
	return !start.After(p.To) && (end.After(p.From) || !start.Before(p.From))
}

// meets reports whether a document meets a condition.
func (d *document) meets(c query.Condition) bool {
	for _, m := range modelColumns {
		switch {
		case m.Name != c.Column.Name:
		case m.flag != nil:
			return m.flag(d) == c.Flag
		case m.word != nil:
			return slices.Contains(c.Words, m.word(d))
		default:
			return slices.ContainsFunc(m.of(d), func(id int64) bool { return slices.Contains(c.IDs, id) })
		}
	}
	panic(c.Column.Name)
}

// span returns the expected span of the event on a page.
func (d *document) span() query.Span {
	s := query.Span{Starts: d.starts, Ends: d.ends, AllDay: d.allDay}
	if d.allDay {
		s.FirstDay, s.LastDay = d.firstDay, d.lastDay
	}
	return s
}

func (m model) find(f *query.Events) []int64 {
	var found []*document
	for _, d := range m {
		if d.matches(f) {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b *document) int {
		return cmp.Or(cmp.Compare(a.starts, b.starts), cmp.Compare(a.id, b.id))
	})
	var ids []int64
	had := map[int64]bool{}
	for _, d := range found {
		if series := d.seenSeries(f); !f.Series.First || series == 0 || !had[series] {
			had[series] = true
			ids = append(ids, d.id)
		}
	}
	return ids
}

func TestFindIsWhatEachEventSays(t *testing.T) {
	t.Parallel()
	some, seeds := 0, uint64(150)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		s, m := build(r)
		pool := &scratchSets{}
		for range 60 {
			f := randomFilter(r)
			found, left := s.find(f, pool)
			// The texts are compared before.
			f.Series.First = f.Series.First && len(left.Terms) == 0
			if f.Series.First {
				s.firstOfSeries(found, f, pool)
			}
			want := m.find(f)
			ids := s.page(found, 0, -1, false).IDs
			total := found.count()
			if len(left.Terms) > 0 { // the texts decide
				ids = slices.DeleteFunc(ids, func(id int64) bool {
					return !slices.ContainsFunc(m[id].texts, func(t text) bool {
						return int(t.languages)&f.Language.Bit() != 0 && left.Match(t.text)
					})
				})
				total = len(ids)
			}
			if diff := gocmp.Diff(want, ids, cmpopts.EquateEmpty()); diff != "" || total != len(want) {
				t.Fatalf("seed %d, %+v: total %d of %d (-want +got):\n%s", seed, f, total, len(want), diff)
			}
			if len(left.Terms) == 0 {
				offset, limit := r.IntN(len(want)+3), r.IntN(12)
				byEnd := slices.SortedFunc(slices.Values(want), func(a, b int64) int {
					return cmp.Or(cmp.Compare(m[b].ends, m[a].ends), cmp.Compare(b, a))
				})
				from := min(offset, len(want))
				for _, one := range []struct {
					want []int64
					page query.Page
				}{{want, s.page(found, offset, limit, true)}, {byEnd, s.pageByEnd(found, offset, limit, true)}} {
					ids := one.want[from:min(from+limit, len(want))]
					var spans []query.Span
					for _, id := range ids {
						spans = append(spans, m[id].span())
					}
					got := query.Page{IDs: one.page.IDs, Spans: one.page.Spans}
					if diff := gocmp.Diff(query.Page{IDs: ids, Spans: spans}, got, cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("seed %d, %d from %d on (-want +got):\n%s", seed, limit, offset, diff)
					}
				}
			}
			some += min(len(want), 1)
			pool.give(found)
		}
	}
	if some < int(seeds)*13 {
		t.Errorf("only %d of the filters select anything", some)
	}
}

func TestPostingHoldsWhatWasAdded(t *testing.T) {
	t.Parallel()
	for _, step := range []uint32{1, 2, 7, 9, 130, 70_000} {
		t.Run(fmt.Sprint("every ", step), func(t *testing.T) {
			t.Parallel()
			var p posting
			var want []uint32
			for i := range uint32(20_000) {
				slot := i*step + i%3*(step/3)
				want = append(want, slot)
				p.add(slot)
				p.add(slot)
			}
			if got := slices.Collect(p.all()); !slices.Equal(got, want) || p.n != uint32(len(want)) {
				t.Errorf("%d slots of %d", len(got), len(want))
			}
			b := make(slotSet, p.last/64+1)
			p.into(b)
			if b.count() != len(want) || !b.has(want[777]) || b.has(p.last+1) {
				t.Errorf("the set has %d slots of %d", b.count(), len(want))
			}
		})
	}
}

// TestVocabularyIsTheSamePacked adds words to a vocabulary, packs it and adds more. Searches must find the words
// before and after it is packed.
func TestVocabularyIsTheSamePacked(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	const slots, all = 12_000, 7
	for _, packedAt := range []uint32{0, 1, 8_000, slots} {
		v := newVocabulary()
		want := map[string][all + 1]map[uint32]bool{}
		for slot := range uint32(slots) {
			if slot == packedAt {
				v.pack()
			}
			languages := uint8(1 + r.IntN(all))
			// These have one word each, one in half of the texts, and some in between.
			for _, word := range []string{"everywhere", fmt.Sprint("w", slot), fmt.Sprint("w", r.IntN(1+r.IntN(slots)))} {
				v.add(slot, languages, word)
				of := want[word]
				if of[languages] == nil {
					of[languages] = map[uint32]bool{}
				}
				of[languages][slot] = true
				want[word] = of
			}
		}
		if packedAt == slots {
			v.pack()
		}
		for word, of := range want {
			for language := uint8(1); language <= all; language <<= 1 {
				plain := make(slotSet, slots/64+1)
				for languages, some := range of {
					for slot := range some {
						if uint8(languages)&language != 0 {
							plain.add(slot)
						}
					}
				}
				got := make(slotSet, slots/64+1)
				v.into(got, search.Piece{Text: word, Start: true, End: true}, language)
				if !slices.Equal(got, plain) {
					t.Fatalf("packed at %d: %q in %b: %d slots instead of %d", packedAt, word, language, got.count(), plain.count())
				}
			}
		}
	}
}

func TestSetRanges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := uint32(1 + r.IntN(300))
		b, plain := slotSet{}, map[uint32]bool{}
		for range r.IntN(200) {
			slot := r.Uint32N(n)
			b.add(slot)
			plain[slot] = true
		}
		from, to := r.Uint32N(n+1), r.Uint32N(n+70)
		want := 0
		for slot := range plain {
			if slot >= from && slot < to {
				want++
			}
		}
		if got := b.countIn(from, to); got != want {
			t.Fatalf("%d slots in [%d, %d), want %d", got, from, to, want)
		}
		skipped := r.IntN(20)
		at, left := b.skip(from, to, skipped)
		if from < to && b.countIn(from, at) != skipped-left {
			t.Fatalf("skipping %d from %d to %d stops at %d with %d left", skipped, from, to, at, left)
		}
		b.between(from, to, n)
		if got := b.countIn(0, n); got != min(want, got) || got != b.countIn(from, min(to, n)) {
			t.Fatalf("%d slots are left of [%d, %d)", got, from, to)
		}
	}
}

// randomLinkedFilter returns a random query for venues, with conditions on their events.
func randomLinkedFilter(r *rand.Rand) *query.Linked {
	f := &query.Linked{
		Now: time.Unix(r.Int64N(2200), 0), Upcoming: r.IntN(2) == 0,
		Events: query.Visible{Anyone: []calendar.Status{calendar.Publish}},
	}
	switch r.IntN(4) {
	case 0:
		f.Events.Anyone, f.Readable.All = calendar.Statuses[:5], true
	case 1:
		f.Events.Author, f.Events.Own = 1+r.Int64N(3), calendar.Statuses[:5]
		f.Readable = query.Readable{Author: f.Events.Author, DraftsOnly: r.IntN(2) == 0}
	}
	if r.IntN(2) == 0 {
		f.HasEvents = new(r.IntN(2) == 0)
	}
	return f
}

// meetsLinked reports whether a venue has events that meet the conditions of a query for venues.
func (m model) meetsLinked(venue int64, f *query.Linked) bool {
	events := &query.Events{Now: f.Now, Visible: f.Events, Hidden: true, Readable: f.Readable, OnlyReadable: true}
	has, coming := false, false
	for _, d := range m {
		if slices.Contains(d.linked(calendar.Venue), venue) && d.matches(events) {
			has, coming = true, coming || d.starts >= f.Now.Unix()
		}
	}
	return (f.HasEvents == nil || *f.HasEvents == has) && (!f.Upcoming || coming)
}

func TestWithEventsIsKeptAsLongAsItIsTrue(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		s, m := build(r)
		x := &Index{}
		all := map[int64]*record{}
		for id := range int64(6) {
			all[id] = &record{id: id, status: statusPublished, published: id}
		}
		s.records[calendar.Venue].fill(all)
		for range 80 {
			if r.IntN(10) == 0 {
				d := randomDocument(r, 1+r.Int64N(320))
				m[d.id] = d
				s.put(d)
				s.revision++
			}
			f := randomLinkedFilter(r)
			var want, got []int64
			for _, rec := range s.records[calendar.Venue].orders[0].records {
				if m.meetsLinked(rec.id, f) {
					want = append(want, rec.id)
				}
			}
			for _, rec := range x.withEvents(s, calendar.Venue, f) {
				got = append(got, rec.id)
			}
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, %+v (-want +got):\n%s", seed, f, diff)
			}
		}
	}
}
