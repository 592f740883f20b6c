package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// client sends requests to a collection of the API, such as events, with an access token.
type client struct{ root, collection, token string }

var requests = http.Client{Timeout: 20 * time.Second}

// titleMember returns the JSON member that names a record of the collection, such as "title".
func (c client) titleMember() string {
	if c.collection == "events" {
		return "title"
	}
	return strings.TrimSuffix(c.collection, "s")
}

// body returns a JSON object to create a record with a title. members is more JSON for it. Events take place
// tomorrow.
func (c client) body(title, members string) string {
	dates := ""
	if c.collection == "events" {
		dates = `"start_date": "tomorrow 10:00", "end_date": "tomorrow 11:00", `
	}
	return fmt.Sprintf(`{%q: %q, %s%s}`, c.titleMember(), title, dates, members)
}

func (c client) ready() error {
	for range 300 {
		if res, err := requests.Get(strings.TrimSuffix(c.root, "cal/events/v1/") + "readyz"); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the service does not become ready")
}

// create posts a record and returns an error unless the status is want. If it was created, create also checks that
// the reply repeats the members that were sent, apart from dates and rrule.
func (c client) create(body string, want int) error {
	req, err := http.NewRequest(http.MethodPost, c.root+c.collection, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	status, text, err := c.send(req)
	if err != nil || status != want {
		return cmp.Or(err, fmt.Errorf("POST %s: %d %s", body, status, text))
	}
	if want != http.StatusCreated {
		return nil
	}
	var sent, got map[string]any
	if err := errors.Join(json.Unmarshal([]byte(body), &sent), json.Unmarshal(text, &got)); err != nil {
		return err
	}
	for name, value := range sent {
		if name != "start_date" && name != "end_date" && name != "rrule" && got[name] != value {
			return fmt.Errorf("POST %s: %s is %v", body, name, got[name])
		}
	}
	return nil
}

func (c client) check(a filterRequest) error {
	req, err := http.NewRequest(http.MethodGet, c.root+c.collection+"?"+a.query, nil)
	if err != nil {
		return err
	}
	status, text, err := c.send(req)
	if err != nil {
		return err
	}
	if want := cmp.Or(a.status, http.StatusOK); status != want {
		return fmt.Errorf("GET ?%s: %d, want %d: %s", a.query, status, want, text)
	}
	if status != http.StatusOK {
		return nil
	}
	var list map[string]json.RawMessage
	var records []map[string]any
	var total int
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	if err := errors.Join(json.Unmarshal(list[c.collection], &records), json.Unmarshal(list["total"], &total)); err != nil {
		return err
	}
	var titles []string
	for _, r := range records {
		titles = append(titles, fmt.Sprint(r[c.titleMember()]))
	}
	slices.Sort(titles)
	if got := strings.Join(titles, ""); got != a.titles || total != len(a.titles) {
		return fmt.Errorf("GET ?%s: %q of %d, want %q", a.query, got, total, a.titles)
	}
	return nil
}

func (c client) send(req *http.Request) (status int, body []byte, err error) {
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := requests.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, body, err
}
