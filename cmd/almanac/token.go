package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/token"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

type tokenCmds struct {
	Add    tokenAddCmd    `cmd:"" help:"Create an access token and print it, once, as the last word."`
	List   tokenListCmd   `cmd:"" help:"List the tokens of one user or all users."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token. Running processes refuse it within seconds."`
}

type tokenAddCmd struct {
	userArg
	Name    string `placeholder:"TEXT" help:"Purpose of the token, shown in lists."`
	Expires string `placeholder:"WHEN" help:"When the token expires, such as 90d, 2027-01-31 or 2027-01-31T18:00:00Z. Default never."`

	TokenOnly bool `help:"Print the token alone, for scripts."`
}

// Run issues a token and prints its secret.
func (c tokenAddCmd) Run(ctx context.Context, s streams) error {
	at := clockNow()
	expires, err := parseExpiry(c.Expires, at)
	if err != nil {
		return usageError{fmt.Errorf("--expires %q: %w", c.Expires, err)}
	}
	return c.withCurrent(ctx, func(st *store.Store) error {
		var secret string
		var t *ent.Token
		err := store.Tx(ctx, st.Ent, func(tx *ent.Tx) error {
			u, err := auth.FindUser(ctx, tx.Client(), c.Login)
			if err != nil {
				return err
			}
			secret, t, err = auth.IssueToken(ctx, tx.Client(), at, u.ID, c.Name, expires)
			return err
		})
		if err != nil {
			return err
		}
		if c.TokenOnly {
			_, err = fmt.Fprintln(s.Out, secret)
		} else {
			_, err = fmt.Fprintf(s.Out, "token %d, %s\n", t.ID, secret)
		}
		return err
	})
}

// errExpiry and errPast are the reasons to refuse the value of --expires.
var (
	errExpiry = errors.New("want a time such as 24h or 90d, or a date such as 2027-01-31")
	errPast   = errors.New("is not in the future")
)

// lastInstant is the last instant that every database engine can store.
var lastInstant = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// parseExpiry parses when a token expires. The text is a duration from now, a number of days such as 90d, the end
// of a day in UTC, or an instant with its offset. "" means never, and returns nil.
func parseExpiry(text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := parseExpiryTime(text, now)
	if err != nil {
		return nil, err
	}
	at = at.UTC().Truncate(time.Second)
	switch {
	case !at.After(now):
		return nil, errPast
	case at.After(lastInstant):
		return nil, errExpiry
	}
	return &at, nil
}

// timeAfter returns the time after a duration such as 24h or 90d. It counts days in calendar days.
func timeAfter(text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		// Four million days lead beyond the year 9999.
		n, err := strconv.Atoi(days)
		if err != nil || n > 4_000_000 {
			return time.Time{}, errExpiry
		}
		return now.AddDate(0, 0, n), nil
	}
	d, err := time.ParseDuration(text)
	return now.Add(d), err
}

func parseExpiryTime(text string, now time.Time) (time.Time, error) {
	if at, err := timeAfter(text, now); err == nil {
		return at, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Second), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, errExpiry
	}
	return at, nil
}

type tokenListCmd struct {
	database `group:"Database:"`
	Login    string `arg:"" optional:"" help:"Login of the user. Default all users."`
	JSON     bool   `name:"json" help:"Print a JSON array."`
}

// tokenRow is a token in the output of "token list". It has no secret, because secrets are not stored.
type tokenRow struct {
	ID         int64      `json:"id"`
	Login      string     `json:"login"`
	Name       string     `json:"name"`
	State      string     `json:"state"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// Run lists the tokens in the order in which they were issued.
func (c tokenListCmd) Run(ctx context.Context, s streams) error {
	return c.withCurrent(ctx, func(st *store.Store) error {
		query := st.Ent.Token.Query().WithUser().Order(token.ByID())
		if c.Login != "" {
			u, err := auth.FindUser(ctx, st.Ent, c.Login)
			if err != nil {
				return err
			}
			query.Where(token.UserID(u.ID))
		}
		tokens, err := query.All(ctx)
		if err != nil {
			return err
		}
		at := clockNow()
		rows := make([]tokenRow, len(tokens))
		for i, t := range tokens {
			rows[i] = tokenRow{
				ID: t.ID, Login: t.Edges.User.Login, Name: t.Name, State: tokenState(t, at),
				CreatedAt: t.CreatedAt.UTC(), LastUsedAt: toUTC(t.LastUsedAt), ExpiresAt: toUTC(t.ExpiresAt),
				RevokedAt: toUTC(t.RevokedAt),
			}
		}
		if c.JSON {
			return printJSON(s.Out, rows)
		}
		w := newTable(s.Out, "ID", "LOGIN", "NAME", "STATE", "CREATED", "LAST USED", "EXPIRES")
		for _, r := range rows {
			w.row(r.ID, r.Login, r.Name, r.State, &r.CreatedAt, r.LastUsedAt, r.ExpiresAt)
		}
		return w.Flush()
	})
}

// tokenState returns a word for the list of tokens: that the token is accepted, or why it is not.
func tokenState(t *ent.Token, now time.Time) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt != nil && !t.ExpiresAt.After(now):
		return "expired"
	case t.Edges.User.DisabledAt != nil:
		return "user disabled"
	}
	return "active"
}

type tokenRevokeCmd struct {
	database `group:"Database:"`
	ID       int64 `arg:"" help:"Number of the token, as token list shows it."`
}

// Run revokes a token.
func (c tokenRevokeCmd) Run(ctx context.Context, s streams) error {
	return c.withCurrent(ctx, func(st *store.Store) error {
		if err := auth.RevokeToken(ctx, st.Ent, clockNow(), c.ID); err != nil {
			return err
		}
		_, err := fmt.Fprintf(s.Out, "token %d: revoked\n", c.ID)
		return err
	})
}
