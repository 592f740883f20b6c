package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/must"
	"github.com/almanac-cal/almanac/proof/storetest"
	"github.com/almanac-cal/almanac/server"
)

// megabyte repeats a text up to a length of about 1 MB.
func megabyte(text string) string { return strings.Repeat(text, 1_000_000/len(text)) }

// create returns the body of a POST to /events with one additional field.
func create(t *testing.T, field string, value any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	body := map[string]any{"title": "Concert", "start_date": "2026-12-05 18:00", "end_date": "2026-12-05 20:00"}
	body[field] = value
	must.Succeed(t, enc.Encode(body))
	return b.String()
}

// TestRefusedWritesCostOnePass counts the allocations and the statements of writes by unknown senders. Parsing a text
// allocates for each tag; a lookup is a statement. The test does not run in parallel, since other tests allocate too.
func TestRefusedWritesCostOnePass(t *testing.T) { //nolint:paralleltest // see above
	repeat := func(n int, item any) []any {
		items := make([]any, n)
		for i := range items {
			items[i] = item
		}
		return items
	}
	ids := func(n, first int) []any {
		items := make([]any, n)
		for i := range items {
			items[i] = first + i
		}
		return items
	}
	inline := func(name string) []any {
		items := make([]any, 500)
		for i := range items {
			items[i] = map[string]any{name: "Hall", "author": 1, "image": 1_000_000 + i}
		}
		return items
	}
	const form = "application/x-www-form-urlencoded"
	tests := []struct {
		name, kind, body string
		status           int
		allocations      float64
		statements       int64
	}{
		{"text", "", create(t, "description", megabyte("An evening of music. ")), 401, 2000, 0},
		{"HTML", "", create(t, "description", megabyte("<p>An <b>evening</b> of <a href='/x'>music</a></p>")), 401, 2000, 0},
		{"HTML in an excerpt", "", create(t, "excerpt", megabyte("<ul><li>")), 401, 2000, 0},
		{"HTML of a venue", "", create(t, "venue", map[string]any{"venue": "Hall", "description": megabyte("<b>")}), 401, 2000, 0},
		{"HTML of an organizer", "", create(t, "organizer", map[string]any{"organizer": "Choir", "description": megabyte("<b>")}), 401, 2000, 0},
		{"long title", "", create(t, "title", megabyte("<b>a</b>")), 400, 5000, 0},
		{"title of tags", "", create(t, "title", megabyte("<b>")), 400, 2000, 0},
		{"long cost", "", create(t, "cost", megabyte("<b>a</b>")), 400, 5000, 0},
		{"cost of many", "", create(t, "cost", repeat(40_000, "<b>")), 400, 100_000, 0},
		{"ids in a list", "", create(t, "tags", ids(40_000, 1_000_000)), 400, 150_000, 0},
		{"ids in a text", "", create(t, "tags", megabyte("1,")), 400, 10_000, 0},
		{"unknown ids", "", create(t, "venue", ids(2000, 1_000_000)), 400, 50_000, 1},
		{"values", "", create(t, "x", repeat(150_000, []any{})), 413, 2000, 0},
		{"fields", "", create(t, "_fields", megabyte("a,")), 401, 10_000, 0},
		{"venues with images", "", create(t, "venue", inline("venue")), 400, 150_000, 2},
		{"organizers with images", "", create(t, "organizer", inline("organizer")), 400, 150_000, 2},
		{"pairs", form, megabyte("a&"), 413, 20_000, 0},
		{"brackets", form, "a" + megabyte("[b]"), 413, 2000, 0},
	}
	// Engines do not differ in this, and tests of all engines run in parallel.
	st := storetest.Migrated(t, storetest.SQLite(t))
	var statements atomic.Int64
	st.Watch(func(ctx context.Context, _, _ string) (context.Context, func(error)) {
		statements.Add(1)
		return ctx, func(error) {}
	})
	api := apitest.New(t, st)
	api.SignIn(t, "admin", calendar.Administrator)
	s := api.Another(t, func(c *server.Config) { c.Log = slog.New(slog.DiscardHandler) })
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { //nolint:paralleltest // see above
			if len(test.body) > 1<<20 {
				t.Fatalf("the body has %d bytes", len(test.body))
			}
			kind := test.kind
			if kind == "" {
				kind = "application/json"
			}
			send := func() {
				req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, apitest.BaseURL+"/cal/events/v1/events", strings.NewReader(test.body))
				req.Header.Set("Content-Type", kind)
				if res := apitest.Send(t, s, req); res.Status != test.status {
					t.Fatalf("got %d %.300s", res.Status, res.Body)
				}
			}
			statements.Store(0)
			send()
			if n := statements.Load(); n > test.statements {
				t.Errorf("%d statements, at most %d", n, test.statements)
			}
			if n := testing.AllocsPerRun(1, send); n > test.allocations {
				t.Errorf("%.0f allocations, at most %.0f", n, test.allocations)
			}
		})
	}
}

