package represent

import (
	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/markup"
)

// Term is the JSON representation of a category or tag (contract, section 6.4a). Parent is nil for a tag, since
// only categories have parents.
type Term struct {
	ID           int64    `json:"id"`
	Count        int      `json:"count"`
	Description  string   `json:"description"`
	Name         string   `json:"name"`
	Slug         string   `json:"slug"`
	Taxonomy     string   `json:"taxonomy"`
	Parent       *int64   `json:"parent,omitempty"`
	Meta         []string `json:"meta"`
	URL          string   `json:"url"`
	URLs         TermURLs `json:"urls"`
	Language     string   `json:"language"`
	Translations []string `json:"translations"`
}

// TermURLs are the API addresses of a term, of its collection, and of its parent. Up is "" without a parent.
type TermURLs struct {
	Self       string `json:"self"`
	Collection string `json:"collection"`
	Up         string `json:"up,omitempty"`
}

// EventTerm is a category or tag inside the representation of an event (contract, section 6.4b).
type EventTerm struct {
	Name           string   `json:"name"`
	Slug           string   `json:"slug"`
	TermGroup      int      `json:"term_group"`
	TermTaxonomyID int64    `json:"term_taxonomy_id"`
	Taxonomy       string   `json:"taxonomy"`
	Description    string   `json:"description"`
	Parent         int64    `json:"parent"`
	Count          int      `json:"count"`
	Filter         string   `json:"filter"`
	ID             int64    `json:"id"`
	URLs           TermURLs `json:"urls"`
}

// taxonomies are the names of the two kinds of term in replies.
var taxonomies = map[calendar.Kind]string{calendar.Category: "tribe_events_cat", calendar.Tag: "post_tag"}

// namedTerm is a category or tag with its text in the language of the request. The name in that text is the sort
// key.
type namedTerm struct {
	row  *ent.Term
	text calendar.Text
}

func (v *View) eventTerms(e *ent.Event, taxonomy calendar.Kind) []EventTerm {
	terms := v.sortedTerms(e, taxonomy)
	out := make([]EventTerm, len(terms))
	for i, t := range terms {
		out[i] = EventTerm{
			Name: calendar.Escape(t.text.Title), Slug: t.text.Slug, TermTaxonomyID: t.row.ID,
			Taxonomy: taxonomies[taxonomy], Description: markup.Inert(t.text.Description), Parent: ParentID(t.row),
			Count: t.row.EventCount, Filter: "raw", ID: t.row.ID, URLs: v.urlsOfTerm(t.row),
		}
	}
	return out
}

// ParentID returns the id of a term's parent. 0 means that the term has none.
func ParentID(t *ent.Term) int64 {
	if t.ParentID == nil {
		return 0
	}
	return *t.ParentID
}

func (v *View) urlsOfTerm(t *ent.Term) TermURLs {
	collection := t.Taxonomy.Plural()
	u := TermURLs{Self: v.Resource(collection, t.ID), Collection: v.API + "/" + collection}
	if parent := ParentID(t); parent != 0 {
		u.Up = v.Resource(collection, parent)
	}
	return u
}

// Term returns the representation of a loaded term. ancestors are the slugs of its parents, from the top. They
// are part of the address of a category.
func (v *View) Term(e *ent.Term, ancestors []string) Term {
	t := v.Text(e)
	out := Term{
		ID: e.ID, Count: e.EventCount, Description: markup.Inert(t.Description), Name: calendar.Escape(t.Title), Slug: t.Slug,
		Taxonomy: taxonomies[e.Taxonomy], Meta: []string{}, URLs: v.urlsOfTerm(e),
		Language: string(t.Language), Translations: languageCodes(e.Languages),
	}
	if !e.Taxonomy.IsHierarchical() {
		out.URL = v.Base + v.Paths.Of(calendar.Tag) + t.Slug + "/"
		return out
	}
	parent := ParentID(e)
	out.Parent = &parent
	out.URL = v.Base + v.Paths.Of(calendar.Category)
	for _, slug := range ancestors {
		out.URL += slug + "/"
	}
	out.URL += t.Slug + "/"
	return out
}
