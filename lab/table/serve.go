package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/almanac-cal/almanac/handlers"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/lab/baseline"
	"github.com/almanac-cal/almanac/lab/command"
	"github.com/almanac-cal/almanac/lab/fill"
	"github.com/almanac-cal/almanac/lab/local"
	"github.com/almanac-cal/almanac/lab/process"
)

// readyLine is the text that servers other than the service print when they accept connections.
const readyLine = "serving"

// byHandCmd contains the flags of the command that runs the server of package baseline.
type byHandCmd struct {
	DB     string `required:"" help:"Database."`
	Way    int    `help:"How lists are found: 0 counts each time, 1 keeps the total, 2 uses the index of the service."`
	Listen string `required:"" help:"Address."`
}

func (c byHandCmd) Run(ctx context.Context, o command.Output) (err error) {
	st, err := fill.Open(ctx, c.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	config := baseline.Config{DB: st.DB, Site: local.Site(process.BaseURL), Way: baseline.Way(c.Way)}
	indexed := make(chan error, 1)
	if config.Way == baseline.Index {
		config.Index = index.New(st.Ent, read.EventColumns(), slog.New(slog.NewTextHandler(o.Err, nil)))
		go func() { indexed <- config.Index.Run(ctx) }()
	} else {
		indexed <- nil
	}
	s, err := baseline.New(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	web := &fasthttp.Server{Handler: s.Handle, ReadTimeout: 10 * time.Second, IdleTimeout: 90 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = web.Shutdown() }) // its end is that of Serve
	defer stop()
	fmt.Fprintln(o.Err, readyLine)
	return errors.Join(web.Serve(ln), <-indexed)
}

// reply is a fixed reply of the constant server for a path.
type reply struct {
	Path    string
	Headers [][2]string
	Body    []byte
}

// constantCmd contains the flags of the command that serves fixed replies from memory.
type constantCmd struct {
	Replies   string `required:"" help:"File of the replies."`
	AsService bool   `help:"Buffers as the service has them."`
	Listen    string `required:"" help:"Address."`
}

func (c constantCmd) Run(ctx context.Context, o command.Output) error {
	data, err := os.ReadFile(c.Replies)
	if err != nil {
		return err
	}
	var replies []reply
	if err := json.Unmarshal(data, &replies); err != nil {
		return err
	}
	app := constantServer(replies, c.AsService)
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = app.Shutdown() }) // its end is that of Listener
	defer stop()
	fmt.Fprintln(o.Err, readyLine)
	return app.Listener(ln)
}

// constantServer returns a Fiber app that sends fixed replies. It has the service's timeouts, and with asService also
// the sizes of its buffers.
func constantServer(replies []reply, asService bool) *fiber.App {
	config := fiber.Config{
		DisableStartupMessage: true,
		ReadTimeout:           10 * time.Second,
		WriteTimeout:          60 * time.Second,
		IdleTimeout:           90 * time.Second,
	}
	if asService {
		config.ReadBufferSize, config.WriteBufferSize = 16<<10, 8<<10
	}
	app := fiber.New(config)
	for _, r := range replies {
		app.Get(r.Path, func(c *fiber.Ctx) error {
			c.Response().Header.DisableNormalizing() // the service does not normalise names either
			for _, h := range r.Headers {
				c.Set(h[0], h[1])
			}
			return c.Send(r.Body)
		})
	}
	return app
}

// recordReply converts a received reply for the constant server. It copies only the media type. If every is true, it
// copies all headers that the server itself does not add.
func recordReply(path string, r *fasthttp.Response, every bool) reply {
	out := reply{Path: path, Body: append([]byte(nil), r.Body()...)}
	for key, value := range r.Header.All() {
		name := string(key)
		own := strings.EqualFold(name, "Server") || strings.EqualFold(name, "Date") ||
			strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Connection")
		if !own && (every || strings.EqualFold(name, "Content-Type")) {
			out.Headers = append(out.Headers, [2]string{name, string(value)})
		}
	}
	return out
}

// api is the path of the API.
const api = "/" + handlers.Namespace
