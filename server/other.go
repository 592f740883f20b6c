package server

import (
	"context"
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
