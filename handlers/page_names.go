package handlers

import (
	"net/url"

	"github.com/almanac-cal/almanac/calendar"
)

// pageNames are the names in the paths of pages, decoded. Those of the site lead to pages, and others redirect.
type pageNames struct {
	first, below map[string]pageName // first segments, and those below /events/
}

// pageName is the meaning of a name in a path.
type pageName struct {
	program string // name of the program for the same segment
	moved   bool   // the site has another name
}

// newPageNames returns the names that a site has, those of the program, and aliases of first segments.
func newPageNames(paths calendar.Paths, aliases map[string]string) pageNames {
	n := pageNames{first: map[string]pageName{}, below: map[string]pageName{}}
	for alias, program := range aliases {
		n.first[alias] = pageName{program, true}
	}
	if paths.EventsTag == "" {
		paths.EventsTag = paths.Tag
	}
	all := paths.Names()
	level := func(name calendar.PathName) map[string]pageName {
		if name.Below {
			return n.below
		}
		return n.first
	}
	for _, name := range all {
		level(name)[name.Program] = pageName{name.Program, *name.Site != ""}
	}
	for _, name := range all {
		if plain, err := url.PathUnescape(*name.Site); err == nil && plain != "" {
			level(name)[plain] = pageName{name.Program, false}
		}
	}
	return n
}

// begin reports whether the paths of pages begin with a decoded segment.
func (n pageNames) begin(first string) bool {
	return n.first[first].program != "" || first == segmentICal || first == string(viewDevelopers)
}

// resolve replaces the names in the segments of a path by those of the program, in place. moved is true if the site has other
// names.
func (n pageNames) resolve(segments []string) (moved bool) {
	if len(segments) == 0 {
		return false
	}
	first, known := n.first[segments[0]]
	if !known {
		return false
	}
	segments[0], moved = first.program, first.moved
	if first.program != segmentEvents || len(segments) < 2 {
		return moved
	}
	if below, known := n.below[segments[1]]; known {
		segments[1], moved = below.program, moved || below.moved
	}
	return moved
}
