package feeds

import (
	"fmt"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/feed"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
)

// fileQuery is the input of the iCalendar file of one event.
type fileQuery struct {
	Slug string
}

// oneCalendar answers GET /event/{slug}.ics.
func (r *request) oneCalendar(q *fileQuery) (*endpoint.Reply, error) {
	path := r.EventFile(address.EscapeSegment(q.Slug))
	about := r.newFeed(r.SiteName())
	about.Import, about.Self = true, r.feedAddress(path)(1)
	var entry feed.Entry
	var parent int64
	one, w, err := r.eventBySlug(q.Slug)
	switch {
	case err != nil:
		return nil, err
	case one != nil:
		r.DependsOn(calendar.Event, one.entry.ID)
		r.Complete = true
		r.ExpireBy(r.ruleYearEnd())
		for _, part := range one.parts {
			if part.Status == calendar.Future && part.PublishedAt.After(r.Now) {
				r.ExpireBy(part.PublishedAt)
			}
		}
		entry, parent, about.Page = one.entry, one.parent, one.entry.URL
	case w != nil:
		entries, err := r.withdrawnEntries(*w)
		if err != nil {
			return nil, err
		}
		entry = entries[0]
		r.ExpireBy(w.At.Add(query.WithdrawalTime))
	default:
		return nil, eventNotFound(q.Slug)
	}
	parts := []feed.Part{about.Part(&entry)}
	if err := r.relateParents(parts, []int64{parent}); err != nil {
		return nil, err
	}
	last, err := r.lastModified(entry.Stamp, r.ruleYearStart())
	if err != nil {
		return nil, err
	}
	name := calendar.Slug(calendar.DecodedSlug(q.Slug))
	return r.feedReply(&calendarFile{about, parts}, last, "attachment", name), nil
}

// eventBySlug returns the public event with a slug, else the withdrawn event that had the slug. Both are nil if
// there is none.
func (r *request) eventBySlug(slug string) (*feedEvent, *query.Withdrawal, error) {
	id, err := r.OwnerBySlug(calendar.Event, slug)
	if err != nil {
		return nil, nil, err
	}
	entries := make(map[int64]*feedEvent)
	if id != 0 {
		if _, err := r.feedEvents([]int64{id}, entries); err != nil {
			return nil, nil, err
		}
	}
	if one := entries[id]; one != nil {
		return one, nil, nil
	}
	w, err := r.WithdrawnBySlug(slug)
	if err != nil {
		return nil, nil, fmt.Errorf("withdrawn event: %w", err)
	}
	return nil, w, nil
}

// eventNotFound returns the error for an unknown event. sent is the id or slug in the request.
func eventNotFound(sent string) error {
	return &calendar.Error{Code: "rest-event-not-found", Key: "rest-event-not-found", Args: map[string]any{"ID": sent}}
}

func (r *request) declareOneCalendar(p *param.Set, q *fileQuery) {
	p.PathString(&q.Slug, "slug", "Slug of the event")
	read.DeclareLanguage(p)
}
