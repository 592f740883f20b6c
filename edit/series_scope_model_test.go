package edit_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/calendar/recur"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent/event"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// The model of scopes keeps phases as lists of starts, and knows occurrences as they were before a write. It follows the
// contract, section 19.5, step by step, and shares no code with what it is compared with.
type (
	scopePhase struct {
		start time.Time // clock time, as if in UTC
		unit  string    // DAILY, WEEKLY, MONTHLY, or empty for one start
		every int
		count int
		rdate []time.Time
		out   map[time.Time]bool // exdate
		title string
	}
	scopeEvent struct {
		Nominal, Start time.Time
		Title          string
		Own            string // title, start_date, end_date
		Trashed, Off   bool
	}
	scopeModel struct {
		now    time.Time // clock time
		phases []scopePhase
		events map[int64]scopeEvent
		gone   bool // the series is in the trash
	}
)

// rule returns the starts of the rule.
func (p *scopePhase) rule() (list []time.Time) {
	for i := 0; len(list) < p.count; i++ {
		switch p.unit {
		case "DAILY":
			list = append(list, p.start.AddDate(0, 0, i*p.every))
		case "WEEKLY":
			list = append(list, p.start.AddDate(0, 0, 7*i*p.every))
		case "MONTHLY":
			if at := p.start.AddDate(0, i*p.every, 0); at.Day() == p.start.Day() { // the month has the day
				list = append(list, at)
			}
		default:
			return []time.Time{p.start}
		}
	}
	return list
}

// starts returns all nominal starts in their order.
func (p *scopePhase) starts() []time.Time {
	all := append(p.rule(), p.rdate...)
	slices.SortFunc(all, time.Time.Compare)
	return slices.Compact(all)
}

// live returns the nominal starts with an occurrence.
func (p *scopePhase) live() []time.Time {
	return slices.DeleteFunc(p.starts(), func(at time.Time) bool { return p.out[at] })
}

// part returns the phase with those starts that are in it, false if there are none.
func (p scopePhase) part(in func(time.Time) bool) (scopePhase, bool) {
	rule := slices.DeleteFunc(p.rule(), func(at time.Time) bool { return !in(at) })
	q := scopePhase{unit: p.unit, every: p.every, count: len(rule), out: map[time.Time]bool{}, title: p.title}
	for _, at := range p.rdate {
		if in(at) {
			q.rdate = append(q.rdate, at)
		}
	}
	for at := range p.out {
		if in(at) {
			q.out[at] = true
		}
	}
	switch {
	case len(rule) > 0:
		q.start = rule[0]
	case len(q.rdate) > 0:
		q.start, q.rdate, q.unit, q.count = q.rdate[0], q.rdate[1:], "", 1
	default:
		return q, false
	}
	return q, true
}

func isBefore(cut time.Time) func(time.Time) bool {
	return func(at time.Time) bool { return at.Before(cut) }
}

func isFrom(cut time.Time) func(time.Time) bool {
	return func(at time.Time) bool { return !at.Before(cut) }
}

// phaseOf returns the place of the phase of a nominal start.
func phaseOf(phases []scopePhase, at time.Time) int {
	i := len(phases) - 1
	for i > 0 && at.Before(phases[i].starts()[0]) {
		i--
	}
	return i
}

// splitPhases returns the phases of which one begins at cut, and its place.
func splitPhases(phases []scopePhase, cut time.Time) ([]scopePhase, int) {
	k := phaseOf(phases, cut)
	a, hasA := phases[k].part(isBefore(cut))
	b, hasB := phases[k].part(isFrom(cut))
	switch {
	case !hasA:
		return phases, k
	case !hasB:
		return phases, k + 1
	}
	return slices.Concat(phases[:k], []scopePhase{a, b}, phases[k+1:]), k + 1
}

// period returns what has to be equal for the last step of a match.
func (p *scopePhase) period(at time.Time) string {
	switch p.unit {
	case "WEEKLY":
		return at.AddDate(0, 0, -(int(at.Weekday())+6)%7).Format("2006-01-02")
	case "MONTHLY":
		return at.Format("2006-01")
	}
	return at.Format("2006-01-02")
}

var errRefused = errors.New("refused")

// scopeWrite is a write with a scope, or one to an occurrence alone.
type scopeWrite struct {
	kind    string // title, move, rule, exdate, rdate, delete, restore
	scope   edit.Scope
	id      int64 // 0: the series
	title   string
	move    time.Duration
	rule    scopePhase // unit, every, count
	dates   []time.Time
	dropOwn bool
}

