package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"time"
)

const (
	listCount = 300
	// pageSize is the number of events in each chosen list. No page is shorter, so that all cost about the same.
	pageSize = 10
	// popularCount is the number of events that are each shown by popularShare of the lists, or more. Half of the lists
	// are chosen for that.
	popularCount = 5
	popularShare = 10 // per cent
	// otherCount is the number of chosen events that no list shows.
	otherCount = 100
)

// event is an event in a list, with the fields from which requests are chosen.
type event struct {
	ID         int64     `json:"id"`
	Start      string    `json:"start_date"`
	Featured   bool      `json:"featured"`
	Venue      recordIDs `json:"venue"`
	Organizer  recordIDs `json:"organizer"`
	Categories recordIDs `json:"categories"`
}

// recordIDs are the ids of linked records. The API sends a single venue as an object and several as an array.
type recordIDs []int64

// UnmarshalJSON implements json.Unmarshaler.
func (ids *recordIDs) UnmarshalJSON(data []byte) error {
	type record struct{ ID int64 }
	var all []record
	if data[0] == '{' {
		all = make([]record, 1)
		if err := json.Unmarshal(data, &all[0]); err != nil {
			return err
		}
	} else if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*ids = nil
	for _, r := range all {
		*ids = append(*ids, r.ID)
	}
	return nil
}

// list is a list that clients request, with the events on it.
type list struct {
	path   string  // below the root of the API
	events []int64 // ids of the events that the reply shows
}

// requestChoice contains the lists to request and the events to change.
type requestChoice struct {
	lists   []list
	popular []int64 // events that are each shown by at least one list in ten
	other   []int64 // events that no list shows
}

// share returns the average share (0 to 1) of the lists that show an event of some events.
func (c *requestChoice) share(events []int64) float64 {
	n := 0
	for _, l := range c.lists {
		for _, id := range events {
			if slices.Contains(l.events, id) {
				n++
			}
		}
	}
	return float64(n) / float64(len(c.lists)*len(events))
}

// chooseRequests chooses lists of events from today on. get requests a list, and returns nil for a page that does not
// exist. The same seed gives the same choice from the same calendar. Too small a calendar is an error.
func chooseRequests(get func(path string) ([]event, error), today time.Time, seed uint64) (*requestChoice, error) {
	chance := rand.New(rand.NewPCG(seed, 3))
	var sample, featured []event
	for month := range 20 {
		day := url.Values{"per_page": {"50"}, "start_date": {date(today, 30*month)}}
		some, err := get(listPath(day))
		if err != nil {
			return nil, err
		}
		sample = append(sample, some...)
		day.Set("featured", "true")
		if some, err = get(listPath(day)); err != nil {
			return nil, err
		}
		featured = append(featured, some...)
	}
	if len(sample) == 0 {
		return nil, fmt.Errorf("no events from %s on", date(today, 0))
	}
	c := &requestChoice{}
	asked := map[string]bool{}
	// ask adds a full list if it was not asked for before and shows an event, 0 for any. It reports whether it did.
	ask := func(into *[]list, path string, shown int64) (bool, error) {
		if asked[path] {
			return false, nil
		}
		asked[path] = true
		events, err := get(path)
		l := list{path: path}
		for _, e := range events {
			l.events = append(l.events, e.ID)
		}
		if err != nil || len(events) < pageSize || shown != 0 && !slices.Contains(l.events, shown) {
			return false, err
		}
		*into = append(*into, l)
		return true, nil
	}
	chance.Shuffle(len(featured), func(i, j int) { featured[i], featured[j] = featured[j], featured[i] })
	for _, e := range featured {
		if len(c.popular) == popularCount {
			break
		}
		var around []list
		for _, path := range listsAround(e, chance) {
			if len(around) == listCount*popularShare/100 {
				break
			}
			if _, err := ask(&around, path, e.ID); err != nil {
				return nil, err
			}
		}
		if len(around) == listCount*popularShare/100 {
			c.popular, c.lists = append(c.popular, e.ID), append(c.lists, around...)
		}
	}
	for tries := 0; len(c.lists) < listCount && tries < 20*listCount; tries++ {
		if _, err := ask(&c.lists, randomList(sample, today, chance), 0); err != nil {
			return nil, err
		}
	}
	c.other = unlistedEvents(c.lists, sample)
	if len(c.popular) < popularCount || len(c.lists) < listCount || len(c.other) < otherCount {
		return nil, fmt.Errorf("the calendar has %d lists, %d events on one in ten of them and %d on none: too few",
			len(c.lists), len(c.popular), len(c.other))
	}
	c.other = c.other[:otherCount]
	return c, nil
}

// unlistedEvents returns the ids of the events of a sample that no list shows, each once.
func unlistedEvents(lists []list, sample []event) []int64 {
	listed := map[int64]bool{}
	for _, l := range lists {
		for _, id := range l.events {
			listed[id] = true
		}
	}
	var out []int64
	for _, e := range sample {
		if !listed[e.ID] {
			listed[e.ID] = true
			out = append(out, e.ID)
		}
	}
	return out
}

// languages are the languages of lists. "" means the site's.
var languages = []string{"", "pl", "es"}

// listsAround returns paths of lists that may show an event on their first page, in random order. They start on its
// day or up to three days before. Their filters match it. It returns nil for an event without venue, organizer or
// category.
func listsAround(e event, chance *rand.Rand) []string {
	day, err := time.Parse(time.DateTime, e.Start)
	if err != nil || len(e.Venue) == 0 || len(e.Organizer) == 0 || len(e.Categories) == 0 {
		return nil
	}
	matching := []func(url.Values){
		func(q url.Values) { q.Set("venue", fmt.Sprint(e.Venue[0])) },
		func(q url.Values) { q.Set("categories", fmt.Sprint(e.Categories[0])) },
		func(q url.Values) { q.Set("organizer", fmt.Sprint(e.Organizer[0])) },
		func(q url.Values) { q.Set("featured", strconv.FormatBool(e.Featured)) },
	}
	var out []string
	for set := range 1 << len(matching) {
		for _, language := range languages {
			for before := range 4 {
				q := url.Values{"start_date": {date(day, -before)}}
				for i, filter := range matching {
					if set&(1<<i) != 0 {
						filter(q)
					}
				}
				setLanguage(q, language)
				out = append(out, listPath(q))
			}
		}
	}
	chance.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// randomList returns the path of a random page of a list from a random day on. Its filters match an event of a sample
// or select featured events.
func randomList(sample []event, today time.Time, chance *rand.Rand) string {
	e := sample[chance.IntN(len(sample))]
	q := url.Values{"start_date": {date(today, chance.IntN(600))}}
	kind := chance.IntN(6)
	if kind == 1 && len(e.Venue) > 0 {
		q.Set("venue", fmt.Sprint(e.Venue[0]))
	}
	if (kind == 2 || kind == 3) && len(e.Categories) > 0 {
		q.Set("categories", fmt.Sprint(e.Categories[0]))
	}
	if kind == 3 || kind == 4 {
		q.Set("featured", "true")
	}
	if page := 1 + chance.IntN(8); page > 1 {
		q.Set("page", fmt.Sprint(page))
	}
	setLanguage(q, languages[chance.IntN(len(languages))])
	return listPath(q)
}

func setLanguage(q url.Values, language string) {
	if language != "" {
		q.Set("ml_language", language)
	}
}

func listPath(q url.Values) string { return "/events?" + q.Encode() }

// date formats a day plus a number of days (later) as 2006-01-02.
func date(day time.Time, later int) string { return day.AddDate(0, 0, later).Format(time.DateOnly) }
