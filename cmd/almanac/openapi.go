package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/locale"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/settings"
)

// openapiCmd writes the OpenAPI description that GET /doc returns. It needs no database or server.
type openapiCmd struct {
	Language string   `default:"en" placeholder:"LANG" enum:"en,pl,es" help:"Language of the descriptions: en, pl or es. Default ${default}."`
	BaseURL  string   `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Public URL of the REST root. Default ${default}."`
	Mount    []string `placeholder:"PATH" help:"Path of the API. If there are several, the first counts. Default /cal/events/v1."`
	Out      string   `type:"path" placeholder:"FILE" help:"File to write. Default standard output."`
}

// Run writes the description with today's defaults of dates.
func (c openapiCmd) Run(s streams) error {
	h, root, err := describedAPI(c.BaseURL, c.Mount)
	if err != nil {
		return err
	}
	body, err := h.Describe(clockNow(), root, calendar.Language(c.Language)).Document()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	if c.Out == "" {
		_, err = s.Out.Write(b.Bytes())
		return err
	}
	return os.WriteFile(c.Out, b.Bytes(), 0o644)
}

// describedAPI returns handlers that can only describe the API, and its root. A mount is a path below which the API
// is served. The root is that of the first mount, or of the usual one.
func describedAPI(baseURL string, mounts []string) (*handlers.Handlers, read.Root, error) {
	root := read.Root{Mount: "/" + handlers.Namespace}
	words, err := locale.Load()
	if err != nil {
		return nil, root, err
	}
	all := settings.Default()
	site := all.Calendar(clockNow)
	site.BaseURL = baseURL
	h, err := handlers.New(handlers.Config{Calendar: read.Calendar{Words: words, Site: site}, Version: buildVersion(), Mounts: mounts, NoPages: true})
	if err != nil {
		return nil, root, usageError{fmt.Errorf("%w", err)}
	}
	if all := h.Mounts(); len(all) > 1 { // the usual mount is the first
		root.Mount = all[1]
	}
	return h, root, nil
}
