package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// lists reads all venues, organizers, categories and tags of a service, including those without an event. For a
// filtered list of events it reads none. A list that cannot be read becomes a notice. It returns an error only if ctx
// ended.
func (w *webReader) lists(ctx context.Context, cal *Calendar, source string) error {
	root := w.listRoot(source)
	if root == nil {
		return nil
	}
	prefix := ""
	for _, e := range cal.Events {
		if p, _, ok := strings.Cut(e.Key, "?id="); ok {
			prefix = p
			break
		}
	}
	for _, l := range []struct {
		name string
		add  func(d recordReader, o object)
	}{
		{"venues", func(d recordReader, o object) { cal.Venues = append(cal.Venues, d.venue(o)) }},
		{"organizers", func(d recordReader, o object) { cal.Organizers = append(cal.Organizers, d.organizer(o)) }},
		{"categories", func(d recordReader, o object) { cal.Terms = append(cal.Terms, d.term(o, calendar.Category)) }},
		{"tags", func(d recordReader, o object) { cal.Terms = append(cal.Terms, d.term(o, calendar.Tag)) }},
	} {
		at := root.JoinPath(l.name)
		at.RawQuery = url.Values{"per_page": {listPage}, "hide_empty": {"0"}}.Encode()
		if err := w.list(ctx, cal, at, l.name, prefix, l.add); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			cal.Notices = append(cal.Notices, fmt.Sprintf("the %s that no listed event has: %v", l.name, err))
		}
	}
	return nil
}

// list reads all pages of a list and adds the valid records. Invalid records become notices.
func (w *webReader) list(
	ctx context.Context, cal *Calendar, at *url.URL, name, prefix string, add func(recordReader, object),
) error {
	visited := make(map[string]bool)
	for number := 1; number <= maxPages; number++ {
		visited[at.String()] = true
		data, _, err := w.get(ctx, at)
		if err != nil {
			return err
		}
		index := 0
		top, err := readList(bytes.NewReader(data), name, func(raw json.RawMessage) {
			index++
			where := fmt.Sprintf("%s, page %d, %d", name, number, index)
			log := &readLog{}
			o, ok := newObject(raw, "", log)
			if !ok {
				cal.Notices = append(cal.Notices, where+": "+errNotObject.Error())
				return
			}
			d := recordReader{prefix: prefixOf(o), where: where, site: w.Site}
			if d.prefix == "" || !o.has("global_id") && prefix != "" {
				d.prefix = prefix
			}
			before := *cal
			add(d, o)
			if len(log.faults) > 0 {
				*cal = before
				log.notices = append(log.notices, joinErrors(log.faults)+"; left out")
			}
			for _, n := range log.notices {
				cal.Notices = append(cal.Notices, where+": "+n)
			}
		})
		if err != nil {
			return fmt.Errorf("%s: %w", at.Redacted(), err)
		}
		if _, ok := top[name]; !ok {
			return fmt.Errorf("%s: it has no %q", at.Redacted(), name)
		}
		next := object{top, "", &readLog{}}.raw("next_rest_url")
		if next == "" {
			return nil
		}
		if at, err = w.follow(next); err != nil {
			return err
		}
		if visited[at.String()] {
			return errors.New("the next page is one that was read before")
		}
	}
	return fmt.Errorf("more than %d pages", maxPages)
}

// listPage is the per_page parameter for lists of a service.
const listPage = "50"

// listFilters are the query parameters that filter a list of events. An import of a filtered list has only records
// that belong to its events.
var listFilters = []string{
	"search", "categories", "tags", "venue", "organizer", "featured", "geoloc", "geoloc_lat", "geoloc_lng", "include",
	"post_parent", "ticketed", "series", "event_status",
}

// listRoot returns the URL of the API, from that of its list of events. Nil means that the list is filtered, or that
// the source is no such list.
func (w *webReader) listRoot(source string) *url.URL {
	if isFiltered(source) {
		return nil
	}
	path, ok := strings.CutSuffix(strings.TrimRight(w.base.Path, "/"), "/events")
	if !ok {
		return nil
	}
	root := *w.base
	root.Path, root.RawPath, root.RawQuery = path, "", ""
	return &root
}

// isFiltered reports whether query parameters of the source limit its list to some of the events.
func isFiltered(source string) bool {
	asked, err := url.Parse(source)
	if err != nil {
		return true
	}
	for name := range asked.Query() {
		name, _, _ = strings.Cut(name, "[") // categories[] is the parameter of a list
		if slices.Contains(listFilters, name) {
			return true
		}
	}
	return false
}
