package importer

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// readUIDs sets the UIDs of events, first from the iCalendar file of the list, which has upcoming events only. If
// these UIDs follow a formula, it computes the others. Otherwise it reads each event's own iCalendar file.
func (s *siteReader) readUIDs(ctx context.Context) {
	byPage := make(map[string]*Event)
	for _, e := range s.cal.Events {
		if _, ok := s.onSite(e.Page); ok {
			byPage[pageKey(e.Page)] = e
		}
	}
	if len(byPage) == 0 {
		return
	}
	byQuery := *s.home
	byQuery.RawQuery = url.Values{"post_type": {"tribe_events"}, "ical": {"1"}}.Encode()
	files := []*url.URL{&byQuery}
	if events := s.bases["events"]; events != "" {
		list := s.listPage(events, "")
		list.RawQuery = "ical=1"
		files = append(files, list)
	}
	matched := 0
	for _, at := range files {
		uids, err := s.calendarFile(ctx, at)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			continue
		}
		for page, uid := range uids {
			if e := byPage[page]; e != nil && e.UID == "" {
				e.UID = uid
				matched++
			}
		}
	}
	if formula := s.uidFormula(); formula != nil && matched >= enoughUIDs {
		for _, e := range s.cal.Events {
			if e.UID == "" && idOf(e) != "" {
				e.UID = formula(e)
			}
		}
		return
	}
	s.readOwnUIDs(ctx, matched > 0)
}

const (
	// enoughUIDs is the number of UIDs that must fit a formula before it is applied to other events.
	enoughUIDs = 3
	// maxUIDRequests is the maximum number of events whose own iCalendar file is read.
	maxUIDRequests = 200
)

// uidFormulas compute the UIDs of The Events Calendar's versions, without the host. Some have wall times read as
// UTC, others instants.
var uidFormulas = []func(id string, s calendar.Span) string{
	func(id string, s calendar.Span) string {
		utc := calendar.UTC()
		return fmt.Sprintf("%s-%d-%d@", id, utc.Instant(s.Start).Unix(), utc.Instant(s.End).Unix())
	},
	func(id string, s calendar.Span) string {
		return fmt.Sprintf("%s-%d-%d@", id, s.StartsAt().Unix(), s.EndsAt().Unix())
	},
}

// uidFormula returns a function that computes the UID of an event, if all known UIDs agree with it. Nil means that
// there is none.
func (s *siteReader) uidFormula() func(*Event) string {
	for _, formula := range uidFormulas {
		host, fits := "", true
		for _, e := range s.cal.Events {
			if e.UID == "" {
				continue
			}
			rest, ok := strings.CutPrefix(e.UID, formula(idOf(e), e.Span))
			fits = fits && ok && rest != "" && (host == "" || rest == host)
			host = rest
		}
		if fits && host != "" {
			return func(e *Event) string { return formula(idOf(e), e.Span) + host }
		}
	}
	return nil
}

// readOwnUIDs sets the UIDs of events from their own iCalendar files. offered is true if the site is known to have
// such files. If it is false, missing files cause no notice.
func (s *siteReader) readOwnUIDs(ctx context.Context, offered bool) {
	requests, failures, without := 0, 0, 0
	for _, e := range s.cal.Events {
		if e.UID != "" {
			continue
		}
		at, ok := s.onSite(e.Page)
		if !ok || requests == maxUIDRequests || failures == maxFailures {
			without++
			continue
		}
		query := at.Query()
		query.Set("ical", "1")
		at.RawQuery = query.Encode()
		requests++
		uids, err := s.calendarFile(ctx, at)
		if ctx.Err() != nil {
			return
		}
		if e.UID = uids[pageKey(e.Page)]; err != nil || e.UID == "" {
			failures++
			without++
			continue
		}
		failures, offered = 0, true
	}
	if offered && without > 0 {
		s.notice("UIDs of iCalendar files: unknown for %d of %d events; programs that have their files will show them twice",
			without, len(s.cal.Events))
	}
}

// calendarFile requests an iCalendar file, and returns the UIDs of its events by the pageKey of their pages. The UID is
// "" if several events have the same page.
func (s *siteReader) calendarFile(ctx context.Context, at *url.URL) (map[string]string, error) {
	data, _, err := s.get(ctx, at)
	if err != nil {
		return nil, err
	}
	file, err := parseICal(data, s.icalSite().Language)
	if err != nil {
		return nil, err
	}
	uids := make(map[string]string)
	for _, c := range file.events {
		page, uid := pageKey(c.value("URL")), icalText(c.value("UID"))
		if c.isCutOff || !isIdentifier(uid) || c.value("URL") == "" {
			continue
		}
		if _, twice := uids[page]; twice {
			uid = "" // several dates with one address
		}
		uids[page] = uid
	}
	return uids, nil
}
