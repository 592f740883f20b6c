package handlers

import (
	"slices"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/term"
	"github.com/almanac-cal/almanac/handlers/endpoint"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/represent"
)

// declareTermQuery returns a function that registers the request parameters for listing the terms of a taxonomy.
func declareTermQuery(taxonomy calendar.Kind) func(*request, *param.Set, *read.TermQuery) {
	return func(r *request, p *param.Set, q *read.TermQuery) { q.Declare(r.Reader, p, taxonomy, r.LargestPage()) }
}

func listTerms(taxonomy calendar.Kind) func(*request, *read.TermQuery) (*endpoint.Reply, error) {
	return func(r *request, q *read.TermQuery) (*endpoint.Reply, error) { return r.listTerms(taxonomy, q) }
}

func (r *request) listTerms(taxonomy calendar.Kind, q *read.TermQuery) (*endpoint.Reply, error) {
	query := r.DB.Term.Query().Where(q.Predicates(taxonomy, r.Language)...)
	total, err := query.Clone().Count(r.Ctx)
	if err != nil {
		return nil, err
	}
	var rows []*ent.Term
	if offset, ok := q.Offset(); ok && offset < total {
		rows, err = r.FindTerms(taxonomy, query, q, offset)
		if err != nil {
			return nil, err
		}
	}
	items, err := r.encodeTerms(taxonomy, rows)
	if err != nil {
		return nil, err
	}
	r.DependsOnTerms(taxonomy)
	r.Complete = true
	return r.ListReply(taxonomy, q.Paging, items, total)
}

// encodeTerms returns the representations of terms, encoded by the codec of the reply. It loads texts and
// ancestors for several terms at once. It returns an error if a CSV reply becomes too large.
func (r *request) encodeTerms(taxonomy calendar.Kind, rows []*ent.Term) (items [][]byte, err error) {
	known, table := make(map[int64]*ent.Term), r.TableRows(taxonomy)
	for batch := range slices.Chunk(rows, ent.MaxRead) {
		if err := r.Translate(ent.PageOf(batch...)); err != nil {
			return nil, err
		}
		var encoded [][]byte
		if r.IsTable() {
			encoded, err = encodeEach(r, batch, known, (*represent.View).TermRow)
		} else {
			encoded, err = encodeEach(r, batch, known, (*represent.View).Term)
		}
		if err != nil {
			return nil, err
		}
		for _, item := range encoded {
			items = append(items, table.Take(item))
		}
		if table.Full() {
			return nil, endpoint.ErrTableTooLarge()
		}
	}
	return items, nil
}

// encodeEach encodes the terms of a batch. The function show returns the representation of a term, given the
// names of its ancestors. The map known has terms that are already loaded, by id. Ancestors in known are not
// read again.
func encodeEach[T any](
	r *request, batch []*ent.Term, known map[int64]*ent.Term, show func(*represent.View, *ent.Term, []string) T,
) ([][]byte, error) {
	shown, err := read.RepresentTermsAs(r.Reader, batch, known, show)
	if err != nil {
		return nil, err
	}
	return endpoint.EncodeAll(r.Request, shown)
}

func getTerm(taxonomy calendar.Kind) func(*request, *target) (*endpoint.Reply, error) {
	return func(r *request, q *target) (*endpoint.Reply, error) {
		row, err := r.findTerm(taxonomy, q.ID)
		if err != nil {
			return nil, err
		}
		body, err := r.termBody(row)
		if err != nil {
			return nil, err
		}
		r.DependsOnTerms(taxonomy)
		r.Complete = true
		_, version := r.View().LastWrite(row.Core(), false)
		return &endpoint.Reply{Status: 200, Body: body, Version: version}, nil
	}
}

func (r *request) findTerm(taxonomy calendar.Kind, id int64) (*ent.Term, error) {
	query := r.DB.Term.Query().Where(term.ID(id), term.TaxonomyEQ(taxonomy))
	read.SelectTerms(query)
	row, err := query.Only(r.Ctx)
	if ent.IsNotFound(err) {
		return nil, invalidPath("id", read.UnknownID(taxonomy, id))
	}
	return row, err
}

func (r *request) termBody(row *ent.Term) (*represent.Term, error) {
	if err := r.Translate(ent.PageOf(row)); err != nil {
		return nil, err
	}
	items, err := r.RepresentTerms([]*ent.Term{row})
	if err != nil {
		return nil, err
	}
	return &items[0], nil
}

func (r *request) termReply(taxonomy calendar.Kind, id int64) (*endpoint.Reply, error) {
	row, err := r.findTerm(taxonomy, id)
	if err != nil {
		return nil, err
	}
	body, err := r.termBody(row)
	if err != nil {
		return nil, err
	}
	_, version := r.View().LastWrite(row.Core(), false)
	return &endpoint.Reply{Status: 200, Body: body, Version: version}, nil
}

// termReplies returns the functions that make replies with one term of the taxonomy.
func termReplies(taxonomy calendar.Kind) recordReplies {
	return recordReplies{
		func(r *request, q *target) (*endpoint.Reply, error) {
			_, err := r.findTerm(taxonomy, q.ID)
			return nil, err
		},
		func(r *request, id int64) (*endpoint.Reply, error) { return r.termReply(taxonomy, id) },
	}
}
