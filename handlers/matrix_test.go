package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/store"
	"github.com/almanac-cal/almanac/proof/apitest"
	"github.com/almanac-cal/almanac/proof/storetest"
)

// rights is the permission matrix with the rules on the trash (contract, section 12.3), as clients see it. R is events,
// venues and organizers, and U is every unpublished status. W is the trash for drafts and pending records, O the trash
// for others. The columns are anonymous, subscriber, contributor, author, editor, administrator.
//
// ok is 200. no is 401 for the anonymous caller and 403 rest_forbidden for others. hidden is 403 *-not-accessible, gone
// is 403 event-no-longer-available, again is 410. A status is 200 and the record's new status. - is impossible.
const rights = `
read       R                publish         own,other  ok     ok     ok      ok      ok      ok
read       R                U               own        -      hidden ok      ok      ok      ok
read       R                U               other      hidden hidden hidden  hidden  ok      ok
read       event            W,O             own,other  gone   gone   gone    gone    gone    gone
read       venue,organizer  W               own        -      hidden ok      ok      ok      ok
read       venue,organizer  O               own        -      hidden hidden  ok      ok      ok
read       venue,organizer  W,O             other      hidden hidden hidden  hidden  ok      ok

edit       R                draft,pending   own        -      no     ok      ok      ok      ok
edit       R                private,future  own        -      no     no      ok      ok      ok
edit       R                publish         own        -      no     no      ok      ok      ok
edit       R                U,publish       other      no     no     no      no      ok      ok
edit       R                W               own        -      no     trash   trash   trash   trash
edit       R                O               own        -      no     no      trash   trash   trash
edit       R                W,O             other      no     no     no      no      trash   trash

delete     R                draft,pending   own        -      no     trash   trash   trash   trash
delete     R                private,future  own        -      no     no      trash   trash   trash
delete     R                publish         own        -      no     no      trash   trash   trash
delete     R                U,publish       other      no     no     no      no      trash   trash
delete     R                W               own        -      no     again   again   again   again
delete     R                O               own        -      no     no      again   again   again
delete     R                W,O             other      no     no     no      no      again   again

discard    R                draft,pending   own        -      no     trash   trash   trash   trash
discard    R                private,future  own        -      no     no      trash   trash   trash
discard    R                publish         own        -      no     no      trash   trash   trash
discard    R                U,publish       other      no     no     no      no      trash   trash

author     R                U,publish       own        -      no     no      no      ok      ok
author     R                U,publish       other      no     no     no      no      ok      ok
author     R                W,O             own        -      no     no      no      ok      ok
author     R                W,O             other      no     no     no      no      ok      ok

publish    R                draft,pending   own        -      no     pending publish publish publish
publish    R                private         own        -      no     no      publish publish publish
publish    R                future          own        -      no     no      future  future  future
publish    R                publish         own        -      no     no      publish publish publish
publish    R                draft,pending   other      no     no     no      no      publish publish
publish    R                private,publish other      no     no     no      no      publish publish
publish    R                future          other      no     no     no      no      future  future

restore    R                W               own        -      no     draft   draft   draft   draft
restore    R                O               own        -      no     no      draft   draft   draft
restore    R                W,O             other      no     no     no      no      draft   draft

republish  R                W               own        -      no     pending private private private
republish  R                O               own        -      no     no      private private private
republish  R                W,O             other      no     no     no      no      private private
`

// roles are the columns of the matrix.
var roles = []string{"", "subscriber", "contributor", "author", "editor", "administrator"}

// right is one cell of the permission matrix, applied to one record. want is the expected outcome.
type right struct {
	operation, kind, status, whose, role string

	want string
	id   int64
}

func (r right) String() string {
	return fmt.Sprintf("%q may %s %s %s of %s", r.role, r.operation, r.status, r.kind, r.whose)
}

// stored returns the status of the record and, for one in the trash, its status before that. In the matrix the
// latter follows a colon, such as trash:draft.
func (r right) stored() (status, before calendar.Status) {
	s, b, _ := strings.Cut(r.status, ":")
	return calendar.Status(s), calendar.Status(b)
}

