package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/migrate"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

// clock is a clock that a scenario can set forward and back.
type clock struct{ ahead atomic.Int64 }

// now returns the time on the clock in UTC, cut to seconds.
func (c *clock) now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load())).UTC().Truncate(time.Second)
}

func (c *clock) jump(by time.Duration) { c.ahead.Add(int64(by)) }

// localService is the service inside this process, so that a scenario can set its clock.
type localService struct {
	store *store.Store
	clock *clock
	base  string
	token string
	user  int64
	end   func() error
}

// startLocal starts a service in this process, on a new SQLite file. Its rate limits are too high for the load to
// reach. At the end of the scenario, its log must show no fault.
func (w *world) startLocal(ctx context.Context) (_ *localService, err error) {
	s := &localService{clock: &clock{}}
	if s.store, err = store.Open(ctx, "sqlite://"+filepath.Join(w.dir, "almanac.db")); err != nil {
		return nil, err
	}
	w.later(s.store.Close)
	if _, err := migrate.Apply(ctx, s.store, migrate.ApplyOptions{Operator: "faults"}); err != nil {
		return nil, err
	}
	user, err := auth.AddUser(ctx, s.store.Ent, s.clock.now(), "driver", "", calendar.Administrator, "")
	if err != nil {
		return nil, err
	}
	s.user = user.ID
	if s.token, _, err = auth.IssueToken(ctx, s.store.Ent, s.clock.now(), user.ID, "", nil); err != nil {
		return nil, err
	}
	key, err := edit.PasswordKey(ctx, s.store.Ent)
	if err != nil {
		return nil, err
	}
	words, err := locale.Load()
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(w.dir, "media"), 0o755); err != nil {
		return nil, err
	}
	files, err := media.OpenDir(filepath.Join(w.dir, "media"))
	if err != nil {
		return nil, err
	}
	w.later(files.Close)
	logFile, err := os.Create(filepath.Join(w.dir, "inside.log"))
	if err != nil {
		return nil, err
	}
	w.later(logFile.Close)
	log := slog.New(slog.NewJSONHandler(logFile, nil))
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.base = "http://" + ln.Addr().String()
	site := calendar.Site{
		BaseURL: s.base, Language: calendar.English, PerPage: 10, Now: s.clock.now,
		Currency: calendar.Currency{Symbol: "$", Code: "USD", Position: calendar.Prefix, Decimal: "."},
	}
	lists := index.New(s.store.Ent, read.EventColumns(), log)
	api, err := handlers.New(handlers.Config{
		Calendar: read.Calendar{Primary: s.store.Ent, Index: lists, Site: site, Words: words, PasswordKey: key},
		Files:    files, Fetcher: media.NewFetcher(),
	})
	if err != nil {
		return nil, err
	}
	rate := limit.Rate{Interval: 100 * time.Microsecond, Burst: 10_000}
	srv, err := server.New(server.Config{
		API: api, Auth: auth.NewVerifier(s.store.Ent, s.clock.now), Words: words, Site: site, Log: log, Media: files,
		Limits: server.Limits{Timeout: requestTime, Rates: server.Rates{Address: rate, Token: rate}},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 3)
	go func() { ended <- srv.Serve(ctx, ln) }()
	go func() { ended <- lists.Run(ctx) }()
	go func() { ended <- s.publish(ctx) }()
	s.end = func() error {
		cancel()
		return errors.Join(<-ended, <-ended, <-ended)
	}
	w.later(func() error {
		data, err := os.ReadFile(filepath.Join(w.dir, "inside.log"))
		return errors.Join(err, logErrors("the service", data), checkDurations(data))
	})
	return s, nil
}

// checkDurations returns an error if the log has a request with a negative duration.
func checkDurations(log []byte) error {
	if i := strings.Index(string(log), `"took":-`); i >= 0 {
		return fmt.Errorf("a request took less than no time: %.200s", log[i:])
	}
	return nil
}

// publish publishes scheduled events that are due, every 300 ms until ctx ends. It returns nil then.
func (s *localService) publish(ctx context.Context) error {
	for {
		if _, err := edit.PublishDue(ctx, s.store.Ent, s.clock.now()); err != nil && ctx.Err() == nil {
			return err
		}
		if pause(ctx, 300*time.Millisecond) != nil {
			return nil
		}
	}
}

