//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/internal/upkeep"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// twoSites are settings that show in each reply of TestRepliesWhileSettingsChange.
var twoSites = [2][]string{
	{"title=Alpha", "languages=en", "timezone=Europe/Warsaw", "currency-symbol=A", "per-page=2", `paths={"event": "koncert"}`},
	{"title=Beta", "languages=es", "timezone=America/New_York", "currency-symbol=B", "per-page=3", `paths={"event": "concierto"}`},
}

// markedReply is a path whose reply shows which of twoSites the process serves. For each of them it has texts that
// only its reply contains.
type markedReply struct {
	path   string
	marks  [2][]string
	prices [2]int // number of members "cost"; 0 means that they are not counted
}

var markedReplies = []markedReply{
	{path: "/events/", marks: [2][]string{{`<html lang="en"`, "Alpha", `"en_US"`}, {`<html lang="es"`, "Beta", `"es_ES"`}}},
	{path: "/cal/events/v1/events", marks: [2][]string{{`"cost":"A10"`, "/koncert/jazz"}, {`"cost":"B10"`, "/concierto/jazz"}}, prices: [2]int{2, 3}},
	{path: "/events.ics", marks: [2][]string{{"X-WR-CALNAME:Alpha", "X-WR-TIMEZONE:Europe/Warsaw", "/koncert/jazz"}, {"X-WR-CALNAME:Beta", "X-WR-TIMEZONE:America/New_York", "/concierto/jazz"}}},
	{path: "/events.atom", marks: [2][]string{{`xml:lang="en"`, "Alpha"}, {`xml:lang="es"`, "Beta"}}},
}

// siteOf returns which of twoSites a reply shows, or an error if it shows parts of both or of none.
func (r markedReply) siteOf(body string) (int, error) {
	for site, marks := range r.marks {
		if !strings.Contains(body, marks[0]) {
			continue
		}
		for i := range marks {
			if !strings.Contains(body, marks[i]) || strings.Contains(body, r.marks[1-site][i]) {
				return 0, fmt.Errorf("%s: not %q, or %q: %.3000s", r.path, marks[i], r.marks[1-site][i], body)
			}
		}
		if prices := strings.Count(body, `"cost":`); r.prices[site] != 0 && r.prices[site] != prices {
			return 0, fmt.Errorf("%s: %d events: %.3000s", r.path, prices, body)
		}
		return site, nil
	}
	return 0, fmt.Errorf("%s shows no site: %.3000s", r.path, body)
}

// tokenOf adds a user with a role and returns a token of that user.
func tokenOf(t *testing.T, st *store.Store, role calendar.Role) string {
	t.Helper()
	user, err := auth.AddUser(t.Context(), st.Ent, time.Now(), "ewa", "", role, "")
	must.Succeed(t, err)
	token, _, err := auth.IssueToken(t.Context(), st.Ent, time.Now(), user.ID, "test", nil)
	must.Succeed(t, err)
	return token
}

// siteSet changes settings of a calendar.
func siteSet(t *testing.T, db string, changes ...string) {
	t.Helper()
	var errs bytes.Buffer
	args := append([]string{"site", "set", "--yes", "--db", db}, changes...)
	if code := run(t.Context(), args, noOutput, streams{Out: io.Discard, Err: &errs, In: strings.NewReader("")}); code != 0 {
		t.Errorf("%s: exit status %d: %s", args, code, &errs)
	}
}

// TestRepliesWhileSettingsChange sends reads and writes to two processes while a command repeatedly changes all
// settings. No reply may mix settings, and both processes must use new settings soon.
func TestRepliesWhileSettingsChange(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.Migrated(t, url)
		siteSet(t, url, twoSites[0]...)
		token := tokenOf(t, st, calendar.Administrator)
		year := time.Now().Year() + 1
		written := markedReply{path: "POST", marks: [2][]string{
			{`"cost":"A10"`, `"timezone":"Europe/Warsaw"`, fmt.Sprintf(`"utc_start_date":"%d-07-01 16:00:00"`, year), `"language":"en"`},
			{`"cost":"B10"`, `"timezone":"America/New_York"`, fmt.Sprintf(`"utc_start_date":"%d-07-01 22:00:00"`, year), `"language":"es"`},
		}}
		servers := []serving{startServing(t, url), startServing(t, url)}
		write := func(s serving) error {
			// The start in the reply is in the zone of the site, and so is the zone of the event.
			body, err := request(t.Context(), http.MethodPost, s.url+"/cal/events/v1/events", token,
				fmt.Sprintf(`{"title": "Jazz", "start_date": "%d-07-01 18:00:00", "end_date": "%[1]d-07-01 20:00:00", "cost": "10"}`, year))
			if err == nil {
				_, err = written.siteOf(body)
			}
			return err
		}
		for range 4 {
			must.Succeed(t, retryWhileBusy(func() error { return write(servers[0]) }))
		}
		ctx, stop := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		defer clients.Wait()
		defer stop()
		var replies atomic.Int64
		for _, s := range servers {
			for _, r := range markedReplies {
				clients.Go(func() {
					repeatRequest(ctx, t, func() error {
						body, err := request(t.Context(), http.MethodGet, s.url+r.path, "", "")
						if err == nil {
							_, err = r.siteOf(body)
							replies.Add(1)
						}
						return err
					})
				})
			}
			clients.Go(func() { repeatRequest(ctx, t, func() error { return write(s) }) })
		}
		for i := range 6 {
			next := (i + 1) % 2
			siteSet(t, url, twoSites[next]...)
			for _, s := range servers {
				for _, r := range markedReplies {
					waitForSite(t, s, r, next)
				}
			}
		}
		stop()
		clients.Wait()
		t.Logf("%d replies", replies.Load())
		if out := checkOutput(t, url); !strings.Contains(out, "no problems") {
			t.Error(out)
		}
	})
}

