package read

import (
	"context"
	"strconv"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/internal/param"
)

// Paging states which page of a list a request asks for. Number counts from 1. Size is the number of records on a
// page.
type Paging struct{ Number, Size int64 }

// Offset returns the number of rows before the page. It returns false for more than 2³¹ rows; the caller must
// then return an empty page.
func (p Paging) Offset() (int, bool) {
	if p.Number-1 > (1<<31-1)/p.Size {
		return 0, false
	}
	return int((p.Number - 1) * p.Size), true
}

// Span returns the offset and limit of the page for a query. Both are 0 for a page beyond 2³¹ rows.
func (p Paging) Span() (offset, limit int) {
	offset, ok := p.Offset()
	if !ok {
		return 0, 0
	}
	return offset, int(p.Size)
}

// DeclarePaging declares page and per_page. The word noun, such as "Events", names the records of the list in
// descriptions. A page has at most largest records.
func (r *Reader) DeclarePaging(p *param.Set, q *Paging, noun string, largest int64) {
	size := int64(r.Site.PerPage)
	param.Default(p.Int(&q.Number, "page", "Page of the list"), &q.Number, 1).Between(1, nil).NoLink()
	perPage := p.Int(&q.Size, "per_page", noun+" on a page, at most 50")
	param.Default(perPage, &q.Size, size).Between(1, nil).Check(func(context.Context) *param.Fault {
		q.Size = min(q.Size, largest)
		return nil
	})
	perPage.Link(func() string {
		if !p.Sent("per_page") {
			return ""
		}
		return strconv.FormatInt(q.Size, 10)
	})
}

// DeclareLanguage declares ml_language. It is the last parameter of every operation except POST /series/preview.
func DeclareLanguage(p *param.Set) {
	words := make([]string, len(calendar.Languages))
	for i, l := range calendar.Languages {
		words[i] = string(l)
	}
	var chosen *string
	p.Enum(&chosen, "ml_language", "Language of the request", words...)
}

// Pages returns the number of pages of a list with total records.
func (p Paging) Pages(total int) int { return (total + int(p.Size) - 1) / int(p.Size) }