// cells parses the permission matrix. It fails if two lines contain the same case.
func cells(t *testing.T) []right {
	t.Helper()
	expand := strings.NewReplacer(
		"R", "event,venue,organizer", "U", "draft,pending,future,private",
		"W", "trash:draft,trash:pending", "O", "trash:publish,trash:future,trash:private")
	var out []right
	seen := map[right]bool{}
	for line := range strings.Lines(rights) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		for kind := range strings.SplitSeq(expand.Replace(f[1]), ",") {
			for status := range strings.SplitSeq(expand.Replace(f[2]), ",") {
				for whose := range strings.SplitSeq(f[3], ",") {
					for i, role := range roles {
						r := right{operation: f[0], kind: kind, status: status, whose: whose, role: role}
						if seen[r] {
							t.Fatalf("two lines speak of %v", r)
						}
						seen[r] = true
						r.want = f[4+i]
						if role == "" && whose == "own" {
							continue // nothing is the anonymous caller's
						}
						out = append(out, r)
					}
				}
			}
		}
	}
	// 8 statuses with the four kinds of trash left out of what is about leaving it, and the reverse.
	if want := 3 * (4*10 + 2*5 + 2*5) * (6 + 5); len(out) != want {
		t.Fatalf("%d cases, want %d", len(out), want)
	}
	return out
}

// briefSample returns all elements of a table; if storetest.IsBrief, a third of them, always the same.
func briefSample[T any](st *store.Store, table []T) []T {
	if !storetest.IsBrief(st) {
		return table
	}
	r := rand.New(rand.NewPCG(27, 0))
	var out []T
	for _, one := range table {
		if r.IntN(3) == 0 {
			out = append(out, one)
		}
	}
	return out
}

// plant stores a record for each case, in batches, and sets the id of the case.
func plant(t *testing.T, api *apitest.API, users map[string]int64, cases []right) {
	t.Helper()
	db := api.Store.Ent
	var (
		records    []*ent.RecordCreate
		events     []*ent.EventCreate
		venues     []*ent.VenueCreate
		organizers []*ent.OrganizerCreate
		slugs      []*ent.SlugCreate
	)
	start := calendar.WallAt(2026, time.December, 5, 18, 0, 0)
	begins := time.Date(2026, time.December, 5, 18, 0, 0, 0, time.UTC)
	for i := range cases {
		c := &cases[i]
		c.id = int64(1000 + i)
		kind := calendar.Kind(c.kind)
		status, before := c.stored()
		published, slug := apitest.Now.Add(-time.Hour), fmt.Sprintf("r-%d", c.id)
		if status == calendar.Future || before == calendar.Future {
			published = apitest.Now.AddDate(0, 0, 1)
		}
		owner := users["somebody"]
		if c.whose == "own" {
			owner = users[c.role]
		}
		stored := calendar.Slug(slug)
		records = append(records, db.Record.Create().SetID(c.id).SetKind(kind))
		row := db.Slug.Create().SetKind(kind).SetOwnerID(c.id).SetLanguage(calendar.English)
		if status == calendar.Trash {
			stored = calendar.TrashedSlug(slug)
			row.SetTrashedID(c.id)
		}
		slugs = append(slugs, row.SetSlug(stored))
		author := &owner
		if c.whose == "other" && i%2 == 0 {
			author = nil // a record without an author counts as one of another user
		}
		switch kind {
		case calendar.Event:
			events = append(events, db.Event.Create().SetID(c.id).SetNillableAuthorID(author).
				SetStatus(status).SetStatusBeforeTrash(before).SetPublishedAt(published).SetDated(true).
				SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(published).SetModifiedAt(published).
				SetTitle(slug).SetSlug(stored).SetTimezone("UTC").
				SetStartWall(start).SetEndWall(start).SetStartsAt(begins).SetEndsAt(begins))
		case calendar.Venue:
			venues = append(venues, db.Venue.Create().SetID(c.id).SetNillableAuthorID(author).
				SetStatus(status).SetStatusBeforeTrash(before).SetPublishedAt(published).SetDated(true).
				SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(published).SetModifiedAt(published).
				SetName(slug).SetNameKey(slug).SetSlug(stored))
		case calendar.Organizer:
			organizers = append(organizers, db.Organizer.Create().SetID(c.id).SetNillableAuthorID(author).
				SetStatus(status).SetStatusBeforeTrash(before).SetPublishedAt(published).SetDated(true).
				SetLanguage(calendar.English).SetLanguages("en").SetCreatedAt(published).SetModifiedAt(published).
				SetName(slug).SetNameKey(slug).SetSlug(stored))
		}
	}
	inBatches(t, records, func(part []*ent.RecordCreate) error { return db.Record.CreateBulk(part...).Exec(t.Context()) })
	inBatches(t, events, func(part []*ent.EventCreate) error { return db.Event.CreateBulk(part...).Exec(t.Context()) })
	inBatches(t, venues, func(part []*ent.VenueCreate) error { return db.Venue.CreateBulk(part...).Exec(t.Context()) })
	inBatches(t, organizers, func(part []*ent.OrganizerCreate) error {
		return db.Organizer.CreateBulk(part...).Exec(t.Context())
	})
	inBatches(t, slugs, func(part []*ent.SlugCreate) error { return db.Slug.CreateBulk(part...).Exec(t.Context()) })
}

