package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/almanac-cal/almanac/internal/represent"
)

// other answers paths outside the API.
func (s *Server) other(ctx context.Context, c *fiber.Ctx, x *exchange, path string) error {
	if s.prefix != "" {
		if below, ok := strings.CutPrefix(path, s.prefix+"/"); ok {
			path = "/" + below
		} else if path == s.prefix {
			path = "/"
		}
	}
	if file, ok := strings.CutPrefix(path, represent.MediaPath); ok && s.Media != nil {
		x.route = represent.MediaPath
		return s.file(ctx, c, file)
	}
	if answered, err := s.page(c, x, path); answered {
		return err
	}
	return errNoRoute
}

// file serves one stored picture. Its name is never given to another, so it may be kept for ever.
func (s *Server) file(ctx context.Context, c *fiber.Ctx, name string) error {
	if c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead {
		return errNoRoute
	}
	name, err := url.PathUnescape(name)
	if err != nil {
		return errNoRoute
	}
	f, info, err := s.Media.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoRoute
	}
	if err != nil {
		return err
	}
	etag := `"` + strconv.FormatInt(info.ModTime.Unix(), 36) + "-" + strconv.FormatInt(info.Size, 36) + `"`
	list, sent := tagsOf(c, fiber.HeaderIfNoneMatch)
	known := sent && list.weak(etag)
	var data []byte
	if !known {
		data, err = io.ReadAll(f)
	}
	// Headers come last: an error must not be kept for ever.
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	c.Set(fiber.HeaderETag, etag)
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	// A picture is never a document of this origin, whatever it contains.
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; sandbox")
	if known {
		c.Status(fiber.StatusNotModified)
		return nil
	}
	c.Set(fiber.HeaderContentType, info.MIMEType)
	return c.Send(data)
}
