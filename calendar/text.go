package calendar

// Text is what a record or term says in one language. Title is the name of all but events, Excerpt and EventStatusReason
// are empty for all but events.
type Text struct {
	Language                          Language
	Title, Description, Excerpt, Slug string
	EventStatusReason                 string
}

// Served returns what is read by who wishes for a language: each field from the first of that language, the site's
// and the original that has it. The result's language is that of the title.
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
