package layers

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// soleCallers has the only file that may call each function which removes links between records. Tests may call
// all functions. That file also writes the entries of the change log (decision 023). A name that begins with a
// point is a method of any type.
var soleCallers = map[string]string{
	"DELETE FROM":           "internal/migrate/revisions.go",
	".DeleteLinks":          "edit/links.go",
	".DeleteRecords":        "edit/remove.go",
	"EventVenue.Delete":     nowhere,
	"EventOrganizer.Delete": nowhere,
	"EventTerm.Delete":      "edit/links.go",
	"Event.Delete":          "edit/remove.go",
	"Venue.Delete":          nowhere,
	"Organizer.Delete":      nowhere,
	"Term.Delete":           "edit/terms.go",
	"Image.Delete":          "edit/images.go",
	"auth.RemoveUser":       "edit/users.go",
	"User.Delete":           "internal/auth/user.go",
}

// nowhere replaces the file for functions that only generated code may call.
const nowhere = ""

func TestLinksAreRemovedWhereTheyAreLogged(t *testing.T) {
	files, err := ourSources()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") || strings.HasPrefix(f.path, "ent/") ||
			strings.HasPrefix(f.path, "proof/storetest/") || strings.HasPrefix(f.path, "proof/randomcalendar/") {
			continue
		}
		for _, call := range removals(f.tree) {
			if file, known := soleCallers[call]; !known || file != f.path {
				t.Errorf("%s: %s is called in %q only", f.path, call, file)
			}
			seen[call] = true
		}
	}
	for call, file := range soleCallers {
		if !seen[call] && file != nowhere {
			t.Errorf("%s is not called any more; take it from the table", call)
		}
	}
}

// withoutQuotes removes the quotes around literals and names.
var withoutQuotes = strings.NewReplacer("`", "", `"`, "")

// removals returns the calls in a file that soleCallers lists, such as Event.Delete. It also returns SQL DELETE
// statements for the tables there.
func removals(tree *ast.File) (out []string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			of := ""
			switch x := n.X.(type) {
			case *ast.SelectorExpr:
				of = x.Sel.Name
			case *ast.Ident:
				of = x.Name
			}
			// DeleteOne and DeleteOneID are other names for it.
			method := n.Sel.Name
			if strings.HasPrefix(method, "DeleteOne") {
				method = "Delete"
			}
			for _, call := range []string{of + "." + method, "." + method} {
				if _, listed := soleCallers[call]; listed {
					out = append(out, call)
				}
			}
		case *ast.BasicLit:
			text := withoutQuotes.Replace(n.Value)
			if strings.HasSuffix(strings.TrimSpace(text), "DELETE FROM") { // a constant of Ent follows
				out = append(out, "DELETE FROM")
			}
			for _, table := range []string{"event_venues", "event_organizers", "event_terms", "events", "venues", "organizers", "terms"} {
				words := strings.Fields(text)
				if at := slices.Index(words, table); at >= 2 && words[at-2] == "DELETE" && words[at-1] == "FROM" {
					out = append(out, "DELETE FROM "+table)
				}
			}
		}
		return true
	})
	return out
}
