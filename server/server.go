// Package server owns the steps that every request passes, from its first byte to its line in the log.
package server

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/trace"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/idempotency"
	"github.com/almanac-cal/almanac/internal/limit"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/media"
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
	Media media.Store // files below /media/; nil serves none
	// Replays stores answers to requests with an idempotency key. Nil ignores the keys.
	Replays *idempotency.Keys

	// MaxAge is how long caches may reuse anonymous reads. Stale is how much longer they may do so while they
	// revalidate. Both are whole seconds.
	MaxAge, Stale time.Duration

	// Away reports whether an error means that the database is unavailable for a while. Connection errors count in
	// any case. Nil adds none.
	Away func(error) bool

	Limits
	Checks    []Check       // conditions of /readyz and /readyz/write
	Index     IndexState    // nil means there is no index
	IndexWait time.Duration // the longest time after the start that /readyz waits for Index; 0 means no wait
	DrainWait time.Duration // how long to go on after the order to stop, so that load balancers notice
	Caching   Caching       // the zero value caches nothing
	Metrics   *Metrics      // nil counts nothing
	Tracer    trace.Tracer  // nil traces nothing
	NoPages   bool          // serve neither the start page nor the reference
	Quiet     bool          // log no line for a request that succeeded
}

// Server answers HTTP.
type Server struct {
	Config
	app    *fiber.App
	prefix string // path of the base URL
	secure bool   // the base URL is https
	pages  *pages // nil means none are served
	// rootLink is the Link header that names the REST root of WordPress, "" without a mount below it.
	rootLink string
	// calendarPolicy is the content security policy of the pages of the calendar.
	calendarPolicy string

	cache    *cache        // nil caches nothing
	gate     *limit.Gate   // for all requests
	large    *limit.Gate   // for requests with a large body
	media    *limit.Gate   // for requests that decode or download pictures
	failures *limit.Memory // wrong credentials, by address
	started  time.Time
	began    time.Time // the same by the clock of requests
	listener atomic.Pointer[limit.Listener]
	draining atomic.Bool
	health   health
}

// New returns a server that does not listen yet.
func New(c Config) (*Server, error) {
	base, err := url.Parse(c.Site.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if err := checkMounts(c.API.Mounts()); err != nil {
		return nil, err
	}
	c.setDefaults()
	if c.Rates.Counter == nil {
		c.Rates.Counter = limit.NewMemory(countedKeys)
	}
	s := &Server{
		Config: c, prefix: strings.TrimRight(base.Path, "/"), secure: base.Scheme == "https",
		gate: newGate(c.Concurrent), large: newLargeGate(), media: newMediaGate(),
		failures: limit.NewMemory(countedKeys), started: time.Now(), began: c.Site.Now().UTC().Truncate(time.Second), calendarPolicy: calendarPolicy(base, c.API.PageSettings.ExternalImages),
	}
	if s.API.WordPressMount() != "" {
		s.rootLink = "<" + strings.TrimRight(c.Site.BaseURL, "/") + handlers.WordPressRoot + `/>; rel="https://api.w.org/"`
	}
	if !c.NoPages {
		if s.pages, err = newPages(c.Site, c.API.SiteFiles(), c.API.PageSettings.Pages.Docs); err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
	}
	if s.cache, err = newCache(c.Caching, c.Timeout); err != nil {
		return nil, err
	}
	s.app = s.newApp()
	s.useSteps()
	if s.Metrics != nil {
		if err := s.Metrics.registerServer(s); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return s, nil
}

// checkMounts refuses a mount of the API that hides another path of the server, or is hidden by it.
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
