// Package lab measures the service beside hand-written baselines.
package lab

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/lab/local"
	"github.com/almanac-cal/almanac/proof/must"
)

// service is a calendar service on a local port.
type service struct {
	api    string // address of the API
	token  string
	basic  string // the same user by password
	client *fasthttp.Client
}

// serve starts a service with an administrator on a database. It stops at the end of the benchmark.
func serve(b *testing.B, st *store.Store) *service {
	b.Helper()
	ctx := b.Context()
	running, err := local.Start(ctx, local.Config{Store: st})
	must.Succeed(b, err)
	b.Cleanup(func() {
		if err := running.Close(); err != nil {
			b.Error(err)
		}
	})
	const password = "correct horse battery"
	must.Succeed(b, auth.SetPassword(ctx, st.Ent, running.UserID, password))
	return &service{
		api: running.API, token: running.Token,
		basic:  "Basic " + base64.StdEncoding.EncodeToString([]byte(local.Login+":"+password)),
		client: &fasthttp.Client{MaxConnsPerHost: 64},
	}
}

func (s *service) do(method, path, authorization, body string, want int, header ...string) ([]byte, error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI(s.api + path)
	req.Header.SetMethod(method)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
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

func (s *service) post(path, body string, header ...string) error {
	_, err := s.do("POST", path, "Bearer "+s.token, body, 201, header...)
	return err
}

func (s *service) get(path, authorization string) error {
	_, err := s.do("GET", path, authorization, "", 200)
	return err
}

// created posts a record and returns its id. The benchmark fails unless it is created.
func (s *service) created(b *testing.B, path, body string) int64 {
	b.Helper()
	data, err := s.do("POST", path, "Bearer "+s.token, body, 201)
	must.Succeed(b, err)
	var record struct{ ID int64 }
	must.Succeed(b, json.Unmarshal(data, &record))
	return record.ID
}

// fill posts a number of events on the next days, each with a venue, an organizer and a category.
func (s *service) fill(b *testing.B, events int) {
	b.Helper()
	venue, organizer := s.created(b, "/venues", `{"venue":"Hall"}`), s.created(b, "/organizers", `{"organizer":"Choir"}`)
	for i := range events {
		body := fmt.Sprintf(`{"title":"Concert %d","start_date":"+%d days 18:00","end_date":"+%d days 20:00","cost":"10",`+
			`"venue":%d,"organizer":%d,"categories":["Music"],"tags":["Live"]}`, i, i%60+1, i%60+1, venue, organizer)
		must.Succeed(b, s.post("/events", body))
	}
}
