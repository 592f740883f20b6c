package pages

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/param"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/represent"
	"github.com/almanac-cal/almanac/internal/when"
	"github.com/almanac-cal/almanac/web"
)

// withoutAliases renames parameters of The Events Calendar to those of Almanac. It returns the address of the page
// and all parameters. The parameter tribe-bar-date becomes the day or month to show, or start_date in lists. Dates in
// the path of the page have precedence. If the error is param.Invalid, the result has what is valid.
func (r *request) withoutAliases() (address.Page, map[string]any, error) {
	path, values := r.path, maps.Clone(r.values)
	if fault := address.RenameParams(values); fault != nil {
		return path, values, param.Invalid{Faults: []param.Fault{*fault}}
	}
	text := param.SentText(values["tribe-bar-date"])
	delete(values, "tribe-bar-date")
	switch {
	case text == "":
	case path.View != address.ViewMonth && path.View != address.ViewDay:
		if values["start_date"] == nil {
			values["start_date"] = text
		}
	case path.Date.IsZero():
		var err error
		path.Date, err = r.parseBarDate(text, path.View)
		return path, values, err
	}
	return path, values, nil
}

// parseBarDate parses the parameter tribe-bar-date of a month or day page. It returns the first moment of that
// month or day.
func (r *request) parseBarDate(text string, view address.View) (calendar.Wall, error) {
	if month, ok := address.ParseMonth(text); ok && view == address.ViewMonth {
		return month, nil
	}
	date, err := when.Parse(text, r.Now, r.Zone())
	if err != nil {
		fault := *param.Bad()
		fault.Param = "tribe-bar-date"
		return calendar.Wall{}, param.Invalid{Faults: []param.Fault{fault}}
	}
	if date.Relative() {
		r.ExpireBy(r.Tomorrow())
	}
	day := read.DayOf(date, r.Zone())
	if !isPageDay(day) {
		return calendar.Wall{}, address.ErrNoPage
	}
	if view == address.ViewMonth {
		day = startOfMonth(day)
	}
	return day, nil
}

// filterForm returns the filter form of the page with the sent values. If dates is true, the form has fields for
// dates.
func (r *request) filterForm(dates bool) (*web.Filter, error) {
	to := r.path
	to.Page, to.Redirect, to.Past = 0, 0, false
	f := &web.Filter{
		Dates: dates, Search: param.SentText(r.values["search"]), From: r.dateField("start_date"), To: r.dateField("end_date"),
		Featured: r.path.Featured,
	}
	if sent, fault := param.Boolean(r.values["featured"]); fault == nil && sent {
		f.Featured = true
	}
	fields := []string{"search", "categories", "featured"}
	if dates {
		fields = append(fields, "start_date", "end_date")
		to.View = address.ViewList
	}
	chosen := param.SentText(r.values["categories"])
	if r.path.Taxonomy == calendar.Category {
		chosen = r.termSlug(r.terms[len(r.terms)-1], r.Language)
	}
	// The form has a field for the category, so its action is the page of all events.
	to.Taxonomy, to.Slugs, to.Featured = "", nil, false
	f.Action = r.pages.pathOf(to)
	if r.path.Taxonomy == calendar.Tag {
		f.Hidden = append(f.Hidden, web.Field{Name: "tags", Value: r.termSlug(r.terms[len(r.terms)-1], r.Language)})
		fields = append(fields, "tags")
	}
	if r.path.Past {
		f.Hidden = append(f.Hidden, web.Field{Name: address.ParamDisplay, Value: address.DisplayPast})
	}
	f.Hidden = append(f.Hidden, r.filters(fields...)...)
	var err error
	if f.Categories, err = r.categoryOptions(chosen); err != nil {
		return nil, err
	}
	r.addChips(f)
	return f, nil
}

// dateField returns the sent value of a date parameter in the format of a form field. A text that is not a date
// stays unchanged.
func (r *request) dateField(name string) string {
	text := param.SentText(r.values[name])
	if text == "" {
		return ""
	}
	date, err := when.Parse(text, r.Now, r.Zone())
	if err != nil {
		return text
	}
	return date.Wall(r.Zone()).Format(time.DateOnly)
}