// retryWhileBusy repeats a request until the server is not busy.
func retryWhileBusy(do func() error) error {
	err := do()
	for ; errors.Is(err, errBusy); err = do() {
		time.Sleep(clientPause)
	}
	return err
}

// repeatRequest repeats a request until ctx ends or the test fails. A busy server is no error.
func repeatRequest(ctx context.Context, t *testing.T, do func() error) {
	for ctx.Err() == nil && !t.Failed() {
		if err := do(); err != nil && !errors.Is(err, errBusy) {
			t.Error(err)
		}
		time.Sleep(clientPause)
	}
}

// clientPause is the pause of a client after each reply. It leaves a server time to follow.
const clientPause = 10 * time.Millisecond

// waitForSite waits until a reply of a process shows the given one of twoSites. A process looks for new settings
// every second.
func waitForSite(t *testing.T, s serving, r markedReply, site int) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 5*time.Minute && !t.Failed(); time.Sleep(20 * time.Millisecond) {
		body, err := request(t.Context(), http.MethodGet, s.url+r.path, "", "")
		if errors.Is(err, errBusy) {
			continue
		}
		must.Succeed(t, err)
		shown, err := r.siteOf(body)
		must.Succeed(t, err)
		if shown == site {
			return
		}
	}
	t.Fatalf("%s does not follow", r.path)
}

// headOf returns the status of a reply, and its header.
func headOf(t *testing.T, url string, header http.Header) (int, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must.Succeed(t, err)
	req.Header = header
	res, err := http.DefaultClient.Do(req)
	must.Succeed(t, err)
	must.Succeed(t, res.Body.Close())
	return res.StatusCode, res.Header
}

// TestValidatorsEndWithTheSettings changes the settings and repeats conditional requests for earlier replies. No
// reply may be 304, neither by its entity tag nor by its date.
func TestValidatorsEndWithTheSettings(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.Migrated(t, url)
		siteSet(t, url, twoSites[0]...)
		s := startServing(t, url)
		event := fmt.Sprintf(`{"title": "Jazz", "start_date": "%d-07-01", "end_date": "%[1]d-07-01", "cost": "10"}`, time.Now().Year()+1)
		if _, err := request(t.Context(), http.MethodPost, s.url+"/cal/events/v1/events", tokenOf(t, st, calendar.Editor), event); err != nil {
			t.Fatal(err)
		}
		var known []http.Header
		for _, r := range markedReplies {
			status, header := headOf(t, s.url+r.path, http.Header{})
			tag, date := header.Get("ETag"), header.Get("Date")
			if status != http.StatusOK || tag == "" {
				t.Fatalf("%s: %d, tag %q", r.path, status, tag)
			}
			known = append(known, http.Header{"If-None-Match": {tag}}, http.Header{"If-Modified-Since": {date}})
			if status, _ := headOf(t, s.url+r.path, known[len(known)-2]); status != http.StatusNotModified {
				t.Errorf("%s before the change: %d", r.path, status)
			}
		}
		siteSet(t, url, twoSites[1]...)
		waitForSite(t, s, markedReplies[0], 1)
		for i, r := range markedReplies {
			for _, header := range known[2*i : 2*i+2] {
				if status, _ := headOf(t, s.url+r.path, header); status != http.StatusOK {
					t.Errorf("%s %v: %d", r.path, header, status)
				}
			}
		}
	})
}