func (o scopeWrite) String() string {
	return fmt.Sprintf("%s of %s at %d (%s, %s, %s %d×%d, %v, drop %v)", o.kind, o.scope, o.id, o.title, o.move, o.rule.unit, o.rule.count,
		o.rule.every, o.dates, o.dropOwn)
}

func removeNames(own string, names ...string) string {
	list := slices.DeleteFunc(strings.Fields(own), func(name string) bool { return slices.Contains(names, name) })
	return strings.Join(list, " ")
}

func addNames(own string, names ...string) string {
	list := append(strings.Fields(removeNames(own, names...)), names...)
	order := []string{"title", "start_date", "end_date"}
	slices.SortFunc(list, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	return strings.Join(list, " ")
}

// apply returns the model after a write. New occurrences have negative ids.
func (m scopeModel) apply(o scopeWrite) (scopeModel, error) {
	was := m
	m.phases, m.events = slices.Clone(m.phases), maps.Clone(m.events)
	for i := range m.phases {
		m.phases[i].out = maps.Clone(m.phases[i].out)
		m.phases[i].rdate = slices.Clone(m.phases[i].rdate)
	}
	if o.scope == edit.ThisOccurrence {
		return m.applyThis(o)
	}
	ids := slices.Sorted(maps.Keys(m.events))
	slices.SortFunc(ids, func(a, b int64) int { return m.events[a].Nominal.Compare(m.events[b].Nominal) })
	at, addressed := m.events[o.id]
	begun := func(e scopeEvent) bool { return !e.Start.After(m.now) }
	stays := func(e scopeEvent) bool { return !e.Trashed && (begun(e) || !e.Nominal.After(m.now)) }
	first := 0
	phases := m.phases
	if o.scope == edit.FollowingOccurrences {
		phases, first = splitPhases(phases, at.Nominal)
	}
	reach := func(id int64) bool {
		return id == o.id || o.scope != edit.FollowingOccurrences || !m.events[id].Nominal.Before(at.Nominal)
	}
	switch o.kind {
	case "delete":
		if addressed && at.Trashed || m.gone && o.id == 0 {
			return m, errRefused
		}
		if !slices.ContainsFunc(phases[:first], func(p scopePhase) bool { return len(p.live()) > 0 }) {
			first = 0
		}
		for _, id := range ids {
			if e := m.events[id]; first == 0 || phaseOf(phases, e.Nominal) >= first {
				e.Off = e.Off || first > 0
				e.Trashed = true
				m.events[id] = e
			}
		}
		if m.gone = first == 0; first > 0 {
			m.phases = phases[:first]
		}
		return m, nil
	case "restore": // of the series
		for _, id := range ids {
			e := m.events[id]
			if e.Trashed && !e.Off && !m.phases[phaseOf(m.phases, e.Nominal)].out[e.Nominal] {
				e.Trashed = false
				m.events[id] = e
			}
		}
		m.gone = false
		return m, nil
	}
	sentTitle := o.kind == "title" && o.title != at.Title
	if o.kind == "title" && o.id == 0 {
		sentTitle = o.title != m.phases[len(m.phases)-1].title
	}
	if sentTitle {
		for i := first; i < len(phases); i++ {
			if phases[i].title != o.title {
				m.phases = phases
			}
		}
		for i := range m.phases {
			if len(m.phases) == len(phases) && i >= first {
				m.phases[i].title = o.title
			}
		}
	}
	moved := map[int64]bool{}     // lost its own dates
	lostTitle := map[int64]bool{} // lost its own title
	titled := map[int64]bool{}    // gets a title that is sent
	for _, id := range ids {
		if !reach(id) {
			continue
		}
		e := m.events[id]
		old := e.Own
		if o.dropOwn {
			e.Own = ""
			if stays(e) {
				e.Own = removeNames(old, "title")
			}
		}
		if id == o.id && sentTitle {
			e.Own = removeNames(e.Own, "title")
		}
		switch {
		case id != o.id || o.kind != "move":
		case !stays(e):
			e.Own = removeNames(e.Own, "start_date", "end_date")
		case !begun(e):
			e.Start, e.Own = e.Start.Add(o.move), addNames(e.Own, "start_date", "end_date")
		}
		titled[id] = true
		lostTitle[id] = strings.Contains(old, "title") && !strings.Contains(e.Own, "title")
		moved[id] = strings.Contains(old, "start_date") && !strings.Contains(e.Own, "start_date")
		m.events[id] = e
	}
	if slices.Contains([]string{"move", "rule", "exdate", "rdate"}, o.kind) {
		if m.gone {
			return m, errRefused
		}
		if err := m.reschedule(o, ids, at, moved); err != nil {
			return m, err
		}
	}
	for id, e := range m.events {
		p := &m.phases[phaseOf(m.phases, e.Nominal)]
		old, there := was.events[id]
		switch {
		case strings.Contains(e.Own, "title"):
		case sentTitle && titled[id]:
			e.Title = o.title
		case !there, lostTitle[id], old.Trashed && !e.Trashed,
			!e.Off && was.phases[phaseOf(was.phases, old.Nominal)].title != p.title:
			e.Title = p.title
		}
		if moved[id] && !strings.Contains(e.Own, "start_date") {
			e.Start = e.Nominal
		}
		m.events[id] = e
	}
	return m, nil
}

// applyThis writes to one occurrence.
func (m scopeModel) applyThis(o scopeWrite) (scopeModel, error) {
	e := m.events[o.id]
	p := &m.phases[phaseOf(m.phases, e.Nominal)]
	switch o.kind {
	case "title":
		if e.Title != o.title {
			e.Title, e.Own = o.title, addNames(e.Own, "title")
		}
	case "move":
		e.Start, e.Own = e.Start.Add(o.move), addNames(e.Own, "start_date", "end_date")
	case "delete":
		if e.Trashed {
			return m, errRefused
		}
		e.Trashed = true
		p.out[e.Nominal] = true
	case "restore":
		delete(p.out, e.Nominal)
		if e.Off {
			p.rdate = append(p.rdate, e.Nominal)
			slices.SortFunc(p.rdate, time.Time.Compare)
		}
		e.Trashed, e.Off = false, false
	}
	m.events[o.id] = e
	return m, nil
}

// lostStarts returns how many starts the rule of a phase had in the phases before it.
func lostStarts(phases []scopePhase, at int) (n int) {
	for i := at; i > 0 && phases[i-1].unit == phases[i].unit && phases[i-1].every == phases[i].every; i-- {
		n += len(phases[i-1].rule())
	}
	return n
}

// moved returns the phase later on the clock.
func (p scopePhase) moved(by time.Duration) scopePhase {
	p.start = p.start.Add(by)
	rdate, out := p.rdate, p.out
	p.rdate, p.out = nil, map[time.Time]bool{}
	for _, d := range rdate {
		p.rdate = append(p.rdate, d.Add(by))
	}
	for d := range out {
		p.out[d.Add(by)] = true
	}
	return p.clean()
}

// clean drops the exdates that are no starts.
func (p scopePhase) clean() scopePhase {
	starts := p.starts()
	p.out = maps.Clone(p.out)
	maps.DeleteFunc(p.out, func(d time.Time, _ bool) bool { return !slices.Contains(starts, d) })
	return p
}

// change returns phases after a write. Earlier are those before them. COUNT loses gone of them.
func (o scopeWrite) change(phases []scopePhase, addressed int, earlier []scopePhase, gone int) ([]scopePhase, error) {
	phases = slices.Clone(phases)
	switch o.kind {
	case "move":
		for i := range phases {
			phases[i] = phases[i].moved(o.move)
		}
	case "rule":
		p := &phases[0]
		p.unit, p.every, p.count = o.rule.unit, o.rule.every, o.rule.count
		if o.scope == edit.AllOccurrences {
			if p.count -= gone; p.count <= 0 {
				return nil, errRefused
			}
		}
		*p = p.clean()
	case "rdate":
		first := make([]time.Time, len(phases))
		for i := range phases {
			if first[i] = phases[i].starts()[0]; i == addressed {
				phases[i].rdate = nil
			}
		}
		for _, d := range o.dates {
			if slices.ContainsFunc(earlier, func(q scopePhase) bool { return slices.Contains(q.starts(), d) }) {
				continue
			}
			i := len(phases) - 1
			for i > 0 && d.Before(first[i]) {
				i--
			}
			phases[i].rdate = append(slices.Clone(phases[i].rdate), d)
			slices.SortFunc(phases[i].rdate, time.Time.Compare)
			phases[i].rdate = slices.Compact(phases[i].rdate)
		}
		for i := range phases {
			phases[i] = phases[i].clean()
		}
	case "exdate":
		if addressed >= 0 {
			phases[addressed].out = map[time.Time]bool{}
		}
		for _, d := range o.dates {
			found := slices.ContainsFunc(earlier, func(q scopePhase) bool { return q.out[d] })
			for i := range phases {
				if slices.Contains(phases[i].starts(), d) {
					phases[i].out = maps.Clone(phases[i].out)
					phases[i].out[d], found = true, true
				}
			}
			if !found {
				return nil, errRefused
			}
		}
	}
	return phases, nil
}

// extend returns a phase after all others, false if nothing changes.
func (m *scopeModel) extend(o scopeWrite) (scopePhase, bool, error) {
	k := len(m.phases) - 1
	list, err := o.change(m.phases[k:], 0, m.phases, lostStarts(m.phases, k))
	if err != nil {
		return scopePhase{}, false, err
	}
	p := list[0]
	isKnown := func(d time.Time) bool { return m.phases[k].out[d] }
	if o.kind == "rdate" && len(p.rdate) == 0 || o.kind == "exdate" && !slices.ContainsFunc(slices.Collect(maps.Keys(p.out)), func(d time.Time) bool { return !isKnown(d) }) {
		return p, false, nil
	}
	anew := o.kind == "rule" && o.scope == edit.FollowingOccurrences
	if anew {
		p.count = 500
	}
	i := slices.IndexFunc(p.live(), func(d time.Time) bool { return d.After(m.now) })
	if i < 0 {
		return p, false, errRefused
	}
	p, _ = p.part(isFrom(p.live()[i]))
	if anew {
		p.count = o.rule.count
		p = p.clean()
	}
	return p, true, nil
}

// reschedule changes the schedule of what has not begun.
func (m *scopeModel) reschedule(o scopeWrite, ids []int64, at scopeEvent, moved map[int64]bool) error {
	begun := func(e scopeEvent) bool { return !e.Start.After(m.now) }
	addressed := len(m.phases) - 1
	if o.id != 0 {
		if at.Off {
			return errRefused
		}
		addressed = phaseOf(m.phases, at.Nominal)
	}
	var cut time.Time
	if o.scope == edit.FollowingOccurrences && !begun(at) && at.Nominal.After(m.now) {
		cut = at.Nominal
	} else {
		for _, p := range m.phases {
			for _, d := range p.starts() {
				if cut.IsZero() && d.After(m.now) && (o.scope != edit.FollowingOccurrences || !d.Before(at.Nominal)) {
					cut = d
				}
			}
		}
	}
	old, k := m.phases, len(m.phases)
	var changed []scopePhase
	if cut.IsZero() {
		p, changes, err := m.extend(o)
		if err != nil || !changes {
			return err
		}
		changed = []scopePhase{p}
	} else {
		i := phaseOf(m.phases, cut)
		old, k = splitPhases(m.phases, cut)
		gone := lostStarts(old, k)
		if len(old) > len(m.phases) {
			gone = lostStarts(m.phases, i)
			for _, d := range m.phases[i].rule() {
				if d.Before(cut) {
					gone++
				}
			}
			if addressed >= i {
				addressed++
			}
		}
		last := len(old)
		if o.kind == "rule" {
			last, addressed = k+1, k
		}
		var err error
		if changed, err = o.change(old[k:last], max(addressed-k, -1), old[:k], gone); err != nil {
			return err
		}
		if fmt.Sprint(changed) == fmt.Sprint(old[k:]) {
			return nil
		}
	}
	for i := 0; i+1 < len(changed); i++ {
		p, ok := changed[i].part(isBefore(changed[i+1].starts()[0]))
		if !ok {
			changed = slices.Delete(changed, i, i+1)
			i--
			continue
		}
		changed[i] = p
	}
	if k > 0 && slices.ContainsFunc(old[k-1].live(), isFrom(changed[0].starts()[0])) {
		return errRefused
	}
	m0 := maps.Clone(m.events)
	// Matching, each step on what is left.
	type target struct {
		phase int
		at    time.Time
	}
	var starts, outs []target
	for i := range changed {
		for _, d := range changed[i].starts() {
			if changed[i].out[d] {
				outs = append(outs, target{i, d})
			} else {
				starts = append(starts, target{i, d})
			}
		}
	}
	if len(starts) == 0 {
		return errRefused
	}
	place := map[int64]time.Time{}
	taken := func(d time.Time) bool { return slices.Contains(slices.Collect(maps.Values(place)), d) }
	keep := func(id int64, d time.Time) {
		place[id] = d
		i := phaseOf(changed, d)
		if !slices.Contains(changed[i].starts(), d) {
			changed[i].rdate = append(slices.Clone(changed[i].rdate), d)
			slices.SortFunc(changed[i].rdate, time.Time.Compare)
		}
		delete(changed[i].out, d)
	}
	match := func(list []int64, to []target) (left []int64) {
		for _, same := range []func(a, b time.Time, p *scopePhase) bool{
			func(a, b time.Time, _ *scopePhase) bool { return a.Equal(b) },
			func(a, b time.Time, _ *scopePhase) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) },
			func(a, b time.Time, p *scopePhase) bool { return p.period(a) == p.period(b) },
		} {
			for _, t := range to {
				for _, id := range list {
					if _, ok := place[id]; !ok && !taken(t.at) && same(m.events[id].Nominal, t.at, &changed[t.phase]) {
						place[id] = t.at
					}
				}
			}
		}
		for _, id := range list {
			if _, ok := place[id]; !ok {
				left = append(left, id)
			}
		}
		return left
	}
	var live, deleted, trashed []int64
	for _, id := range ids {
		e := m.events[id]
		switch {
		case cut.IsZero(), e.Nominal.Before(cut):
			if e.Trashed {
				trashed = append(trashed, id)
			}
		case e.Trashed && !e.Off && m.phases[phaseOf(m.phases, e.Nominal)].out[e.Nominal]:
			deleted, trashed = append(deleted, id), append(trashed, id)
		case e.Trashed:
			trashed = append(trashed, id)
		case !slices.ContainsFunc(outs, func(t target) bool { return t.at.Equal(e.Nominal) }):
			live = append(live, id)
		case begun(e):
			keep(id, e.Nominal)
		default: // as if it were deleted
			place[id] = e.Nominal
			e.Trashed = true
			m.events[id] = e
		}
	}
	var none []int64
	for _, id := range match(live, starts) {
		e := m.events[id]
		if e.Own != "" || begun(e) {
			keep(id, e.Nominal)
			continue
		}
		none = append(none, id)
	}
	for _, id := range match(deleted, outs) {
		e := m.events[id]
		e.Off = true
		m.events[id] = e
	}
	for _, id := range none {
		e := m.events[id]
		e.Trashed = true
		m.events[id] = e
	}
	for _, id := range match(none, outs) {
		e := m.events[id]
		e.Off = true
		m.events[id] = e
	}
	fresh := int64(0)
	for _, t := range starts {
		if taken(t.at) {
			continue
		}
		i := slices.IndexFunc(trashed, func(id int64) bool {
			_, ok := place[id]
			return !ok && m.events[id].Nominal.Equal(t.at)
		})
		if i < 0 {
			fresh--
			m.events[fresh] = scopeEvent{Nominal: t.at, Start: t.at}
			continue
		}
		e := m.events[trashed[i]]
		e.Trashed, e.Off = false, false
		m.events[trashed[i]] = e
		place[trashed[i]] = t.at
		moved[trashed[i]] = true
	}
	// What stays in the trash leaves its start to whom it was given, for the start that became free.
	nominal := map[int64]time.Time{}
	for id, e := range m.events {
		nominal[id] = e.Nominal
	}
	for id, d := range place {
		nominal[id] = d
	}
	for _, id := range ids {
		if _, ok := place[id]; ok {
			continue
		}
		d := m.events[id].Nominal
		for again := true; again; {
			again = false
			for other, given := range place {
				if given.Equal(d) && !m.events[other].Nominal.Equal(d) {
					d, again = m.events[other].Nominal, true
					break
				}
			}
		}
		nominal[id] = d
	}
	for id, d := range nominal {
		e := m.events[id]
		_, placed := place[id]
		stays := begun(e) && !m0[id].Trashed && id > 0
		if !stays && (!e.Nominal.Equal(d) || placed) {
			moved[id] = true
		}
		e.Nominal = d
		m.events[id] = e
	}
	m.phases = slices.Concat(old[:k], changed)
	return nil
}

