package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/proof/must"
)

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		code       int
	}{
		{"help", "--help", 0},
		{"unknown flag", "--loud", 2},
		{"no rounds", "--rounds 0", 1},
		{"too few events", "--events 10", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := run(t.Context(), append(strings.Fields(tt.args), "--dir", t.TempDir()), &out, &errs); code != tt.code {
				t.Errorf("status %d, want %d: %s%s", code, tt.code, &out, &errs)
			}
		})
	}
}

var today = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// calendar returns events for a test: ten a day with few venues, organizers and categories.
func calendar() []event {
	out := make([]event, 7000)
	for i := range out {
		out[i] = event{
			ID: int64(i + 1), Start: today.AddDate(0, 0, i/10).Format(time.DateTime), Featured: i%4 == 0,
			Venue: recordIDs{int64(i % 3)}, Organizer: recordIDs{int64(i % 2)}, Categories: recordIDs{int64(i % 5)},
		}
	}
	return out
}

// answer returns the page of events that a list request for a path would get.
func answer(all []event, path string) ([]event, error) {
	u, err := url.Parse(path)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	differs := func(parameter string, ids recordIDs) bool {
		return q.Has(parameter) && q.Get(parameter) != fmt.Sprint(ids[0])
	}
	var found []event
	for _, e := range all {
		if e.Start < q.Get("start_date") || q.Has("featured") && q.Get("featured") != strconv.FormatBool(e.Featured) ||
			differs("venue", e.Venue) || differs("organizer", e.Organizer) || differs("categories", e.Categories) {
			continue
		}
		found = append(found, e)
	}
	number := func(parameter string, otherwise int) int {
		if n, err := strconv.Atoi(q.Get(parameter)); err == nil {
			return n
		}
		return otherwise
	}
	size := number("per_page", pageSize)
	from := min((number("page", 1)-1)*size, len(found))
	return found[from:min(from+size, len(found))], nil
}

func TestChoiceIsThreeHundredFullLists(t *testing.T) {
	all := calendar()
	get := func(path string) ([]event, error) { return answer(all, path) }
	c, err := chooseRequests(get, today, 1)
	must.Succeed(t, err)
	paths := map[string]bool{}
	for _, l := range c.lists {
		paths[l.path] = true
		if len(l.events) != pageSize {
			t.Errorf("%s has %d events", l.path, len(l.events))
		}
		for _, id := range c.other {
			if slices.Contains(l.events, id) {
				t.Errorf("%s shows event %d", l.path, id)
			}
		}
	}
	if len(paths) != listCount {
		t.Errorf("%d different lists, want %d", len(paths), listCount)
	}
	if share := c.share(c.popular); share < 0.1 || share > 0.15 {
		t.Errorf("popular events are shown by %.3f of the lists", share)
	}
	again, err := chooseRequests(get, today, 1)
	must.Succeed(t, err)
	if diff := cmp.Diff(c.lists, again.lists, cmp.AllowUnexported(list{})); diff != "" {
		t.Errorf("the same seed chose other lists:\n%s", diff)
	}
}

func TestChoiceNeedsEnoughEvents(t *testing.T) {
	all := calendar()[:50]
	if _, err := chooseRequests(func(path string) ([]event, error) { return answer(all, path) }, today, 1); err == nil {
		t.Error("50 events make 300 lists")
	}
}

func TestShare(t *testing.T) {
	c := requestChoice{lists: []list{{events: []int64{1, 2}}, {events: []int64{2}}, {events: []int64{3}}, {}}}
	for _, tt := range []struct {
		events []int64
		want   float64
	}{
		{[]int64{4}, 0},
		{[]int64{2}, 0.5},
		{[]int64{1, 2, 3, 4}, 0.25},
	} {
		if got := c.share(tt.events); got != tt.want {
			t.Errorf("%v: %g, want %g", tt.events, got, tt.want)
		}
	}
}

func TestRecordIDs(t *testing.T) {
	for _, tt := range []struct {
		json string
		want recordIDs
	}{
		{`[]`, nil},
		{`{"id":7,"venue":"Hall"}`, recordIDs{7}},
		{`[{"id":7},{"id":8}]`, recordIDs{7, 8}},
	} {
		var got recordIDs
		must.Succeed(t, json.Unmarshal([]byte(tt.json), &got))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.json, diff)
		}
	}
}

func TestCheckCostLeavesOutWritesAndHotReplies(t *testing.T) {
	const ms = time.Millisecond
	if got := checkCost(326*ms, 2, 3*ms, 600, ms/30); got != 320*ms/600-ms/30 {
		t.Errorf("%s", got)
	}
}
