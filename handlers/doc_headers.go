package handlers

import "net/http"

// conditions are headers that make an answer depend on what the client has. They are no parameters of a declaration, so
// the index does not have them.
var conditions = []struct {
	name, description string
	of                func(p *pattern, method string) bool
}{
	{
		"If-None-Match", "Tags of replies that the client has: 304 if the reply is one of them",
		func(_ *pattern, method string) bool { return method == http.MethodGet },
	},
	{
		"If-Match", "Tags of the record as the client knows it: 412 if it has changed since. " +
			"A write takes those of all languages and fields of a version, a read that of the reply",
		isConditional,
	},
}

// isConditional reports whether an operation is about something that is there, and so has a tag.
func isConditional(p *pattern, method string) bool {
	return method == http.MethodGet || p.hasCaptures()
}

// headerParameter is an optional header of requests.
func headerParameter(name, description string) ordered {
	return ordered{
		{"name", name},
		{"in", "header"},
		{"description", description},
		{"required", false},
		{"schema", ordered{{"type", "string"}}},
	}
}

// isList reports whether an operation answers with a page of records.
func (p *pattern) isList(method string) bool {
	return p.kind() != "" && method == http.MethodGet && !p.hasCaptures()
}

// readHeaders are those of the reply to a read, whether the client has it or not.
func readHeaders(p *pattern) []string {
	if p.isList(http.MethodGet) {
		return []string{"X-TEC-Total", "X-TEC-TotalPages", "Link", "ETag", "Cache-Control"}
	}
	return []string{"ETag", "Cache-Control"}
}

// response is a reply with headers, and those that every reply has; nil is no content.
func response(meaning string, names []string, content ordered) ordered {
	var refs ordered
	for _, name := range append(names, "Content-Language", "X-Request-Id") {
		refs = append(refs, member{name, refTo("headers", name)})
	}
	out := ordered{{"description", meaning}, {"headers", refs}}
	if content != nil {
		out = append(out, member{"content", content})
	}
	return out
}
