// Package server runs the steps of every request, from its first byte to its line in the log. A step is a Fiber
// handler that useSteps registers. A gate limits how many requests run at once. A mount is a path below which
// package handlers serves the API.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
	"github.com/almanac-cal/almanac/internal/reply"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/web"
)

// Config has the parts and settings of a server. API, Auth, Words, Site and Log are required.
type Config struct {
	API   *handlers.Handlers
	Auth  *auth.Verifier
	Words *locale.Catalogues
	Site  calendar.Site
	Log   *slog.Logger
	// Media stores the pictures served below /media/. Nil serves none.
	Media media.Store
	// Replays stores replies to requests with an idempotency key. Nil means that keys are ignored.
	Replays *idempotency.Keys

	// MaxAge is how long HTTP caches may reuse replies to anonymous reads. Stale is how much longer they may do
	// so while they revalidate. Both are whole seconds.
	MaxAge, Stale time.Duration

	// Away reports whether an error means that the database is temporarily unavailable. Connection errors always
	// mean that. Nil adds no further errors.
	Away func(error) bool

	Limits
	Checks []Check // conditions of /readyz and /readyz/write
	// Index is the index in memory. Nil means that there is none.
	Index IndexState
	// IndexWait is how long after the start /readyz waits for Index. 0 means no wait.
	IndexWait time.Duration
	// DrainWait is how long requests are still served after the order to stop, so that load balancers notice. 0
	// means no wait.
	DrainWait time.Duration
	// Follow is called to notice changed settings of the site. It replaces the server if they have changed. Nil
	// means that they never change.
	Follow  func(context.Context) error
	Caching reply.Caching // cache of finished replies; the zero value caches nothing
	Metrics *Metrics      // metrics of the server; nil counts nothing
	Tracer  trace.Tracer  // tracer of requests; nil traces nothing
	NoPages bool          // serve neither start page, reference, robots.txt nor sitemaps
	Quiet   bool          // log only requests whose line has the level warning or error
}

// Server answers HTTP requests.
type Server struct {
	Config
	app *fiber.App
	// answer answers a request that is well-formed.
	answer fasthttp.RequestHandler
	// prefix is the path of the base URL, without a slash at its end.
	prefix    string
	secure    bool       // the scheme of the base URL is https
	documents *documents // start page and reference; nil means that they are not served
	// rootLink is the Link header that names the REST root of WordPress. "" means that no API mount is below that
	// root.
	rootLink string
	// calendarPolicy is the Content-Security-Policy of calendar pages.
	calendarPolicy string

	cache *reply.Cache // cache of finished replies; nil caches nothing
	began time.Time    // when all processes used the settings of this server, by the clock of the site
	*process
}

// process has the state that all servers of a process share. Each version of the site's settings has its own
// server. The newest one answers new requests.
type process struct {
	newest   atomic.Pointer[Server]
	gate     *limit.Gate   // gate for all requests
	large    *limit.Gate   // gate for requests with a large body
	media    *limit.Gate   // gate for requests that decode or download pictures
	series   *limit.Gate   // gate for requests that write many occurrences
	guesses  limit.Guesses // budgets of wrong passwords and tokens
	started  time.Time     // when New was called
	listener atomic.Pointer[limit.Listener]
	draining atomic.Bool
	health   health
}

// New returns a server that does not listen yet.
func New(c Config) (*Server, error) {
	c.setDefaults()
	if c.Rates.Counter == nil {
		c.Rates.Counter = limit.NewMemory(countedKeys)
	}
	if c.Rates.Guesses == (limit.GuessRates{}) {
		c.Rates.Guesses = limit.DefaultGuessRates()
	}
	p := &process{gate: newGate(c.Concurrent), large: newLargeGate(), media: newMediaGate(), series: newSeriesGate(), started: time.Now()}
	s, err := p.newServer(c)
	if err != nil {
		return nil, err
	}
	p.guesses.Counter, p.guesses.Report = c.Rates.Counter, s.reportRates
	p.newest.Store(s)
	if s.Metrics != nil {
		if err := s.Metrics.registerServer(p); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return s, nil
}

// Replace puts new settings of the site into effect. New requests use them, and requests in progress finish with
// the old ones. The caches start empty.
func (s *Server) Replace(api *handlers.Handlers, site calendar.Site) error {
	c := s.Config
	c.API, c.Site = api, site
	next, err := s.newServer(c)
	if err != nil {
		return err
	}
	next.began = next.began.Add(othersFollow)
	old := s.newest.Swap(next)
	// The process keeps its first server, but not what that has cached.
	if old.cache != nil {
		old.cache.Clear()
	}
	old.API.RecordCache.Clear()
	return nil
}

// othersFollow is how long other processes may still answer with earlier settings (contract, section 14).
const othersFollow = 5 * time.Second

// newServer returns a server with the settings of c, in which all defaults must already be filled in.
func (p *process) newServer(c Config) (*Server, error) {
	base, err := url.Parse(c.Site.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if err := checkMounts(c.API.Mounts()); err != nil {
		return nil, err
	}
	s := &Server{
		Config: c, prefix: strings.TrimRight(base.Path, "/"), secure: base.Scheme == "https", process: p,
		began: c.Site.Now().UTC().Truncate(time.Second), calendarPolicy: calendarPolicy(base, c.API.PageSettings.ExternalImages),
	}
	if root := s.API.RESTRoot(); root != "" {
		s.rootLink = "<" + root + `>; rel="https://api.w.org/"`
	}
	if !c.NoPages {
		if s.documents, err = newDocuments(c.Site, c.API); err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
	}
	if s.cache, err = reply.NewCache(c.Caching, c.Timeout); err != nil {
		return nil, err
	}
	s.app = s.newApp()
	s.useSteps()
	s.app.Handler() // prepares the routes; Fiber itself does so when it listens, which a server that replaces another does not
	return s, nil
}

// checkMounts refuses an API mount that hides another path of the server, or is hidden by one.
func checkMounts(mounts []string) error {
	for _, m := range mounts {
		for _, taken := range [...]string{represent.MediaPath, web.AssetsPath, web.DocsPath + "/", web.DevelopersPath, alivePath + "/", readyPath + "/"} {
			if strings.HasPrefix(m+"/", taken) || strings.HasPrefix(taken, m+"/") {
				return fmt.Errorf("mount %q: %s is served already", m, strings.TrimRight(taken, "/"))
			}
		}
	}
	return nil
}

// App returns the Fiber application, for tests.
func (s *Server) App() *fiber.App { return s.app }
