package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/proof/must"
)

// eventRowOf returns an event with these fields as the API would show it.
func eventRowOf(id int64, title, venue, status string) eventRow {
	return eventRow{
		ID: id, Title: title, Status: status, Slug: strings.ToLower(title), Description: "<p>Text.</p>\n",
		Venue: json.RawMessage(fmt.Sprintf(`{"venue":%q}`, venue)), Tags: []struct{ Name string }{{"b"}, {"a"}},
	}
}

func sentEvent(title, venue string) *event {
	return &event{Title: title, Description: "Text.", Venue: venue, Tags: []string{"a", "b"}}
}

func TestAuditFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		tell   func(*journal)
		rows   []eventRow
		venues map[string]int
		terms  map[string]int
		want   string // part of the first fault; "" for none
	}{
		{
			"all is well", func(j *journal) { j.created(sentEvent("A", "Hall"), 1, true) },
			[]eventRow{eventRowOf(1, "A", "Hall", "publish")},
			map[string]int{"Hall": 1},
			map[string]int{"tags a": 1, "tags b": 1},
			"",
		},
		{
			"an unknown create happened", func(j *journal) { j.created(sentEvent("A", "Hall"), 0, false) },
			[]eventRow{eventRowOf(1, "A", "Hall", "publish")},
			map[string]int{"Hall": 1},
			map[string]int{"tags a": 1, "tags b": 1},
			"",
		},
		{"an unknown create did not happen", func(j *journal) { j.created(sentEvent("A", "Hall"), 0, false) }, nil, nil, nil, ""},
		{"an acknowledged create is lost", func(j *journal) { j.created(sentEvent("A", "Hall"), 1, true) }, nil, nil, nil, "is not there"},
		{"an acknowledged event is lost after an unknown update", func(j *journal) {
			j.created(sentEvent("A", "Hall"), 1, true)
			j.changed(sentEvent("A", "New hall"), false)
		}, nil, nil, nil, "is not there"},
		{"an unknown update happened by halves", func(j *journal) {
			j.created(sentEvent("A", "Hall"), 1, true)
			e := sentEvent("A", "New hall")
			e.Featured = true
			j.changed(e, false)
		}, []eventRow{eventRowOf(1, "A", "New hall", "publish")}, map[string]int{"New hall": 1}, map[string]int{"tags a": 1, "tags b": 1}, "has to be"},
		{"an acknowledged delete is undone", func(j *journal) {
			j.created(sentEvent("A", "Hall"), 1, true)
			e := sentEvent("A", "Hall")
			e.Trashed = true
			j.changed(e, true)
		}, []eventRow{eventRowOf(1, "A", "Hall", "publish")}, map[string]int{"Hall": 1}, map[string]int{"tags a": 1, "tags b": 1}, "has to be"},
		{
			"an event without its venue", func(j *journal) { j.created(sentEvent("A", "Hall"), 0, false) },
			[]eventRow{eventRowOf(1, "A", "", "publish")},
			nil,
			map[string]int{"tags a": 1, "tags b": 1},
			"has to be",
		},
		{
			"a venue without its event", func(j *journal) { j.created(sentEvent("A", "Hall of A"), 0, false) },
			nil,
			map[string]int{"Hall of A": 1},
			nil, "with which it was sent",
		},
		{
			"an event twice", func(j *journal) { j.created(sentEvent("A", "Hall"), 1, true) },
			[]eventRow{eventRowOf(1, "A", "Hall", "publish"), eventRowOf(2, "A", "Hall", "publish")},
			map[string]int{"Hall": 1},
			map[string]int{"tags a": 1, "tags b": 1},
			"there twice",
		},
		{"an event of nobody", func(*journal) {}, []eventRow{eventRowOf(1, "A", "", "publish")}, nil, nil, "never sent"},
		{
			"another id than was told", func(j *journal) { j.created(sentEvent("A", "Hall"), 1, true) },
			[]eventRow{eventRowOf(2, "A", "Hall", "publish")},
			map[string]int{"Hall": 1},
			map[string]int{"tags a": 1, "tags b": 1},
			"acknowledged as 1",
		},
		{"a venue twice", func(*journal) {}, nil, map[string]int{"Hall": 2}, nil, "2 records"},
		{
			"a wrong count", func(j *journal) { j.created(sentEvent("A", "Hall"), 1, true) },
			[]eventRow{eventRowOf(1, "A", "Hall", "publish")},
			map[string]int{"Hall": 1},
			map[string]int{"tags a": 2, "tags b": 1},
			"says that it has 2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := newJournal()
			c.tell(j)
			faults := j.audit(&calendarState{events: c.rows, venues: c.venues, terms: c.terms})
			switch {
			case c.want == "" && len(faults) > 0:
				t.Errorf("got %q", faults)
			case c.want != "" && !strings.Contains(strings.Join(faults, "\n"), c.want):
				t.Errorf("got %q, want %q", faults, c.want)
			}
		})
	}
}

