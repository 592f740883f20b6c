package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/internal/store"
)

// eventRow is the JSON of an event with the fields that audit compares.
type eventRow struct {
	ID          int64
	Status      string
	Title       string
	Description string
	Featured    bool
	Slug        string
	Venue       json.RawMessage // an object, or a list
	Organizer   []struct{ Organizer string }
	Tags        []struct{ Name string }
	Categories  []struct{ Name string }
}

func (r eventRow) event() *event {
	e := &event{
		Title: r.Title, Description: withoutParagraphs(r.Description), Featured: r.Featured, Trashed: r.Status == "trash",
	}
	var one struct{ Venue string }
	if json.Unmarshal(r.Venue, &one) == nil {
		e.Venue = one.Venue
	} else {
		e.Venue = string(r.Venue) // no event has several: it equals nothing that was sent
	}
	for _, o := range r.Organizer {
		e.Organizers = append(e.Organizers, o.Organizer)
	}
	for _, t := range r.Tags {
		e.Tags = append(e.Tags, t.Name)
	}
	for _, t := range r.Categories {
		e.Categories = append(e.Categories, t.Name)
	}
	slices.Sort(e.Tags)
	slices.Sort(e.Categories)
	return e
}

// withoutParagraphs removes the paragraph elements that the service adds to a description.
func withoutParagraphs(html string) string {
	return strings.TrimSpace(strings.NewReplacer("<p>", "", "</p>", "").Replace(html))
}

// calendarState is the whole calendar as read through the API.
type calendarState struct {
	events     []eventRow
	venues     map[string]int // number of records by name
	organizers map[string]int // number of records by name
	terms      map[string]int // number of events that the reply claims, by kind and name
	doubled    []string       // kind and name of terms that exist twice
}

// collect reads the whole calendar through the API. The client must be an administrator's.
func (c *client) collect(ctx context.Context, base string) (*calendarState, error) {
	const all = "&status=publish,future,draft,pending,private,trash"
	f := &calendarState{venues: map[string]int{}, organizers: map[string]int{}, terms: map[string]int{}}
	err := c.pages(ctx, base, "/events?start_date=1000-01-01&end_date=9999-12-30"+all, "events", func(data []byte) error {
		var row eventRow
		err := json.Unmarshal(data, &row)
		f.events = append(f.events, row)
		return err
	})
	for path, names := range map[string]map[string]int{"venues": f.venues, "organizers": f.organizers} {
		err = errors.Join(err, c.pages(ctx, base, "/"+path+"?x=1"+all, path, func(data []byte) error {
			var row struct{ Venue, Organizer string }
			err := json.Unmarshal(data, &row)
			names[row.Venue+row.Organizer]++
			return err
		}))
	}
	for _, path := range []string{"tags", "categories"} {
		err = errors.Join(err, c.pages(ctx, base, "/"+path+"?hide_empty=0", path, func(data []byte) error {
			var row struct {
				Name  string
				Count int
			}
			err := json.Unmarshal(data, &row)
			key := path + " " + row.Name
			if _, again := f.terms[key]; again {
				f.doubled = append(f.doubled, key)
			}
			f.terms[key] = row.Count
			return err
		}))
	}
	return f, err
}

// pages calls do with the JSON of each record on all pages of a list. member is the name of the list in the reply. A
// page with a wrong number of records is an error.
func (c *client) pages(ctx context.Context, base, path, member string, do func([]byte) error) error {
	for page := 1; ; page++ {
		a, err := c.get(ctx, base, fmt.Sprintf("%s&per_page=50&page=%d", path, page), http.StatusOK)
		if err != nil {
			return err
		}
		var list map[string]json.RawMessage
		if err := a.into(&list); err != nil {
			return err
		}
		var items []json.RawMessage
		var total, pages int
		err = errors.Join(json.Unmarshal(list[member], &items),
			json.Unmarshal(list["total"], &total), json.Unmarshal(list["total_pages"], &pages))
		if err != nil {
			return fmt.Errorf("%s: %w in %.300s", path, err, a.body)
		}
		if want := min(50, total-50*(page-1)); len(items) != max(0, want) {
			return fmt.Errorf("%s: page %d of %d records has %d", path, page, total, len(items))
		}
		for _, item := range items {
			if err := do(item); err != nil {
				return fmt.Errorf("%s: %w in %.300s", path, err, item)
			}
		}
		if page >= pages {
			return nil
		}
	}
}

// audit compares the calendar with the journal and returns a sentence for each broken promise. It sets the state of
// events in the journal to what it found, and forgets those that do not exist.
func (j *journal) audit(f *calendarState) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var faults []string
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	seen := make(map[string]*event)
	slugs := make(map[string]int64)
	counts := make(map[string]int)
	for _, row := range f.events {
		is := row.event()
		known := j.events[row.Title]
		switch {
		case known == nil:
			say("event %d %q was never sent", row.ID, row.Title)
			continue
		case seen[row.Title] != nil:
			say("event %q is there twice, once as %d", row.Title, row.ID)
			continue
		case known.ID != 0 && known.ID != row.ID:
			say("event %q was acknowledged as %d and is %d", row.Title, known.ID, row.ID)
		}
		// What is in the trash has given its slug back.
		if other := slugs[row.Slug]; !is.Trashed && (other != 0 || row.Slug == "") {
			say("events %d and %d have the slug %q", other, row.ID, row.Slug)
		}
		if !is.Trashed {
			slugs[row.Slug] = row.ID
		}
		seen[row.Title] = is
		if !slices.ContainsFunc(known.May, is.equal) {
			say("event %d is %+v and has to be %s", row.ID, *is, describeEvents(known.May))
		}
		if row.Status == "publish" {
			for _, name := range is.Tags {
				counts["tags "+name]++
			}
			for _, name := range is.Categories {
				counts["categories "+name]++
			}
		}
		known.ID, known.May = row.ID, []*event{is}
	}
	for title, known := range j.events {
		if seen[title] != nil {
			continue
		}
		if known.settled() && known.May[0] != nil || len(known.May) == 2 && known.May[0] != nil {
			say("event %q was acknowledged as %d and is not there", title, known.ID)
		}
		delete(j.events, title)
	}
	j.names(f, seen, say)
	for key, n := range f.terms {
		if n != counts[key] {
			say("%s says that it has %d events, and has %d", key, n, counts[key])
		}
		delete(counts, key)
	}
	for key, n := range counts {
		say("%s has %d events and is in no list", key, n)
	}
	for _, key := range f.doubled {
		say("%s is there twice", key)
	}
	return faults
}