// TestTheDeadlineEndsParsing checks that a write stops between two parameters when its deadline has passed, before
// the permission check.
func TestTheDeadlineEndsParsing(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		api.SignIn(t, "admin", calendar.Administrator)
		s := api.Another(t, func(c *server.Config) { c.Timeout = time.Nanosecond })
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, apitest.BaseURL+"/cal/events/v1/events",
			strings.NewReader(create(t, "description", megabyte("<b>"))))
		req.Header.Set("Content-Type", "application/json")
		if res := apitest.Send(t, s, req); res.Status != http.StatusServiceUnavailable {
			t.Errorf("got %d %.300s", res.Status, res.Body)
		}
	})
}

// TestOneAddressLeavesRoomForOthers has one address keep as many slots busy as it can. Other addresses are still
// served, though all use the same proxy.
func TestOneAddressLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	files := newStuckStore()
	proxies, err := limit.ParseProxies([]string{"127.0.0.0/8"})
	must.Succeed(t, err)
	s := serve(t, newBrokenServer(t, io.Discard, func(_ *handlers.Config, c *server.Config) {
		c.Media, c.Concurrent, c.Proxies = files, 4, proxies
	}))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { get(t, s.url+"/media/a.png", "X-Forwarded-For", "192.0.2.1") })
	}
	for range 3 {
		<-files.entered
	}
	for range 5 {
		if res := get(t, s.url+"/cal/events/v1", "X-Forwarded-For", "192.0.2.2"); res.Status != 200 {
			t.Errorf("another address: %d", res.Status)
		}
	}
	close(files.leave)
	all.Wait()
}

// silentServer is an HTTP server that accepts requests and answers none until the test ends.
type silentServer struct {
	*httptest.Server
	asked chan struct{}
	end   func()
}

func newSilentServer(t *testing.T) *silentServer {
	t.Helper()
	s := &silentServer{asked: make(chan struct{}, 1000)}
	ended := make(chan struct{})
	s.end = sync.OnceFunc(func() { close(ended) })
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked <- struct{}{}
		select {
		case <-ended:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(func() {
		s.end()
		s.Close()
	})
	return s
}

// noise returns a PNG of random pixels, of about 310 KB.
func noise(t *testing.T) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 280, 280))
	chance := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(chance.Uint32())
	}
	var b bytes.Buffer
	must.Succeed(t, png.Encode(&b, img))
	return b.Bytes()
}

// busyServer is a server that handles slow picture requests, with a client that sends these and other requests.
type busyServer struct {
	api    *apitest.API
	url    string
	client *http.Client

	all             sync.WaitGroup // requests with pictures
	stored, refused atomic.Int64
}

// send sends a body of the given content type as a user. "" as user means no credentials. Without a body it sends
// a GET.
func (b *busyServer) send(t *testing.T, as, path, kind, body string) (status int, header http.Header) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(t.Context(), method, b.url+"/cal/events/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	req.Header.Set("Content-Type", kind)
	if as != "" {
		req.Header.Set("Authorization", "Bearer "+b.api.Token(as))
	}
	res, err := b.client.Do(req)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Error(err)
	}
	return res.StatusCode, res.Header
}

