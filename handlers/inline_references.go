package handlers

import (
	"context"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
)

// loadInline loads the authors and images that inline records name, with one statement for hundreds of each.
func (r *writing) loadInline(ctx context.Context, refs []reference) error {
	var authors, images []int64
	for _, ref := range refs {
		if id, fault := param.Integer(ref.object["author"]); fault == nil {
			authors = append(authors, id)
		}
		if id, fault := param.Integer(imageRef(ref.object["image"])); fault == nil {
			images = append(images, id)
		}
	}
	return r.Editor().LoadReferences(ctx, r.DB, authors, images)
}

// unknownTarget returns the fault of an id or slug in the path that no record of the kind has.
func unknownTarget(kind calendar.Kind, q *target) *param.Fault {
	if q.Slug != "" {
		return read.UnknownSlug(q.Slug)
	}
	return read.UnknownID(kind, q.ID)
}
