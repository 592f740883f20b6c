// Package bench measures the service beside hand-written baselines.
package bench

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/auth"
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/locale"
	"github.com/almanac-cal/almanac/media"
	"github.com/almanac-cal/almanac/server"
	"github.com/almanac-cal/almanac/store"
)

// service is a server on a real port.
type service struct {
	api    string // address of the API
	token  string
	basic  string // the same user by password
	client *fasthttp.Client
}

// serve starts the service on a database, with an administrator, until the benchmark ends.
func serve(b *testing.B, st *store.Store) *service {
	b.Helper()
	ctx := b.Context()
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	const login, password = "bench", "correct horse battery"
	user, err := auth.AddUser(ctx, st.Ent, time.Now(), login, "", calendar.Administrator, password)
	check(err)
	token, _, err := auth.IssueToken(ctx, st.Ent, time.Now(), user.ID, "", nil)
	check(err)
	key, err := edit.PasswordKey(ctx, st.Ent)
	check(err)
	words, err := locale.Load()
	check(err)
	files, err := media.OpenDir(b.TempDir())
	check(err)
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	check(err)
	site := calendar.Site{
		BaseURL: "http://" + ln.Addr().String(), Language: calendar.English, PerPage: 10,
		Currency: calendar.Currency{Symbol: "$", Code: "USD", Position: calendar.Prefix, Decimal: "."},
		Now:      func() time.Time { return time.Now().UTC().Truncate(time.Second) },
	}
	api, err := handlers.New(handlers.Config{
		DB: st.Ent, Site: site, Words: words, PasswordKey: key, Files: files, Fetcher: media.NewFetcher(),
	})
	check(err)
	srv, err := server.New(server.Config{
		API: api, Auth: auth.NewVerifier(st.Ent, site.Now), Words: words, Site: site, Log: slog.New(slog.DiscardHandler),
	})
	check(err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, ln) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := files.Close(); err != nil {
			b.Error(err)
		}
	})
	return &service{
		api: site.BaseURL + "/" + handlers.Namespace, token: token,
		basic:  "Basic " + base64.StdEncoding.EncodeToString([]byte(login+":"+password)),
		client: &fasthttp.Client{MaxConnsPerHost: 64},
	}
}

func (s *service) do(method, path, authorization, body string, want int) ([]byte, error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI(s.api + path)
	req.Header.SetMethod(method)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	if body != "" {
		req.Header.SetContentType("application/json")
		req.SetBodyString(body)
	}
	if err := s.client.Do(req, res); err != nil {
		return nil, err
	}
	if res.StatusCode() != want {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode(), res.Body())
	}
	return append([]byte(nil), res.Body()...), nil
}

func (s *service) post(path, body string) error {
	_, err := s.do("POST", path, "Bearer "+s.token, body, 201)
	return err
}

func (s *service) get(path, authorization string) error {
	_, err := s.do("GET", path, authorization, "", 200)
	return err
}

// created posts a record and returns its id.
func (s *service) created(b *testing.B, path, body string) int64 {
	b.Helper()
	data, err := s.do("POST", path, "Bearer "+s.token, body, 201)
	if err != nil {
		b.Fatal(err)
	}
	var record struct{ ID int64 }
	if err := json.Unmarshal(data, &record); err != nil {
		b.Fatal(err)
	}
	return record.ID
}

// fill posts events that start in the days to come, with a venue, an organizer and a category each.
func (s *service) fill(b *testing.B, events int) {
	b.Helper()
	venue, organizer := s.created(b, "/venues", `{"venue":"Hall"}`), s.created(b, "/organizers", `{"organizer":"Choir"}`)
	for i := range events {
		body := fmt.Sprintf(`{"title":"Concert %d","start_date":"+%d days 18:00","end_date":"+%d days 20:00","cost":"10",`+
			`"venue":%d,"organizer":%d,"categories":["Music"],"tags":["Live"]}`, i, i%60+1, i%60+1, venue, organizer)
		if err := s.post("/events", body); err != nil {
			b.Fatal(err)
		}
	}
}