// waitForStatus waits until the reply to a GET has the status want.
func waitForStatus(t *testing.T, url string, want int) {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(50 * time.Millisecond) {
		if status, _ := headOf(t, url, http.Header{}); status == want {
			return
		}
	}
	t.Fatalf("%s is not %d", url, want)
}

// TestSettingsThatAProcessCannotUse stores an alias that hides the API of a process. The process must answer reads
// as before, but must not write or be ready to write. After a correction, it must work again.
func TestSettingsThatAProcessCannotUse(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.Migrated(t, url)
		token := tokenOf(t, st, calendar.Editor)
		s := startServing(t, url, "--mount", "/kalendarz/v1")
		write := func() error {
			_, err := request(t.Context(), http.MethodPost, s.url+"/kalendarz/v1/tags", token, fmt.Sprintf(`{"name": "tag %d"}`, time.Now().UnixNano()))
			return err
		}
		waitForStatus(t, s.url+"/readyz/write", http.StatusOK)
		siteSet(t, url, `path-aliases={"kalendarz": "events"}`)
		waitForStatus(t, s.url+"/readyz/write", http.StatusServiceUnavailable)
		waitForStatus(t, s.url+"/readyz", http.StatusOK)
		if err := write(); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("a write: %v", err)
		}
		waitForStatus(t, s.url+"/events/", http.StatusOK)
		siteSet(t, url, "path-aliases=")
		waitForStatus(t, s.url+"/readyz/write", http.StatusOK)
		if err := write(); err != nil {
			t.Error(err)
		}
		// A newer program has settings that this one does not know.
		must.Succeed(t, st.Ent.Setting.UpdateOneID("site").SetValue([]byte(`{"newer": 1}`)).Exec(t.Context()))
		if err := write(); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("a write with newer settings: %v", err)
		}
		waitForStatus(t, s.url+"/readyz/write", http.StatusServiceUnavailable)
		waitForStatus(t, s.url+"/events/", http.StatusOK)
		must.Succeed(t, st.Ent.Setting.DeleteOneID("site").Exec(t.Context()))
		waitForStatus(t, s.url+"/readyz/write", http.StatusOK)
		if err := write(); err != nil {
			t.Error(err)
		}
	})
}

// storedSettings is a test case: a way to create the first records of a calendar, and the settings that are stored
// then.
type storedSettings struct {
	name      string
	begin     []string // command that runs before the first records are written to a server, if it does not serve
	flags     []string // of the server
	languages string
	zone      string
}

