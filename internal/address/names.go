package address

import (
	"net/url"

	"github.com/almanac-cal/almanac/calendar"
)

// Names has the names that segments of page paths can have, decoded. The site's own names lead to pages. Others,
// such as those of the program, redirect to them.
type Names struct {
	First, below map[string]Name // first segments, and those below /events/
}

// Name is the meaning of a segment in the path of a page.
type Name struct {
	Program string // name of the program for the same segment
	moved   bool   // true if the site has another name for the segment
}

// NewNames returns the names in the paths of a site. It also contains the default names of the program, and aliases
// of first segments.
func NewNames(paths calendar.Paths, aliases map[string]string) Names {
	n := Names{First: map[string]Name{}, below: map[string]Name{}}
	for alias, program := range aliases {
		n.First[alias] = Name{program, true}
	}
	if paths.EventsTag == "" {
		paths.EventsTag = paths.Tag
	}
	all := paths.Names()
	level := func(name calendar.PathName) map[string]Name {
		if name.Below {
			return n.below
		}
		return n.First
	}
	for _, name := range all {
		level(name)[name.Program] = Name{name.Program, *name.Site != ""}
	}
	for _, name := range all {
		if plain, err := url.PathUnescape(*name.Site); err == nil && plain != "" {
			level(name)[plain] = Name{name.Program, false}
		}
	}
	return n
}

// Begin reports whether the path of a page can begin with the segment first, which is decoded.
func (n Names) Begin(first string) bool {
	return n.First[first].Program != "" || first == SegmentICal || first == string(ViewDevelopers)
}

// resolve replaces, in place, the names in a path by the default names of the program. The result moved is true if
// one of them is not the site's current name, so that the page must redirect.
func (n Names) resolve(segments []string) (moved bool) {
	if len(segments) == 0 {
		return false
	}
	first, known := n.First[segments[0]]
	if !known {
		return false
	}
	segments[0], moved = first.Program, first.moved
	if first.Program != segmentEvents || len(segments) < 2 {
		return moved
	}
	if below, known := n.below[segments[1]]; known {
		segments[1], moved = below.Program, moved || below.moved
	}
	return moved
}
