package auth

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/almanac-cal/almanac/calendar"
)

// contract is the permission matrix copied from the contract, section 12.3, and not from the code. Each line is one
// right, with the letter y under each role that has it. R is events, venues and organizers. W is the trash for drafts
// and pending records, O the trash for others.
//
// The columns are anonymous, subscriber, contributor, author, editor, administrator.
const contract = `
read             R                          publish                                      own,other  yyyyyy
read             R                          draft,pending,future,private                 own        --yyyy
read             R                          draft,pending,future,private                 other      ----yy
read             event,series               W,O                                          own,other  ------
read             venue,organizer            W                                            own        --yyyy
read             venue,organizer            O                                            own        ---yyy
read             venue,organizer            W,O                                          other      ----yy
read             R                          (none)                                       own,other  ------
read             category,tag,image         *                                            own,other  yyyyyy
read             (none)                     *                                            own,other  ------
create           R                          *                                            own,other  --yyyy
create           category,tag,image,(none)  *                                            own,other  ------
publish          R                          *                                            own,other  ---yyy
publish          category,tag,image,(none)  *                                            own,other  ------
edit             R                          draft,pending                                own        --yyyy
edit             R                          private,future                               own        ---yyy
edit             R                          publish                                      own        ---yyy
edit             R                          W                                            own        --yyyy
edit             R                          O                                            own        ---yyy
edit             R                          draft,pending,private,future,publish,W,O     other      ----yy
edit             R                          (none)                                       own,other  ------
edit             category,tag,image,(none)  *                                            own,other  ------
delete           R                          draft,pending                                own        --yyyy
delete           R                          private,future                               own        ---yyy
delete           R                          publish                                      own        ---yyy
delete           R                          W                                            own        --yyyy
delete           R                          O                                            own        ---yyy
delete           R                          draft,pending,private,future,publish,W,O     other      ----yy
delete           R                          (none)                                       own,other  ------
delete           category,tag,image,(none)  *                                            own,other  ------
restore          R                          draft,pending,private,future,publish,(none)  own,other  ------
restore          R                          W                                            own        --yyyy
restore          R                          O                                            own        ---yyy
restore          R                          W,O                                          other      ----yy
restore          category,tag,image,(none)  *                                            own,other  ------
set·author       R                          *                                            own,other  ----yy
set·author       category,tag,image,(none)  *                                            own,other  ------
manage·terms     *                          *                                            own,other  ---yyy
upload·an·image  *                          *                                            own,other  ---yyy
list·images      *                          *                                            own,other  ---yyy
delete·an·image  *                          *                                            own        ---yyy
delete·an·image  *                          *                                            other      ----yy
`

// contractWords replaces the letters R, W and O in the contract by words.
var contractWords = strings.NewReplacer(
	"R", "event,venue,organizer,series",
	"W", "trash:draft,trash:pending",
	"O", "trash:publish,trash:future,trash:private,trash:",
)

