package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Guesses limits wrong guesses of secrets, such as passwords. A guess is counted before the secret is compared, so
// parallel guesses cannot exceed a budget. If the guess was right, its count is refunded.
type Guesses struct {
	// Counter has the counts.
	Counter Limiter
	// Report receives errors of Counter. Nil ignores them.
	Report func(context.Context, error)

	mu    sync.Mutex
	turns map[string]*guessTurn
}

// GuessRates are the budgets of wrong guesses.
type GuessRates struct {
	// Source is the budget of one source of guesses: an address or a user.
	Source Rate
	// Target is the budget of one secret, whatever the sources. It limits guesses from many addresses.
	Target Rate
	// Trusted is the budget of one source while that of the target is exhausted. So a source with few wrong guesses
	// can still present the right secret, whatever other sources do.
	Trusted Rate
}

// DefaultGuessRates returns the budgets of the contract, section 13.
func DefaultGuessRates() GuessRates {
	return GuessRates{
		Source:  Rate{Interval: 5 * time.Second, Burst: 10},
		Target:  Rate{Interval: time.Second, Burst: 100},
		Trusted: Rate{Interval: 10 * time.Minute, Burst: 3},
	}
}

// GuessSource is the origin of a guess: the client's address or a user.
type GuessSource struct {
	Key string
	// Shared means that the address may be that of a proxy, and stand for many clients. It has no budget of its own
	// except GuessRates.Trusted.
	Shared bool
}

// guess is one call of Judge: a guess that is being counted and compared.
type guess struct {
	*Guesses
	GuessRates
	sources []GuessSource
	turns   []string // keys of the sources of which this guess has the turn
	taken   []takenGuess
}

// takenGuess is one unit that a guess has taken from a budget. It can be refunded.
type takenGuess struct {
	key      string
	rate     Rate
	decision Decision
	at       time.Time
}

// guessTurn lets the guesses of a source be judged one after the other. Otherwise parallel right guesses could
// exhaust the budget of the source until their counts are refunded.
type guessTurn struct {
	free chan struct{} // has an element while no guess is being judged
	uses int           // guesses that are judged or wait
}

// Refusal has the budget that is exhausted, so that a guess is not compared.
type Refusal struct {
	Rate Rate // exhausted budget
	Decision
}

// Judge counts a guess and calls judge, which compares the secret and reports whether the guess was wrong. The
// target is the guessed account; "" means none, without a budget. If a budget of the target or the sources is
// exhausted, Judge returns a refusal and does not call judge. The error is that of ctx, which also ends the
// wait for other guesses of the sources.
func (g *Guesses) Judge(
	ctx context.Context, rates GuessRates, target string, sources []GuessSource, judge func() (wrong bool),
) (*Refusal, error) {
	a := &guess{Guesses: g, GuessRates: rates, sources: sources}
	// A panic of judge counts as a wrong guess, and still ends the turn.
	wrong := true
	defer func() { a.end(context.WithoutCancel(ctx), wrong) }()
	if err := a.enterAll(ctx); err != nil {
		wrong = false
		return nil, err
	}
	if refused := a.count(ctx, target); refused != nil {
		wrong = false
		return refused, nil
	}
	wrong = judge()
	return nil, nil
}

func (a *guess) enterAll(ctx context.Context) error {
	for _, s := range a.sources {
		if s.Shared {
			continue
		}
		if err := a.enter(ctx, s.Key); err != nil {
			return err
		}
		a.turns = append(a.turns, s.Key)
	}
	return nil
}

// count takes the guess from the budgets of its sources and its target. It returns a refusal if a budget is
// exhausted, and nil otherwise.
func (a *guess) count(ctx context.Context, target string) *Refusal {
	for _, s := range a.sources {
		if s.Shared {
			continue
		}
		if d := a.take(ctx, "g:"+s.Key, a.Source); !d.Allowed {
			return &Refusal{a.Source, d}
		}
	}
	if target == "" {
		return nil
	}
	d := a.take(ctx, "gt:"+target, a.Target)
	if d.Allowed {
		return nil
	}
	wait, trusted := a.trust(ctx)
	if trusted {
		return nil
	}
	d.Retry = min(d.Retry, wait)
	return &Refusal{a.Target, d}
}

// trust reports whether the guess is allowed although the target's budget is exhausted. Each source has its own
// budget for this (GuessRates.Trusted). If one of these is exhausted, wait is the time until all have room.
func (a *guess) trust(ctx context.Context) (wait time.Duration, trusted bool) {
	for _, s := range a.sources {
		d, err := a.Counter.Look(ctx, trustKey(s), a.Trusted)
		a.report(ctx, err)
		wait = max(wait, d.Retry)
	}
	return wait, wait == 0
}

func trustKey(s GuessSource) string { return "gs:" + s.Key }

func (a *guess) take(ctx context.Context, key string, r Rate) Decision {
	d, err := a.Counter.Take(ctx, key, r)
	a.report(ctx, err)
	if d.Allowed {
		a.taken = append(a.taken, takenGuess{key, r, d, time.Now()})
	}
	return d
}

// end ends the turns of a guess's sources. If wrong is false, it also refunds the counts.
func (a *guess) end(ctx context.Context, wrong bool) {
	defer func() {
		for _, key := range slices.Backward(a.turns) {
			a.leave(key)
		}
	}()
	if wrong {
		for _, s := range a.sources {
			_, err := a.Counter.Take(ctx, trustKey(s), a.Trusted)
			a.report(ctx, err)
		}
		return
	}
	for _, t := range a.taken {
		// The part of the interval that has passed may have made room for another guess already.
		if part := t.rate.Interval - time.Since(t.at); part > 0 {
			a.report(ctx, a.Counter.Refund(ctx, t.key, t.decision, part))
		}
	}
}

// enter waits until no other guess of the source is being judged.
func (g *Guesses) enter(ctx context.Context, key string) error {
	g.mu.Lock()
	t := g.turns[key]
	if t == nil {
		t = &guessTurn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		if g.turns == nil {
			g.turns = map[string]*guessTurn{}
		}
		g.turns[key] = t
	}
	t.uses++
	g.mu.Unlock()
	select {
	case <-t.free:
		return nil
	case <-ctx.Done():
		g.forget(key)
		return ctx.Err()
	}
}

// leave lets the next guess of the source be judged.
func (g *Guesses) leave(key string) {
	g.mu.Lock()
	free := g.turns[key].free
	g.mu.Unlock()
	free <- struct{}{}
	g.forget(key)
}

func (g *Guesses) forget(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.turns[key]
	if t.uses--; t.uses == 0 {
		delete(g.turns, key)
	}
}

func (g *Guesses) report(ctx context.Context, err error) {
	if err != nil && g.Report != nil {
		g.Report(ctx, err)
	}
}
