package server

import (
	"strconv"

	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/read"
)

// judge calls compare if the client may make another guess of the target. Otherwise it returns a refusal. compare
// reports whether the guess was wrong. A wrong guess counts against the address of the client, and against the caller
// if there is one. The kind separates budgets for logins and event passwords.
func (s *Server) judge(x *exchange, kind, target string, compare func() (wrong bool)) error {
	// An unconfigured proxy stands for all its clients, as for Rates.AddressFar.
	shared := limit.Near(x.client) && (s.Rates.AddressFar || s.Rates.Address.Off())
	sources := []limit.GuessSource{{Key: kind + ":a:" + limit.Key(x.client), Shared: shared}}
	if id := x.caller.UserID; id != 0 {
		sources = append(sources, limit.GuessSource{Key: kind + ":u:" + strconv.FormatInt(id, 10)})
	}
	if target != "" {
		target = kind + ":" + target
	}
	refused, err := s.guesses.Judge(x.ctx, s.Rates.Guesses, target, sources, compare)
	if err != nil {
		return err
	}
	if refused != nil {
		return x.refuseRate(reasonFailures, rateState{"guesses", refused.Rate, refused.Decision})
	}
	return nil
}

// judgePasswords returns a function that limits the client's guesses of event passwords.
func (s *Server) judgePasswords(x *exchange) read.PasswordJudge {
	return func(secret int64, compare func() (wrong bool)) error {
		return s.judge(x, "p", strconv.FormatInt(secret, 10), compare)
	}
}
