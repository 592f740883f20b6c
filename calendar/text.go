package calendar

// Text is the text of a record or term in one language. Title is the name, except for events and series. Excerpt
// and EventStatusReason are empty except for events and series.
type Text struct {
	Language                          Language
	Title, Description, Excerpt, Slug string
	EventStatusReason                 string
}

// Served chooses the text for a reader who prefers the language wish. It looks for each field in that language
// first, then in the language of the site, then in the original. It takes the first that is not empty. The
// language of the result is that of the title.
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