// contractLines returns the words of each line of the contract.
var contractLines = sync.OnceValue(func() (lines [][]string) {
	for line := range strings.Lines(strings.TrimSpace(contract)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
})

// expectedRight returns whether the contract allows an operation on a record to the role with the given column. It
// fails the test unless exactly one line of the contract covers the case.
func expectedRight(t *testing.T, op Operation, kind, status, whose string, column int) bool {
	t.Helper()
	holds := func(cell, word string) bool {
		if word == "" {
			word = "(none)"
		}
		cell = contractWords.Replace(cell)
		return cell == "*" || slices.Contains(strings.Split(cell, ","), word)
	}
	var found []string
	name := strings.ReplaceAll(string(op), " ", "·")
	for _, f := range contractLines() {
		if f[0] == name && holds(f[1], kind) && holds(f[2], status) && holds(f[3], whose) {
			found = append(found, f[4])
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d lines speak of %s %s %s %s", len(found), op, kind, status, whose)
	}
	return found[0][column] == 'y'
}

// These constants are user ids of authors. 0 means that a record has no author.
const me, somebody, nobody = 7, 8, 0

// matrixCaller is a caller with a name for messages, and the index of its column in the matrix.
type matrixCaller struct {
	name   string
	p      Principal
	column int
}

func TestMatrix(t *testing.T) {
	callers := []matrixCaller{
		{"anonymous", Principal{}, 0},
		{"unknown role", Principal{UserID: me, Login: "me", Role: "owner"}, 0},
		{"subscriber", Principal{UserID: me, Login: "me", Role: calendar.Subscriber}, 1},
		{"contributor", Principal{UserID: me, Login: "me", Role: calendar.Contributor}, 2},
		{"author", Principal{UserID: me, Login: "me", Role: calendar.Author}, 3},
		{"editor", Principal{UserID: me, Login: "me", Role: calendar.Editor}, 4},
		{"administrator", Principal{UserID: me, Login: "me", Role: calendar.Administrator}, 5},
		{"system", System(), 5},
	}
	kinds := []calendar.Kind{
		calendar.Event, calendar.Venue, calendar.Organizer, calendar.Category, calendar.Tag, calendar.Image, calendar.Series, "",
	}
	walked := 0
	for _, caller := range callers {
		for _, op := range Operations {
			for _, kind := range kinds {
				for _, status := range append([]calendar.Status{""}, calendar.Statuses...) {
					walked += caller.checkRights(t, op, kind, status)
				}
			}
		}
	}
	if want := 8 * len(Operations) * 8 * (6 + 6) * 3; walked != want {
		t.Errorf("walked %d cases, want %d", walked, want)
	}
}

// checkRights checks what a caller may do to records of a kind and status, of any author. It returns the number of cases.
func (m matrixCaller) checkRights(t *testing.T, op Operation, kind calendar.Kind, status calendar.Status) (cases int) {
	befores := []calendar.Status{calendar.Publish}
	if status == calendar.Trash {
		befores = []calendar.Status{
			calendar.Publish, calendar.Future, calendar.Draft, calendar.Pending, calendar.Private, "",
		}
	}
	for _, before := range befores {
		for _, author := range []int64{me, somebody, nobody} {
			cases++
			word, whose := string(status), "other"
			if status == calendar.Trash {
				word += ":" + string(before)
			}
			if author == me && m.p.UserID == me {
				whose = "own"
			}
			r := Record{Kind: kind, AuthorID: author, Status: status, BeforeTrash: before}
			want := expectedRight(t, op, string(kind), word, whose, m.column)
			if got := May(m.p, op, r); got != want {
				t.Errorf("%s may %s %q %q by %d: got %t, want %t", m.name, op, kind, word, author, got, want)
			}
		}
	}
	return cases
}

func TestUnknownOperationIsRefused(t *testing.T) {
	for _, op := range []Operation{"", "obliterate"} {
		if May(System(), op, Record{Kind: calendar.Event, Status: calendar.Publish}) {
			t.Errorf("operation %q is allowed", op)
		}
	}
}

func TestRightsOfLists(t *testing.T) {
	tests := []struct {
		role                     calendar.Role
		publish, ownAll, everyOf bool
	}{
		{"", false, false, false},
		{calendar.Subscriber, false, false, false},
		{calendar.Contributor, false, true, false},
		{calendar.Author, true, true, false},
		{calendar.Editor, true, true, true},
		{calendar.Administrator, true, true, true},
	}
	for _, tt := range tests {
		t.Run(string(tt.role), func(t *testing.T) {
			p := Principal{UserID: 3, Role: tt.role}
			if tt.role == "" {
				p = Principal{}
			}
			if got := May(p, Publish, Record{Kind: calendar.Event}); got != tt.publish {
				t.Errorf("May Publish: got %t", got)
			}
			if got := MaySeeOwnUnpublished(p); got != tt.ownAll {
				t.Errorf("MaySeeOwnUnpublished: got %t", got)
			}
			if got := MaySeeAllUnpublished(p); got != tt.everyOf {
				t.Errorf("MaySeeAllUnpublished: got %t", got)
			}
		})
	}
}

func TestAnonymous(t *testing.T) {
	if !(Principal{}).Anonymous() {
		t.Error("the zero value is not anonymous")
	}
	if System().Anonymous() {
		t.Error("the system is anonymous")
	}
	if (Principal{UserID: 1, Login: "x"}).Anonymous() {
		t.Error("a user without role is anonymous")
	}
}

// TestReadScope compares callers of all roles in pairs. Their scopes must be equal exactly if they may read the same
// records outside the trash.
func TestReadScope(t *testing.T) {
	t.Parallel()
	callers := []Principal{{}}
	for _, role := range []calendar.Role{
		calendar.Subscriber, calendar.Contributor, calendar.Author, calendar.Editor, calendar.Administrator, "unknown",
	} {
		callers = append(callers, Principal{UserID: 1, Role: role}, Principal{UserID: 2, Role: role})
	}
	read := func(p Principal) (out []bool) {
		for _, kind := range []calendar.Kind{calendar.Event, calendar.Venue, calendar.Organizer, calendar.Series, calendar.Category, calendar.Image} {
			for _, status := range calendar.Statuses {
				for author := range int64(3) {
					if status != calendar.Trash {
						out = append(out, May(p, Read, Record{Kind: kind, AuthorID: author, Status: status}))
					}
				}
			}
		}
		return out
	}
	for _, a := range callers {
		for _, b := range callers {
			if same := slices.Equal(read(a), read(b)); same != (ReadScope(a) == ReadScope(b)) {
				t.Errorf("%+v and %+v read the same: %t, their read scopes are %q and %q", a, b, same, ReadScope(a), ReadScope(b))
			}
		}
	}
}