// readScopes returns the occurrences of a series as the model has them.
func readScopes(t *testing.T, w *edittest.World, series int64) map[int64]scopeEvent {
	t.Helper()
	clockTime := func(at calendar.Wall) time.Time {
		out, err := time.Parse(clock, at.String())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	events := map[int64]scopeEvent{}
	for _, row := range w.DB.Event.Query().Where(event.SeriesID(series)).AllX(t.Context()) {
		events[row.ID] = scopeEvent{
			clockTime(*row.OriginalStart), clockTime(row.StartWall), row.Title, strings.Join(row.OwnFields, " "),
			row.Status == calendar.Trash, row.OffSchedule,
		}
	}
	return events
}

var scopeSeeds = flag.Int("scope-seeds", 12, "series that TestScopesAgreeWithAModel writes to")

// TestScopesAgreeWithAModel writes at random to series, with all scopes.
func TestScopesAgreeWithAModel(t *testing.T) {
	t.Parallel()
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		w.Logged = false // too slow for so many writes
		done, refused := 0, 0
		for seed := range uint64(*scopeSeeds) {
			d, r := runScopeModel(t, w, rand.New(rand.NewPCG(seed, 21)), seed)
			done, refused = done+d, refused+r
		}
		t.Logf("%d writes, %d refused", done, refused)
		if refused > done {
			t.Errorf("%d of %d writes were refused", refused, done+refused)
		}
	})
}

