package pages

import (
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/markup"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/web"
)

// maxTermDepth is the largest number of categories in a path. Each of them takes at least one SQL statement.
const maxTermDepth = 32

// resolveTerms loads the term of the path with its ancestors. It returns the canonical address of the page. The
// caller redirects if that differs from the path. The error is errOtherReading if a slug in the path belongs to no
// term.
func (r *request) resolveTerms() (path address.Page, err error) {
	if len(r.path.Slugs) > maxTermDepth {
		return path, errOtherReading
	}
	var id int64
	for _, slug := range r.path.Slugs {
		if id, err = r.OwnerBySlug(r.path.Taxonomy, slug); err != nil {
			return path, err
		}
		if id == 0 {
			return path, errOtherReading
		}
	}
	var chain []*ent.Term
	for next := id; next != 0 && len(chain) < math.MaxUint8; {
		rows, err := r.DB.ReadTerms(r.Ctx, []int64{next})
		if err != nil {
			return path, err
		}
		if len(rows) == 0 {
			break
		}
		if err := r.translateFully(ent.PageOf(rows[0])); err != nil {
			return path, err
		}
		chain = append(chain, rows[0])
		next = represent.ParentID(rows[0])
	}
	if len(chain) == 0 {
		return path, errOtherReading
	}
	slices.Reverse(chain)
	r.terms = chain
	path = r.path
	if slugs := r.termSlugs(r.Language); !slices.Equal(path.Slugs, slugs) {
		path.Slugs = slugs
		if path.Redirect == 0 {
			path.Redirect = http.StatusMovedPermanently
		}
	}
	return path, nil
}

// translateFully loads the texts of records in all languages, for links to the page in other languages.
func (r *request) translateFully(page ent.Page) error {
	return r.DB.ReadTranslations(r.Ctx, calendar.Languages, page)
}

// termSlug returns the slug of a term in a language.
func (r *request) termSlug(t *ent.Term, l calendar.Language) string {
	return calendar.Served(l, r.Site.Language, t.Text(), t.Translated()).Slug
}

// termSlugs returns the decoded slugs, in a language, of the path's term and its ancestors.
func (r *request) termSlugs(l calendar.Language) []string {
	out := make([]string, len(r.terms))
	for i, t := range r.terms {
		out[i] = calendar.DecodedSlug(r.termSlug(t, l))
	}
	return out
}

// describeTerm adds the title and description of the path's term to a page. Without a term it changes nothing.
func (r *request) describeTerm(m *web.ListPage, f *frameInput, title, description *string) error {
	if len(r.terms) == 0 {
		return nil
	}
	t := r.terms[len(r.terms)-1]
	text := r.View().Text(t)
	*title = text.Title
	m.Heading, m.Lead, m.LeadLang = text.Title, markup.Plain(text.Description), r.foreignLanguage(string(text.Language))
	m.HeadingLang = m.LeadLang
	if m.Lead != "" {
		*description = summary(text.Description, 160)
	} else {
		*description = strings.ReplaceAll(r.words.DescTerm, "{title}", text.Title)
	}
	if r.path.Taxonomy.IsHierarchical() {
		m.Colour = termColour(t.ID)
	} else {
		m.Heading = "#" + text.Title
	}
	m.Crumbs = []web.Link{{Text: r.words.Events, Href: r.href(r.newPagePath(address.ViewDefault), nil)}}
	for i, above := range r.terms[:len(r.terms)-1] {
		p := r.newPagePath(address.ViewList)
		p.Taxonomy, p.Slugs = r.path.Taxonomy, r.termSlugs(r.Language)[:i+1]
		aboveText := r.View().Text(above)
		m.Crumbs = append(m.Crumbs, web.Link{Text: aboveText.Title, Href: r.href(p, nil), Lang: r.foreignLanguage(string(aboveText.Language))})
	}
	f.languages, f.original = t.Languages.List(), t.Language
	f.paths = func(l calendar.Language) address.Page {
		p := r.path
		p.Language, p.Slugs = r.pages.PathLanguage(l), r.termSlugs(l)
		return p
	}
	name := map[calendar.Kind]string{calendar.Category: "categories", calendar.Tag: "tags"}[r.path.Taxonomy]
	r.apiRoot = "/events/" + encode([]web.Field{{Name: name, Value: r.termSlug(t, r.Language)}})
	if r.path.View == address.ViewList && r.path.Page <= 1 {
		return r.addSubcategories(m, t)
	}
	return nil
}

// addSubcategories adds links to the categories directly below a category. For a tag it adds nothing.
func (r *request) addSubcategories(m *web.ListPage, t *ent.Term) error {
	if !t.Taxonomy.IsHierarchical() {
		return nil
	}
	rows, _, err := r.categoryTree()
	if err != nil {
		return err
	}
	for _, row := range rows {
		if represent.ParentID(row) != t.ID {
			continue
		}
		text := r.View().Text(row)
		p := r.newPagePath(address.ViewList)
		p.Taxonomy, p.Slugs = calendar.Category, append(r.termSlugs(r.Language), calendar.DecodedSlug(text.Slug))
		m.Terms = append(m.Terms, web.Link{
			Text: text.Title, Href: r.href(p, nil), Lang: r.foreignLanguage(string(text.Language)), Colour: termColour(row.ID),
		})
	}
	return nil
}