func inBatches[T any](t *testing.T, all []T, do func([]T) error) {
	t.Helper()
	for part := range slices.Chunk(all, 200) {
		if err := do(part); err != nil {
			t.Fatal(err)
		}
	}
}

// everyRole returns a service with a user of each role, and one other user.
func everyRole(t *testing.T, st *store.Store) (*apitest.API, map[string]int64) {
	t.Helper()
	api := apitest.New(t, st)
	users := map[string]int64{"somebody": api.SignIn(t, "somebody", calendar.Author)}
	for _, role := range roles[1:] {
		users[role] = api.SignIn(t, role, calendar.Role(role))
	}
	return api, users
}

func TestEveryRightOfTheMatrix(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api, users := everyRole(t, st)
		cases := briefSample(st, cells(t))
		plant(t, api, users, cases)
		for _, c := range cases {
			path := fmt.Sprintf("/%ss/%d", c.kind, c.id)
			if c.id%3 == 0 && c.operation != "read" && !strings.HasPrefix(c.status, "trash") {
				path = fmt.Sprintf("/%ss/by-slug/r-%d", c.kind, c.id)
			}
			req := apitest.Request{Method: "PATCH", As: c.role, Path: path}
			switch c.operation {
			case "read":
				req.Method = "GET"
			case "edit":
				req.JSON = object{"description": "New"}
			case "delete":
				req.Method = "DELETE"
			case "discard":
				req.JSON = object{"status": "trash"}
			case "author":
				req.JSON = object{"author": users["somebody"]}
				if c.whose == "other" {
					req.JSON = object{"author": users["subscriber"]}
				}
			case "publish":
				req.JSON = object{"status": "publish"}
			case "restore":
				req.JSON = object{"status": "draft"}
			case "republish":
				req.JSON = object{"status": "private"}
			}
			r := api.Do(t, req)
			if got := matrixWord(t, c, r); got != c.want {
				t.Errorf("%v: %s, want %s; %d %s", c, got, c.want, r.Status, r.Body)
			}
		}
	})
}

// matrixWord returns the word that the matrix has for a reply.
func matrixWord(t *testing.T, c right, r apitest.Response) string {
	t.Helper()
	if r.Status == http.StatusOK {
		status, _ := r.Get(t, "status").(string)
		asBefore, _ := c.stored()
		if status == string(asBefore) && c.want == "ok" {
			return "ok"
		}
		return status
	}
	code, _ := r.Get(t, "code").(string)
	forbidden := http.StatusForbidden
	if c.role == "" {
		forbidden = http.StatusUnauthorized
	}
	switch {
	case code == "rest_forbidden" && r.Status == forbidden:
		return "no"
	case code == c.kind+"-not-accessible" && r.Status == http.StatusForbidden:
		return "hidden"
	case code == "event-no-longer-available" && r.Status == http.StatusForbidden:
		return "gone"
	case code == c.kind+"-is-in-trash" && r.Status == http.StatusGone:
		return "again"
	}
	return fmt.Sprint(r.Status, " ", code)
}

