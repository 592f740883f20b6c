package importer

import (
	"fmt"
	"slices"

	"github.com/almanac-cal/almanac/internal/markup"
)

// frameTitles are the texts of links to videos and maps without a title. They do not depend on the language, so that a
// repeated import changes no text.
var frameTitles = markup.FrameTitles{Video: "Video", Map: "Map"}

// takeRemoved returns the counts of elements removed from the descriptions read so far, and resets them.
func (l *readLog) takeRemoved() markup.Removed {
	removed := l.removed
	l.removed = markup.Removed{}
	return removed
}

// removedKinds are the kinds of removed elements, with the texts of their notices.
var removedKinds = []struct {
	text  string
	count func(markup.Removed) int
}{
	{"a video became a link", func(r markup.Removed) int { return r.Videos }},
	{"a map became a link", func(r markup.Removed) int { return r.Maps }},
	{"an embedded page was removed", func(r markup.Removed) int { return r.Frames }},
	{"an embedded object was removed", func(r markup.Removed) int { return r.Objects }},
	{"a script was removed", func(r markup.Removed) int { return r.Scripts }},
	{"a form was removed", func(r markup.Removed) int { return r.Forms }},
	{"styles were removed", func(r markup.Removed) int { return r.Styles }},
}

// noteRemoved adds a notice for each kind of element that descriptions lost. It names the first records.
func (r *importRun) noteRemoved(events []*Event, found linkedRecords) {
	for _, kind := range removedKinds {
		var names []string
		for _, e := range events {
			if kind.count(e.Removed) > 0 {
				names = append(names, e.Title)
			}
		}
		for _, v := range found.venues {
			if kind.count(v.Removed) > 0 {
				names = append(names, v.Name)
			}
		}
		for _, o := range found.organizers {
			if kind.count(o.Removed) > 0 {
				names = append(names, o.Name)
			}
		}
		if len(names) > 0 {
			distinct := slices.Compact(slices.Sorted(slices.Values(names)))
			r.report.Notices = append(r.report.Notices, fmt.Sprintf("descriptions in which %s: %d: %s", kind.text, len(names), someNames(distinct)))
		}
	}
}
