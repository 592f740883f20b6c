package importer

import (
	"context"
	"fmt"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
)

// parents reads the ancestors that the categories of events and lists lack, up to maxDepth levels. A category that
// cannot be read becomes a notice. It returns an error only if ctx ended.
func (w *webReader) parents(ctx context.Context, cal *Calendar) error {
	known := make(map[string]bool)
	var wanted []*Term // terms whose parents are missing
	for _, t := range collectLinked(cal).terms {
		known[t.Key] = true
		wanted = append(wanted, t)
	}
	for depth := 0; len(wanted) > 0 && depth < maxDepth; depth++ {
		var next []*Term
		for _, t := range wanted {
			if t.Parent == "" || known[t.Parent] || t.ParentURL == "" {
				continue
			}
			known[t.Parent] = true
			parent, err := w.parent(ctx, t)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				cal.Notices = append(cal.Notices, fmt.Sprintf("%s: its parent: %v", t.Where, err))
				continue
			}
			cal.Parents = append(cal.Parents, parent)
			next = append(next, parent)
		}
		wanted = next
	}
	return nil
}

func (w *webReader) parent(ctx context.Context, of *Term) (*Term, error) {
	at, err := w.follow(of.ParentURL)
	if err != nil {
		return nil, err
	}
	data, _, err := w.get(ctx, at)
	if err != nil {
		return nil, err
	}
	log := &readLog{}
	o, ok := newObject(data, "", log)
	if !ok {
		return nil, fmt.Errorf("%s: %w", at.Redacted(), errNotObject)
	}
	prefix, _, _ := strings.Cut(of.Key, "?term=")
	t := recordReader{prefix: prefix, where: at.Redacted(), site: w.Site}.term(o, calendar.Category)
	if len(log.faults) > 0 {
		return nil, fmt.Errorf("%s: %s", at.Redacted(), joinErrors(log.faults))
	}
	if t.Key != of.Parent {
		return nil, fmt.Errorf("%s: another category", at.Redacted())
	}
	return t, nil
}
