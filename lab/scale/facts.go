package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// facts contains data of a calendar from which questions make paths: frequent and rare values, and samples of
// records.
type facts struct {
	now   time.Time
	pages int // number of pages of the default list

	categories, tags, venues, organizers extremeSlugs

	events    []eventName // published ones that start in the future
	venueIDs  []int64
	parents   []int64
	series    []int64  // nil in a calendar of single events
	phrases   []string // two adjacent words of some text
	fragments []string // parts of words
}

// eventName contains the id and the slug by which questions request an event.
type eventName struct {
	id   int64
	slug string
}

// extremeSlugs are the values with most events and with fewest: slugs of terms, or ids of venues and organizers.
// Values without events are ignored.
type extremeSlugs struct{ popular, rare string }

// samples is the number of records or words that a question requests in turn, at most.
const samples = 40

// loadFacts reads the facts of a database. pages is the number of pages of the default list. Too small or past
// calendars are an error.
func loadFacts(ctx context.Context, db *sql.DB, now time.Time, pages int) (*facts, error) {
	f := &facts{now: now, pages: pages}
	for _, e := range []struct {
		into  *extremeSlugs
		query string
	}{
		{&f.categories, "SELECT slug FROM terms WHERE taxonomy = 'category' AND event_count > 0 " +
			"ORDER BY event_count %s, id LIMIT 1"},
		{&f.tags, "SELECT slug FROM terms WHERE taxonomy = 'tag' AND event_count > 0 ORDER BY event_count %s, id LIMIT 1"},
		{&f.venues, "SELECT venue_id FROM event_venues GROUP BY venue_id ORDER BY COUNT(*) %s, venue_id LIMIT 1"},
		{
			&f.organizers,
			"SELECT organizer_id FROM event_organizers GROUP BY organizer_id ORDER BY COUNT(*) %s, organizer_id LIMIT 1",
		},
	} {
		for value, order := range map[*string]string{&e.into.popular: "DESC", &e.into.rare: "ASC"} {
			if err := db.QueryRowContext(ctx, fmt.Sprintf(e.query, order)).Scan(value); err != nil {
				return nil, fmt.Errorf("%s: %w", e.query, err)
			}
		}
	}
	var first, last int64
	if err := db.QueryRowContext(ctx, "SELECT MIN(id), MAX(id) FROM events").Scan(&first, &last); err != nil {
		return nil, err
	}
	for i := range int64(samples) {
		var e eventName
		var text string
		err := db.QueryRowContext(ctx, "SELECT id, slug, description FROM events WHERE id >= ? AND status = 'publish' "+
			"AND password_hash IS NULL AND starts_at > ? ORDER BY id LIMIT 1", first+(last-first)*i/samples, now).
			Scan(&e.id, &e.slug, &text)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return nil, err
		}
		f.events = append(f.events, e)
		words := strings.Fields(strings.NewReplacer("<p>", "", "</p>", "", ".", "").Replace(text))
		for at := 3 + int(i)%5; at+1 < len(words); at += 9 {
			if len(words[at]) > 4 && len(words[at+1]) > 4 {
				f.phrases = append(f.phrases, words[at]+" "+words[at+1])
				break
			}
		}
		for _, w := range words {
			if r := []rune(w); len(r) >= 7 {
				f.fragments = append(f.fragments, string(r[1:5]))
				break
			}
		}
	}
	var err error
	f.venueIDs, err = ids(ctx, db, "SELECT id FROM venues WHERE status = 'publish' ORDER BY id LIMIT 40")
	if err != nil {
		return nil, err
	}
	if f.series, err = ids(ctx, db, "SELECT id FROM series ORDER BY id LIMIT 40"); err != nil {
		return nil, err
	}
	f.parents, err = ids(ctx, db, "SELECT DISTINCT p.id FROM events e JOIN events p ON p.id = e.parent_id "+
		"WHERE p.status = 'publish' LIMIT 40")
	if err != nil {
		return nil, err
	}
	if len(f.events) == 0 || len(f.parents) == 0 || len(f.phrases) == 0 || len(f.fragments) == 0 {
		return nil, errors.New("the calendar is too small, or over: fill it again")
	}
	return f, nil
}

func ids(ctx context.Context, db *sql.DB, query string) (out []int64, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}
