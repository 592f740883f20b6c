package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strconv"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/settings"
)

// serveFlags has the flags that serve and demo share.
type serveFlags struct {
	siteFlags  `group:"Site:"`
	moneyFlags `group:"Site:"`
	Listen     string   `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on. PORT alone is on 127.0.0.1, :PORT on all addresses. Default ${default}."`
	BaseURL    string   `placeholder:"URL" help:"Public URL of the REST root. Default http:// and the listen address."`
	PerPage    *int     `placeholder:"N" help:"Records on a page without per_page, 1 to 50. Default the calendar's, at first 10."`
	Mount      []string `placeholder:"PATH" help:"Also serve the API under this path. Repeatable, or a comma list."`
	Media      string   `default:"almanac-media" type:"path" placeholder:"DIR" help:"Folder of the images. Default ${default}."`
	FetchAllow []string `placeholder:"CIDR" help:"Private networks from which images may be downloaded. Repeatable, or a comma list."`
	Index      bool     `default:"true" negatable:"" help:"Filter and sort lists in memory, instead of in the database. On by default."`
	Pages      bool     `default:"true" negatable:"" help:"Serve pages for people. On by default."`
	Site       string   `type:"path" placeholder:"FOLDER" help:"Folder with the site's own title, colours, logo and more."`
	AccessLog  bool     `default:"true" negatable:"" help:"Log every request, not only server errors. On by default."`
	LogFormat  string   `default:"text" placeholder:"FORMAT" enum:"text,json" help:"Format of log lines: text or json. Default ${default}."`

	operateFlags `group:"Limits, caches, shutdown and monitoring:"`
}

// source checks the flags and returns the settings of the site that they and the folder give. For a wrong flag
// or folder it returns a usageError.
func (f serveFlags) source() (siteSource, error) {
	var source siteSource
	var err error
	if source.flags, err = f.flags(); err != nil {
		return source, err
	}
	if err := f.add(source.flags.Layer); err != nil {
		return source, err
	}
	if f.PerPage != nil {
		if err := source.flags.Set("per-page", strconv.Itoa(*f.PerPage)); err != nil {
			return source, flagError(err)
		}
	}
	if _, err := net.ResolveTCPAddr("tcp", numericHost(f.Listen)); err != nil {
		return source, usageError{fmt.Errorf("--listen %q: want HOST:PORT, :PORT or PORT", f.Listen)}
	}
	if _, err := f.fetchAllow(); err != nil {
		return source, err
	}
	if err := f.check(); err != nil {
		return source, err
	}
	if f.Site != "" {
		if source.folder, err = settings.Read(f.Site); err != nil {
			return source, usageError{fmt.Errorf("--site %s: %w", f.Site, err)}
		}
	}
	if err := f.checkSockets(os.Getenv); err != nil {
		return source, err
	}
	return source, f.checkAPI(source)
}

// checkAPI builds the API without a database, so that a wrong base URL or mount is reported before anything is opened.
func (f serveFlags) checkAPI(source siteSource) error {
	all, site, err := source.resolve(nil, "")
	if err != nil {
		return usageError{err}
	}
	if site.BaseURL = f.BaseURL; site.BaseURL == "" {
		site.BaseURL = "http://localhost"
	}
	if _, err := handlers.New(handlers.Config{Calendar: read.Calendar{Site: site, PageSettings: &all}, Mounts: f.Mount, NoPages: true}); err != nil {
		return usageError{err}
	}
	return nil
}

// numericHost returns an address whose host needs no DNS lookup.
func numericHost(address string) string {
	address = hostPort(address)
	if _, port, err := net.SplitHostPort(address); err == nil {
		return ":" + port
	}
	return address
}

func (f serveFlags) fetchAllow() ([]netip.Prefix, error) {
	out := make([]netip.Prefix, len(f.FetchAllow))
	for i, text := range f.FetchAllow {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, usageError{fmt.Errorf("--fetch-allow: %w", err)}
		}
		out[i] = p
	}
	return out, nil
}

// logging returns the log of a server, and logs warnings about settings that have no effect.
func (f serveFlags) logging(s streams) *slog.Logger {
	log := slog.New(f.handler(s.Err))
	s.Libraries.use(log)
	f.warnOfUnusedFlags(log)
	return log
}

func (f serveFlags) handler(w io.Writer) slog.Handler {
	if f.LogFormat == "json" {
		return slog.NewJSONHandler(w, nil)
	}
	return slog.NewTextHandler(w, nil)
}
