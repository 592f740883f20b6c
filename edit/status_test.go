package edit_test

import (
	"testing"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/proof/edittest"
)

// TestPermissions checks that writes consult the permission matrix. The matrix itself has tests in package auth.
func TestPermissions(t *testing.T) {
	edittest.Each(t, func(t *testing.T, w *edittest.World) {
		const (
			contributor = calendar.Contributor
			author      = calendar.Author
			editor      = calendar.Editor
		)
		own := func(r calendar.Role, s calendar.Status) int64 {
			id := w.Users[r].ID
			return w.Event(w.As(editor), &edit.EventInput{AuthorID: &id, Status: &s}).ID
		}
		status := func(s calendar.Status) *edit.EventInput { return &edit.EventInput{Status: &s} }
		tests := []struct {
			name  string
			by    calendar.Role
			whose calendar.Role
			from  calendar.Status
			in    *edit.EventInput
			want  string
		}{
			{"contributor edits the own draft", contributor, contributor, calendar.Draft, &edit.EventInput{}, ""},
			{"contributor edits the own published", contributor, contributor, calendar.Publish, &edit.EventInput{}, "rest_forbidden"},
			{"author edits the own published", author, author, calendar.Publish, &edit.EventInput{}, ""},
			{"author edits another's", author, contributor, calendar.Draft, &edit.EventInput{}, "rest_forbidden"},
			{"editor edits another's", editor, contributor, calendar.Private, &edit.EventInput{}, ""},
			{"author gives the own away", author, author, calendar.Publish, &edit.EventInput{AuthorID: new(w.Users[editor].ID)}, "rest_forbidden"},
			{"author names the author it has", author, author, calendar.Publish, &edit.EventInput{AuthorID: new(w.Users[author].ID)}, ""},
			{"editor gives it away", editor, author, calendar.Publish, &edit.EventInput{AuthorID: new(w.Users[contributor].ID)}, ""},
			{"unknown author", editor, author, calendar.Publish, &edit.EventInput{AuthorID: new(int64(12345))}, "author:unknown-ids"},
			{"an unknown author comes before the permission", contributor, author, calendar.Publish, &edit.EventInput{AuthorID: new(int64(0))}, "author:unknown-ids"},
			{"unknown image", editor, author, calendar.Publish, &edit.EventInput{ImageID: new(int64(12345))}, "image:unknown-ids"},
			{"contributor trashes the own draft", contributor, contributor, calendar.Draft, status(calendar.Trash), ""},
			{"contributor restores what was a draft", contributor, contributor, calendar.Draft, status(calendar.Draft), ""},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := w.UpdateEvent(w.As(tt.by), own(tt.whose, tt.from), tt.in)
				edittest.Refused(t, err, tt.want)
			})
		}
		t.Run("subscriber creates", func(t *testing.T) {
			_, err := w.CreateEvent(w.As(calendar.Subscriber), &edit.EventInput{})
			edittest.Refused(t, err, "rest_forbidden")
		})
		t.Run("author creates for another", func(t *testing.T) {
			_, err := w.CreateEvent(w.As(author), &edit.EventInput{AuthorID: new(w.Users[editor].ID)})
			edittest.Refused(t, err, "rest_forbidden")
		})
		t.Run("contributor restores what was published", func(t *testing.T) {
			id := own(contributor, calendar.Publish)
			if _, err := w.TrashEvent(w.As(editor), id); err != nil {
				t.Fatal(err)
			}
			_, err := w.UpdateEvent(w.As(contributor), id, status(calendar.Draft))
			edittest.Refused(t, err, "rest_forbidden")
		})
	})
}
