package endpoint

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/jsonwrite"
	"github.com/almanac-cal/almanac/internal/read"
)

// ListReply returns the reply with a page of a list, its totals and links. The items are encoded records, and
// total counts the records on all pages. A page after the last is an empty list for terms and images, else an
// error.
func (r *Request) ListReply(kind calendar.Kind, p read.Paging, items [][]byte, total int) (*Reply, error) {
	pages := p.Pages(total)
	strict := !kind.IsTerm() && kind != calendar.Image
	if p.Number > 1 && len(items) == 0 && strict {
		code := string(kind) + "-archive-page-not-found"
		return nil, &calendar.Error{Code: code, Key: code}
	}
	link := r.pageLink(kind)
	next, prev, header := PageLinks(p, link, total)
	if r.IsTable() {
		header = append(header, [2]string{"Content-Disposition", `attachment; filename="` + kind.Plural() + `.csv"`})
	}
	return &Reply{Status: 200, Body: &list{kind, items, link(p.Number), next, prev, total, pages}, Header: header}, nil
}

// PageLinks returns the URLs of the next and previous page of a list, or "" if there is none. It also returns
// the headers X-TEC-Total, X-TEC-TotalPages and Link. The function link returns the URL of a page.
func PageLinks(p read.Paging, link func(page int64) string, total int) (next, prev string, header [][2]string) {
	pages := p.Pages(total)
	if p.Number < int64(pages) {
		next = link(p.Number + 1)
	}
	if p.Number > 1 {
		prev = link(p.Number - 1)
	}
	links := []string{LinkValue(link(1), "first")}
	if prev != "" {
		links = append(links, LinkValue(prev, "prev"))
	}
	if next != "" {
		links = append(links, LinkValue(next, "next"))
	}
	if total > 0 {
		links = append(links, LinkValue(link(int64(pages)), "last"))
	}
	return next, prev, [][2]string{
		{"X-TEC-Total", strconv.Itoa(total)},
		{"X-TEC-TotalPages", strconv.Itoa(pages)},
		{"Link", strings.Join(links, ", ")},
	}
}

// list is a page of encoded records, with its links and totals. It is the reply value of lists in JSON and CSV.
type list struct {
	kind                 calendar.Kind
	items                [][]byte // encoded representations of the records
	self, next, previous string
	total, pages         int
}

// object returns the list as a JSON object.
func (l *list) object() jsonwrite.Object {
	o := jsonwrite.Object{{l.kind.Plural(), jsonwrite.RawList(l.items)}, {"rest_url", l.self}}
	if l.next != "" {
		o = append(o, jsonwrite.Member{"next_rest_url", l.next})
	}
	if l.previous != "" {
		o = append(o, jsonwrite.Member{"previous_rest_url", l.previous})
	}
	return append(o, jsonwrite.Member{"total", l.total}, jsonwrite.Member{"total_pages", l.pages})
}

// EncodeAll returns representations as bytes, encoded by the codec of the reply.
func EncodeAll[T any](r *Request, items []T) (out [][]byte, err error) {
	out = make([][]byte, len(items))
	for i, item := range items {
		if out[i], err = r.Codec.Encode(item, ""); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// LinkValue returns one link of a Link header, with the target href and the relation rel.
func LinkValue(href, rel string) string { return "<" + href + `>; rel="` + rel + `"` }

// pageLink returns a function that returns the URL of a page of the list. The URL repeats the sent parameters as
// they were parsed, except those registered with NoLink. It has the page unless that is 1.
func (r *Request) pageLink(kind calendar.Kind) func(page int64) string {
	base := r.Site.BaseURL + r.Root.Segment + r.Root.Mount + "/" + kind.Plural() + "/"
	var query strings.Builder
	add := func(name, value string) {
		if query.Len() > 0 {
			query.WriteByte('&')
		}
		query.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(value))
	}
	if r.IsTable() && !r.Params.Sent("format") {
		add("format", FormatTable) // Accept chose the table, and may not be sent with the link
	}
	for _, pair := range r.Params.Links() {
		add(pair.Name, pair.Value)
	}
	if r.Fields != "" {
		add("_fields", r.Fields)
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
