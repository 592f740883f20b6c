package edit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
)

func TestSettle(t *testing.T) {
	t.Parallel()
	past, future := now.Add(-48*time.Hour), now.Add(48*time.Hour)
	const (
		publish = calendar.Publish
		draft   = calendar.Draft
		pending = calendar.Pending
		private = calendar.Private
		sched   = calendar.Future
		trash   = calendar.Trash
	)
	none := standing{}
	at := func(s calendar.Status, published time.Time, dated bool) standing {
		return standing{s, "", published, dated}
	}
	trashed := func(before calendar.Status, published time.Time, dated bool) standing {
		return standing{trash, before, published, dated}
	}
	tests := []struct {
		name       string
		old        standing
		sent       calendar.Status // "" is not sent
		date       time.Time       // zero is not sent
		mayPublish bool
		want       standing
	}{
		{"create by an author publishes", none, "", time.Time{}, true, at(publish, now, true)},
		{"create by a contributor drafts", none, "", time.Time{}, false, at(draft, now, false)},
		{"contributor's publish is pending", none, publish, time.Time{}, false, at(pending, now, false)},
		{"contributor's future is pending", none, sched, future, false, at(pending, future, true)},
		{"contributor's private is pending", none, private, time.Time{}, false, at(pending, now, false)},
		{"contributor's pending stays", none, pending, time.Time{}, false, at(pending, now, false)},
		{"create as draft", none, draft, time.Time{}, true, at(draft, now, false)},
		{"create as private", none, private, time.Time{}, true, at(private, now, true)},
		{"publish with a date to come is future", none, publish, future, true, at(sched, future, true)},
		{"no status with a date to come is future", none, "", future, true, at(sched, future, true)},
		{"future with a past date is publish", none, sched, past, true, at(publish, past, true)},
		{"future without a date is publish", none, sched, time.Time{}, true, at(publish, now, true)},
		{"create in the trash", none, trash, time.Time{}, true, trashed(publish, now, false)},
		{"create in the trash by a contributor", none, trash, time.Time{}, false, trashed(draft, now, false)},

		{"nothing sent changes nothing", at(draft, past, false), "", time.Time{}, true, at(draft, past, false)},
		{"an undated draft is dated when published", at(draft, past, false), publish, time.Time{}, true, at(publish, now, true)},
		{"an undated pending is dated when private", at(pending, past, false), private, time.Time{}, true, at(private, now, true)},
		{"an undated draft made future is dated", at(draft, past, false), sched, time.Time{}, true, at(publish, now, true)},
		{"a dated draft keeps its date", at(draft, past, true), publish, time.Time{}, true, at(publish, past, true)},
		{"a draft with a date to come is scheduled", at(draft, future, true), publish, time.Time{}, true, at(sched, future, true)},
		{"published, drafted and published again keeps its date", at(draft, past, true), publish, time.Time{}, true, at(publish, past, true)},
		{"publish moved to the future is future", at(publish, past, true), "", future, true, at(sched, future, true)},
		{"future moved to the past is publish", at(sched, future, true), "", past, true, at(publish, past, true)},
		{"future whose date has come is publish", at(sched, past, true), "", time.Time{}, true, at(publish, past, true)},
		{"contributor sends publish for a draft", at(draft, past, false), publish, time.Time{}, false, at(pending, past, false)},
		{"publish becomes draft", at(publish, past, true), draft, time.Time{}, true, at(draft, past, true)},

		{"to the trash", at(publish, past, true), trash, time.Time{}, true, trashed(publish, past, true)},
		{"a scheduled one that was due goes as publish", at(sched, past, true), trash, time.Time{}, true, trashed(publish, past, true)},
		{"an update leaves it in the trash", trashed(draft, past, false), "", time.Time{}, true, trashed(draft, past, false)},
		{"trash again changes nothing", trashed(draft, past, false), trash, time.Time{}, true, trashed(draft, past, false)},
		{"a date sent in the trash is kept", trashed(publish, past, true), "", future, true, trashed(sched, future, true)},
		{"restore as publish", trashed(publish, past, true), publish, time.Time{}, true, at(publish, past, true)},
		{"restore an undated draft as publish", trashed(draft, past, false), publish, time.Time{}, true, at(publish, now, true)},
		{"restore as draft", trashed(publish, past, true), draft, time.Time{}, true, at(draft, past, true)},
		{"a contributor restores as pending", trashed(draft, past, false), publish, time.Time{}, false, at(pending, past, false)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var sent *calendar.Status
			if tt.sent != "" {
				sent = &tt.sent
			}
			var date *time.Time
			if !tt.date.IsZero() {
				date = &tt.date
			}
			got := settle(tt.old, sent, date, now, tt.mayPublish)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(standing{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPermissions covers where the rules ask the matrix; the matrix has tests of its own.
func TestPermissions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const (
			contributor = calendar.Contributor
			author      = calendar.Author
			editor      = calendar.Editor
		)
		own := func(r calendar.Role, s calendar.Status) int64 {
			id := w.users[r].ID
			return w.event(w.as(editor), &EventInput{AuthorID: &id, Status: &s}).ID
		}
		status := func(s calendar.Status) *EventInput { return &EventInput{Status: &s} }
		tests := []struct {
			name  string
			by    calendar.Role
			whose calendar.Role
			from  calendar.Status
			in    *EventInput
			want  string
		}{
			{"contributor edits the own draft", contributor, contributor, calendar.Draft, &EventInput{}, ""},
			{"contributor edits the own published", contributor, contributor, calendar.Publish, &EventInput{}, "rest_forbidden"},
			{"author edits the own published", author, author, calendar.Publish, &EventInput{}, ""},
			{"author edits another's", author, contributor, calendar.Draft, &EventInput{}, "rest_forbidden"},
			{"editor edits another's", editor, contributor, calendar.Private, &EventInput{}, ""},
			{"author gives the own away", author, author, calendar.Publish, &EventInput{AuthorID: new(w.users[editor].ID)}, "rest_forbidden"},
			{"author names the author it has", author, author, calendar.Publish, &EventInput{AuthorID: new(w.users[author].ID)}, ""},
			{"editor gives it away", editor, author, calendar.Publish, &EventInput{AuthorID: new(w.users[contributor].ID)}, ""},
			{"unknown author", editor, author, calendar.Publish, &EventInput{AuthorID: new(int64(12345))}, "author:unknown-ids"},
			{"an unknown author comes before the permission", contributor, author, calendar.Publish, &EventInput{AuthorID: new(int64(0))}, "author:unknown-ids"},
			{"unknown image", editor, author, calendar.Publish, &EventInput{ImageID: new(int64(12345))}, "image:unknown-ids"},
			{"contributor trashes the own draft", contributor, contributor, calendar.Draft, status(calendar.Trash), ""},
			{"contributor restores what was a draft", contributor, contributor, calendar.Draft, status(calendar.Draft), ""},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := w.updateEvent(w.as(tt.by), own(tt.whose, tt.from), tt.in)
				refused(t, err, tt.want)
			})
		}
		t.Run("subscriber creates", func(t *testing.T) {
			_, err := w.createEvent(w.as(calendar.Subscriber), &EventInput{})
			refused(t, err, "rest_forbidden")
		})
		t.Run("author creates for another", func(t *testing.T) {
			_, err := w.createEvent(w.as(author), &EventInput{AuthorID: new(w.users[editor].ID)})
			refused(t, err, "rest_forbidden")
		})
		t.Run("contributor restores what was published", func(t *testing.T) {
			id := own(contributor, calendar.Publish)
			if _, err := w.trashEvent(w.as(editor), id); err != nil {
				t.Fatal(err)
			}
			_, err := w.updateEvent(w.as(contributor), id, status(calendar.Draft))
			refused(t, err, "rest_forbidden")
		})
	})
}
