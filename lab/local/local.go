// Package local runs the service inside a program that measures it, on a port of this machine.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/server"
)

// Login is the name of the administrator that Start adds if missing. It has no password.
const Login = "bench"

// Config is the configuration of a Service.
type Config struct {
	Store *store.Store
	Index *index.Index // loaded and run by the caller; nil means that SQL finds lists
	Media string       // folder for images; "" means a temporary one
}

// Service is the calendar service running in this process.
type Service struct {
	API    string        // URL of the API
	Token  string        // access token of an administrator
	UserID int64         // id of that administrator
	Site   calendar.Site // site that it was started with
	end    func() error
}

// Site returns the site of a Service with a base URL: in English, in US dollars, on the system's clock.
func Site(base string) calendar.Site {
	return calendar.Site{
		BaseURL: base, Language: calendar.English, PerPage: 10,
		Currency: calendar.Currency{Symbol: "$", Code: "USD", Position: calendar.Prefix, Decimal: "."},
		Now:      func() time.Time { return time.Now().UTC().Truncate(time.Second) },
	}
}

// Start starts the service in this process on a migrated database. It serves until Close, even if ctx ends.
func Start(ctx context.Context, c Config) (_ *Service, err error) {
	var undo []func() error
	end := func() error {
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, undo[i]())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, end())
		}
	}()
	s := &Service{end: end}
	if s.Token, s.UserID, err = Administrator(ctx, c.Store.Ent); err != nil {
		return nil, err
	}
	key, err := edit.PasswordKey(ctx, c.Store.Ent)
	if err != nil {
		return nil, err
	}
	feedKey, err := edit.FeedKey(ctx, c.Store.Ent)
	if err != nil {
		return nil, err
	}
	words, err := locale.Load()
	if err != nil {
		return nil, err
	}
	if c.Media == "" {
		if c.Media, err = os.MkdirTemp("", "almanac-bench-"); err != nil {
			return nil, err
		}
		undo = append(undo, func() error { return os.RemoveAll(c.Media) })
	}
	files, err := media.OpenDir(c.Media)
	if err != nil {
		return nil, err
	}
	undo = append(undo, files.Close)
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	undo = append(undo, func() error {
		if err := ln.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	s.Site = Site("http://" + ln.Addr().String())
	s.API = s.Site.BaseURL + "/" + handlers.Namespace
	api, err := handlers.New(handlers.Config{
		Calendar: read.Calendar{Primary: c.Store.Ent, Index: c.Index, Site: s.Site, Words: words, PasswordKey: key, FeedKey: feedKey},
		Files:    files, Fetcher: media.NewFetcher(),
	})
	if err != nil {
		return nil, err
	}
	srv, err := server.New(server.Config{
		API: api, Auth: auth.NewVerifier(c.Store.Ent, s.Site.Now), Words: words, Site: s.Site,
		Replays: idempotency.New(c.Store), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(serving, ln) }()
	undo = append(undo, func() error {
		stop()
		return <-ended
	})
	return s, nil
}

// Close stops the service and waits until it has stopped.
func (s *Service) Close() error { return s.end() }

// Administrator returns a new access token, valid for a day, and the id of the administrator with the name Login. It
// adds the user if missing.
func Administrator(ctx context.Context, db *ent.Client) (token string, id int64, err error) {
	user, err := auth.FindUser(ctx, db, Login)
	if errors.Is(err, auth.ErrNoUser) {
		user, err = auth.AddUser(ctx, db, time.Now(), Login, "", calendar.Administrator, "")
	}
	if err != nil {
		return "", 0, fmt.Errorf("administrator: %w", err)
	}
	expires := time.Now().Add(24 * time.Hour)
	token, _, err = auth.IssueToken(ctx, db, time.Now(), user.ID, "", &expires)
	if err != nil {
		return "", 0, fmt.Errorf("administrator: %w", err)
	}
	return token, user.ID, nil
}