// sendPictures sends n requests at once. Each must end with wantStatus, or with 503 and Retry-After.
func (b *busyServer) sendPictures(t *testing.T, n, wantStatus int, request func(i int) (int, http.Header)) {
	t.Helper()
	for i := range n {
		b.all.Go(func() {
			switch status, header := request(i); {
			case status == wantStatus:
				b.stored.Add(1)
			case status == http.StatusServiceUnavailable && header.Get("Retry-After") != "":
				b.refused.Add(1)
			default:
				t.Errorf("picture %d: %d, Retry-After %q", i, status, header.Get("Retry-After"))
			}
		})
	}
}

// sendUntilServed sends a request up to four times, while the reply is 503. Between attempts it waits as
// Retry-After says, at most a second. All clients share one address, whose queue at the gate may be full.
func (b *busyServer) sendUntilServed(t *testing.T, as, path, contentType, body string) (status int) {
	t.Helper()
	for range 4 {
		var header http.Header
		if status, header = b.send(t, as, path, contentType, body); status != http.StatusServiceUnavailable {
			break
		}
		seconds, err := strconv.Atoi(header.Get("Retry-After"))
		if err != nil || seconds > 1 {
			t.Fatalf("Retry-After %q", header.Get("Retry-After"))
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
	return status
}

// servesOthers checks that reads of all users are served, and a write without pictures. round makes the write
// unique.
func (b *busyServer) servesOthers(t *testing.T, round int) {
	t.Helper()
	for _, as := range []string{"", "admin", "fetcher", "uploader"} {
		if status := b.sendUntilServed(t, as, "/events", "", ""); status != http.StatusOK {
			t.Errorf("reading as %q: %d", as, status)
		}
	}
	if status := b.sendUntilServed(t, "admin", "/tags", "application/json", fmt.Sprintf(`{"name":"Tag %d"}`, round)); status != http.StatusCreated {
		t.Errorf("writing: %d", status)
	}
}

// pictureForm returns a form with a picture, and its content type.
func pictureForm(t *testing.T) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", "noise.png")
	if err == nil {
		_, err = part.Write(noise(t))
	}
	if err == nil {
		err = w.Close()
	}
	must.Succeed(t, err)
	return b.String(), w.FormDataContentType()
}

// TestPicturesLeaveRoomForOthers has users send many pictures, and image URLs on a server that never answers.
// Meanwhile other users are served, and these users too for requests without pictures.
func TestPicturesLeaveRoomForOthers(t *testing.T) {
	apitest.Each(t, func(t *testing.T, api *apitest.API) {
		for login, role := range map[string]calendar.Role{
			"admin": calendar.Administrator, "fetcher": calendar.Author, "uploader": calendar.Author,
		} {
			api.SignIn(t, login, role)
		}
		busy := &busyServer{
			api: api, url: serve(t, api.Another(t, func(c *server.Config) { c.Concurrent = 8 })).url,
			client: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 400}},
		}
		away := newSilentServer(t)
		busy.sendPictures(t, 80, http.StatusBadRequest, func(i int) (int, http.Header) {
			address := fmt.Sprintf(`%s/%d.png`, away.URL, i)
			switch i % 3 {
			case 0:
				return busy.send(t, "fetcher", "/images", "application/json", fmt.Sprintf(`{"url":%q}`, address))
			case 1:
				return busy.send(t, "fetcher", "/events", "application/json", create(t, "image", address))
			default:
				return busy.send(t, "fetcher", "/events", "application/json", create(t, "venue", map[string]any{"venue": "Hall", "image": address}))
			}
		})
		for range 4 {
			<-away.asked
		}
		form, contentType := pictureForm(t)
		uploads := 90
		if testing.Short() {
			uploads = 45
		}
		busy.sendPictures(t, uploads, http.StatusCreated, func(int) (int, http.Header) {
			return busy.send(t, "uploader", "/images", contentType, form)
		})
		for i := range 20 {
			busy.servesOthers(t, i)
			// Later, the first downloads have lost their patience.
			if n := len(away.asked); i == 0 && n > 0 {
				t.Errorf("%d downloads more of one user", n)
			}
		}
		away.end()
		busy.all.Wait()
		// At least those that were not in line.
		if busy.stored.Load() < 8 {
			t.Errorf("%d pictures ended well, %d were refused", busy.stored.Load(), busy.refused.Load())
		}
	})
}
