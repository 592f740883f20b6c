package pages

import (
	"strconv"

	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/web"
)

// picture returns an image in the sizes that pages show. It returns nil if there is none or another host has it.
func (r *request) picture(of represent.OrFalse) *web.Picture {
	image, ok := of.(*represent.Image)
	if !ok || image == nil {
		return nil
	}
	src := r.localAddress(image.URL)
	if src == image.URL {
		return nil // another host has the image
	}
	out := &web.Picture{URL: src, Width: image.Width, Height: image.Height}
	if m := image.Sizes.Medium; m != nil {
		out.URL, out.Width, out.Height = r.localAddress(m.URL), m.Width, m.Height
		full, width := src, image.Width
		if l := image.Sizes.Large; l != nil {
			full, width = r.localAddress(l.URL), l.Width
		}
		out.Set = out.URL + " " + strconv.Itoa(m.Width) + "w, " + full + " " + strconv.Itoa(width) + "w"
	}
	return out
}

// largePicture returns an image for a large place on a page. Browsers that cannot choose a size get the large one. It
// returns nil if there is no image or another host has it.
func (r *request) largePicture(of represent.OrFalse) *web.Picture {
	out := r.picture(of)
	if image, ok := of.(*represent.Image); ok && out != nil {
		out.URL, out.Width, out.Height = r.localAddress(image.URL), image.Width, image.Height
		if l := image.Sizes.Large; l != nil {
			out.URL, out.Width, out.Height = r.localAddress(l.URL), l.Width, l.Height
		}
	}
	return out
}

// sharedPicture returns a picture with its absolute URL, for previews in social networks.
func (r *request) sharedPicture(p *web.Picture) *web.Picture {
	if p == nil {
		return nil
	}
	return &web.Picture{URL: r.absoluteAddress(p.URL), Width: p.Width, Height: p.Height}
}