func TestShapeOfRefusals(t *testing.T) {
	t.Parallel()
	const typed, good = "application/json; charset=UTF-8", `{"code":"rest_unavailable","message":"Soon.","data":{"status":503}}`
	for _, c := range []struct {
		name   string
		status int
		kind   string
		after  string
		body   string
		well   bool
	}{
		{"as it should be", 503, typed, "5", good, true},
		{"a success", 200, "text/plain", "", "x", true},
		{"our own fault", 500, typed, "", `{"code":"rest_internal_error","message":"x","data":{"status":500}}`, false},
		{"of a proxy", 503, "text/html", "5", "<html>", false},
		{"without Retry-After", 503, typed, "", good, false},
		{"back at once", 503, typed, "0", good, false},
		{"in the past", 503, typed, "-1", good, false},
		{"with another status inside", 503, typed, "5", `{"code":"rest_unavailable","message":"x","data":{"status":500}}`, false},
		{"with another code", 503, typed, "5", `{"code":"rest_no_route","message":"x","data":{"status":503}}`, false},
	} {
		h := http.Header{"Content-Type": {c.kind}, "Retry-After": {c.after}}
		if err := checkShape(answer{status: c.status, header: h, body: []byte(c.body)}); (err == nil) != c.well {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestGuiltyLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`{"level":"INFO","status":200,"bytes":500}`:                          false,
		`{"level":"ERROR","status":503,"error":"away"}`:                      false,
		`{"level":"ERROR","status":500,"route":"/events","error":"x"}`:       true,
		`goroutine 1 [running]: panic: runtime error`:                        true,
		`{"level":"ERROR","msg":"scheduled publication","error":"bad conn"}`: false,
	} {
		if err := logErrors("x", []byte(line+"\n")); (err != nil) != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// echo is a server that sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return ln.Addr().String()
}

func TestProxyPassesHoldsBackAndCuts(t *testing.T) {
	t.Parallel()
	p, err := newProxy(t.Context(), echo(t))
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	dial := func() net.Conn {
		t.Helper()
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.address())
		must.Succeed(t, err)
		return c
	}
	ask := func(c net.Conn, text string, within time.Duration) error {
		if err := c.SetDeadline(time.Now().Add(within)); err != nil {
			return err
		}
		if _, err := io.WriteString(c, text); err != nil {
			return err
		}
		got := make([]byte, len(text))
		if _, err := io.ReadFull(c, got); err != nil {
			return err
		}
		if !bytes.Equal(got, []byte(text)) {
			return fmt.Errorf("got %s", got)
		}
		return nil
	}
	c := dial()
	defer c.Close()
	must.Succeed(t, ask(c, "one", 10*time.Second))
	p.set(stall)
	var timeout net.Error
	if err := ask(c, "two", 50*time.Millisecond); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatalf("nothing goes through: %v", err)
	}
	p.set(pass)
	// What was held back comes, before what is sent now.
	must.Succeed(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	late := make([]byte, 3)
	if _, err := io.ReadFull(c, late); err != nil || string(late) != "two" {
		t.Fatalf("got %q, %v", late, err)
	}
	p.set(refuse)
	if err := ask(c, "three", 10*time.Second); err == nil {
		t.Fatal("a connection outlived the cut")
	}
	p.set(pass)
	again := dial()
	defer again.Close()
	must.Succeed(t, ask(again, "four", 10*time.Second))
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"-nothing"}, {"-binary", "x", "no-such-scenario"}, {"-binary", "x", "-parallel", "0"}} {
		if got := run(context.Background(), args, io.Discard); got != 2 {
			t.Errorf("%q: status %d", args, got)
		}
	}
}