// addChips adds a link for each active filter of the page. The link leads to the page without that filter.
func (r *request) addChips(f *web.Filter) {
	p := r.path
	p.Page, p.Redirect = 0, 0
	today := r.today()
	labels := map[string]string{
		"search": r.words.Search, "start_date": r.words.From, "end_date": r.words.To, "categories": r.words.Category,
		"featured": r.words.Featured, "tags": r.words.Tags, "venue": r.words.Venue, "organizer": r.words.Organizer,
	}
	for _, field := range r.filters() {
		text, language := field.Value, ""
		switch field.Name {
		case "categories":
			for _, o := range f.Categories {
				if o.Value == field.Value {
					text, language = o.Text, o.Lang
				}
			}
		case "start_date", "end_date":
			if day, ok := address.ParseDay(r.dateField(field.Name)); ok {
				text = r.dates.near(day, today)
				r.ExpireBy(r.Tomorrow())
			}
		case "featured":
			text = ""
		}
		label := labels[field.Name]
		if label == "" {
			label = field.Name
		}
		chip := web.Link{Text: label, Href: r.href(p, r.filters(field.Name))}
		if text != "" {
			chip.Before, chip.Text, chip.Lang = label+": ", text, language
		}
		f.Chips = append(f.Chips, chip)
	}
	if p.Featured {
		p.Featured = false
		f.Chips = append(f.Chips, web.Link{Text: r.words.Featured, Href: r.href(p, r.filters())})
	}
	f.Clear = r.href(p, nil)
	f.Open = len(f.Chips) > 0
}

// maxCategories is the largest number of categories in the form.
const maxCategories = 300

// categoryTree returns at most maxCategories categories in tree order, with their depth by id. It leaves out
// categories that have no events and no descendant with events.
func (r *request) categoryTree() (rows []*ent.Term, depth map[int64]int, err error) {
	q := &read.TermQuery{Paging: read.Paging{Number: 1, Size: maxCategories}}
	all, err := r.FindTerms(calendar.Category, r.DB.Term.Query().Where(q.Predicates(calendar.Category, r.Language)...), q, 0)
	if err != nil {
		return nil, nil, err
	}
	below := map[int64][]*ent.Term{}
	known := map[int64]bool{}
	for _, t := range all {
		known[t.ID] = true
	}
	for _, t := range all {
		parent := represent.ParentID(t)
		if !known[parent] {
			parent = 0
		}
		below[parent] = append(below[parent], t)
	}
	depth = map[int64]int{}
	var add func(parent int64, level int) int
	add = func(parent int64, level int) (events int) {
		for _, t := range below[parent] {
			at := len(rows)
			rows = append(rows, t)
			depth[t.ID] = level
			n := t.EventCount + add(t.ID, level+1)
			if n == 0 {
				rows = rows[:at]
			}
			events += n
		}
		return events
	}
	add(0, 0)
	return rows, depth, nil
}

func (r *request) categoryOptions(chosen string) ([]web.Option, error) {
	rows, depth, err := r.categoryTree()
	if err != nil {
		return nil, err
	}
	out := make([]web.Option, len(rows))
	for i, t := range rows {
		text := r.View().Text(t)
		out[i] = web.Option{
			Value: text.Slug, Text: text.Title, Lang: r.foreignLanguage(string(text.Language)),
			Depth: strings.Repeat("– ", depth[t.ID]), Selected: text.Slug == chosen || calendar.DecodedSlug(text.Slug) == chosen || strconv.FormatInt(t.ID, 10) == chosen,
		}
	}
	return out, nil
}

// pageFilterNames returns the names of list parameters that pages repeat in their links.
func pageFilterNames(r *read.Reader) []string {
	left := []string{"page", "per_page", "status", "password", "ml_language"}
	var out []string
	for _, p := range param.Describe(r.Now, param.InQuery, func(s *param.Set) { new(read.EventQuery).Declare(r, s, ent.MaxRead) }) {
		if !slices.Contains(left, p.Name) {
			out = append(out, p.Name)
		}
	}
	return out
}
