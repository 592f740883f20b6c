package handlers

import (
	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/represent"
)

func (r *request) declareImageQuery(p *param.Set, q *paging) {
	r.declarePaging(p, q, "Images")
	r.declareLanguage(p)
}

// listImages answers GET /images, newest first. Only callers who may upload may list images.
func (r *request) listImages(q *paging) (*Reply, error) {
	if !auth.May(r.caller, auth.ListImages, auth.Record{Kind: calendar.Image}) {
		return nil, edit.Forbidden()
	}
	query := r.db.Image.Query()
	total, err := query.Clone().Count(r.ctx)
	if err != nil {
		return nil, err
	}
	var rows []*ent.Image
	if offset, ok := q.offset(); ok && offset < total {
		rows, err = query.Order(image.ByCreatedAt(sql.OrderDesc()), image.ByID(sql.OrderDesc())).
			Offset(offset).Limit(int(q.perPage)).All(r.ctx)
		if err != nil {
			return nil, err
		}
	}
	v := r.view()
	shown := make([]*represent.Image, len(rows))
	for i, row := range rows {
		shown[i] = v.Image(row)
	}
	items, err := encodeAll(r, shown)
	if err != nil {
		return nil, err
	}
	return r.listReply(calendar.Image, *q, items, total)
}

// getImage answers GET /images/{id}. Images are public.
func (r *request) getImage(q *target) (*Reply, error) {
	row, err := r.db.Image.Get(r.ctx, q.ID)
	if ent.IsNotFound(err) {
		return nil, r.noImage()
	}
	if err != nil {
		return nil, err
	}
	r.DependsOn(calendar.Image, row.ID)
	r.Complete = true
	return &Reply{status: 200, body: r.imageBody(row), version: calendar.ShownVersion{Number: row.Version}}, nil
}