func runScopeModel(t *testing.T, w *edittest.World, r *rand.Rand, seed uint64) (done, refused int) {
	t.Helper()
	randomRule := func() scopePhase {
		return scopePhase{unit: []string{"DAILY", "WEEKLY", "MONTHLY"}[r.IntN(3)], every: 1 + r.IntN(2), count: 1 + r.IntN(8)}
	}
	text := func(p scopePhase) string {
		return fmt.Sprintf("FREQ=%s;INTERVAL=%d;COUNT=%d", p.unit, p.every, p.count)
	}
	now := edittest.Now
	editor := func() *edit.Editor {
		e := w.As(calendar.Editor)
		e.Now = now
		return e
	}
	p := randomRule()
	p.start, p.out, p.title = time.Date(2026, 6, 16+r.IntN(4), 18, 0, 0, 0, time.UTC), map[time.Time]bool{}, "A"
	in := &edit.EventInput{
		Title: new("A"), Start: edittest.Wall(p.start.Format(clock)), End: edittest.Wall(p.start.Add(time.Hour).Format(clock)), Rule: new(text(p)),
	}
	if r.IntN(2) == 0 {
		d := p.start.AddDate(0, 0, 3).Add(time.Hour)
		p.rdate = []time.Time{d}
		in.RDate = &[]recur.Date{{Wall: calendar.WallOf(d)}}
	}
	series := *w.Event(editor(), in).SeriesID
	m := scopeModel{phases: []scopePhase{p}, events: readScopes(t, w, series)}
	for step := range 25 {
		if r.IntN(4) == 0 {
			now = now.AddDate(0, 0, r.IntN(6))
		}
		m.now = now.Add(2 * time.Hour) // in Warsaw in summer; in winter the distance is less, which no start is near to
		ids := slices.Sorted(maps.Keys(m.events))
		o := scopeWrite{
			kind:  []string{"title", "title", "move", "move", "rule", "rule", "exdate", "rdate", "delete", "restore"}[r.IntN(10)],
			scope: edit.Scopes[r.IntN(3)], id: ids[r.IntN(len(ids))], title: string(rune('A' + r.IntN(5))), rule: randomRule(),
			dropOwn: r.IntN(6) == 0,
		}
		if o.scope == edit.AllOccurrences && r.IntN(3) == 0 {
			o.id = 0
		}
		at := m.events[o.id]
		switch {
		case o.kind == "restore" && m.gone:
			o.id, o.scope, o.dropOwn = 0, edit.AllOccurrences, false
		case o.kind == "restore" && at.Trashed:
			o.scope = edit.ThisOccurrence
		case o.kind == "restore", o.kind == "delete" && o.scope == edit.AllOccurrences && r.IntN(3) > 0:
			continue
		case m.gone, at.Trashed && o.kind != "title" && (o.kind == "delete" || o.scope == edit.ThisOccurrence):
			continue
		}
		if o.scope == edit.ThisOccurrence {
			o.dropOwn = false
			if slices.Contains([]string{"rule", "exdate", "rdate"}, o.kind) {
				continue
			}
		}
		base := at.Start
		if o.id == 0 {
			base = m.phases[len(m.phases)-1].start
		}
		in := &edit.EventInput{Scope: o.scope, DropExceptions: o.dropOwn}
		addressed := m.phases[phaseOf(m.phases, at.Nominal)]
		if o.id == 0 {
			addressed = m.phases[len(m.phases)-1]
		}
		switch o.kind {
		case "title":
			in.Title = &o.title
		case "move":
			o.move = []time.Duration{
				time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour, 7 * 24 * time.Hour, -7 * 24 * time.Hour, 12 * 24 * time.Hour,
			}[r.IntN(7)]
			if h := base.Add(o.move).Hour(); h < 3 {
				continue
			}
			in.Start = edittest.Wall(base.Add(o.move).Format(clock))
		case "rule":
			if o.rule.unit == addressed.unit && o.rule.every == addressed.every && o.rule.count == addressed.count {
				continue
			}
			in.Rule = new(text(o.rule))
		case "exdate", "rdate":
			for range r.IntN(3) {
				all := addressed.starts()
				d := all[r.IntN(len(all))]
				if o.kind == "rdate" {
					d = d.AddDate(0, 0, 1+r.IntN(5)).Add(2 * time.Hour)
				}
				if !slices.Contains(o.dates, d) {
					o.dates = append(o.dates, d)
				}
			}
			slices.SortFunc(o.dates, time.Time.Compare)
			list := []recur.Date{}
			for _, d := range o.dates {
				list = append(list, recur.Date{Wall: calendar.WallOf(d)})
			}
			stored := slices.SortedFunc(maps.Keys(addressed.out), time.Time.Compare)
			if in.ExDate = &list; o.kind == "rdate" {
				in.ExDate, in.RDate, stored = nil, &list, addressed.rdate
			}
			if slices.Equal(o.dates, stored) {
				continue
			}
		case "restore":
			in.Status = new(calendar.Publish)
		}
		want, wantErr := m.apply(o)
		versions := map[int64]int64{}
		for _, row := range w.DB.Event.Query().Where(event.SeriesID(series)).AllX(t.Context()) {
			versions[row.ID] = row.Version
		}
		var err error
		e := editor()
		switch {
		case o.kind == "delete" && o.id == 0:
			err = trashSeries(w, e, series)
		case o.kind == "delete" && o.scope == edit.ThisOccurrence:
			_, err = w.TrashEvent(e, o.id)
		case o.kind == "delete":
			err = trashOccurrences(w, e, o.id, o.scope)
		case o.id == 0:
			err = changeSeries(w, e, series, in)
		default:
			_, err = w.UpdateEvent(e, o.id, in)
		}
		where := fmt.Sprintf("seed %d, step %d, %s: %s", seed, step, m.now.Format(clock), o)
		var invalid param.Invalid
		var refusal *calendar.Error
		if err != nil && !errors.As(err, &invalid) && !errors.As(err, &refusal) {
			t.Fatalf("%s: %v", where, err)
		}
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%s: error %v, the model says %v\nphases %v\nmodel %v", where, edittest.Describe(err), wantErr, phasesOf(t, w, series), m.phases)
		}
		got := readScopes(t, w, series)
		if err != nil {
			refused++
			if diff := cmp.Diff(m.events, got); diff != "" {
				t.Fatalf("%s is refused, and changes\n%s", where, diff)
			}
			continue
		}
		done++
		// New ones get their ids.
		for id, e := range got {
			if _, known := want.events[id]; known {
				continue
			}
			for other, f := range want.events {
				if other < 0 && f.Nominal.Equal(e.Nominal) {
					delete(want.events, other)
					want.events[id] = f
				}
			}
		}
		if diff := cmp.Diff(want.events, got); diff != "" {
			t.Fatalf("%s: occurrences (-model +stored)\n%s\nphases %v", where, diff, phasesOf(t, w, series))
		}
		for _, row := range w.DB.Event.Query().Where(event.SeriesID(series)).AllX(t.Context()) {
			was, there := m.events[row.ID]
			if rise := row.Version - versions[row.ID]; there && (rise > 1 || rise == 0 && was != got[row.ID]) {
				t.Fatalf("%s: version of %d rises by %d", where, row.ID, rise)
			}
		}
		m.phases, m.events, m.gone = want.phases, want.events, want.gone
	}
	return done, refused
}