// jumpingClock is a scenario that sets the clock forward and back under load. Some jumps are longer than any time-out
// in the service.
func jumpingClock(ctx context.Context, w *world) error {
	s, err := w.startLocal(ctx)
	if err != nil {
		return err
	}
	stopped := false
	defer func() {
		if !stopped {
			if err := s.end(); err != nil {
				w.fail("the service: %w", err)
			}
		}
	}()
	c := w.client(s.token)
	defer c.http.CloseIdleConnections()
	// A record that is published in an hour by the clock, before any jump.
	due := s.clock.now().Add(time.Hour)
	scheduled, err := s.schedule(ctx, c, due)
	if err != nil {
		return err
	}
	l := w.load(ctx, s.token, func() []string { return []string{s.base} }, func(l *load) { l.images = true })
	err = s.jumps(ctx, w, c, scheduled, due)
	l.stop()
	if err != nil {
		return err
	}
	if err := s.revoked(ctx, w); err != nil {
		return err
	}
	w.journal.created(s.scheduledEvent(), scheduled, true)
	db := "sqlite://" + filepath.Join(w.dir, "almanac.db")
	p := &program{w: w, name: "inside", port: portOf(s.base)}
	if err := w.verify(ctx, p, db, s.token); err != nil {
		return err
	}
	stopped = true
	return s.end()
}

func portOf(base string) int {
	_, port, _ := strings.Cut(strings.TrimPrefix(base, "http://"), ":")
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0
	}
	return n
}

func (s *localService) scheduledEvent() *event {
	return &event{
		Title: "Scheduled", Description: "Later.", Venue: "Hall later", Organizers: []string{"Club later"},
		Tags: []string{"later"}, Categories: []string{"later"},
	}
}

// schedule creates an event with an instant of publication in the future, and returns its id.
func (s *localService) schedule(ctx context.Context, c *client, due time.Time) (int64, error) {
	body := s.scheduledEvent().body()
	body["date_utc"] = due.Format(time.DateTime)
	body["start_date"], body["end_date"] = due.AddDate(0, 0, 30).Format(time.DateTime), due.AddDate(0, 0, 30).Format(time.DateTime)
	a, err := c.json(ctx, s.base, http.MethodPost, "/events", body, http.StatusCreated)
	if err != nil {
		return 0, err
	}
	var row eventRow
	err = a.into(&row)
	if err == nil && row.Status != "future" {
		err = fmt.Errorf("a scheduled event has the status %s", row.Status)
	}
	return row.ID, err
}

// jumps sets the clock several times. After each jump it checks the scheduled event, times in replies and the
// revision. due is the event's publication date.
func (s *localService) jumps(ctx context.Context, w *world, c *client, scheduled int64, due time.Time) error {
	nobody := w.client("")
	defer nobody.http.CloseIdleConnections()
	published := false
	revision := int64(0)
	for _, by := range []time.Duration{
		30 * time.Second, -time.Minute, 20 * time.Minute, -40 * time.Minute, 26 * time.Hour, -25 * time.Hour,
		-30 * 24 * time.Hour, 400 * 24 * time.Hour, -370 * 24 * time.Hour,
	} {
		w.inject(fmt.Sprintf("the clock jumps by %v", by))
		s.clock.jump(by)
		if err := pause(ctx, w.time/3); err != nil {
			return err
		}
		// Published from its date on, whatever the clock does, and never taken back.
		published = published || !s.clock.now().Before(due)
		if err := s.shows(ctx, nobody, scheduled, published); err != nil {
			return err
		}
		if err := s.checkTimes(ctx, w, c); err != nil {
			return err
		}
		is, err := edit.Revision(ctx, s.store.Ent)
		if err != nil {
			return err
		}
		if is <= revision {
			w.fail("after a jump by %v the revision is %d, it was %d", by, is, revision)
		}
		revision = is
	}
	return nil
}