// visibility states which records lists show (contract, section 9.1). The first column is the requested status, - for
// none. yes and no state whether a record is in the list. 400 refuses the request.
const visibility = `
-        publish                       own,other  yes yes yes yes yes yes
-        draft,pending,future,private  own        -   no  yes yes yes yes
-        draft,pending,future,private  other      no  no  no  no  yes yes
-        trash                         own,other  no  no  no  no  no  no
publish  publish                       own,other  yes yes yes yes yes yes
publish  draft,pending,future,private  own,other  no  no  no  no  no  no
publish  trash                         own,other  no  no  no  no  no  no
draft    draft                         own        -   400 yes yes yes yes
draft    draft                         other      400 400 no  no  yes yes
draft    publish,pending,future,private,trash  own,other  400 400 no no no no
pending  pending                       own        -   400 yes yes yes yes
pending  pending                       other      400 400 no  no  yes yes
pending  publish,draft,future,private,trash    own,other  400 400 no no no no
future   future                        own        -   400 yes yes yes yes
future   future                        other      400 400 no  no  yes yes
future   publish,draft,pending,private,trash   own,other  400 400 no no no no
private  private                       own        -   400 yes yes yes yes
private  private                       other      400 400 no  no  yes yes
private  publish,draft,pending,future,trash    own,other  400 400 no no no no
trash    trash                         own        -   400 yes yes yes yes
trash    trash                         other      400 400 no  no  yes yes
trash    publish,draft,pending,future,private  own,other  400 400 no no no no
`

func TestListsShowWhatTheRoleMaySee(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		api, users := everyRole(t, st)
		var planted []right
		for _, kind := range []string{"event", "venue", "organizer"} {
			for _, status := range []string{"publish", "draft", "pending", "future", "private", "trash:publish"} {
				planted = append(planted, right{kind: kind, status: status, whose: "other"})
				for _, role := range roles[1:] {
					planted = append(planted, right{kind: kind, status: status, whose: "own", role: role})
				}
			}
		}
		plant(t, api, users, planted)
		for _, kind := range []string{"event", "venue", "organizer"} {
			for column, role := range roles {
				for asked, want := range visibleIDs(planted, kind, column) {
					if diff := cmp.Diff(want, shownIDs(t, api, role, kind, asked)); diff != "" {
						t.Errorf("%q lists %ss of status %s (-want +got):\n%s", role, kind, asked, diff)
					}
				}
			}
		}
	})
}

// visibleIDs reads a column of the matrix of visibility. It returns the sorted ids that each list of the kind must
// show, by the requested status. Nil means that the list must be refused.
func visibleIDs(planted []right, kind string, column int) map[string][]int64 {
	want := map[string][]int64{}
	for line := range strings.Lines(visibility) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		asked, statuses, owners, cell := f[0], strings.Split(f[1], ","), strings.Split(f[2], ","), f[3+column]
		if _, known := want[asked]; !known {
			want[asked] = []int64{}
		}
		switch cell {
		case "400":
			want[asked] = nil
		case "yes":
			for _, p := range planted {
				status, _ := p.stored()
				if p.kind == kind && slices.Contains(statuses, string(status)) && slices.Contains(owners, p.whoseFor(roles[column])) {
					want[asked] = append(want[asked], p.id)
				}
			}
		}
	}
	for _, ids := range want {
		slices.Sort(ids)
	}
	return want
}

// whoseFor returns whose the record is from the view of a role's user, in a word of the matrix.
func (r right) whoseFor(role string) string {
	if r.whose == "own" && r.role == role {
		return "own"
	}
	return "other"
}

// shownIDs returns the sorted ids of a list, or nil if the request is refused. asked is the requested status, and
// "-" means none.
func shownIDs(t *testing.T, api *apitest.API, role, kind, asked string) []int64 {
	t.Helper()
	path := "/" + kind + "s?per_page=50"
	if asked != "-" {
		path += "&status=" + asked
	}
	r := api.Do(t, apitest.Request{As: role, Path: path})
	if r.Status != http.StatusOK {
		if r.Status != http.StatusBadRequest {
			t.Errorf("%q lists %ss of status %s: %d", role, kind, asked, r.Status)
		}
		return nil
	}
	got := []int64{}
	for _, item := range r.Get(t, kind+"s").([]any) {
		got = append(got, int64(item.(map[string]any)["id"].(float64)))
	}
	if total := int(r.Get(t, "total").(float64)); total != len(got) {
		t.Errorf("%q lists %ss of status %s: total %d of %d", role, kind, asked, total, len(got))
	}
	slices.Sort(got)
	return got
}