// names checks that names of venues and organizers are unique and that the venue of each event exists. A venue or
// organizer of a single event must not exist without the event. It passes each problem to say.
func (j *journal) names(f *calendarState, seen map[string]*event, say func(string, ...any)) {
	for _, names := range []map[string]int{f.venues, f.organizers} {
		for name, n := range names {
			if n > 1 {
				say("there are %d records %q", n, name)
			}
			_, title, own := strings.Cut(name, " of ")
			if own && seen[title] == nil {
				say("%q is there and the event %q is not, with which it was sent", name, title)
			}
		}
	}
	for _, e := range seen {
		if f.venues[e.Venue] == 0 {
			say("the venue %q of the event %q is in no list", e.Venue, e.Title)
		}
	}
}

func describeEvents(may []*event) string {
	var words []string
	for _, e := range may {
		if e == nil {
			words = append(words, "nothing")
		} else {
			words = append(words, fmt.Sprintf("%+v", *e))
		}
	}
	return strings.Join(words, " or ")
}

// verify compares the calendar, its images and its change log with all acknowledged writes, and runs the command
// check. Differences are broken promises. It updates the journal for further rounds.
func (w *world) verify(ctx context.Context, p *program, db, token string) error {
	w.away.Store(false)
	c := w.client(token)
	defer c.http.CloseIdleConnections()
	f, err := c.collect(ctx, p.base())
	if err != nil {
		return fmt.Errorf("what is there: %w", err)
	}
	for _, fault := range w.journal.audit(f) {
		w.fail("%s", fault)
	}
	if err := w.pictures(ctx, c, p); err != nil {
		return err
	}
	out, err := w.command(ctx, "check", "--db", db)
	if err != nil {
		return err
	}
	if err := w.counted(ctx, db, len(f.events)); err != nil {
		return err
	}
	acknowledged, unknown := w.journal.counts()
	w.say("all is there: %d events, %d venues, %d organizers; %d writes acknowledged so far, %d unknown; check: %s",
		len(f.events), len(f.venues), len(f.organizers), acknowledged, unknown, strings.TrimSpace(out))
	return nil
}

// pictures checks that each acknowledged image is unchanged and that each image in the calendar has its file.
// Differences are broken promises.
func (w *world) pictures(ctx context.Context, c *client, p *program) error {
	rows := make(map[int64]string)
	err := c.pages(ctx, p.base(), "/images?x=1", "images", func(data []byte) error {
		var row struct {
			ID  int64 `json:"id"`
			URL string
		}
		err := json.Unmarshal(data, &row)
		rows[row.ID] = row.URL
		return err
	})
	if err != nil {
		return err
	}
	w.journal.mu.Lock()
	sent := maps.Clone(w.journal.images)
	w.journal.mu.Unlock()
	for id, was := range sent {
		if pathOf(rows[id]) != pathOf(was.URL) {
			w.fail("image %d was acknowledged at %s and is at %q", id, was.URL, rows[id])
		}
	}
	for id, url := range rows {
		a, err := c.send(ctx, p.base(), http.MethodGet, pathOf(url), "", nil, http.StatusOK)
		if err != nil {
			w.fail("image %d: %w", id, err)
			continue
		}
		if was, ok := sent[id]; ok && !bytes.Equal(a.body, was.Data) {
			w.fail("image %d is not what was sent", id)
		}
	}
	return nil
}

// pathOf returns a URL without its scheme, host and port.
func pathOf(address string) string {
	_, path, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	return "/" + path
}

// counted checks that as many events were created in the change log as are stored and listed. It also checks that the
// log's ids have no gaps. Differences are broken promises.
func (w *world) counted(ctx context.Context, db string, events int) (err error) {
	st, err := store.OpenReading(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	ask := func(query string) (n int) {
		var value sql.NullInt64
		err = errors.Join(err, st.DB.QueryRowContext(ctx, query).Scan(&value))
		return int(value.Int64)
	}
	created := ask("SELECT COUNT(*) FROM changes WHERE kind = 'event' AND action = 'create'")
	rows := ask("SELECT COUNT(*) FROM events")
	entries, first, last := ask("SELECT COUNT(*) FROM changes"), ask("SELECT MIN(id) FROM changes"), ask("SELECT MAX(id) FROM changes")
	if err != nil {
		return fmt.Errorf("change log: %w", err)
	}
	if created != rows || rows != events {
		w.fail("%d events are listed, %d are stored and %d were created by the change log", events, rows, created)
	}
	if entries > 0 && last-first+1 != entries {
		w.fail("the change log has %d entries from %s to %d", entries, strconv.Itoa(first), last)
	}
	return nil
}
