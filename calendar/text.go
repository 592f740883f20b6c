package calendar

// Text is the text of a record or term in one language. Title is the name, except for events and series. Excerpt
// and EventStatusReason are empty except for events and series.
type Text struct {
	Language                          Language
	Title, Description, Excerpt, Slug string
	EventStatusReason                 string
}

// Served returns the text for a reader with a preferred language. Each field is the first that is not empty, in
// this order: in that language, in the language of the site, in the original. The language of the result is
// that of the title.
func Served(wish, site Language, original Text, others []Text) Text {
	if len(others) == 0 {
		return original
	}
	var out Text
	take := func(t Text) {
		if out.Title == "" && t.Title != "" {
			out.Title, out.Language = t.Title, t.Language
		}
		if out.Description == "" {
			out.Description = t.Description
		}
		if out.Excerpt == "" {
			out.Excerpt = t.Excerpt
		}
		if out.Slug == "" {
			out.Slug = t.Slug
		}
		if out.EventStatusReason == "" {
			out.EventStatusReason = t.EventStatusReason
		}
	}
	for _, l := range [2]Language{wish, site} {
		if original.Language == l {
			take(original)
		}
		for _, t := range others {
			if t.Language == l {
				take(t)
			}
		}
	}
	take(original)
	if out.Language == "" {
		out.Language = original.Language
	}
	return out
}