// shows waits until anonymous requests can (want) or cannot read an event, by id and in lists. It returns an error
// after 5 seconds.
func (s *localService) shows(ctx context.Context, c *client, id int64, want bool) error {
	return wait(ctx, fmt.Sprintf("event %d is published: %t", id, want), 5*time.Second, func(ctx context.Context) error {
		one, err := c.get(ctx, s.base, fmt.Sprintf("/events/%d", id), http.StatusOK, http.StatusForbidden)
		if err != nil {
			return err
		}
		list, err := c.get(ctx, s.base, fmt.Sprintf("/events?include=%d", id), http.StatusOK)
		if err != nil {
			return err
		}
		var total struct{ Total int }
		if err := list.into(&total); err != nil {
			return err
		}
		if is := one.status == http.StatusOK; is != want || (total.Total == 1) != want {
			return fmt.Errorf("alone it is shown: %t, lists have %d of it", is, total.Total)
		}
		return nil
	})
}

// checkTimes checks that times in replies to writes follow the clock, and that the header RateLimit is plausible.
// Deviations are broken promises.
func (s *localService) checkTimes(ctx context.Context, w *world, c *client) error {
	before := s.clock.now()
	a, err := c.json(ctx, s.base, http.MethodPost, "/tags", object{"name": "tag 0"}, http.StatusCreated, http.StatusBadRequest)
	if err != nil {
		return err
	}
	state := a.header.Get("RateLimit")
	for field := range strings.SplitSeq(state, ";") {
		if name, value, ok := strings.Cut(strings.TrimSpace(field), "="); ok && (name == "t" || name == "r") {
			if n, err := strconv.Atoi(value); err != nil || n < 0 || n > 10_000 {
				w.fail("RateLimit is %q", state)
			}
		}
	}
	if state == "" {
		w.fail("no RateLimit is told")
	}
	a, err = c.json(ctx, s.base, http.MethodPost, "/organizers", object{"organizer": fmt.Sprintf("Stamp %d", time.Now().UnixNano())}, http.StatusCreated)
	if err != nil {
		return err
	}
	var row struct {
		Modified string `json:"modified_utc"`
	}
	if err := a.into(&row); err != nil {
		return err
	}
	at, err := time.Parse(time.DateTime, row.Modified)
	if err != nil {
		return err
	}
	if off := at.Sub(before).Seconds(); math.Abs(off) > (requestTime + 2*time.Second).Seconds() {
		w.fail("modified is %v s off the clock", off)
	}
	return nil
}

// revoked checks tokens that were used before the clock is set. The service must refuse a token at once that is
// revoked after the clock went back. It must refuse an expired one, and accept it again when the clock is back before
// its end.
func (s *localService) revoked(ctx context.Context, w *world) error {
	secret, token, err := auth.IssueToken(ctx, s.store.Ent, s.clock.now(), s.user, "", nil)
	if err != nil {
		return err
	}
	c := w.client(secret)
	defer c.http.CloseIdleConnections()
	if _, err := c.get(ctx, s.base, "/images", http.StatusOK); err != nil {
		return err
	}
	w.inject("a token is revoked after the clock went back an hour")
	s.clock.jump(-time.Hour)
	if err := auth.RevokeToken(ctx, s.store.Ent, s.clock.now(), token.ID); err != nil {
		return err
	}
	if _, err := c.get(ctx, s.base, "/images", http.StatusUnauthorized); err != nil {
		return fmt.Errorf("a revoked token: %w", err)
	}
	ends := s.clock.now().Add(time.Hour)
	if secret, _, err = auth.IssueToken(ctx, s.store.Ent, s.clock.now(), s.user, "", &ends); err != nil {
		return err
	}
	c.token = secret
	if _, err := c.get(ctx, s.base, "/images", http.StatusOK); err != nil {
		return err
	}
	w.inject("the clock jumps over the end of a token, and back")
	s.clock.jump(2 * time.Hour)
	if _, err := c.get(ctx, s.base, "/images", http.StatusUnauthorized); err != nil {
		return fmt.Errorf("a token whose time is over: %w", err)
	}
	s.clock.jump(-2 * time.Hour)
	_, err = c.get(ctx, s.base, "/images", http.StatusOK)
	return err
}
