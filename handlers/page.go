package handlers

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/param"
)

// paging states which page of a list a request asks for. page counts from 1.
type paging struct{ page, perPage int64 }

// offset returns the number of rows before the page. It returns false for a page beyond 2³¹ rows, which is empty.
func (p paging) offset() (int, bool) {
	if p.page-1 > (1<<31-1)/p.perPage {
		return 0, false
	}
	return int((p.page - 1) * p.perPage), true
}

// span returns the offset and limit of the page for a query. Both are 0 for a page beyond 2³¹ rows.
func (p paging) span() (offset, limit int) {
	offset, ok := p.offset()
	if !ok {
		return 0, 0
	}
	return offset, int(p.perPage)
}

// declarePaging declares page and per_page. noun names the records of the list, capitalised.
func (r *request) declarePaging(p *param.Set, q *paging, noun string) {
	size := int64(10)
	if r.h != nil {
		size = int64(r.h.Site.PerPage)
	}
	param.Default(p.Int(&q.page, "page", "Page of the list"), &q.page, 1).Between(1, nil).NoLink()
	perPage := p.Int(&q.perPage, "per_page", noun+" on a page, at most 50")
	param.Default(perPage, &q.perPage, size).Between(1, nil).Check(func(context.Context) *param.Fault {
		q.perPage = min(q.perPage, r.largestPage())
		return nil
	})
	perPage.Link(func() string {
		if !p.Sent("per_page") {
			return ""
		}
		return strconv.FormatInt(q.perPage, 10)
	})
}

// declareLanguage declares ml_language. It is the last parameter of every operation except POST /series/preview.
func (r *request) declareLanguage(p *param.Set) {
	words := make([]string, len(calendar.Languages))
	for i, l := range calendar.Languages {
		words[i] = string(l)
	}
	var chosen *string
	p.Enum(&chosen, "ml_language", "Language of the request", words...)
}

// listReply returns the reply with a page of a list, its totals and links. items are already encoded. A page
// beyond the end is an error for records. For terms and images it is an empty list.
func (r *request) listReply(kind calendar.Kind, p paging, items [][]byte, total int) (*Reply, error) {
	pages := p.pages(total)
	strict := !kind.IsTerm() && kind != calendar.Image
	if p.page > 1 && len(items) == 0 && strict {
		code := string(kind) + "-archive-page-not-found"
		return nil, &calendar.Error{Code: code, Key: code}
	}
	link := r.pageLink(kind)
	next, prev, header := p.links(link, total)
	if r.isTable() {
		header = append(header, [2]string{"Content-Disposition", `attachment; filename="` + kind.Plural() + `.csv"`})
	}
	return &Reply{status: 200, body: &list{kind, items, link(p.page), next, prev, total, pages}, header: header}, nil
}

// pages returns the number of pages of a list with total records.
func (p paging) pages(total int) int { return (total + int(p.perPage) - 1) / int(p.perPage) }

// links returns the URLs of the next and previous page, and the headers of a list. "" means that there is no such
// page.
func (p paging) links(link func(page int64) string, total int) (next, prev string, header [][2]string) {
	pages := p.pages(total)
	if p.page < int64(pages) {
		next = link(p.page + 1)
	}
	if p.page > 1 {
		prev = link(p.page - 1)
	}
	links := []string{linkValue(link(1), "first")}
	if prev != "" {
		links = append(links, linkValue(prev, "prev"))
	}
	if next != "" {
		links = append(links, linkValue(next, "next"))
	}
	if total > 0 {
		links = append(links, linkValue(link(int64(pages)), "last"))
	}
	return next, prev, [][2]string{
		{"X-TEC-Total", strconv.Itoa(total)},
		{"X-TEC-TotalPages", strconv.Itoa(pages)},
		{"Link", strings.Join(links, ", ")},
	}
}

// list is a page of records. It is the reply value that each codec of lists encodes.
type list struct {
	kind                 calendar.Kind
	items                [][]byte // encoded representations of the records
	self, next, previous string
	total, pages         int
}

// object returns the list as a JSON object.
func (l *list) object() ordered {
	o := ordered{{l.kind.Plural(), jsonwrite.RawList(l.items)}, {"rest_url", l.self}}
	if l.next != "" {
		o = append(o, member{"next_rest_url", l.next})
	}
	if l.previous != "" {
		o = append(o, member{"previous_rest_url", l.previous})
	}
	return append(o, member{"total", l.total}, member{"total_pages", l.pages})
}

// encodeAll returns representations as bytes, encoded by the codec of the endpoint.
func encodeAll[T any](r *request, items []T) (out [][]byte, err error) {
	out = make([][]byte, len(items))
	for i, item := range items {
		if out[i], err = r.codec.encode(item, ""); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func linkValue(href, rel string) string { return "<" + href + `>; rel="` + rel + `"` }

// pageLink returns a function that returns the URL of a page of the list. The URL has the sent parameters as they
// were understood, without those that NoLink excludes. It has the page unless that is 1.
func (r *request) pageLink(kind calendar.Kind) func(page int64) string {
	base := r.h.Site.BaseURL + r.root.Segment + r.root.Mount + "/" + kind.Plural() + "/"
	var query strings.Builder
	add := func(name, value string) {
		if query.Len() > 0 {
			query.WriteByte('&')
		}
		query.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(value))
	}
	if r.isTable() && !r.params.Sent("format") {
		add("format", formatTable) // Accept chose the table, and may not be sent with the link
	}
	for _, pair := range r.params.Links() {
		add(pair.Name, pair.Value)
	}
	if r.fields != "" {
		add("_fields", r.fields)
	}
	common := query.String()
	return func(page int64) string {
		text := common
		if page > 1 {
			if text != "" {
				text += "&"
			}
			text += "page=" + strconv.FormatInt(page, 10)
		}
		if text == "" {
			return base
		}
		return base + "?" + text
	}
}