// TestSettingsStayOnceThereAreRecords makes calendars in several ways, and runs processes with other settings on them. Neither the
// settings of the calendar nor its search texts change.
func TestSettingsStayOnceThereAreRecords(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "site.json"), []byte(`{"languages": ["pl", "en"], "timezone": "Europe/Warsaw"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []storedSettings{
		{"served without flags", nil, nil, "en,pl,es", "UTC"},
		{"served with flags", nil, []string{"--language", "es", "--timezone", "Asia/Tokyo"}, "es,en,pl", "Asia/Tokyo"},
		{"served with a folder", nil, []string{"--site", folder}, "pl,en", "Europe/Warsaw"},
		{"served with both", nil, []string{"--site", folder, "--language", "en"}, "en,pl", "Europe/Warsaw"},
		{"imported", []string{"import", "FILE"}, nil, "en,pl,es", "UTC"},
		{"imported with flags", []string{"import", "FILE", "--site-language", "pl", "--timezone", "Europe/Warsaw"}, nil, "pl,en,es", "Europe/Warsaw"},
		{"seeded", []string{"seed", "--city", "Gdańsk", "--events", "3", "--months", "1", "--no-images"}, nil, "pl,en,es", "Europe/Warsaw"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			storetest.EachURL(t, func(t *testing.T, url string) {
				test.checkSettingsStay(t, url, folder)
			})
		})
	}
}

// checkSettingsStay writes records, and checks that no command changes the settings afterwards. Folder has a site.json.
func (test storedSettings) checkSettingsStay(t *testing.T, url, folder string) {
	st := storetest.Migrated(t, url)
	if test.begin != nil {
		runOn(t, url, test.begin...)
	}
	s := startServing(t, url, test.flags...)
	token := tokenOf(t, st, calendar.Editor)
	api := s.url + "/cal/events/v1/events"
	body, err := request(t.Context(), http.MethodPost, api, token, `{"title": "Turtle", "start_date": "2027-07-01", "end_date": "2027-07-01"}`)
	must.Succeed(t, err)
	var event struct{ ID int }
	must.Succeed(t, json.Unmarshal([]byte(body), &event))
	for language, title := range map[string]string{"en": "Turtle", "pl": "Żółw", "es": "Tortuga"} {
		path := fmt.Sprintf("%s/%d?ml_language=%s", api, event.ID, language)
		if _, err := request(t.Context(), http.MethodPut, path, token, fmt.Sprintf(`{"title": %q}`, title)); err != nil {
			t.Fatal(err)
		}
	}
	must.Succeed(t, s.Process.Kill())
	<-s.ended //nolint:errcheck // it was killed
	shown := runOn(t, url, "site", "show")
	for _, want := range []string{test.languages, test.zone} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %s in\n%s", want, shown)
		}
	}
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--media", "MEDIA"},
		{"serve", "--listen", "127.0.0.1:0", "--media", "MEDIA", "--language", "pl", "--timezone", "Europe/Lisbon", "--per-page", "3"},
		{"serve", "--listen", "127.0.0.1:0", "--media", "MEDIA", "--language", "es", "--currency-code", "EUR"},
		{"serve", "--listen", "127.0.0.1:0", "--media", "MEDIA", "--site", folder},
		{"import", "FILE", "--site-language", "es", "--timezone", "America/Lima"},
		{"seed", "--city", "Sevilla", "--force", "--append", "--events", "3", "--months", "1", "--no-images"},
		{"check", "--language", "es"},
	} {
		runOn(t, url, args...)
		if now := runOn(t, url, "site", "show"); now != shown {
			t.Errorf("%v: the settings became\n%s\nfrom\n%s", args, now, shown)
		}
		if out := runOn(t, url, "check"); !strings.Contains(out, "no problems") {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// errBusy is a reply 503: the server or its database could not answer in time, which on a busy machine is no fault.
var errBusy = errors.New("503 Service Unavailable")

// request returns the body of a reply. Another status than 200 or 201 is an error.
func request(ctx context.Context, method, url, token, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode == http.StatusServiceUnavailable {
		return "", fmt.Errorf("%s %s: %w: %s", method, url, errBusy, text)
	}
	if err == nil && res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		err = fmt.Errorf("%s %s: %s: %s", method, url, res.Status, text)
	}
	return string(text), err
}

// checkOutput returns what the command check prints.
func checkOutput(t *testing.T, url string) string {
	t.Helper()
	var out bytes.Buffer
	run(t.Context(), []string{"check", "--db", url}, noOutput, streams{Out: &out, Err: &out, In: strings.NewReader("")})
	return out.String()
}

// TestKilledWhileReindexing kills a command that changes the main language while it recomputes records. The next
// command must continue, with the same result as a command that is not killed.
func TestKilledWhileReindexing(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.Migrated(t, url)
		var said bytes.Buffer
		seed := []string{"seed", "--db", url, "--city", "Gdańsk", "--events", "1500", "--no-images", "--from", "2026-11-01"}
		if code := run(t.Context(), seed, noOutput, streams{Out: &said, Err: &said, In: strings.NewReader("")}); code != 0 {
			t.Fatalf("exit status %d: %s", code, &said)
		}
		killed := 0
		for batches, languages := range []string{"es,pl,en", "en,pl,es", "pl,en,es", "es,pl,en"} {
			p := start(t, nil, "", "site", "set", "--db", url, "languages="+languages)
			if killedAfterBatches(t, st, p, batches+1) {
				killed++
			}
			siteSet(t, url)
			if pending, err := upkeep.ReindexPending(t.Context(), st.Ent); pending || err != nil {
				t.Errorf("languages %s: pending %t, %v", languages, pending, err)
			}
			if out := checkOutput(t, url); !strings.Contains(out, "no problems") {
				t.Errorf("languages %s: %s", languages, out)
			}
		}
		if killed == 0 {
			t.Error("no process was killed while it derived records")
		}
		t.Logf("%d processes were killed", killed)
	})
}

// killedAfterBatches kills a process after it has noted its progress several times. It reports whether the process was
// killed before it had finished.
func killedAfterBatches(t *testing.T, st *store.Store, p *process, batches int) bool {
	t.Helper()
	seen := map[string]bool{}
	for len(seen) <= batches { // the first is the beginning
		select {
		case err := <-p.ended:
			if err != nil {
				t.Fatalf("%v: %s", err, p.said)
			}
			return false
		case <-time.After(time.Millisecond):
		}
		row, err := st.Ent.Setting.Get(t.Context(), edit.ReindexSetting)
		if err == nil {
			seen[string(row.Value)] = true
		} else if !ent.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	if err := p.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	if <-p.ended == nil { // it had finished
		return false
	}
	pending, err := upkeep.ReindexPending(t.Context(), st.Ent)
	must.Succeed(t, err)
	return pending
}
