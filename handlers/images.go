package handlers

import (
	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/image"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/represent"
)

func (r *request) declareImageQuery(p *param.Set, q *read.Paging) {
	r.DeclarePaging(p, q, "Images", r.LargestPage())
	read.DeclareLanguage(p)
}

// listImages answers GET /images, newest first. Only callers who may upload may list images.
func (r *request) listImages(q *read.Paging) (*endpoint.Reply, error) {
	if !auth.May(r.Caller, auth.ListImages, auth.Record{Kind: calendar.Image}) {
		return nil, edit.Forbidden()
	}
	query := r.DB.Image.Query()
	total, err := query.Clone().Count(r.Ctx)
	if err != nil {
		return nil, err
	}
	var rows []*ent.Image
	if offset, ok := q.Offset(); ok && offset < total {
		rows, err = query.Order(image.ByCreatedAt(sql.OrderDesc()), image.ByID(sql.OrderDesc())).
			Offset(offset).Limit(int(q.Size)).All(r.Ctx)
		if err != nil {
			return nil, err
		}
	}
	v := r.View()
	shown := make([]*represent.Image, len(rows))
	for i, row := range rows {
		shown[i] = v.Image(row)
	}
	items, err := endpoint.EncodeAll(r.Request, shown)
	if err != nil {
		return nil, err
	}
	return r.ListReply(calendar.Image, *q, items, total)
}

// getImage answers GET /images/{id}. Images are public.
func (r *request) getImage(q *target) (*endpoint.Reply, error) {
	row, err := r.DB.Image.Get(r.Ctx, q.ID)
	if ent.IsNotFound(err) {
		return nil, r.noImage()
	}
	if err != nil {
		return nil, err
	}
	r.DependsOn(calendar.Image, row.ID)
	r.Complete = true
	return &endpoint.Reply{Status: 200, Body: r.imageBody(row), Version: calendar.ShownVersion{Number: row.Version}}, nil
}
